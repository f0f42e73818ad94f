"""The admissions of a made-up hospital in Pune: one record per person, nobody real.

Drawn from a seed, so that everybody sees the same table. Names are put together by chance. Numbers look right but can't
be anybody's:

* Aadhaar: twelve digits with a valid Verhoeff check digit, but the first digit is 0 or 1, and no such number is ever
  given out.
* Phone: after +91 comes a 0. In India's numbering plan 0 is the trunk prefix, so no subscriber's number begins with it;
  and a network that drops it is left with nine digits, one too few.

>>> table(people=3).columns[:4]
['patient_id', 'name', 'aadhaar', 'phone']
"""

from __future__ import annotations

import datetime
from bisect import bisect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import accumulate
from pathlib import Path
from statistics import NormalDist
from typing import TypeVar

import numpy as np
import polars as pl
from stdnum import verhoeff

from shoal.errors import DataError
from shoal.examples.demography import (
    AGE_BANDS,
    CHILD,
    CITIES,
    HOMEMAKER,
    ILLNESSES,
    REMARKS,
    RETIRED,
    STUDENT,
    WORK,
    City,
    Illness,
)
from shoal.examples.names import COMMUNITIES, Community
from shoal.io import atomic_path
from shoal.kernels.arrays import Floats
from shoal.randomness import Randomness

PEOPLE = 5_000
SEED = 1
NEW_YEAR = datetime.date(2025, 1, 1)
MONSOON = range(170, 290)
"""Days of the year in which mosquitoes breed and snakes are about."""

SCHEMA = {
    "patient_id": pl.String(),
    "name": pl.String(),
    "aadhaar": pl.String(),
    "phone": pl.String(),
    "age": pl.Int64(),
    "sex": pl.String(),
    "pin": pl.String(),
    "city": pl.String(),
    "occupation": pl.String(),
    "admitted": pl.Date(),
    "diagnosis": pl.String(),
    "bill": pl.Decimal(12, 2),
    "remarks": pl.String(),
}

Chance = Callable[[str], float]
"""A person's number in (0, 1) for each purpose."""
Cell = str | int | float | datetime.date | None
T = TypeVar("T")


def table(people: int = PEOPLE, seed: int = SEED) -> pl.DataFrame:
    """One record for each of ``people`` persons. A shorter table is the beginning of a longer one."""
    if people < 0:
        raise DataError(f"there can't be {people} people")
    dice = _Dice(Randomness(seed), people)
    rows = [_record(dice, number) for number in range(people)]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(SCHEMA)}
    return pl.DataFrame(columns, schema_overrides=SCHEMA)


def write(path: str | Path, people: int = PEOPLE, seed: int = SEED) -> None:
    """The table as a CSV file."""
    with atomic_path(Path(path)) as partial:
        table(people, seed).write_csv(partial)


def policy() -> str:
    """The policy that goes with the table, as YAML."""
    return resources.files("shoal.examples").joinpath("hospital.yaml").read_text(encoding="utf-8")


class _Dice:
    """Chance for each person: one stream per purpose, one word per person."""

    def __init__(self, randomness: Randomness, people: int) -> None:
        self._randomness = randomness
        self._rows = np.arange(people, dtype=np.uint64)
        self._thrown: dict[str, Floats] = {}

    def chance(self, number: int) -> Chance:
        return lambda purpose: float(self._throw(purpose)[number])

    def serial(self, number: int, purpose: str, prime: int) -> int:
        """A different number for every person, in no visible order: no two inverses modulo a prime are the same."""
        start = int(prime * self._throw(purpose)[0])
        return pow((start + number) % (prime - 1) + 1, -1, prime)

    def _throw(self, purpose: str) -> Floats:
        if purpose not in self._thrown:
            self._thrown[purpose] = self._randomness.stream("hospital", purpose).uniform(self._rows)
        return self._thrown[purpose]


