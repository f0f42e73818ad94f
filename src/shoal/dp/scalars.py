"""Expressions over one row, as a small frozen algebra, and what is publicly known of their values.

Every expression is total: what can't be worked out for a row (a division by nothing, a text that is no number, a root
of a negative number) is null there, never an error, since an error would tell that such a row exists. Numbers are
worked with in double precision; columns lie within public bounds.
"""

from __future__ import annotations

import datetime
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from math import inf, isfinite, log, sqrt
from typing import Final

import polars as pl

from shoal.dp.description import ColumnKind, DatasetColumn
from shoal.kernels.calendar import on_calendar

MOST_VALUES: Final = 100_000
"""Of a public domain that is listed."""
Constant = bool | int | float | str | datetime.date | None


class ScalarKind(StrEnum):
    NUMBER = "number"
    TEXT = "text"
    TRUTH = "truth"
    DATE = "date"
    NOTHING = "nothing"


@dataclass(frozen=True)
class PublicFacts:
    """What is known of an expression's values before any row is read."""

    kind: ScalarKind
    low: float = -inf
    high: float = inf
    whole: bool = False
    """Whether numbers are whole."""
    dates: tuple[datetime.date, datetime.date] | None = None

    @property
    def bounded(self) -> bool:
        return isfinite(self.low) and isfinite(self.high)


@dataclass(frozen=True)
class ScalarColumn:
    name: str


@dataclass(frozen=True)
class ScalarConstant:
    value: Constant


@dataclass(frozen=True)
class ScalarCall:
    """An operator or a function with its operands."""

    operator: str
    operands: tuple[Scalar, ...]

    @cached_property
    def size(self) -> int:
        """How many parts there are in all, those that stand in several places once for each."""
        return 1 + sum(one.size if isinstance(one, ScalarCall) else 1 for one in self.operands)

    @cached_property
    def depth(self) -> int:
        return 1 + max((one.depth for one in self.operands if isinstance(one, ScalarCall)), default=0)


Scalar = ScalarColumn | ScalarConstant | ScalarCall
Build = Callable[..., pl.Expr]
Bounds = Callable[..., PublicFacts]


