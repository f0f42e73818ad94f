"""A schema from the names of columns, or from a policy: not a value of the data is read.

A policy tells more than names: the values that a hierarchy lists, the range of its intervals, bounds of techniques,
declared types. What tells nothing gets words without a meaning, or a code that says it is for tests, and is said so.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

import polars as pl
from pydantic import ValidationError

from shoal.discover.recognisers.base import words
from shoal.discover.recognisers.recogniser_set import RecogniserSet, default_recognisers
from shoal.errors import InputError
from shoal.hierarchy import Hierarchy
from shoal.hierarchy.kinds.classification import ClassificationHierarchy
from shoal.hierarchy.kinds.dates import DateHierarchy
from shoal.hierarchy.kinds.intervals import IntervalHierarchy
from shoal.policy import EVERYTHING_ELSE, Attribute, Policy
from shoal.randomness import Randomness
from shoal.schema.roles import Role
from shoal.schema.values import ValueType
from shoal.synth.test_data.base import registered_generators
from shoal.synth.test_data.rows import rows_between
from shoal.synth.test_data.table_schema import TableSchema
from shoal.techniques import Technique
from shoal.techniques.generalisation.code import Code
from shoal.techniques.randomisation.noise.noise import Noise

Chosen = dict[str, Any]
"""A generator as it is written in a schema: its key, with parameters."""
FOR_TESTS: Chosen = {"pattern": "TEST-########"}
_MEANINGLESS: Chosen = {"words": 1}
_DAY: Chosen = {"date": {}}
_MOMENT: Chosen = {"datetime": {}}
_COUNT: Chosen = {"integer": {"low": 0, "high": 1000}}
_LAST_WORDS: Mapping[str, Chosen] = {
    **dict.fromkeys(("id", "ids", "key", "ref", "code"), FOR_TESTS),
    **dict.fromkeys(("date", "day", "on"), _DAY),
    **dict.fromkeys(("at", "time", "timestamp"), _MOMENT),
    **dict.fromkeys(("count", "number", "total"), _COUNT),
}
"""What the last word of a name tells, where nothing else does."""
_PARTS = {"given": ("first", "given", "forename"), "family": ("last", "family", "surname")}
_OF_TYPES: Mapping[ValueType, Chosen] = {
    ValueType.INTEGER: {"integer": {}},
    ValueType.DECIMAL: {"decimal": {}},
    ValueType.BOOLEAN: {"boolean": {}},
    ValueType.DATE: {"date": {}},
    ValueType.DATETIME: {"datetime": {}},
}
_STORED_AS: Mapping[type[pl.DataType], str] = {
    pl.Boolean: "boolean",
    pl.Date: "date",
    pl.Datetime: "datetime",
    pl.Time: "datetime",
}
_MOST = 1000
_SMALL: Mapping[pl.DataType, int] = {pl.Int8(): 100, pl.UInt8(): 200}
_OF_CLASSIFICATIONS: Mapping[str, Chosen] = {"india-pin": {"pin_code": {}}, "singapore-postal": {"postal_code": {}}}


@dataclass(frozen=True)
class Derived:
    """What a column is filled with, and what told so."""

    generator: Chosen
    because: str


@dataclass(frozen=True)
class DerivedSchema:
    schema: TableSchema
    reasons: Mapping[str, str]
    """By column, for a reader."""


def schema_of_names(
    columns: Iterable[str], *, rows: int = 1000, recognisers: RecogniserSet | None = None
) -> DerivedSchema:
    """
    >>> derived = schema_of_names(["patient_id", "first_name", "aadhaar", "mobile"])
    >>> [column.generator.key for column in derived.schema.columns.values()]
    ['pattern', 'name', 'aadhaar', 'phone']
    """
    known = recognisers or default_recognisers()
    derived = {name: by_name(name, known) or _unknown(None) for name in columns}
    return _schema(derived, rows)


def schema_of_types(stored: pl.Schema, *, rows: int = 1000) -> DerivedSchema:
    """By names too, but numbers, dates, times and booleans where these are stored: types are no values of the data.

    >>> derived = schema_of_types(pl.Schema({"patient_id": pl.Int64(), "admitted": pl.Date(), "sex": pl.String()}))
    >>> [column.generator.key for column in derived.schema.columns.values()]
    ['serial', 'date', 'category']
    """
    named = schema_of_names(stored, rows=rows)
    made = rows_between(named.schema, 0, 1, Randomness(0)).schema
    known = default_recognisers()
    derived = {}
    for name, type_ in stored.items():
        told = by_name(name, known) or _unknown(None)
        typed = None if made[name].is_numeric() and type_.is_numeric() else _by_stored(type_, told)
        derived[name] = typed if typed is not None and made[name].base_type() != type_.base_type() else told
    return _schema(derived, rows)


def _by_stored(stored: pl.DataType, by_its_name: Derived) -> Derived | None:
    """None where text is stored, or what nothing is known of."""
    because = "its type says so"
    if stored.is_integer() and by_its_name.generator == FOR_TESTS:
        return Derived({"serial": {}}, because)
    if stored.is_integer() or isinstance(stored, pl.Duration):
        most = next((most for type_, most in _SMALL.items() if stored == type_), _MOST)
        return Derived({"integer": {"low": 0, "high": most}}, because)
    if stored.is_numeric():
        return Derived({"decimal": {}}, because)
    key = next((key for type_, key in _STORED_AS.items() if stored.base_type() == type_), None)
    return None if key is None else Derived({key: {}}, because)


def schema_of_policy(policy: Policy, *, rows: int = 1000, recognisers: RecogniserSet | None = None) -> DerivedSchema:
    """Of the table that the policy is for, with the columns that it suppresses: tests are for what reads the table."""
    known = recognisers or default_recognisers().with_files(*policy.recogniser_files)
    derived = {}
    for name, attribute in policy.attributes.items():
        if name == EVERYTHING_ELSE:
            continue
        given = attribute.hierarchy.resolve(policy.folder) if attribute.hierarchy else None
        told = _by_hierarchy(given, attribute) or _by_techniques(attribute)
        derived[name] = told or by_name(name, known) or _by_type(attribute) or _unknown(attribute.role)
    if not derived:
        raise InputError("the policy names no column", advice="name the columns under attributes")
    return _schema(derived, rows)


def by_name(column: str, recognisers: RecogniserSet) -> Derived | None:
    """By a recogniser whose words are in the name, by the key of a generator, or by the last word."""
    said = words(column)
    key = said.replace(" ", "_")
    if key in _made_without_parameters():
        return Derived({key: {}}, f"its name is that of the generator {key}")
    for one in recognisers:
        if one.hinted(column) and (found := _for_recognisers().get(one.key)):
            return Derived(_with_part(found, said), f"its name speaks of {one.title}")
    direct = recognisers.direct_by_name(column)
    if direct is not None:
        return Derived(FOR_TESTS, f"its name speaks of {direct.title}, for which there is no generator")
    last = said.rpartition(" ")[2]
    return Derived(_LAST_WORDS[last], f"its name ends in '{last}'") if last in _LAST_WORDS else None


def _with_part(found: Chosen, said: str) -> Chosen:
    part = next((part for part, told in _PARTS.items() if set(told) & set(said.split())), None)
    return {"name": {"part": part}} if "name" in found and part else found


@cache
def _for_recognisers() -> Mapping[str, Chosen]:
    """By the key of a recogniser, the generator that makes its values."""
    return {one: {key: dict(given)} for key, made in registered_generators for one, given in made.stands_for.items()}


@cache
def _made_without_parameters() -> frozenset[str]:
    """Generators that need no parameters."""
    return frozenset(key for key, made in registered_generators if _is_whole(made))


def _is_whole(made: Callable[[], object]) -> bool:
    try:
        made()
    except ValidationError:
        return False
    return True


def _by_hierarchy(hierarchy: Hierarchy | None, attribute: Attribute) -> Derived | None:
    match hierarchy:
        case None:
            return None
        case IntervalHierarchy():
            return Derived(_interval(hierarchy, attribute), "its hierarchy has intervals")
        case DateHierarchy():
            return Derived(_dates(attribute), "its hierarchy is one of dates")
        case ClassificationHierarchy() if hierarchy.name in _OF_CLASSIFICATIONS:
            return Derived(_OF_CLASSIFICATIONS[hierarchy.name], f"its hierarchy is {hierarchy.name}")
    values = tuple(dict.fromkeys(value for value in hierarchy.listed() or () if value))
    return Derived({"category": {"values": values}}, "its hierarchy lists the values") if values else None


def _interval(hierarchy: IntervalHierarchy, attribute: Attribute) -> Chosen:
    """From one interval below the lower end to one above the upper; without ends, two of the widest."""
    narrow, wide = hierarchy.widths[0], hierarchy.widths[-1]
    low = hierarchy.origin if hierarchy.low is None else hierarchy.low - narrow
    high = low + 2 * wide if hierarchy.high is None else hierarchy.high + narrow
    return _numbers(low, high, attribute)


def _numbers(low: Decimal, high: Decimal, attribute: Attribute) -> Chosen:
    whole = attribute.type is not ValueType.DECIMAL and low == int(low) and high == int(high)
    if whole:
        return {"integer": {"low": int(low), "high": int(high) - (high > low)}}
    return {"decimal": {"low": str(low), "high": str(high)}}


def _dates(attribute: Attribute, **ends: datetime.date) -> Chosen:
    key = "datetime" if attribute.type is ValueType.DATETIME or "%H" in (attribute.format or "") else "date"
    given = {end: day.isoformat() for end, day in ends.items()}
    return {key: given | ({"format": attribute.format} if attribute.format else {})}


def _by_techniques(attribute: Attribute) -> Derived | None:
    for step in attribute.technique:
        low, high = _bounds(step)
        if isinstance(low, datetime.date) and isinstance(high, datetime.date):
            return Derived(_dates(attribute, first=low, last=high), f"{step.key} has bounds")
        if isinstance(low, int | float) and isinstance(high, int | float):
            return Derived(_numbers(Decimal(str(low)), Decimal(str(high)), attribute), f"{step.key} has bounds")
    return None


def _bounds(step: Technique) -> tuple[object, object]:
    match step:
        case Code():
            return step.bottom, step.top
        case Noise() if step.bounds is not None:
            return step.bounds[0], step.bounds[1]
    return None, None


def _by_type(attribute: Attribute) -> Derived | None:
    if attribute.format is not None:
        return Derived(_dates(attribute), "the policy gives a format of dates")
    if attribute.type is None or attribute.type not in _OF_TYPES:
        return None
    return Derived(_OF_TYPES[attribute.type], "the policy declares its type")


def _unknown(role: Role | None) -> Derived:
    """Values that can't be taken for somebody's."""
    return Derived(FOR_TESTS if role is Role.DIRECT else _MEANINGLESS, "nothing tells what it holds")


def _schema(derived: Mapping[str, Derived], rows: int) -> DerivedSchema:
    columns = {name: one.generator for name, one in derived.items()}
    schema = TableSchema.model_validate({"shoal": 1, "rows": rows, "columns": columns})
    return DerivedSchema(schema, {name: one.because for name, one in derived.items()})
