"""Masks by the names of fields, for values that come one by one or in records.

Fails closed: a field that the policy doesn't know is an error, and what is no value of its field's type is not shown.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Final, ParamSpec

import polars as pl

from shoal.errors import DataError, InputError
from shoal.live.attribute_steps import LiveAttribute, beyond_rows, bind_attribute, stated_level, unknown_levels
from shoal.live.served_tables import decimal_column, text_column, whole_column
from shoal.live.sql.refusal import NotInSqlError
from shoal.policy import Policy
from shoal.policy.default_attribute import EVERYTHING_ELSE
from shoal.pseudonyms.secrets import Secrets
from shoal.schema.columns import Column
from shoal.schema.registry import did_you_mean
from shoal.schema.values import ValueType

_SCALE: Final = 6
Parameters = ParamSpec("Parameters")


class UnknownFieldError(DataError):
    """A record has a field of which the policy says nothing."""


@dataclass(frozen=True)
class FieldMasks:
    """What a role sees of records. ``levels`` says how far quasi-identifiers are generalised.

    >>> policy = Policy.of({"shoal": 1, "name": "staff", "attributes": {
    ...     "name": {"role": "direct", "technique": {"mask": {"keep_first": 1}}}, "phone": "suppress"}})
    >>> FieldMasks(policy).record({"name": "Asha", "phone": "6555 0101"})
    {'name': 'A***'}
    """

    policy: Policy
    levels: Mapping[str, int] = field(default_factory=dict)
    secrets: Secrets | None = field(default=None, repr=False)
    _bound: dict[tuple[str, ValueType], LiveAttribute] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        problems = [*beyond_rows(self.policy), *unknown_levels(self.policy, self.levels)]
        for name, attribute in self.policy.attributes.items():
            if name != EVERYTHING_ELSE and attribute.is_released:
                try:
                    stated_level(self.policy, name, self.levels)
                except NotInSqlError as error:
                    problems.append(f"column '{name}': {error}")
        if problems:
            raise InputError("; ".join(problems))

    def shows(self, name: str) -> bool:
        """Whether anything of a field is seen; an UnknownFieldError where the policy doesn't say."""
        attribute = self.policy.attributes.get(name) or self.policy.attributes.get(EVERYTHING_ELSE)
        if attribute is None:
            near = did_you_mean(name, tuple(self.policy.attributes))
            raise UnknownFieldError(f"the policy doesn't name field '{name}'{near}")
        return attribute.is_released

    def value(self, name: str, value: object) -> object:
        """What is seen of one value; None where nothing is."""
        if not self.shows(name):
            return None
        column = self._fitting(name) if value is None else _column_of(name, value)
        if column is None:
            raise DataError(f"field '{name}' holds what no technique reads")
        (shown,) = self._attribute(name, column).shown(pl.Series([value], dtype=column.storage)).to_list()
        return shown

    def record(self, record: Mapping[str, object]) -> dict[str, object]:
        """Without the fields of which nothing is seen."""
        return {name: self.value(name, value) for name, value in record.items() if self.shows(name)}

    def json(self, data: object) -> object:
        """A record, or a list of them; anything else is refused, since nobody could say what it holds."""
        if isinstance(data, Mapping):
            return self.record(data)
        if isinstance(data, list):
            return [self.json(one) for one in data]
        raise DataError("only records and lists of them can be masked by the names of their fields")

    def frame(self, frame: pl.DataFrame) -> pl.DataFrame:
        """A table, column by column."""
        shown = [name for name in frame.columns if self.shows(name)]
        return pl.DataFrame([self._masked(frame[name]) for name in shown])

    def _masked(self, values: pl.Series) -> pl.Series:
        column = self._fitting(values.name) if values.dtype == pl.Null() else _stored_as(values)
        return self._attribute(values.name, column).shown(values.cast(column.storage))

    def _fitting(self, name: str) -> Column:
        """Of a missing value nobody can tell the type: the first that the techniques take."""
        kinds = (text_column(name), whole_column(name), decimal_column(name, _SCALE), _day(name), _moment(name))
        for column in kinds:
            try:
                self._attribute(name, column)
            except DataError:
                continue
            return column
        return Column(name, ValueType.BOOLEAN, pl.Boolean())

    def _attribute(self, name: str, column: Column) -> LiveAttribute:
        key = (name, column.type)
        if key not in self._bound:
            level = stated_level(self.policy, name, self.levels)
            try:
                self._bound[key] = bind_attribute(self.policy.attributes[name], column, level, self.secrets)
            except NotInSqlError as error:
                raise DataError(f"field '{name}': {error}") from None
        return self._bound[key]


def masked(masks: FieldMasks) -> Callable[[Callable[Parameters, object]], Callable[Parameters, object]]:
    """A decorator: what the function returns, a record or a list of them, is masked.

    An error of masking names fields and no values.
    """

    def decorate(function: Callable[Parameters, object]) -> Callable[Parameters, object]:
        @wraps(function)
        def wrapped(*arguments: Parameters.args, **named: Parameters.kwargs) -> object:
            return masks.json(function(*arguments, **named))

        return wrapped

    return decorate


def _column_of(name: str, value: object) -> Column | None:
    """As what a value of Python or JSON is read."""
    if isinstance(value, str):
        return text_column(name)
    if isinstance(value, bool):
        return Column(name, ValueType.BOOLEAN, pl.Boolean())
    if isinstance(value, int):
        return whole_column(name)
    if isinstance(value, float):
        return decimal_column(name, _SCALE)
    if isinstance(value, datetime.datetime):
        return _moment(name)
    return _day(name) if isinstance(value, datetime.date) else None


def _day(name: str) -> Column:
    return Column(name, ValueType.DATE, pl.Date())


def _moment(name: str) -> Column:
    return Column(name, ValueType.DATETIME, pl.Datetime("us"))


def _stored_as(values: pl.Series) -> Column:
    dtype, name = values.dtype, values.name
    if dtype.is_integer():
        return whole_column(name)
    if dtype.is_float() or dtype.is_decimal():
        return decimal_column(name, _SCALE)
    if dtype == pl.Date():
        return _day(name)
    if dtype == pl.Boolean():
        return Column(name, ValueType.BOOLEAN, pl.Boolean())
    if dtype == pl.String():
        return text_column(name)
    if isinstance(dtype, pl.Datetime):
        return _moment(name)
    raise DataError(f"field '{name}' holds what no technique reads")