@dataclass(frozen=True)
class _Person:
    woman: bool
    age: int
    city: City
    community: Community
    first: str
    surname: str


def _record(dice: _Dice, number: int) -> tuple[Cell, ...]:
    chance = dice.chance(number)
    person = _person(chance)
    pin = f"{person.city.area}{_pick(person.city.offices, chance('pin')):03}"
    occupation = _occupation(person, chance)
    illness = _weighted(ILLNESSES, [each.at(person.age, woman=person.woman) for each in ILLNESSES], chance("illness"))
    return (
        f"P{dice.serial(number, 'patient_id', 9_999_991):07}",
        f"{person.first} {person.surname}",
        _aadhaar(dice.serial(number, "aadhaar", 19_999_999_967)),
        _phone(chance),
        person.age,
        "F" if person.woman else "M",
        pin,
        person.city.name,
        occupation,
        _admitted(illness, chance),
        illness.name,
        _bill(illness, chance),
        _remarks(person, occupation, pin, chance),
    )


def _person(chance: Chance) -> _Person:
    woman = chance("sex") < 0.5
    ages = _weighted(tuple(AGE_BANDS), AGE_BANDS.values(), chance("age band"))
    city = _weighted(CITIES, [city.weight for city in CITIES], chance("city"))
    community = city.mainly if chance("origin") < 0.5 else _pick(COMMUNITIES, chance("community"))
    return _Person(
        woman=woman,
        age=_pick(ages, chance("age")),
        city=city,
        community=community,
        first=_pick(community.women if woman else community.men, chance("first name")),
        surname=_pick(community.surnames, chance("surname")),
    )


def _occupation(person: _Person, chance: Chance) -> str:
    if person.age < 6:
        return CHILD
    if person.age < 18 or (person.age < 24 and chance("still studies") < 0.6):
        return STUDENT
    if person.age >= 60 and chance("retired") < (0.6 if person.age < 70 else 0.95):
        return RETIRED
    if person.woman and chance("at home") < 0.45:
        return HOMEMAKER
    return _weighted(tuple(WORK), WORK.values(), chance("work"))


def _aadhaar(serial: int) -> str:
    """Eleven digits below 2·10¹⁰, so that the first is 0 or 1, and the check digit."""
    body = f"{serial:011}"
    digits = body + verhoeff.calc_check_digit(body)
    return f"{digits[:4]} {digits[4:8]} {digits[8:]}"


def _phone(chance: Chance) -> str | None:
    if chance("has no phone") < 0.04:
        return None
    digits = f"{6 + int(4 * chance('phone level'))}{int(10**8 * chance('phone')):08}"
    return f"+91 0{digits[:4]} {digits[4:]}"


def _admitted(illness: Illness, chance: Chance) -> datetime.date:
    days = MONSOON if illness.monsoon and chance("in season") < 0.8 else range(365)
    return NEW_YEAR + datetime.timedelta(days=_pick(days, chance("day")))


def _bill(illness: Illness, chance: Chance) -> float:
    """Log-normal around what the illness usually costs."""
    return round(illness.cost * float(np.exp(0.4 * NormalDist().inv_cdf(chance("bill")))), 2)


def _remarks(person: _Person, occupation: str, pin: str, chance: Chance) -> str | None:
    doctor = _pick(_pick(COMMUNITIES, chance("doctor's community")).surnames, chance("doctor"))
    family = [name for name in person.community.women + person.community.men if name != person.first]
    remark = _pick(REMARKS, chance("remark")).format(
        person=person,
        occupation=occupation.lower(),
        pin=pin,
        doctor=doctor,
        relative=_pick(family, chance("relative")),
    )
    return remark or None


def _pick(options: Sequence[T], chance: float) -> T:
    return options[int(chance * len(options))]


def _weighted(options: Sequence[T], weights: Iterable[float], chance: float) -> T:
    edges = list(accumulate(weights))
    return options[bisect(edges, chance * edges[-1])]