@dataclass(frozen=True)
class ScalarOperator:
    """How one operator is worked out, what it takes, and what is known of what it gives."""

    takes: tuple[ScalarKind, ...]
    """Of its operands; the last one of as many as there are, where ``many``."""
    gives: Bounds
    build: Build
    many: bool = False

    def wanted(self, number: int) -> list[ScalarKind]:
        """The kinds of so many operands."""
        if self.build is _case:
            return [*self.takes * ((number - 1) // 2), ScalarKind.NOTHING]
        return [self.takes[min(place, len(self.takes) - 1)] for place in range(number)]


def columns_in(scalar: Scalar) -> Iterator[str]:
    if isinstance(scalar, ScalarColumn):
        yield scalar.name
    elif isinstance(scalar, ScalarCall):
        for operand in scalar.operands:
            yield from columns_in(operand)


def facts_of(scalar: Scalar, columns: Mapping[str, DatasetColumn]) -> PublicFacts:
    if isinstance(scalar, ScalarColumn):
        return _column_facts(columns[scalar.name])
    if isinstance(scalar, ScalarConstant):
        return _constant_facts(scalar.value)
    return OPERATORS[scalar.operator].gives(*(facts_of(operand, columns) for operand in scalar.operands))


def expression(scalar: Scalar) -> pl.Expr:
    """For a frame whose columns are as ``as_described`` makes them."""
    if isinstance(scalar, ScalarColumn):
        return pl.col(scalar.name)
    if isinstance(scalar, ScalarConstant):
        value = scalar.value
        return pl.lit(float(value) if isinstance(value, int) and not isinstance(value, bool) else value)
    operator = OPERATORS[scalar.operator]
    wanted = operator.wanted(len(scalar.operands))
    return operator.build(*(_typed(operand, kind) for operand, kind in zip(scalar.operands, wanted, strict=True)))


def _typed(scalar: Scalar, wanted: ScalarKind) -> pl.Expr:
    """NULL has no type by itself, and some functions need one."""
    made = expression(scalar)
    return made.cast(_NULLS[wanted]) if wanted in _NULLS and _is_nothing(scalar) else made


def _is_nothing(scalar: Scalar) -> bool:
    if not isinstance(scalar, ScalarCall):
        return scalar == ScalarConstant(None)
    values = {"coalesce": scalar.operands, "case": (*scalar.operands[1:-1:2], scalar.operands[-1])}
    return all(_is_nothing(one) for one in values[scalar.operator]) if scalar.operator in values else False


def public_values(scalar: Scalar, columns: Mapping[str, DatasetColumn]) -> list[Constant] | None:
    """All values that an expression can have, where the columns in it have public ones; null is none of them."""
    names = sorted(set(columns_in(scalar)))
    domains = [column_values(columns[name]) for name in names]
    size = 1
    for domain in domains:
        if domain is None:
            return None
        size *= len(domain)
    if size > MOST_VALUES:
        return None
    if isinstance(scalar, ScalarColumn):
        return sorted(set(domains[0] or []))  # type: ignore[type-var]  # values of a column have one type
    rows = itertools.product([0], *(domain or [] for domain in domains))
    schema = {"\x00one": pl.Int8(), **{name: _DTYPES[columns[name].type] for name in names}}
    frame = pl.DataFrame(list(rows), schema=schema, orient="row")
    found = frame.with_columns(expression(scalar).alias("\x00value"))["\x00value"].drop_nulls().unique().sort()
    return found.to_list()


def column_values(column: DatasetColumn) -> list[Constant] | None:
    """The public domain of a column, where it has one that can be listed."""
    if column.type is ColumnKind.CATEGORY:
        return None if column.categories is None else [str(one) for one in column.categories]
    if column.type is ColumnKind.BOOLEAN:
        return [False, True]
    if column.bounds is None or column.type is ColumnKind.NUMBER:
        return None
    low, high = column.bounds
    if column.type is ColumnKind.DATE:
        days = (high - low).days + 1
        return None if days > MOST_VALUES else [low + datetime.timedelta(days=day) for day in range(days)]
    return None if high - low >= MOST_VALUES else [float(value) for value in range(int(low), int(high) + 1)]


def readable(kind: ColumnKind, given: pl.DataType) -> bool:
    """Whether a column of the source can be read as what is described, whatever its rows hold."""
    if given == pl.String:
        return True
    if kind in (ColumnKind.INTEGER, ColumnKind.NUMBER):
        return given.is_numeric()
    if kind is ColumnKind.DATE:
        return given in (pl.Date, pl.Datetime)
    if given.is_numeric() or given in (pl.Boolean, pl.Categorical, pl.Enum):
        return True
    return kind is ColumnKind.CATEGORY and given in (pl.Date, pl.Datetime, pl.Time)


def held(given: pl.DataType) -> str:
    """What a column of the source holds, in words: of its type, never of its values."""
    if given.is_numeric():
        return "numbers"
    words = {
        pl.Boolean: "truths",
        pl.Date: "days",
        pl.Datetime: "moments",
        pl.Time: "times",
        pl.Duration: "spans of time",
    }
    return next((said for dtype, said in words.items() if given == dtype), "lists, records or bytes")


def typed(name: str, column: DatasetColumn, given: pl.DataType) -> pl.Expr:
    """A column of the source as the type that it is described with: null where it can't be."""
    raw = on_calendar(pl.col(name), given)
    if column.type in (ColumnKind.INTEGER, ColumnKind.NUMBER):
        return (raw.str.strip_chars() if given == pl.String else raw).cast(pl.Float64, strict=False)
    if column.type is ColumnKind.DATE:
        if given == pl.String:  # never by a format that is guessed, since one row would choose it for all
            text = raw.str.strip_chars()
            return (text if column.format else text.str.replace(ISO_MOMENT, "$1")).str.to_date(
                column.format or ISO_DATE, strict=False
            )
        return raw.cast(pl.Date, strict=False)
    text = _written_out(raw) if given in (pl.Float32, pl.Float64) else raw.cast(pl.String)
    if column.type is ColumnKind.BOOLEAN:
        return raw if given == pl.Boolean else text.str.strip_chars().str.to_lowercase()
    return text


def _written_out(number: pl.Expr) -> pl.Expr:
    """Codes and truths that are stored as floating-point numbers, as they are where a column has gaps: 1, not 1.0."""
    return number.fill_nan(None).cast(pl.String).str.strip_suffix(".0")


def as_described(value: pl.Expr, column: DatasetColumn, given: pl.DataType) -> pl.Expr:
    """Of a column that is ``typed``, what expressions see: null where it isn't as described, clipped to its bounds.

    Apart from that, since a value that is looked at twice in one go is worked out twice.
    """
    if column.type in (ColumnKind.INTEGER, ColumnKind.NUMBER):
        value = pl.when(value.is_finite()).then(value)
        value = value.round() if column.type is ColumnKind.INTEGER else value
        return value if column.bounds is None else value.clip(*(float(bound) for bound in column.bounds))
    if column.type is ColumnKind.DATE:
        value = pl.when(value.dt.year().is_between(datetime.MINYEAR, datetime.MAXYEAR)).then(value)
        return value if column.bounds is None else value.clip(*column.bounds)
    if column.type is ColumnKind.BOOLEAN:
        if given == pl.Boolean:
            return value
        return pl.when(value.is_in(_TRUE)).then(True).when(value.is_in(_FALSE)).then(False)  # noqa: FBT003
    if column.categories is None:
        return value
    return pl.when(value.is_in([str(one) for one in column.categories])).then(value)


def row_type(name: str, column: DatasetColumn, given: pl.DataType) -> pl.Expr:
    """A column of the source as expressions see it."""
    return as_described(typed(name, column, given), column, given)


ISO_DATE: Final = "%Y-%m-%d"
ISO_MOMENT: Final = (
    r"^(\d{4}-\d\d-\d\d)[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d(?::?\d\d(?::\d\d)?)?))?$"
)
"""A moment as text; its day is the one that is written, whatever the zone."""
_TRUE: Final = ["true", "yes", "1", "t", "y"]
_FALSE: Final = ["false", "no", "0", "f", "n"]
_DTYPES: Final = {
    ColumnKind.INTEGER: pl.Float64(),
    ColumnKind.NUMBER: pl.Float64(),
    ColumnKind.CATEGORY: pl.String(),
    ColumnKind.BOOLEAN: pl.Boolean(),
    ColumnKind.DATE: pl.Date(),
}


_NULLS: Final[Mapping[ScalarKind, pl.DataType]] = {
    ScalarKind.NUMBER: pl.Float64(),
    ScalarKind.TEXT: pl.String(),
    ScalarKind.TRUTH: pl.Boolean(),
    ScalarKind.DATE: pl.Date(),
}


def row_dtype(facts: PublicFacts) -> pl.DataType:
    """What expressions with such values are worked out as."""
    return _NULLS.get(facts.kind, pl.Null())


def _column_facts(column: DatasetColumn) -> PublicFacts:
    if column.type is ColumnKind.CATEGORY:
        return PublicFacts(ScalarKind.TEXT)
    if column.type is ColumnKind.BOOLEAN:
        return PublicFacts(ScalarKind.TRUTH)
    if column.type is ColumnKind.DATE:
        return PublicFacts(ScalarKind.DATE, dates=column.bounds)
    whole = column.type is ColumnKind.INTEGER
    if column.bounds is None:
        return PublicFacts(ScalarKind.NUMBER, whole=whole)
    low, high = column.bounds
    return PublicFacts(ScalarKind.NUMBER, float(low), float(high), whole)


def _constant_facts(value: Constant) -> PublicFacts:
    if value is None:
        return PublicFacts(ScalarKind.NOTHING)
    if isinstance(value, bool):
        return PublicFacts(ScalarKind.TRUTH)
    if isinstance(value, int | float):
        return PublicFacts(ScalarKind.NUMBER, float(value), float(value), float(value).is_integer())
    if isinstance(value, datetime.date):
        return PublicFacts(ScalarKind.DATE, dates=(value, value))
    return PublicFacts(ScalarKind.TEXT)


_TRUTH: Final = PublicFacts(ScalarKind.TRUTH)
_UNBOUNDED: Final = PublicFacts(ScalarKind.NUMBER)


def _corners(combine: Callable[[float, float], float], *, whole: bool = True) -> Bounds:
    """Bounds of a monotone operation from the bounds of its operands."""

    def gives(left: PublicFacts, right: PublicFacts) -> PublicFacts:
        if not (left.bounded and right.bounded):
            return _UNBOUNDED
        corners = [combine(one, other) for one in (left.low, left.high) for other in (right.low, right.high)]
        return PublicFacts(ScalarKind.NUMBER, min(corners), max(corners), whole and left.whole and right.whole)

    return gives


def _quotient(left: PublicFacts, right: PublicFacts) -> PublicFacts:
    if not (left.bounded and right.bounded) or right.low <= 0 <= right.high:
        return _UNBOUNDED
    return replace(_corners(lambda one, other: one / other)(left, right), whole=False)


def _remainder(left: PublicFacts, right: PublicFacts) -> PublicFacts:
    if not right.bounded:
        return _UNBOUNDED
    most = max(abs(right.low), abs(right.high))
    return PublicFacts(ScalarKind.NUMBER, -most if left.low < 0 else 0.0, most, left.whole and right.whole)


def _hull(*facts: PublicFacts) -> PublicFacts:
    """Of values one of which is taken."""
    known = [one for one in facts if one.kind is not ScalarKind.NOTHING]
    if not known or known[0].kind is not ScalarKind.NUMBER:
        spans = [one.dates for one in known if one.dates is not None]
        dates = (min(low for low, _ in spans), max(high for _, high in spans)) if len(spans) == len(known) > 0 else None
        return replace(known[0], dates=dates) if known else facts[0]
    whole = all(one.whole for one in known)
    return PublicFacts(ScalarKind.NUMBER, min(one.low for one in known), max(one.high for one in known), whole)


def _monotone(apply: Callable[[float], float], *, whole: bool = False, least: float = -inf) -> Bounds:
    def gives(facts: PublicFacts, *_: PublicFacts) -> PublicFacts:
        low = max(facts.low, least)
        if not facts.bounded or low > facts.high:
            return _UNBOUNDED
        try:
            return PublicFacts(ScalarKind.NUMBER, apply(low), apply(facts.high), whole)
        except (ValueError, OverflowError):
            return _UNBOUNDED

    return gives


def _to_whole(facts: PublicFacts) -> PublicFacts:
    if not facts.bounded:
        return _UNBOUNDED
    return PublicFacts(ScalarKind.NUMBER, float(facts.low // 1), float(-(-facts.high // 1)), whole=True)


def _absolute(facts: PublicFacts) -> PublicFacts:
    most = max(abs(facts.low), abs(facts.high))
    least = 0.0 if facts.low <= 0 <= facts.high else min(abs(facts.low), abs(facts.high))
    return PublicFacts(ScalarKind.NUMBER, least, most, facts.whole) if facts.bounded else _UNBOUNDED


def _lesser(left: PublicFacts, right: PublicFacts) -> PublicFacts:
    whole = left.whole and right.whole
    return PublicFacts(ScalarKind.NUMBER, min(left.low, right.low), min(left.high, right.high), whole)


def _greater(left: PublicFacts, right: PublicFacts) -> PublicFacts:
    whole = left.whole and right.whole
    return PublicFacts(ScalarKind.NUMBER, max(left.low, right.low), max(left.high, right.high), whole)


def _date_part(low: float, high: float) -> Bounds:
    return lambda _: PublicFacts(ScalarKind.NUMBER, low, high, whole=True)


def _year(facts: PublicFacts) -> PublicFacts:
    if facts.dates is None:
        return PublicFacts(ScalarKind.NUMBER, 1, 9999, whole=True)
    return PublicFacts(ScalarKind.NUMBER, facts.dates[0].year, facts.dates[1].year, whole=True)


def _always(facts: PublicFacts) -> Bounds:
    return lambda *_: facts


def _finite(value: pl.Expr) -> pl.Expr:
    return pl.when(value.is_finite()).then(value)


def _remaining(left: pl.Expr, right: pl.Expr) -> pl.Expr:
    """With the sign of what is divided, as in SQL; null where the quotient is too large to tell."""
    rest = left % right
    rest = pl.when((rest != 0) & ((rest < 0) != (left < 0))).then(rest - right).otherwise(rest)
    return _finite(pl.when((right != 0) & (rest.abs() <= right.abs()) & ((left / right).abs() < 2**52)).then(rest))


def _case(*parts: pl.Expr) -> pl.Expr:
    """Condition, value, condition, value, …, and what is left at the end."""
    conditions, values = parts[0:-1:2], parts[1:-1:2]
    chain = pl.when(conditions[0]).then(values[0])
    for condition, value in zip(conditions[1:], values[1:], strict=True):
        chain = chain.when(condition).then(value)  # type: ignore[assignment]  # a longer chain
    return chain.otherwise(parts[-1])


def _first(*values: pl.Expr) -> pl.Expr:
    """That is not null. Not Polars' own, which gives one row instead of many where a whole column is null."""
    found = values[-1]
    for value in reversed(values[:-1]):
        found = pl.when(value.is_not_null()).then(value).otherwise(found)
    return found


def _case_facts(*facts: PublicFacts) -> PublicFacts:
    return _hull(*facts[1:-1:2], facts[-1])


def like_pattern(pattern: str) -> str:
    """A pattern of LIKE as a regular expression, which is matched in linear time."""
    parts = (".*" if one == "%" else "." if one == "_" else re.escape(one) for one in pattern)
    return f"(?s)^{''.join(parts)}$"


_N, _T, _B, _D = ScalarKind.NUMBER, ScalarKind.TEXT, ScalarKind.TRUTH, ScalarKind.DATE
_ANY: Final = ScalarKind.NOTHING
"""Stands for any kind among what an operator takes; where several operands are of any kind, they are of one."""

OPERATORS: Final[Mapping[str, ScalarOperator]] = {
    "+": ScalarOperator((_N, _N), _corners(lambda a, b: a + b), lambda a, b: _finite(a + b)),
    "-": ScalarOperator((_N, _N), _corners(lambda a, b: a - b), lambda a, b: _finite(a - b)),
    "*": ScalarOperator((_N, _N), _corners(lambda a, b: a * b), lambda a, b: _finite(a * b)),
    "/": ScalarOperator((_N, _N), _quotient, lambda a, b: _finite(a / b)),
    "%": ScalarOperator((_N, _N), _remainder, _remaining),
    "negate": ScalarOperator((_N,), lambda a: PublicFacts(ScalarKind.NUMBER, -a.high, -a.low, a.whole), lambda a: -a),
    "floor": ScalarOperator((_N,), _monotone(lambda a: float(a // 1), whole=True), lambda a: a.floor()),
    "ceil": ScalarOperator((_N,), _monotone(lambda a: float(-(-a // 1)), whole=True), lambda a: a.ceil()),
    "round": ScalarOperator((_N,), _to_whole, lambda a: a.round()),
    "abs": ScalarOperator((_N,), _absolute, lambda a: a.abs()),
    "sqrt": ScalarOperator((_N,), _monotone(sqrt, least=0.0), lambda a: _finite(pl.when(a >= 0).then(a).sqrt())),
    "ln": ScalarOperator((_N,), _monotone(log), lambda a: _finite(pl.when(a > 0).then(a).log())),
    "least": ScalarOperator((_N, _N), _lesser, lambda a, b: pl.when(a <= b).then(a).when(a > b).then(b)),
    "greatest": ScalarOperator((_N, _N), _greater, lambda a, b: pl.when(a >= b).then(a).when(a < b).then(b)),
    "=": ScalarOperator((_ANY, _ANY), _always(_TRUTH), lambda a, b: a == b),
    "<>": ScalarOperator((_ANY, _ANY), _always(_TRUTH), lambda a, b: a != b),
    "<": ScalarOperator((_ANY, _ANY), _always(_TRUTH), lambda a, b: a < b),
    "<=": ScalarOperator((_ANY, _ANY), _always(_TRUTH), lambda a, b: a <= b),
    ">": ScalarOperator((_ANY, _ANY), _always(_TRUTH), lambda a, b: a > b),
    ">=": ScalarOperator((_ANY, _ANY), _always(_TRUTH), lambda a, b: a >= b),
    "and": ScalarOperator((_B, _B), _always(_TRUTH), lambda a, b: a & b),
    "or": ScalarOperator((_B, _B), _always(_TRUTH), lambda a, b: a | b),
    "not": ScalarOperator((_B,), _always(_TRUTH), lambda a: ~a),
    "is null": ScalarOperator((_ANY,), _always(_TRUTH), lambda a: a.is_null()),
    "coalesce": ScalarOperator((_ANY, _ANY), _hull, _first, many=True),
    "case": ScalarOperator((_B, _ANY), _case_facts, _case, many=True),
    "year": ScalarOperator((_D,), _year, lambda a: a.dt.year().cast(pl.Float64)),
    "quarter": ScalarOperator((_D,), _date_part(1, 4), lambda a: a.dt.quarter().cast(pl.Float64)),
    "month": ScalarOperator((_D,), _date_part(1, 12), lambda a: a.dt.month().cast(pl.Float64)),
    "day": ScalarOperator((_D,), _date_part(1, 31), lambda a: a.dt.day().cast(pl.Float64)),
    "weekday": ScalarOperator((_D,), _date_part(1, 7), lambda a: a.dt.weekday().cast(pl.Float64)),
    "month of": ScalarOperator((_D,), lambda a: a, lambda a: a.dt.truncate("1mo")),
    "quarter of": ScalarOperator((_D,), lambda a: a, lambda a: a.dt.truncate("1q")),
    "year of": ScalarOperator((_D,), lambda a: a, lambda a: a.dt.truncate("1y")),
    "lower": ScalarOperator((_T,), lambda a: a, lambda a: a.str.to_lowercase()),
    "upper": ScalarOperator((_T,), lambda a: a, lambda a: a.str.to_uppercase()),
    "length": ScalarOperator((_T,), _always(PublicFacts(_N, whole=True)), lambda a: a.str.len_chars().cast(pl.Float64)),
    "like": ScalarOperator((_T, _T), _always(_TRUTH), lambda a, b: a.str.contains(b)),
}
"""By the name that questions are written with. LIKE's pattern is a regular expression here."""
