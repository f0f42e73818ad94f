"""The worked tables of the four source documents, with the role that each document gives a column.

Only figures and facts are taken over. A role of None is one that the document leaves open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from shoal.schema import Role

DIRECT, QUASI, TARGET = Role.DIRECT, Role.QUASI, Role.SENSITIVE


@dataclass(frozen=True)
class WorkedTable:
    source: str
    data: Mapping[str, list[str]]
    roles: Mapping[str, Role | None]

    def frame(self, times: int = 1) -> pl.DataFrame:
        return pl.DataFrame({name: list(values) * times for name, values in self.data.items()})


def rows(header: str, text: str) -> dict[str, list[str]]:
    """A table of which each line is a record, with | between the cells."""
    lines = [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]
    return {name.strip(): [line[place] for line in lines] for place, name in enumerate(header.split("|"))}


HOSPITAL = rows(
    "Patient ID|Patient Name|Age|Weight(in kgs)|Gender|City|Smoking(Yes/No)|Alcoholic(Yes/No)|Diabetes(Yes/No)"
    "|Hypertension(Yes/No)|Thyroid(Yes/No)",
    """
    ID004|Raj|30|90|male|Mumbai|No|Yes|No|Yes|Yes
    ID001|Selvi|70|60|female|Delhi|Yes|No|No|No|Yes
    ID005|Ramesh|89|75|male|Ahamednagar|Yes|Yes|Yes|Yes|No
    ID006|Priya|23|55|female|Aurangabad|No|Yes|Yes|Yes|No
    ID007|Neha|60|78|female|Balglore|No|No|Yes|Yes|No
    ID009|Reshma|70|70|female|Beed|No|Yes|No|Yes|Yes
    ID004|Priyanka|30|55|female|Dhule|Yes|No|No|No|Yes
    ID006|Sima|43|33|female|Kolhapur|Yes|Yes|Yes|Yes|No
    ID008|Jaya|34|43|female|Yavatmal|No|Yes|Yes|Yes|No
    ID001|Jayesh|65|70|male|Nashik|No|No|Yes|Yes|No
    ID002|Amit|56|65|male|Dhule|No|Yes|No|Yes|Yes
    ID003|Suraj|20|76|male|Kolhapur|Yes|No|No|No|Yes
    ID005|Dinesh|44|44|male|Jalgaon|Yes|Yes|Yes|Yes|No
    ID006|Ritesh|34|66|male|Nagpur|No|Yes|Yes|Yes|No
    ID003|Rohit|54|76|male|Pune|No|No|Yes|Yes|No
    ID006|Snehal|12|82|female|Nanded|No|Yes|No|Yes|Yes
    ID005|Pratiksha|10|62|female|Parbhani|Yes|No|No|No|Yes
    ID006|Sejal|34|30|female|Jalgaon|Yes|Yes|Yes|Yes|No
    ID009|Smital|60|20|female|Wardha|No|Yes|Yes|Yes|No
    """,
)

TABLES = {
    "meity annexure 4": WorkedTable(
        "MeitY, annexure 4",
        HOSPITAL,
        {
            "Patient Name": DIRECT,
            "Age": QUASI,
            "Weight(in kgs)": QUASI,
            "Gender": QUASI,
            "City": QUASI,
            "Smoking(Yes/No)": TARGET,
            "Alcoholic(Yes/No)": TARGET,
            "Diabetes(Yes/No)": TARGET,
            "Hypertension(Yes/No)": TARGET,
            "Thyroid(Yes/No)": TARGET,
        },
    ),
    "meity 2.a": WorkedTable(
        "MeitY 2.2.1: names and numbers of customers are removed, amounts are what the analysis is about",
        rows(
            "Customer Name|Customer mobile no|Sales Manager|Amount (in Rs)",
            """
            Raj|98444 12345|Kumar|20000
            Selvi|98777 89123|Kumar|10000
            Manoj|98666 56789|Kumar|30000
            Rakesh|98888 12345|Pooja|25000
            Jyoti|90099 34567|Pooja|30000
            Naveen|98456 12345|Pooja|30100
            """,
        ),
        {"Customer Name": DIRECT, "Customer mobile no": DIRECT, "Amount (in Rs)": TARGET},
    ),
    "meity 2.c": WorkedTable(
        "MeitY 2.2.2",
        rows("Name|Aadhaar card number", "Rakesh|2345 6789 1234\nRaj|5678 1234 5678\nCelin|2345 1234 9123"),
        {"Name": DIRECT, "Aadhaar card number": DIRECT},
    ),
    "meity 2.e": WorkedTable(
        "MeitY 2.2.3",
        rows(
            "Name|Aadhaar Number|Address|Mobile number",
            """
            Anwar|2345 6789 1234|308, GHT apartment, Sector 1, Mumbai|98000 00000
            Bala|4567 8912 3456|412, SR road, Sector 12, New Delhi.|98000 11111
            Ram|3456 7890 5678|44, TK road, Alwarpet, Chennai.|98000 22222
            """,
        ),
        {"Name": DIRECT, "Aadhaar Number": DIRECT, "Address": QUASI, "Mobile number": DIRECT},
    ),
    "meity 2.h": WorkedTable(
        "MeitY 2.2.4: who looked for what is to be hidden",
        rows(
            "UserID|QueryText|QueryTime|URL",
            """
            1|shopping website|06/13/2017 16:08|www.shop.com
            2|PM of India|01/14/2016 11:18|www.pmindia.com
            3|Olympics 2020|07/12/2014 22:38|www.olympics.com
            4|Covid Vaccination|08/11/2012 12:58|www.vaccination.com
            5|Mutual Funds|01/14/2020 22:10|www.mutualfund.com
            6|Kids Toys|01/14/2013 20:08|www.toys.com
            7|CBSE Results|01/14/2016 12:08|www.results.com
            8|Data Privacy|01/14/2016 11:08|www.privacy.com
            """,
        ),
        {"UserID": DIRECT},
    ),
    "meity 2.j": WorkedTable(
        "MeitY 2.2.5: the name is a pseudonym already, the address an area",
        rows(
            "Sr no|Name|Age|Address|City",
            """
            1|Ramesh|25|Andheri|Mumbai
            2|Satish|26|Juhu|Mumbai
            3|Manisha|35|Dadar|Mumbai
            4|Mahesh|35|Mahalakshmi|Mumbai
            """,
        ),
        {"Sr no": DIRECT, "Name": DIRECT, "Age": QUASI, "Address": QUASI, "City": QUASI},
    ),
    "meity 2.l": WorkedTable(
        "MeitY 2.2.6: the medical report is sensitive and stays",
        rows(
            "Name|Age|Address|Medical Report",
            """
            Raj|24|Sivam Society, Shivajinagar, Pune|Negative
            Selvi|31|MindSpace Madhapur, Hyderabad|Positive
            Manoj|34|M.G. Road, Secunderabad, Hyderabad|Positive
            Rakesh|29|St. Patrik Society, Hadapsar, Pune|Negative
            Jyoti|23|Tranquility, Hadapsar, Pune|Negative
            Naveen|37|Afzalgunj, Hyderabad|Negative
            """,
        ),
        {"Name": DIRECT, "Age": QUASI, "Address": QUASI, "Medical Report": TARGET},
    ),
    "meity 2.n": WorkedTable(
        "MeitY 2.2.7: age, height and weight are rounded, the illness is kept",
        rows(
            "Patient|Age|Height (cm)|Weight (kg)|Severity of CoV-2 illness",
            """
            1|24|160|64|Asymptomatic
            2|29|177|79|Asymptomatic
            3|48|158|61|Mild Illness
            4|51|173|76|Moderate
            5|87|169|92|Critical illness
            6|35|152|66|Asymptomatic
            """,
        ),
        {"Age": QUASI, "Height (cm)": QUASI, "Weight (kg)": QUASI, "Severity of CoV-2 illness": TARGET},
    ),
    "meity 2.p": WorkedTable(
        "MeitY 2.2.8: what is bought is sensitive",
        rows(
            "Age|Product Category",
            """
            25|Home Appliances
            35|Grocery
            25|Apparels
            30|Apparels
            30|Home Appliances
            35|Home Appliances
            20|Apparels
            33|Apparels
            40|Grocery
            27|Apparels
            """,
        ),
        {"Age": QUASI, "Product Category": TARGET},
    ),
    "meity 2.s": WorkedTable(
        "MeitY 2.2.9: what was paid is to be analysed; brands and stores are no people",
        rows(
            "Brand name|Purchase value (in Rs)|Store name",
            """
            Brand A|20000|Store A
            Brand B|10000|Store A
            Brand A|15000|Store A
            Brand B|25000|Store A
            Brand A|30000|Store A
            Brand B|9000|Store B
            Brand A|7000|Store B
            Brand B|19000|Store B
            Brand A|12000|Store B
            """,
        ),
        {"Brand name": QUASI, "Purchase value (in Rs)": TARGET, "Store name": QUASI},
    ),
    "meity 2.u": WorkedTable(
        "MeitY 2.3.1: age, gender and PIN code are the quasi-identifiers",
        rows(
            "Name|Age|Gender|Pincode|Medical Report",
            """
            Raj|24|Male|411005|Negative
            Selvi|31|Female|500081|Positive
            Manoj|34|Male|500003|Positive
            Rakesh|29|Female|411028|Negative
            Jyoti|23|Female|411040|Negative
            Naveen|37|Male|500012|Negative
            """,
        ),
        {"Name": DIRECT, "Age": QUASI, "Gender": QUASI, "Pincode": QUASI, "Medical Report": TARGET},
    ),
    "pdpc albert": WorkedTable(
        "PDPC, an example of de-identification: a profile has birth date, gender and company; two users are made up",
        rows(
            "Name|Favourite eatery|Favourite food|Date of birth|Gender|Company",
            """
            Albert Phua|Katong Fried Chicken|3-Piece Chicken Set|01/01/1990|Male|ABC Pte Ltd
            Beatrice Ong|Katong Fried Chicken|Family Box|23/05/1988|Female|ABC Pte Ltd
            Chandra Nair|Noodle House|Prawn Noodles|17/11/1991|Male|XYZ Pte Ltd
            """,
        ),
        {
            "Name": DIRECT,
            "Favourite eatery": TARGET,
            "Favourite food": TARGET,
            "Date of birth": QUASI,
            "Gender": QUASI,
            "Company": QUASI,
        },
    ),
    "pdpc employees": WorkedTable(
        "PDPC step 1, example 1: the first columns are direct identifiers, the last is a target",
        rows(
            "Staff ID|Name|Department|Gender|Date of birth|Start date of service|Employment type",
            """
            39192|Sandy Thomas|Research & Development|F|08/01/1971|02/03/1997|Part-time
            37030|Paula Swenson|Engineering|F|15/05/1976|08/03/2015|Full-time
            22722|Bosco Wood|Engineering|M|31/12/1973|30/07/1991|Full-time
            28760|Stef Stone|Engineering|F|24/12/1970|18/03/2010|Part-time
            13902|Jake Norma|Human Resource|M|15/07/1973|28/05/2012|Part-time
            """,
        ),
        {
            "Staff ID": DIRECT,
            "Name": DIRECT,
            "Department": QUASI,
            "Gender": QUASI,
            "Date of birth": QUASI,
            "Employment type": TARGET,
        },
    ),
    "pdpc customers": WorkedTable(
        "PDPC step 1, example 2",
        rows(
            "Customer ID|Name|Gender|Date of birth|Postal code|Occupation|Income|Education|Marital status",
            """
            56833|Jenny Jefferson|F|05/08/1975|570150|Data scientist|$13,000|Masters|Widowed
            50271|Peter G|M|14/12/1973|787589|University lecturer|$12,000|Doctorate|Married
            53041|Tim Lake|F|02/03/1985|408600|Researcher|$7,000|Doctorate|Divorced
            17290|Remy Bay|M|27/03/1968|570150|Database administrator|$8,000|Bachelor|Married
            52388|Walter Paul|M|25/06/1967|199588|Architect|$10,000|Masters|Single
            """,
        ),
        {
            "Customer ID": DIRECT,
            "Name": DIRECT,
            "Gender": QUASI,
            "Date of birth": QUASI,
            "Postal code": QUASI,
            "Occupation": QUASI,
            "Income": TARGET,
            "Marital status": QUASI,
        },
    ),
    "pdpc shows": WorkedTable(
        "PDPC step 2",
        rows("Name|Age|Favourite show", "Alex|25|The Big Bang Theory\nBosco|54|Friends\nCharlene|42|Grey's Anatomy"),
        {"Name": DIRECT, "Age": QUASI, "Favourite show": TARGET},
    ),
    "pdpc step 4": WorkedTable(
        "PDPC step 4",
        rows(
            "Postal code|Age|Favourite show",
            "\n".join(
                ["22xxxx|21 to 25|Emily in Paris"] * 2
                + ["10xxxx|41 to 45|Brooklyn Nine-Nine"] * 4
                + ["58xxxx|56 to 60|Attenborough's Life in Colour"] * 3
            ),
        ),
        {"Postal code": QUASI, "Age": QUASI, "Favourite show": TARGET},
    ),
    "pdpc addresses": WorkedTable(
        "PDPC annex A, generalisation: the person is a pseudonym already",
        rows(
            "Serial number|Person|Age|Address",
            """
            1|357703|24|700 Toa Payoh Lorong 5
            2|233121|31|800 Ang Mo Kio Avenue 12
            3|938637|44|900 Jurong East Street 70
            4|591493|29|750 Toa Payoh Lorong 5
            5|202626|23|5 Tampines Street 90
            6|888948|75|1 Stonehenge Road
            7|175878|28|10 Tampines Street 90
            8|312304|50|50 Jurong East Street 70
            9|214025|30|720 Toa Payoh Lorong 5
            10|271714|37|830 Ang Mo Kio Avenue 12
            11|341338|22|15 Tampines Street 90
            12|529057|25|18 Tampines Street 90
            13|390438|39|840 Ang Mo Kio Avenue 12
            """,
        ),
        {"Serial number": DIRECT, "Person": DIRECT, "Age": QUASI, "Address": QUASI},
    ),
    "pdpc members": WorkedTable(
        "PDPC annex A, swapping: job profiles and what is bought",
        rows(
            "Person|Job title|Date of birth|Membership type|Average visits per month",
            """
            A|University lecturer|3 Jan 1970|Silver|0
            B|Salesman|5 Feb 1972|Platinum|5
            C|Lawyer|7 Mar 1985|Gold|2
            D|IT professional|10 Apr 1990|Silver|1
            E|Nurse|13 May 1995|Silver|2
            """,
        ),
        {
            "Person": DIRECT,
            "Job title": QUASI,
            "Date of birth": QUASI,
            "Membership type": TARGET,
            "Average visits per month": TARGET,
        },
    ),
    "pdpc donations": WorkedTable(
        "PDPC annex A, aggregation; salaries are targets by annex B",
        rows(
            "Donor|Monthly income ($)|Amount donated in 2016 ($)",
            """
            Donor A|4000|210
            Donor B|4900|420
            Donor C|2200|150
            Donor D|4200|110
            Donor E|5500|260
            Donor F|2600|40
            Donor G|3300|130
            Donor H|5500|210
            Donor I|1600|380
            Donor J|3200|80
            Donor K|2000|440
            Donor L|5800|400
            Donor M|4600|390
            Donor N|1900|480
            Donor O|1700|320
            Donor P|2400|330
            Donor Q|4300|390
            Donor R|2300|260
            Donor S|3500|80
            Donor T|1700|290
            """,
        ),
        {"Donor": DIRECT, "Monthly income ($)": TARGET, "Amount donated in 2016 ($)": TARGET},
    ),
    "pdpc grocery": WorkedTable(
        "PDPC annex A, character masking",
        rows(
            "Postal code|Favourite delivery time slot|Average number of orders per month",
            "100111|8 pm to 9 pm|2\n200222|11 am to 12 noon|8\n300333|2 pm to 3pm|1",
        ),
        {"Postal code": QUASI, "Favourite delivery time slot": TARGET, "Average number of orders per month": TARGET},
    ),
    "pdpc lessons": WorkedTable(
        "PDPC annex A, pseudonymisation",
        rows(
            "Person|Pre-assessment result|Hours of lessons taken before passing",
            """
            Joe Phang|A|20
            Zack Lim|B|26
            Eu Cheng San|C|30
            Linnie Mok|D|29
            Jeslyn Tan|B|32
            Chan Siew Lee|A|25
            """,
        ),
        {"Person": DIRECT, "Pre-assessment result": TARGET, "Hours of lessons taken before passing": TARGET},
    ),
    "pdpc diseases": WorkedTable(
        "PDPC annex A, perturbation: height, weight and age are rounded",
        rows(
            "Person|Height (cm)|Weight (kg)|Age (years)|Smokes?|Disease A?|Disease B?",
            """
            198740|160|50|30|No|No|No
            287402|177|70|36|No|No|Yes
            398747|158|46|20|Yes|Yes|No
            498732|173|75|22|No|No|No
            598772|169|82|44|Yes|Yes|Yes
            """,
        ),
        {
            "Person": DIRECT,
            "Height (cm)": QUASI,
            "Weight (kg)": QUASI,
            "Age (years)": QUASI,
            "Smokes?": TARGET,
            "Disease A?": TARGET,
            "Disease B?": TARGET,
        },
    ),
    "pdpc taxis": WorkedTable(
        "PDPC annex C: the number of trips is the target",
        rows(
            "Age|Gender|Occupation|Average number of trips per week",
            """
            21|Female|Assistant Data Protection Officer|15
            38|Male|Lead IT Consultant|2
            25|Female|Banker|8
            34|Male|Database Administrator|3
            30|Female|Chief Privacy Officer|1
            29|Female|Regional Data Protection Officer|5
            38|Male|Programmer|3
            32|Male|IT Analyst|4
            25|Female|Deputy Data Protection Officer|2
            23|Female|Manager, DPO Office|11
            31|Male|UX Designer|0
            """,
        ),
        {"Age": QUASI, "Gender": QUASI, "Occupation": QUASI, "Average number of trips per week": TARGET},
    ),
}
