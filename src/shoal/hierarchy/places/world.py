"""The world: countries by region and continent (United Nations, M49), the United States by census region."""

from __future__ import annotations

_COUNTRIES = {
    "Northern Africa": "DZ EG LY MA SD TN EH",
    "Eastern Africa": "IO BI KM DJ ER ET TF KE MG MW MU YT MZ RE RW SC SO SS UG TZ ZM ZW",
    "Middle Africa": "AO CM CF TD CG CD GQ GA ST",
    "Southern Africa": "BW SZ LS NA ZA",
    "Western Africa": "BJ BF CV CI GM GH GN GW LR ML MR NE NG SH SN SL TG",
    "Caribbean": "AI AG AW BS BB BQ VG KY CU CW DM DO GD GP HT JM MQ MS PR BL KN LC MF VC SX TT TC VI AN",
    "Central America": "BZ CR SV GT HN MX NI PA",
    "South America": "AR BO BV BR CL CO EC FK GF GY PY PE GS SR UY VE",
    "Northern America": "BM CA GL PM US",
    "Antarctica": "AQ",
    "Central Asia": "KZ KG TJ TM UZ",
    "Eastern Asia": "CN HK MO KP JP MN KR TW",
    "South-eastern Asia": "BN KH ID LA MY MM PH SG TH TL VN",
    "Southern Asia": "AF BD BT IN IR MV NP PK LK",
    "Western Asia": "AM AZ BH CY GE IQ IL JO KW LB OM QA SA PS SY TR AE YE",
    "Eastern Europe": "BY BG CZ HU PL MD RO RU SK UA",
    "Northern Europe": "AX DK EE FO FI GG IS IE IM JE LV LT NO SJ SE GB",
    "Southern Europe": "AL AD BA HR GI GR VA IT MT ME MK PT SM RS SI ES XK CS",
    "Western Europe": "AT BE FR DE LI LU MC NL CH",
    "Australia and New Zealand": "AU CX CC HM NZ NF",
    "Melanesia": "FJ NC PG SB VU",
    "Micronesia": "GU KI MH FM NR MP PW UM",
    "Polynesia": "AS CK PF NU PN WS TK TO TV WF",
}
REGION_OF_COUNTRY = {code: region for region, codes in _COUNTRIES.items() for code in codes.split()}
"""The subregion of each country, by its ISO 3166 code."""

CONTINENTS = {
    "Africa": ("Northern Africa", "Eastern Africa", "Middle Africa", "Southern Africa", "Western Africa"),
    "Americas": ("Caribbean", "Central America", "South America", "Northern America"),
    "Antarctica": ("Antarctica",),
    "Asia": ("Central Asia", "Eastern Asia", "South-eastern Asia", "Southern Asia", "Western Asia"),
    "Europe": ("Eastern Europe", "Northern Europe", "Southern Europe", "Western Europe"),
    "Oceania": ("Australia and New Zealand", "Melanesia", "Micronesia", "Polynesia"),
}
"""The regions of each continent, as M49 names them."""
CONTINENT_OF_REGION = {region: continent for continent, regions in CONTINENTS.items() for region in regions}

OTHER_NAMES_OF_COUNTRIES = {
    "AE": ("UAE", "U.A.E.", "Emirates"),
    "BO": ("Plurinational State of Bolivia",),
    "BN": ("Brunei Darussalam",),
    "CD": ("DR Congo", "DRC", "Congo, Democratic Republic of the", "Congo (Kinshasa)", "Zaire"),
    "CG": ("Congo", "Congo (Brazzaville)"),
    "CI": ("Côte d'Ivoire",),
    "CN": ("People's Republic of China", "PR China", "Mainland China"),
    "CV": ("Cape Verde",),
    "CZ": ("Czech Republic",),
    "DE": ("Federal Republic of Germany",),
    "GB": (
        "UK", "U.K.", "Great Britain", "Britain", "England", "Scotland", "Wales", "Northern Ireland",
        "United Kingdom of Great Britain and Northern Ireland",
    ),
    "HK": ("Hong Kong SAR", "Hongkong"),
    "IR": ("Islamic Republic of Iran", "Persia"),
    "KP": ("DPRK", "Democratic People's Republic of Korea"),
    "KR": ("Republic of Korea", "Korea, Republic of", "Korea", "S. Korea"),
    "LA": ("Lao PDR", "Lao People's Democratic Republic"),
    "MD": ("Republic of Moldova",),
    "MK": ("Macedonia", "FYROM"),
    "MM": ("Burma",),
    "MO": ("Macau",),
    "NL": ("Netherlands", "Holland"),
    "PS": ("Palestine", "State of Palestine"),
    "RU": ("Russian Federation",),
    "SY": ("Syrian Arab Republic",),
    "SZ": ("Swaziland",),
    "TL": ("East Timor", "Timor-Leste"),
    "TR": ("Türkiye", "Turkiye"),
    "TW": ("Republic of China", "Chinese Taipei"),
    "TZ": ("United Republic of Tanzania",),
    "US": ("U.S.A.", "U.S.", "United States of America", "America"),
    "VA": ("Holy See", "Vatican City"),
    "VE": ("Bolivarian Republic of Venezuela",),
    "VN": ("Viet Nam",),
}  # fmt: skip
"""Official, former and common names, by ISO 3166 code."""

_STATES = {
    "Northeast, United States": "CT ME MA NH RI VT NJ NY PA",
    "Midwest, United States": "IL IN MI OH WI IA KS MN MO NE ND SD",
    "South, United States": "DE FL GA MD NC SC VA DC WV AL KY MS TN AR LA OK TX",
    "West, United States": "AZ CO ID MT NV NM UT WY AK CA HI OR WA",
}
CENSUS_REGION_OF_STATE = {code: region for region, codes in _STATES.items() for code in codes.split()}
"""The census region of each state of the United States, by its postal code."""
