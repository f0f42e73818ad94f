"""Keys: values that were made to tell records apart, and whom they tell apart.

A key of a person names the person as well as a name does. A key of something else, a hospital or an insurer, is shared
by many people; but one that always goes with the same person, such as the number of a visit, leads to that person too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl

from shoal.discover.recognisers import words
from shoal.schema import Column, ValueType

PEOPLE = frozenset(
    re.findall(
        r"\w+",
        "patient person people member customer client user employee worker staff student pupil subject respondent "
        "participant citizen resident donor policyholder borrower passenger guest subscriber beneficiary individual "
        "household applicant tenant driver voter taxpayer principal insured claimant",
    )
)
"""Words in a column's name that say whom a key tells apart."""
MARKS = frozenset(re.findall(r"\w+", "id ids no nr num number key code ref uid uuid guid identifier pseudonym"))
"""Words that say a column holds keys, at the end of its name."""
BARE = frozenset({"id", "pid", "uid", "uuid", "guid", "mrn", "uhid", "key", "record id", "row id", "identifier"})
"""Names of keys that say nothing of what is named."""
NUMBERINGS = frozenset(
    re.findall(
        r"[^|]+",
        "sr|sr no|sr number|s no|sno|sl|sl no|slno|srno|serial|serial no|serial number|row|row no|row number|record|"
        "record no|record number|line|line no|line number|index|no|nr|number",
    )
)
"""Names of columns that number the records."""
NAME_PARTS = frozenset(
    re.findall(
        r"[^|]+",
        "first|last|middle|maiden|given|family|fname|lname|mname|forename|forenames|firstname|lastname|surname|nickname|"
        "fullname|full|initials|alias|maidenname|mothers maiden|vorname|nachname|nom|prenom|prénom|nombre|apellido|"
        "apellidos|cognome",
    )
)
"""Whole names of columns that hold a part of a person's name."""
MOSTLY = 0.95
_UUID = r"^\s*\{?[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}\}?\s*$"
_CODE = r"^\s*[\p{L}]{0,6}[-_/.]?\d[\p{L}\d_/.-]{2,39}\s*$"
_PART = r"^[\p{L}\p{M}][\p{L}\p{M}\d.' -]*$"


@dataclass(frozen=True)
class KeyEvidence:
    person: bool
    """Whether the column's name says that it tells people apart."""
    why: str
    several_people: bool = False
    """Whether its values go with several people's names each."""
    numbering: bool = False
    """Whether it numbers the records."""


def key_in(column: Column, distinct: pl.Series) -> KeyEvidence | None:
    """What speaks for keys in a column, given its distinct values as text."""
    if len(distinct) < 2 or column.type not in (ValueType.TEXT, ValueType.INTEGER):
        return None
    name = words(column.name)
    said = name.split()
    machine_made = _share(distinct, _UUID) >= MOSTLY
    if said and PEOPLE & set(_singular(said)) and _is_of_people(said, distinct, machine_made=machine_made):
        return KeyEvidence(person=True, why="its name and its form say that it is the key of a person")
    if name in NUMBERINGS and _is_running(distinct):
        return KeyEvidence(person=False, why="it numbers the records", numbering=True)
    if name in BARE:
        return KeyEvidence(person=False, why="its name says that it is a key, made to tell records apart")
    if machine_made:
        return KeyEvidence(person=False, why="its values are keys made by a machine, each for one thing")
    return None


def _is_of_people(said: list[str], distinct: pl.Series, *, machine_made: bool) -> bool:
    if said[-1] in MARKS:
        return True
    return said[-1] in _people(said[-1:]) and (machine_made or _share(distinct, _CODE) >= MOSTLY)


def _is_running(distinct: pl.Series) -> bool:
    """Whether the values are 0 or 1 and all that follow."""
    numbers = set(distinct.cast(pl.Int64, strict=False).drop_nulls())
    return numbers in (set(range(len(distinct))), set(range(1, len(distinct) + 1)))


def _people(said: list[str]) -> set[str]:
    return {word for word in said if set(_singular([word])) & PEOPLE}


def _singular(said: list[str]) -> list[str]:
    return [word if word in PEOPLE else word.removesuffix("s") for word in said]


def _share(distinct: pl.Series, pattern: str) -> float:
    return float(distinct.str.contains(pattern).sum()) / len(distinct)


def is_name_part(column: Column, distinct: pl.Series) -> bool:
    """A column called FIRST or LAST, with words in it; synthetic names may end in digits."""
    if column.type is not ValueType.TEXT or words(column.name) not in NAME_PARTS or distinct.is_empty():
        return False
    return _share(distinct, _PART) >= 0.8 and not re.search("visit|seen|date", column.name.lower())
