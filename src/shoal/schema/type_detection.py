"""What type the values of a column have (ISO/IEC 20889, 11.6), found from the data in bounded memory.

A column has a type only if *every* value present fits it; otherwise it is text. Two stages keep this cheap: `screen`
tries every reading on a sample and drops those that fail, then `count` finds how many values of the whole table fit the
readings that are left. Counts are all that leaves the table, so nothing here can show a value.

What looks like a number but is a code stays text: leading zeros ("007"), a leading plus ("+65…"), whole numbers that
don't fit in 64 bits. Dates whose day and month could be swapped stay text as well, as an `AmbiguousDate`: a
guess would be wrong in silence.

>>> table = pl.LazyFrame({"age": ["34", "41"], "code": ["007", "120"], "seen": ["31/12/2024", None]})
>>> [str(column.type) for column in detect(table, ["age", "code", "seen"]).values()]
['integer', 'text', 'date']
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from shoal.errors import DataError
from shoal.schema.columns import Column, Columns
from shoal.schema.counts import Counts
from shoal.schema.values import ValueType

DATE_FORMATS: tuple[str, ...] = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d.%m.%Y",
    "%d-%b-%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%d %H:%M",
    "%d/%m/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M",
    "%d-%m-%Y %H:%M:%S",
    "%m-%d-%Y %H:%M:%S",
    "%d-%m-%Y %H:%M",
    "%m-%d-%Y %H:%M",
)
"""Formats that are tried, in order of preference. Years have four digits: the century is not ours to guess."""

YEAR = "[0-9]{4}"
"""What every date has, in whatever format; trying all of them takes long."""

SAMPLE_ROWS = 10_000
_CODE = r"^(\+|-?0[0-9])"
_BEHIND_CODES = "1"
"""Every code stands before it in the order of bytes, and few numbers do: to compare takes a tenth of a search."""
_FIRST_DAY = datetime.date(1000, 1, 1)
_MAX_SCALE = 300

Facts = Mapping[str, int | None]


@dataclass(frozen=True)
class AmbiguousDate(Column):
    """Text that reads as dates in several ``formats``, day and month swapped; the user has to say which."""

    formats: tuple[str, ...] = ()


@dataclass(frozen=True)
class TypeCandidates:
    """The readings of a text column that are still possible and have to be counted."""

    integer: bool = False
    decimal: bool = False
    boolean: bool = False
    formats: tuple[str, ...] = ()


EVERYTHING = TypeCandidates(integer=True, decimal=True, boolean=True, formats=DATE_FORMATS)


def fact(name: str, about: str) -> str:
    """The key of one fact about a column. No ``about`` holds a bar, so the keys of two columns never meet."""
    return f"{name}|{about}"


def count(lazy: pl.LazyFrame, candidates: Mapping[str, TypeCandidates]) -> Facts:
    """How many values of each column fit each of its candidates, in one streamed pass."""
    return count_query(lazy, candidates).collect(engine="streaming").row(0, named=True)


def count_query(lazy: pl.LazyFrame, candidates: Mapping[str, TypeCandidates]) -> pl.LazyFrame:
    """The facts, as one row."""
    schema = lazy.collect_schema()
    # The streaming engine shares no work between expressions, so what several counts need is computed one step before.
    read, counted = [], []
    for name, wanted in candidates.items():
        readings = wanted if isinstance(schema[name], pl.String) else TypeCandidates()
        read += [what.alias(fact(name, key)) for key, what in _read(pl.col(name), schema[name], readings).items()]
        counted += [what.alias(fact(name, key)) for key, what in _count(name, schema[name], readings).items()]
    return lazy.select(read).select(counted)


def _read(values: pl.Expr, storage: pl.DataType, candidates: TypeCandidates) -> dict[str, pl.Expr]:
    text = values.cast(pl.String).str.strip_suffix(".0") if storage.is_float() else values
    read = {"values": values}
    if candidates.decimal:
        read["number"] = values.cast(pl.Float64, strict=False)
    if candidates.decimal or storage.is_float():
        read |= {"text": text, "scientific": text.str.contains("[eE]")}
    return read


def _count(name: str, storage: pl.DataType, candidates: TypeCandidates) -> dict[str, pl.Expr]:
    values = pl.col(fact(name, "values"))
    counted = {"rows": pl.len(), "missing": values.null_count()}
    if storage.is_integer():
        counted["integer"] = _whole(values)
    codes = _codes(values)
    if candidates.integer:
        counted["integer"] = _whole(values) - _whole(codes)
    if candidates.decimal:
        number, coded = pl.col(fact(name, "number")), codes.cast(pl.Float64, strict=False)
        counted["finite"] = number.is_finite().sum() - coded.is_finite().sum()
        counted["non_finite"] = (~number.is_finite()).sum() - (~coded.is_finite()).sum()
        counted["beyond"] = _beyond_int64(values.filter(number.abs() >= 2.0**63))
    if candidates.decimal or storage.is_float():
        counted["scale"] = _scale(pl.col(fact(name, "text")), pl.col(fact(name, "scientific")))
    if candidates.boolean:
        counted["boolean"] = values.str.to_lowercase().is_in(["true", "false"]).sum()
    return counted | {pattern: _dates(values, pattern) for pattern in candidates.formats}


def _whole(values: pl.Expr) -> pl.Expr:
    return values.cast(pl.Int64, strict=False).is_not_null().sum()


def _codes(values: pl.Expr) -> pl.Expr:
    few = values.filter(values < _BEHIND_CODES)
    return few.filter(few.str.contains(_CODE))


def _beyond_int64(large: pl.Expr) -> pl.Expr:
    return (large.cast(pl.Int64, strict=False).is_null() & large.str.contains("^-?[0-9]+$")).sum()


def _scale(text: pl.Expr, scientific: pl.Expr) -> pl.Expr:
    """The most digits after the decimal point, exponents worked out: 2 for "12.50", 5 for "1e-5"."""
    fixed = (text.str.len_bytes() - text.str.find(".", literal=True) - 1).filter(~scientific)
    powers = text.filter(scientific)
    digits = powers.str.extract(r"\.([0-9]*)[eE]").str.len_bytes().fill_null(0).cast(pl.Int64)
    exponents = powers.str.extract(r"[eE]([+-]?[0-9]+)$").cast(pl.Int64, strict=False)
    return pl.max_horizontal(fixed.max().cast(pl.Int64), (digits - exponents).max(), 0)


def _dates(text: pl.Expr, pattern: str) -> pl.Expr:
    dtype = pl.Datetime("us") if _type_of(pattern) is ValueType.DATETIME else pl.Date()
    return (text.str.strptime(dtype, pattern, strict=False, cache=False) >= _FIRST_DAY).sum()


def _type_of(pattern: str) -> ValueType:
    return ValueType.DATETIME if "%H" in pattern else ValueType.DATE


def possible(name: str, facts: Facts) -> TypeCandidates:
    """The readings that every value present fits. A reading that was not counted is not possible."""
    get = _getter(name, facts)
    present = get("rows") - get("missing")
    bar = fact(name, "")
    return TypeCandidates(
        integer=get("integer") == present,
        decimal=get("finite") + get("non_finite") == present and not get("beyond"),
        boolean=get("boolean") == present,
        formats=tuple(key.removeprefix(bar) for key in facts if key.startswith(f"{bar}%") and facts[key] == present),
    )


def column_from(name: str, storage: pl.DataType, facts: Facts) -> Column:
    """The column that its facts describe."""
    get = _getter(name, facts)
    column = Column(name, storage=storage, rows=get("rows"), missing=get("missing"))
    fits = possible(name, facts)
    if not isinstance(storage, pl.String):
        return _from_storage(column, fits_int64=fits.integer, scale=get("scale"))
    if column.rows == column.missing:
        return column
    if fits.integer:
        return replace(column, type=ValueType.INTEGER)
    if fits.decimal and get("finite"):
        return replace(column, type=ValueType.DECIMAL, scale=min(get("scale"), _MAX_SCALE))
    if fits.boolean:
        return replace(column, type=ValueType.BOOLEAN)
    return _from_formats(column, fits.formats)


def _getter(name: str, facts: Facts) -> Callable[[str], int]:
    return lambda about: facts.get(fact(name, about)) or 0


def _from_storage(column: Column, *, fits_int64: bool, scale: int) -> Column:
    storage = column.storage
    if isinstance(storage, pl.Decimal):
        return replace(column, type=ValueType.DECIMAL, scale=storage.scale)
    if storage.is_float():
        return replace(column, type=ValueType.DECIMAL, scale=min(scale, _MAX_SCALE))
    if storage.is_integer():
        return replace(column, type=ValueType.INTEGER if fits_int64 else ValueType.TEXT)
    named = {pl.Boolean: ValueType.BOOLEAN, pl.Date: ValueType.DATE, pl.Datetime: ValueType.DATETIME}
    return replace(column, type=named.get(storage.base_type(), ValueType.TEXT))


def _from_formats(column: Column, formats: tuple[str, ...]) -> Column:
    if not formats:
        return column
    if len({_order(pattern) for pattern in formats}) > 1:
        return AmbiguousDate(
            column.name, storage=column.storage, rows=column.rows, missing=column.missing, formats=formats
        )
    return replace(column, type=_type_of(formats[0]), date_format=formats[0])


def _order(pattern: str) -> str:
    """``dmY`` for day, month, year: formats of one order can't disagree on a date."""
    return "".join(re.findall("%([dmY])", re.sub("%[bB]", "%m", pattern)))


