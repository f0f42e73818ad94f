"""The kinds of values that techniques are chosen by (ISO/IEC 20889, 11.6): more than how a value is stored.

``1`` to ``5`` may be a count, a mark or the code of a district; ``a;b;c`` is one text or a set of three. What the
column's name says and what its distinct values look like decide.
"""

from __future__ import annotations

import re
from enum import StrEnum

import polars as pl

from shoal.discover.recognisers import words
from shoal.schema import Column, ValueType
from shoal.schema.type_detection import AmbiguousDate


class ValueKind(StrEnum):
    CONTINUOUS = "continuous"
    DISCRETE = "discrete"
    ORDINAL = "ordinal"
    CATEGORICAL = "categorical"
    DATE = "date"
    TEXT = "text"
    SET = "set-valued"


FEW = 30
"""An ordered scale has no more steps than this."""
OF_SCALES = frozenset(
    re.findall(
        r"\w+", "rating grade score stage level severity rank priority triage satisfaction likert band tier step"
    )
)
"""Words in a column's name that say its values have an order."""
OF_CODES = frozenset(
    re.findall(
        r"\w+",
        "code id no nr number fips zip pin postal postcode key icd snomed atc isco isco08 nco nace nic isic naics sic",
    )
)
"""Words in a column's name that say its digits are not for counting."""
LONG_NUMBER = 7
"""Whole numbers that all have as many digits or more are codes."""
SCALES: tuple[frozenset[str], ...] = tuple(
    frozenset(scale.split("|"))
    for scale in (
        "none|very low|low|medium|moderate|high|very high|extreme|critical",
        "none|minimal|mild|moderate|severe|very severe|critical|fatal",
        "never|rarely|seldom|sometimes|occasionally|often|usually|always",
        "strongly disagree|disagree|somewhat disagree|neutral|neither|somewhat agree|agree|strongly agree",
        "very poor|poor|fair|average|satisfactory|good|very good|excellent|outstanding",
        "xxs|xs|s|m|l|xl|xxl|xxxl",
        "i|ii|iii|iv|v|vi|vii|viii|ix|x",
        "stage i|stage ii|stage iii|stage iv|stage 0|stage 1|stage 2|stage 3|stage 4",
        "first|second|third|fourth|fifth|1st|2nd|3rd|4th|5th",
        "junior|intermediate|senior|lead|principal",
        "infant|child|teenager|adolescent|adult|elderly|senior",
        "monday|tuesday|wednesday|thursday|friday|saturday|sunday",
        "january|february|march|april|may|june|july|august|september|october|november|december",
        "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec",
    )
)
_RANGES = r"^\s*(?:[<>≤≥]=?\s*\d[\d.,]*\s?\p{L}?|\d[\d.,]*\s*(?:-|–|to|bis)\s*\d[\d.,]*|\d[\d.,]*\s*\+)\s*$"
_SEPARATORS = (";", "|", ",")
_LONGEST_ITEM = 40


def kind_of(column: Column, distinct: pl.Series, *, free_text: bool) -> ValueKind:
    """``distinct`` are the distinct values as text."""
    if column.storage.is_nested() and not isinstance(column.storage, pl.Struct):
        return ValueKind.SET
    if column.is_date or isinstance(column, AmbiguousDate):
        return ValueKind.DATE
    if column.is_number:
        return _of_numbers(column, distinct)
    if column.type is ValueType.BOOLEAN:
        return ValueKind.CATEGORICAL
    return ValueKind.SET if _is_set(distinct) else ValueKind.TEXT if free_text else _of_labels(column.name, distinct)


def _of_numbers(column: Column, distinct: pl.Series) -> ValueKind:
    if column.type is ValueType.DECIMAL:
        return ValueKind.CONTINUOUS if column.scale else ValueKind.DISCRETE
    return _of_whole_numbers(column.name, distinct)


def _of_labels(name: str, distinct: pl.Series) -> ValueKind:
    return ValueKind.ORDINAL if _is_ordered(name, distinct) else ValueKind.CATEGORICAL


def _of_whole_numbers(name: str, distinct: pl.Series) -> ValueKind:
    said = set(words(name).split())
    shortest = distinct.str.len_chars().min()
    long = isinstance(shortest, int) and shortest >= LONG_NUMBER
    if said & OF_CODES or words(name).endswith("code") or long:
        return ValueKind.CATEGORICAL
    return ValueKind.ORDINAL if said & OF_SCALES and len(distinct) <= FEW else ValueKind.DISCRETE


def _is_ordered(name: str, distinct: pl.Series) -> bool:
    if not 2 <= len(distinct) <= FEW:
        return False
    lowered = {value.strip().lower() for value in distinct}
    if any(lowered <= scale for scale in SCALES):
        return True
    in_ranges = distinct.str.contains(_RANGES).mean()
    if isinstance(in_ranges, float) and in_ranges >= 0.8:
        return True
    return bool(set(words(name).split()) & OF_SCALES) and all(re.fullmatch(r"[a-f][+-]?|\d{1,2}", v) for v in lowered)


def _is_set(distinct: pl.Series) -> bool:
    """Several short items in a cell, and the same items in many cells."""
    return any(_is_set_by(distinct, separator) for separator in _SEPARATORS)


def _is_set_by(distinct: pl.Series, separator: str) -> bool:
    split = distinct.filter(distinct.str.contains(separator, literal=True))
    if len(split) < max(2, 0.3 * len(distinct)):
        return False
    items = distinct.str.split(separator).explode().str.strip_chars()
    longest = items.str.len_chars().max()
    short = isinstance(longest, int) and longest <= _LONGEST_ITEM
    return short and items.n_unique() <= 0.5 * len(items)
