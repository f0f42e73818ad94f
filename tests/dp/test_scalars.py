"""Expressions over a row: Polars against plain Python, on values that are as odd as they come."""

from __future__ import annotations

import datetime
import math
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dp.brute_force import worth
from tests.dp.datasets import described, table

from shoal.dp.description import ColumnKind, DatasetColumn
from shoal.dp.scalars import (
    OPERATORS,
    Scalar,
    ScalarCall,
    ScalarColumn,
    ScalarConstant,
    ScalarKind,
    column_values,
    expression,
    facts_of,
    like_pattern,
    public_values,
    readable,
    row_type,
)

pytestmark = pytest.mark.requirement("C-01")

COLUMNS = described().columns
SCHEMA = {
    "age": pl.Float64,
    "income": pl.Float64,
    "free": pl.Float64,
    "region": pl.String,
    "town": pl.String,
    "member": pl.Boolean,
    "seen": pl.Date,
}
DAYS = st.dates(datetime.date(2025, 1, 1), datetime.date(2026, 12, 31))
TEXTS = st.text(alphabet="aZ%_\\.*é\n ", max_size=4)
ROWS = st.fixed_dictionaries(
    {
        "age": st.none() | st.integers(0, 100).map(float),
        "income": st.none() | st.floats(-50.5, 1000.25),
        "free": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "region": st.none() | st.sampled_from(["north", "south", "east"]),
        "town": st.none() | TEXTS,
        "member": st.none() | st.booleans(),
        "seen": st.none() | DAYS,
    }
)
NUMBER, TEXT, TRUTH, DATE = ScalarKind.NUMBER, ScalarKind.TEXT, ScalarKind.TRUTH, ScalarKind.DATE
LEAVES: dict[ScalarKind, st.SearchStrategy[Scalar]] = {
    NUMBER: st.sampled_from(["age", "income", "free"]).map(ScalarColumn)
    | (st.integers(-5, 5) | st.floats(-1e9, 1e9)).map(ScalarConstant),
    TEXT: st.sampled_from(["region", "town"]).map(ScalarColumn) | TEXTS.map(ScalarConstant),
    TRUTH: st.just(ScalarColumn("member")) | st.booleans().map(ScalarConstant),
    DATE: st.just(ScalarColumn("seen")) | DAYS.map(ScalarConstant),
}
DERIVED = ["sqrt", "ln", "least", "greatest", "year", "quarter", "month", "day", "weekday", "length"]
OF_KIND: dict[ScalarKind, list[str]] = {
    NUMBER: [name for name in OPERATORS if name in {*"+-*/%", "negate", "floor", "ceil", "round", "abs", *DERIVED}],
    TEXT: ["lower", "upper"],
    TRUTH: ["=", "<>", "<", "<=", ">", ">=", "and", "or", "not", "is null"],
    DATE: ["month of", "quarter of", "year of"],
}
TRANSCENDENTAL = {"ln", "sqrt", "%"}


@st.composite
def scalars(draw: st.DrawFn, kind: ScalarKind = NUMBER, depth: int = 3) -> Scalar:
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return ScalarConstant(None) if draw(st.integers(0, 9)) == 0 else draw(LEAVES[kind])
    name = draw(st.sampled_from([*OF_KIND[kind], "coalesce", "case"]))
    if name == "coalesce":
        return ScalarCall(name, tuple(draw(scalars(kind, depth - 1)) for _ in range(2)))
    if name == "case":
        parts = [scalars(TRUTH, depth - 1), scalars(kind, depth - 1), scalars(kind, depth - 1)]
        return ScalarCall(name, tuple(draw(part) for part in parts))
    anything = draw(st.sampled_from([NUMBER, TEXT, DATE]))
    kinds = [anything if one is ScalarKind.NOTHING else one for one in OPERATORS[name].takes]
    return ScalarCall(name, tuple(draw(scalars(one, depth - 1)) for one in kinds))


def found(scalar: Scalar, rows: list[dict[str, Any]]) -> list[Any]:
    frame = pl.DataFrame(rows, schema=SCHEMA)
    return frame.with_columns(expression(scalar).alias("found"))["found"].to_list()


def operators_in(scalar: Scalar) -> set[str]:
    if not isinstance(scalar, ScalarCall):
        return set()
    return {scalar.operator}.union(*(operators_in(one) for one in scalar.operands))


@given(st.sampled_from([NUMBER, TEXT, TRUTH, DATE]).flatmap(scalars), st.lists(ROWS, min_size=1, max_size=5))
@settings(max_examples=150)
def test_polars_works_out_what_python_does(scalar: Scalar, rows: list[dict[str, Any]]) -> None:
    values = found(scalar, rows)
    if operators_in(scalar) & TRANSCENDENTAL:
        return  # the last digit may differ, and a comparison with it; that nothing is raised is shown
    assert values == [worth(scalar, row) for row in rows]


@given(scalars(NUMBER), st.lists(ROWS, min_size=1, max_size=5))
@settings(max_examples=100)
def test_public_bounds_bound(scalar: Scalar, rows: list[dict[str, Any]]) -> None:
    facts = facts_of(scalar, COLUMNS)
    if facts.kind is ScalarKind.NOTHING:
        assert set(found(scalar, rows)) == {None}
        return
    for value in found(scalar, rows):
        if value is not None:
            assert facts.low - abs(facts.low) * 1e-12 <= value <= facts.high + abs(facts.high) * 1e-12
            assert value.is_integer() or not facts.whole