def screen(sample: pl.DataFrame) -> dict[str, TypeCandidates]:
    """The readings that a sample leaves possible for each column; all of them where the sample has no value.

    An integer is also a decimal, but only the narrower reading is kept: it is the one to count first.
    """
    return {name: _screen(sample[name]) for name in sample.columns}


def _screen(values: pl.Series) -> TypeCandidates:
    if not isinstance(values.dtype, pl.String):
        return TypeCandidates()
    distinct = values.drop_nulls().unique()
    if distinct.is_empty():
        return EVERYTHING
    dated = distinct.str.contains(YEAR).all()
    tried = EVERYTHING if dated else replace(EVERYTHING, formats=())
    fits = possible(values.name, count(distinct.to_frame().lazy(), {values.name: tried}))
    return replace(fits, decimal=fits.decimal and not fits.integer)


@dataclass(frozen=True)
class TypeSearch:
    """What is left to be found of the types of columns once the first records were screened: one row of facts."""

    source: pl.LazyFrame
    """The columns, or all of them that there are where the first records are all."""
    candidates: Mapping[str, TypeCandidates]
    said: Columns
    screened_all: bool

    @classmethod
    def begin(
        cls,
        lazy: pl.LazyFrame,
        columns: Sequence[str],
        declared: Columns | None = None,
        sample_rows: int = SAMPLE_ROWS,
        *,
        beginning: Callable[[int], pl.LazyFrame] | None = None,
    ) -> TypeSearch:
        """``beginning`` gives the first so many records, where that is less work than to take them of the table."""
        said = {name: column for name, column in (declared or {}).items() if name in columns}
        chosen = lazy.select(columns)
        sample = (beginning or lazy.head)(sample_rows).select(columns).collect(engine="streaming")
        all_there = sample.height < sample_rows
        settled = {
            name: TypeCandidates(decimal=column.type is ValueType.DECIMAL)
            for name, column in said.items()
            if not leaves_format_open(column)
        }
        candidates = screen(sample.drop(settled)) | settled
        return cls(sample.lazy() if all_there else chosen, candidates, said, all_there)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.candidates)

    def summarised(self, source: pl.LazyFrame) -> pl.LazyFrame:
        """The facts about a table that has these columns, or about a part of it."""
        return count_query(source, self.candidates)

    def together(self, parts: pl.DataFrame) -> pl.DataFrame:
        """The facts about a table from those about its parts, one row of each."""
        of_all = (pl.col(name).max() if name.endswith("|scale") else pl.col(name).sum() for name in parts.columns)
        return parts.cast(pl.Int64).select(of_all)

    def found(self, facts: Facts | None = None) -> dict[str, Column]:
        """The columns; where the facts are not at hand, by a pass of its own.

        A second one, over the columns concerned only, where a later record is no integer though the sample had
        nothing else.
        """
        facts = count(self.source, self.candidates) if facts is None else facts
        found = _described(self.source, self.candidates, self.said, facts)
        wider = {
            name: TypeCandidates(decimal=True)
            for name, column in found.items()
            if column.type is ValueType.TEXT and self.candidates[name].integer and not self.candidates[name].decimal
        }
        return found | (_described(self.source, wider, self.said, count(self.source, wider)) if wider else {})


