"""What a server says of its tables, and what a view says of one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from shoal.schema.columns import Column
from shoal.schema.values import ValueType


@dataclass(frozen=True)
class ServedColumn:
    """A column of the server; ``column`` is what a run would know of it."""

    column: Column
    declared: str
    """The server's name of its type."""
    computable: bool = True
    """Whether a technique can read it; other types are released as they are or not at all."""
    in_utc: bool = False
    """Whether it is shown in the time zone of the session, unless it is put in UTC first."""


@dataclass(frozen=True)
class ServedTable:
    name: str
    columns: Mapping[str, ServedColumn]


@dataclass(frozen=True)
class ServedView:
    """A view for one role: what it shows of each column, and of which rows."""

    role: str
    table: str
    columns: Mapping[str, str] = field(repr=False)
    """SQL, by name."""
    conditions: tuple[str, ...] = ()
    """All of them hold of a row that is seen."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """In words, by column."""


def text_column(name: str) -> Column:
    return Column(name, ValueType.TEXT, pl.String())


def whole_column(name: str) -> Column:
    return Column(name, ValueType.INTEGER, pl.Int64())


def decimal_column(name: str, scale: int) -> Column:
    return Column(name, ValueType.DECIMAL, pl.Float64(), scale=scale)


def day_or_other(name: str, declared: str, *, moment: bool, in_utc: bool = False) -> ServedColumn:
    """A date, a moment, a truth value, or what no technique is compiled for."""
    if moment:
        return ServedColumn(Column(name, ValueType.DATETIME, pl.Datetime("us")), declared, in_utc=in_utc)
    if declared == "date":
        return ServedColumn(Column(name, ValueType.DATE, pl.Date()), declared)
    if declared == "boolean":
        return ServedColumn(Column(name, ValueType.BOOLEAN, pl.Boolean()), declared)
    return ServedColumn(text_column(name), declared, computable=False)
