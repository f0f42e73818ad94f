"""India: states and union territories with their zones.

The zones are those of the Zonal Councils (States Reorganisation Act 1956, section 15) and the North Eastern Council
(North Eastern Council Act 1971); the islands that belong to no council are with the Southern one, which invites them.
"""

from __future__ import annotations

ZONES = {
    "Northern India": (
        "Chandigarh",
        "Delhi",
        "Haryana",
        "Himachal Pradesh",
        "Jammu and Kashmir",
        "Ladakh",
        "Punjab",
        "Rajasthan",
    ),
    "Central India": ("Chhattisgarh", "Madhya Pradesh", "Uttar Pradesh", "Uttarakhand"),
    "Eastern India": ("Bihar", "Jharkhand", "Odisha", "West Bengal"),
    "Western India": ("Dadra and Nagar Haveli and Daman and Diu", "Goa", "Gujarat", "Maharashtra"),
    "Southern India": (
        "Andaman and Nicobar Islands",
        "Andhra Pradesh",
        "Karnataka",
        "Kerala",
        "Lakshadweep",
        "Puducherry",
        "Tamil Nadu",
        "Telangana",
    ),
    "North Eastern India": (
        "Arunachal Pradesh",
        "Assam",
        "Manipur",
        "Meghalaya",
        "Mizoram",
        "Nagaland",
        "Sikkim",
        "Tripura",
    ),
}
"""States and union territories, by zone."""

STATE_OF_CODE = {
    "01": "Andaman and Nicobar Islands",
    "02": "Andhra Pradesh",
    "03": "Assam",
    "05": "Chandigarh",
    "07": "Delhi",
    "09": "Gujarat",
    "10": "Haryana",
    "11": "Himachal Pradesh",
    "12": "Jammu and Kashmir",
    "13": "Kerala",
    "14": "Lakshadweep",
    "16": "Maharashtra",
    "17": "Manipur",
    "18": "Meghalaya",
    "19": "Karnataka",
    "20": "Nagaland",
    "21": "Odisha",
    "22": "Puducherry",
    "23": "Punjab",
    "24": "Rajasthan",
    "25": "Tamil Nadu",
    "26": "Tripura",
    "28": "West Bengal",
    "29": "Sikkim",
    "30": "Arunachal Pradesh",
    "31": "Mizoram",
    "33": "Goa",
    "34": "Bihar",
    "35": "Madhya Pradesh",
    "36": "Uttar Pradesh",
    "37": "Chhattisgarh",
    "38": "Jharkhand",
    "39": "Uttarakhand",
    "40": "Telangana",
    "41": "Ladakh",
    "52": "Dadra and Nagar Haveli and Daman and Diu",
}
"""States by the codes that GeoNames gives the first level below a country."""

OTHER_NAMES = {
    "Orissa": "Odisha",
    "Pondicherry": "Puducherry",
    "Uttaranchal": "Uttarakhand",
    "NCT of Delhi": "Delhi",
    "Jammu & Kashmir": "Jammu and Kashmir",
    "Andaman & Nicobar Islands": "Andaman and Nicobar Islands",
    "Dadra and Nagar Haveli": "Dadra and Nagar Haveli and Daman and Diu",
    "Daman and Diu": "Dadra and Nagar Haveli and Daman and Diu",
    "Tamilnadu": "Tamil Nadu",
}
"""Former and shorter names of states."""

ZONE_OF_STATE = {state: zone for zone, states in ZONES.items() for state in states}