def detect(
    lazy: pl.LazyFrame,
    columns: Sequence[str],
    declared: Columns | None = None,
    *,
    sample_rows: int = SAMPLE_ROWS,
) -> dict[str, Column]:
    """The columns of a table with their types, rows and missing values.

    One pass over the table, after its first ``sample_rows`` records. What the user declared is taken as said: a value
    that doesn't fit it is refused where it is read.
    """
    if not columns:
        return {}
    found = TypeSearch.begin(lazy, columns, declared, sample_rows).found()
    return {name: found[name] for name in columns}


def detect_counted(counts: Counts, name: str, declared: Columns | None = None) -> Column:
    """The same of one column that was counted: every value is tried, but once."""
    values = counts.value_counts(name)
    column = detect(values.select(pl.col("value").alias(name)).lazy(), [name], declared)[name]
    missing = values.filter(pl.col("value").is_null())["records"].sum()
    return replace(column, rows=counts.total_records, missing=int(missing))


def _described(
    source: pl.LazyFrame, candidates: Mapping[str, TypeCandidates], said: Columns, facts: Facts
) -> dict[str, Column]:
    schema = source.collect_schema()
    found = {name: column_from(name, schema[name], facts) for name in candidates}
    return {name: as_said(column, said.get(name), facts) for name, column in found.items()}


def leaves_format_open(said: Column) -> bool:
    """Whether a column is declared as dates of a format that has to be found."""
    return said.is_date and said.date_format is None


def as_said(found: Column, said: Column | None, facts: Facts) -> Column:
    """The column as the user declared it, with what its facts add to that."""
    if said is None or (leaves_format_open(said) and (found.is_date or isinstance(found, AmbiguousDate))):
        return found
    if leaves_format_open(said) and found.missing < found.rows:
        raise DataError(
            f"column '{found.name}': declared as {said.type}, but no known format fits every value",
            advice="declare its format",
        )
    scale = max(found.scale, _getter(found.name, facts)("scale")) if said.type is ValueType.DECIMAL else 0
    return replace(found, type=said.type, scale=scale, date_format=said.date_format)