@given(st.sampled_from(["sqrt", "ln", "%"]), st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-50, 50))))
def test_what_is_rounded_in_the_last_digit(name: str, pairs: list[tuple[float, float]]) -> None:
    operands = (ScalarColumn("free"), ScalarColumn("income"))[: len(OPERATORS[name].takes)]
    scalar = ScalarCall(name, operands)
    rows = [{"free": one, "income": other} for one, other in pairs]
    for value, row in zip(found(scalar, rows), rows, strict=True):
        expected = worth(scalar, row)
        if name == "%" and value is None:  # where the quotient is beyond what a double can tell
            assert expected is None or abs(row["free"] / row["income"]) >= 2**52 or abs(expected) > 0
            continue
        near = abs(row["income"]) if name == "%" else 0.0
        assert (value is None) == (expected is None)
        if value is not None:
            off = min(abs(value - expected), abs(abs(value - expected) - near))
            assert off <= 1e-9 * max(1.0, abs(row["free"]))


@given(scalars(NUMBER, 2))
@settings(max_examples=60)
def test_public_values_are_complete(scalar: Scalar) -> None:
    """Whatever public columns hold, the value is in the list; it is not listed where a column isn't public."""
    columns = {**COLUMNS, "age": DatasetColumn(type=ColumnKind.INTEGER, bounds=(0, 4))}
    values = public_values(scalar, columns)
    if values is None:
        return
    day = datetime.date(2025, 1, 1)
    rows = [
        {"age": float(age), "region": region, "member": member, "seen": day + datetime.timedelta(days=days)}
        for age in range(5)
        for region in ("north", "east")
        for member in (True, False)
        for days in (0, 364, 729)
    ]
    assert {one for one in found(scalar, rows) if one is not None} <= set(values)
    assert values == sorted(set(values))  # type: ignore[type-var]  # they are of one type


def test_domains_that_can_be_listed() -> None:
    assert column_values(COLUMNS["age"]) == [float(age) for age in range(101)]
    assert column_values(COLUMNS["region"]) == ["north", "south", "east"]
    assert column_values(COLUMNS["member"]) == [False, True]
    assert len(column_values(COLUMNS["seen"]) or ()) == 730
    assert column_values(COLUMNS["town"]) is column_values(COLUMNS["income"]) is None
    wide = DatasetColumn(type=ColumnKind.INTEGER, bounds=(0, 10**9))
    assert column_values(wide) is None


ODD = [
    "",
    " ",
    "NaN",
    "inf",
    "-inf",
    "1e999",
    "0x10",
    "1_000",
    "٣",
    " 7 ",
    "-0.0",
    "1,5",
    "abc",
    "\x00",
    "9" * 400,
    None,
]


@pytest.mark.parametrize("name", COLUMNS)
def test_any_text_in_a_column_is_a_value_within_bounds_or_null(name: str) -> None:
    texts = [*ODD, "2026-02-30", "0000-01-01", "+99999-01-01", "2026-03-01", "true", "YES", "north", "NORTH"]
    frame = table([{name: text} for text in texts]).select(row_type(name, COLUMNS[name], pl.String()).alias(name))
    values = frame.collect()[name].to_list()
    bounds = COLUMNS[name].bounds
    for value in values:
        if value is not None and bounds is not None:
            assert bounds[0] <= value <= bounds[1]
        if isinstance(value, float):
            assert math.isfinite(value)
    if name == "region":
        assert set(values) == {"north", None}


def test_one_row_does_not_choose_how_others_are_read() -> None:
    """A format of dates that is guessed from the first row would tell what stands there."""
    days = ["2026-03-01", "2026-03-02"]
    day = datetime.date(2026, 3, 1)
    for first, known in (("01/03/2026", None), ("nonsense", None), ("2026-03-01T10:00:00", day), ("01.03.2026", None)):
        frame = table([{"seen": text} for text in (first, *days)])
        read = frame.select(row_type("seen", COLUMNS["seen"], pl.String())).collect()["seen"].to_list()
        assert read == [known, day, datetime.date(2026, 3, 2)]
    written = DatasetColumn(type=ColumnKind.DATE, format="%d/%m/%Y")
    read = table([{"seen": "31/12/2025"}]).select(row_type("seen", written, pl.String())).collect()["seen"].to_list()
    assert read == [datetime.date(2025, 12, 31)]


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        (ColumnKind.NUMBER, pl.Int64(), True),
        (ColumnKind.NUMBER, pl.Boolean(), False),
        (ColumnKind.DATE, pl.Datetime("ns"), True),
        (ColumnKind.DATE, pl.Time(), False),
        (ColumnKind.CATEGORY, pl.Int64(), True),
        (ColumnKind.CATEGORY, pl.Binary(), False),
        (ColumnKind.CATEGORY, pl.Duration("ms"), False),
        (ColumnKind.CATEGORY, pl.List(pl.Int8()), False),
        (ColumnKind.BOOLEAN, pl.Enum(["yes", "no"]), True),
        (ColumnKind.BOOLEAN, pl.Struct({"a": pl.Int8()}), False),
    ],
)
def test_types_that_could_fail_on_a_row_are_not_read(kind: ColumnKind, given: pl.DataType, expected: bool) -> None:
    assert readable(kind, given) is expected


@given(TEXTS, st.text(alphabet="aZ%_\\.*é\n ", max_size=5))
def test_like(text: str, pattern: str) -> None:
    def matches(text: str, pattern: str) -> bool:
        if not pattern:
            return not text
        if pattern[0] == "%":
            return any(matches(text[place:], pattern[1:]) for place in range(len(text) + 1))
        return bool(text) and pattern[0] in ("_", text[0]) and matches(text[1:], pattern[1:])

    call = ScalarCall("like", (ScalarColumn("town"), ScalarConstant(like_pattern(pattern))))
    assert found(call, [{"town": text}]) == [matches(text, pattern)]
