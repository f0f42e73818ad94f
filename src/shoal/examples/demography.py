"""Where the people of the examples live, what they do, what they fall ill with, what is noted of them.

Weights are rough, but what goes together in life goes together here: city and PIN code, age, work and illness.
"""

from __future__ import annotations

from dataclasses import dataclass

from shoal.examples.names import (
    BENGALI,
    GUJARATI,
    HINDI,
    KANNADA,
    MARATHI,
    MUSLIM,
    PUNJABI,
    TAMIL,
    TELUGU,
    Community,
)


@dataclass(frozen=True)
class City:
    """A city, the first three digits of its PIN codes, its post offices, and how many patients come from it."""

    name: str
    area: str
    offices: range
    weight: float
    mainly: Community


CITIES = (
    City("Pune", "411", range(1, 49), 56, MARATHI),
    City("Pimpri-Chinchwad", "411", range(56, 63), 22, MARATHI),
    City("Shirur", "412", range(208, 221), 4, MARATHI),
    City("Baramati", "413", range(102, 107), 3, MARATHI),
    City("Solapur", "413", range(1, 9), 3, MARATHI),
    City("Ahilyanagar", "414", range(1, 6), 2, MARATHI),
    City("Satara", "415", range(1, 5), 2, MARATHI),
    City("Kolhapur", "416", range(1, 14), 2, MARATHI),
    City("Nashik", "422", range(1, 14), 1.2, MARATHI),
    City("Mumbai", "400", range(1, 105), 1.6, GUJARATI),
    City("Nagpur", "440", range(1, 38), 0.6, HINDI),
    City("Surat", "395", range(1, 12), 0.4, GUJARATI),
    City("Hyderabad", "500", range(1, 99), 0.5, TELUGU),
    City("Bengaluru", "560", range(1, 105), 0.5, KANNADA),
    City("Chennai", "600", range(1, 120), 0.3, TAMIL),
    City("Delhi", "110", range(1, 97), 0.4, PUNJABI),
    City("Lucknow", "226", range(1, 32), 0.3, MUSLIM),
    City("Kolkata", "700", range(1, 110), 0.2, BENGALI),
)

AGE_BANDS = {
    range(5): 8,
    range(5, 15): 8,
    range(15, 25): 13,
    range(25, 35): 17,
    range(35, 45): 13,
    range(45, 55): 13,
    range(55, 65): 13,
    range(65, 75): 10,
    range(75, 85): 4,
    range(85, 99): 1,
}

CHILD, STUDENT, HOMEMAKER, RETIRED = "Child", "Student", "Homemaker", "Retired"
WORK = {
    "Software engineer": 9,
    "Teacher": 7,
    "Accountant": 4,
    "Bank clerk": 4,
    "Nurse": 3,
    "Civil servant": 3,
    "Lawyer": 2,
    "Shopkeeper": 8,
    "Driver": 7,
    "Cook": 4,
    "Security guard": 4,
    "Tailor": 3,
    "Delivery rider": 3,
    "Machine operator": 8,
    "Electrician": 4,
    "Mason": 4,
    "Mechanic": 4,
    "Farmer": 14,
    "Farm labourer": 7,
    "Unemployed": 4,
}


@dataclass(frozen=True)
class Illness:
    """How common it is below 15, below 40, below 65 and from 65 on, what it costs, whom it meets and when."""

    name: str
    children: float
    young: float
    middle: float
    old: float
    cost: int
    """Median bill in rupees."""
    women_only: bool = False
    adults_only: bool = False
    monsoon: bool = False

    def at(self, age: int, *, woman: bool) -> float:
        if (self.women_only and not woman) or (self.adults_only and age < 20):
            return 0.0
        bounds = ((15, self.children), (40, self.young), (65, self.middle))
        return next((weight for below, weight in bounds if age < below), self.old)


ILLNESSES = (
    Illness("Hypertension", 0, 4, 16, 17, 14_000),
    Illness("Type 2 diabetes", 0, 3, 14, 13, 18_000),
    Illness("Gastroenteritis", 15, 9, 4, 3, 9_000),
    Illness("Dengue", 8, 10, 4, 2, 32_000, monsoon=True),
    Illness("Fracture", 9, 9, 6, 7, 65_000),
    Illness("Pneumonia", 10, 2, 3, 8, 48_000),
    Illness("Childbirth", 0, 24, 0, 0, 55_000, women_only=True, adults_only=True),
    Illness("Asthma", 9, 4, 3, 2, 11_000),
    Illness("Typhoid", 7, 5, 2, 1, 22_000, monsoon=True),
    Illness("Malaria", 3, 4, 2, 1, 19_000, monsoon=True),
    Illness("Ischaemic heart disease", 0, 0.5, 8, 13, 185_000),
    Illness("Anaemia", 6, 4, 3, 2, 12_000),
    Illness("Kidney stones", 0.2, 4, 4, 2, 58_000),
    Illness("Appendicitis", 5, 4, 1, 0.3, 62_000),
    Illness("Osteoarthritis", 0, 0.1, 4, 8, 210_000),
    Illness("Cataract", 0, 0.1, 2, 9, 38_000),
    Illness("Stroke", 0, 0.3, 3, 8, 160_000),
    Illness("COPD", 0, 0.2, 3, 7, 42_000),
    Illness("Chronic kidney disease", 0.2, 0.5, 3, 4, 95_000),
    Illness("Tuberculosis", 1, 3, 3, 2, 26_000),
    Illness("Depression", 0, 2.5, 2, 1, 24_000),
    Illness("Breast cancer", 0, 0.3, 2.5, 2, 240_000, women_only=True, adults_only=True),
    Illness("Snake bite", 0.5, 0.8, 0.6, 0.2, 36_000, monsoon=True),
    Illness("HIV infection", 0, 0.8, 0.6, 0.1, 30_000, adults_only=True),
)

REMARKS = (
    "{person.age}-year-old from {person.city.name}, referred by Dr {doctor}. Improving on discharge.",
    "Brought in by {relative}, who lives with the patient in {person.city.name}. To see Dr {doctor} in two weeks.",
    "Occupation: {occupation}. Dr {doctor} advised ten days of rest.",
    "No known allergies. Next of kin: {relative} {person.surname}, {pin}.",
    "Second admission this year. Dr {doctor} advised a change of diet.",
    "{person.first} speaks with difficulty; {relative} gave the history. Seen by Dr {doctor}.",
    "Stable. Discharged home to {person.city.name}.",
    "",
)
"""Free text as it is found in practice: it names people and repeats other columns. The last one: nothing was noted."""
