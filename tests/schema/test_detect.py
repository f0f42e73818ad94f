"""Value types are found from the data, the same whatever the sample, and never guessed."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.io.plugins import register_io_source

from shoal.errors import DataError
from shoal.schema import Column, Counts, ValueType
from shoal.schema.type_detection import DATE_FORMATS, AmbiguousDate, TypeCandidates, detect, detect_counted, screen

pytestmark = pytest.mark.requirement("D-05")


def found(values: Sequence[str | None], *, sample_rows: int = 10_000, declared: Column | None = None) -> Column:
    table = pl.LazyFrame({"x": pl.Series(values, dtype=pl.String)})
    return detect(table, ["x"], {"x": declared} if declared else None, sample_rows=sample_rows)["x"]


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (["1", "-20", "0", "9223372036854775807", "-9223372036854775808"], ValueType.INTEGER),
        (["1", None, "2"], ValueType.INTEGER),
        (["007", "120"], ValueType.TEXT),
        (["-01", "5"], ValueType.TEXT),
        (["+6591234567"], ValueType.TEXT),
        (["9223372036854775808", "1"], ValueType.TEXT),
        (["9223372036854775808", "1.5"], ValueType.TEXT),
        (["-9223372036854775809", "1.5"], ValueType.TEXT),
        (["00.5", "1.5"], ValueType.TEXT),
        (["1,000", "2"], ValueType.TEXT),
        ([" 1", "2"], ValueType.TEXT),
        (["1", "two"], ValueType.TEXT),
        (["1", "2024-01-31"], ValueType.TEXT),
        (["true", "FALSE", None], ValueType.BOOLEAN),
        (["true", "1"], ValueType.TEXT),
        (["nan", "inf"], ValueType.TEXT),
        (["", "1"], ValueType.TEXT),
        ([None, None], ValueType.TEXT),
        ([], ValueType.TEXT),
    ],
)
def test_numbers_and_codes(values: Sequence[str | None], type_: ValueType) -> None:
    column = found(values)
    assert (column.type, column.scale, column.date_format) == (type_, 0, None)
    assert (column.rows, column.missing) == (len(values), values.count(None))


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        (["0.5", "12.50", "3"], 2),
        (["5.", ".125"], 3),
        (["1e-5", "2.5"], 5),
        (["1.25e-3", "7"], 5),
        (["1.5E3", "20"], 0),
        (["1e30", "0.1"], 1),
        (["1.5", "NaN", "-inf"], 1),
        (["1", "nan"], 0),
        (["1", "1e400"], 0),
        (["1e-99999", "1"], 300),
    ],
)
def test_decimals_know_their_scale(values: Sequence[str | None], scale: int) -> None:
    column = found(values)
    assert (column.type, column.scale) == (ValueType.DECIMAL, scale)


def test_numbers_that_are_not_finite_are_refused_when_they_are_read() -> None:
    values = ["1.5", "NaN", "-inf"]
    with pytest.raises(DataError, match=r"column 'x': 2 value\(s\)"):
        found(values).numbers(pl.Series("x", values))


@pytest.mark.parametrize("pattern", DATE_FORMATS)
def test_every_format_is_found_and_read_back(pattern: str) -> None:
    moments = pl.Series(["2023-12-31T23:45:10.25", "1958-02-13T04:05:06.007"]).str.to_datetime(time_unit="us")
    texts = moments.dt.to_string(pattern).to_list()
    column = found([*texts, None])
    assert column.date_format == pattern
    assert column.type is (ValueType.DATETIME if "%H" in pattern else ValueType.DATE)
    assert column.from_dates(column.dates(pl.Series("x", texts))).to_list() == texts


def test_impossible_and_mixed_dates_are_text() -> None:
    assert found(["2023-02-30", "2023-02-28"]).type is ValueType.TEXT
    assert found(["2023-02-28", "28/02/2023"]).type is ValueType.TEXT
    assert found(["23-02-28"]).type is ValueType.TEXT, "a year of two digits needs a century"
    assert found(["2023-02-28", "2023-02-28 10:00"]).type is ValueType.TEXT


def test_dates_that_could_be_swapped_are_not_guessed() -> None:
    column = found(["03/04/2024", "05/06/2024"])
    assert isinstance(column, AmbiguousDate)
    assert (column.type, column.date_format) == (ValueType.TEXT, None)
    assert column.formats == ("%d/%m/%Y", "%m/%d/%Y")
    assert found(["03/04/2024", "25/06/2024"]).date_format == "%d/%m/%Y"
    assert found(["03/04/2024", "06/25/2024"]).date_format == "%m/%d/%Y"


def test_formats_that_agree_on_every_date_are_not_ambiguous() -> None:
    assert found(["05 May 2024"]).date_format == "%d %b %Y"
    assert found(["05 May 2024", "05 June 2024"], sample_rows=1).date_format == "%d %B %Y"
    assert found(["2024-05-05T10:00:00", "2024-05-05T10:00:00.5"], sample_rows=1).date_format == "%Y-%m-%dT%H:%M:%S%.f"


@pytest.mark.parametrize(
    ("later", "type_"),
    [("2", ValueType.INTEGER), ("2.25", ValueType.DECIMAL), ("nan", ValueType.DECIMAL), ("two", ValueType.TEXT)],
)
def test_a_later_record_overrules_the_sample(later: str, type_: ValueType) -> None:
    column = found(["1"] * 5 + [later], sample_rows=5)
    assert (column.type, column.rows) == (type_, 6)
    assert column.scale == (2 if later == "2.25" else 0)


@pytest.mark.parametrize("values", [["1.5"], ["31/12/2024"], ["03/04/2024"], ["true"], ["1"], ["x"]])
def test_a_sample_without_values_rules_nothing_out(values: Sequence[str | None]) -> None:
    assert found([None] * 3 + values, sample_rows=2) == found([None] * 3 + values)


WORDS = ["1", "-7", "0", "2.50", "1e-3", "nan", "007", "+1", "9223372036854775808", "true", "x", ""]
DATES = ["2024-01-31", "31/01/2024", "01/02/2024", "05 May 2024", "05 June 2024", "2024-01-31 10:00"]
CELLS = st.one_of(st.none(), st.sampled_from(WORDS), st.sampled_from(DATES))
FEW_KINDS = st.lists(CELLS, min_size=1, max_size=3).flatmap(lambda kinds: st.lists(st.sampled_from(kinds), max_size=12))


@settings(max_examples=60, deadline=None)
@given(values=FEW_KINDS, sample_rows=st.integers(1, 12))
def test_the_sample_never_changes_the_result(values: Sequence[str | None], sample_rows: int) -> None:
    assert found(values, sample_rows=sample_rows) == found(values)


@given(values=FEW_KINDS, declared=st.sampled_from([None, ValueType.DECIMAL, ValueType.TEXT]))
def test_counted_values_tell_the_same_as_all_of_them(values: Sequence[str | None], declared: ValueType | None) -> None:
    said = None if declared is None else Column("x", declared)
    frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.String)})
    counts = Counts.from_frame(frame.group_by("x").len("n"), ("x",), "n")
    assert detect_counted(counts, "x", {"x": said} if said else None) == found(values, declared=said)


def expected(values: Sequence[str | None]) -> ValueType:
    """The rules once more, value by value, by another hand."""
    texts = [value for value in values if value is not None]
    if not texts or any(re.match(r"\+|-?0\d", text) for text in texts):
        return ValueType.TEXT
    if all(re.fullmatch(r"-?\d+", text) and abs(int(text)) < 2**63 for text in texts):
        return ValueType.INTEGER
    finite = [text for text in texts if re.fullmatch(r"-?(\d+\.?\d*|\.\d+)(e-?\d+)?", text)]
    fits = all("." in text or "e" in text or abs(int(text)) < 2**63 for text in finite)
    if finite and fits and len(finite) + texts.count("nan") == len(texts):
        return ValueType.DECIMAL
    return ValueType.BOOLEAN if all(text == "true" for text in texts) else ValueType.TEXT


TEXTS = st.one_of(
    st.none(),
    st.sampled_from(WORDS),
    st.integers(-(2**70), 2**70).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-1000, max_value=1000).map(str),
    st.text(alphabet="0123456789.e+-", max_size=5),
)


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.lists(TEXTS, max_size=4), st.lists(st.integers(-(2**64), 2**64).map(str), max_size=4)))
def test_types_follow_the_rules_and_every_value_can_be_read(values: Sequence[str | None]) -> None:
    column = found(values)
    assert column.type is expected(values)
    if column.is_number and "nan" not in values:
        assert column.numbers(pl.Series("x", values, dtype=pl.String)).null_count() == column.missing


@pytest.mark.parametrize(
    ("series", "type_", "scale"),
    [
        (pl.Series([1, None], dtype=pl.Int8), ValueType.INTEGER, 0),
        (pl.Series([2**63 - 1], dtype=pl.UInt64), ValueType.INTEGER, 0),
        (pl.Series([2**63], dtype=pl.UInt64), ValueType.TEXT, 0),
        (pl.Series([1.0, 2.25, 1e-4]), ValueType.DECIMAL, 4),
        (pl.Series([1.0, 1e20, float("nan")]), ValueType.DECIMAL, 0),
        (pl.Series([0.1], dtype=pl.Float32), ValueType.DECIMAL, 1),
        (pl.Series([Decimal("1.50")], dtype=pl.Decimal(10, 2)), ValueType.DECIMAL, 2),
        (pl.Series([True, None]), ValueType.BOOLEAN, 0),
        (pl.Series([datetime.date(2024, 1, 1)]), ValueType.DATE, 0),
        (pl.Series([datetime.date(2024, 1, 1)]).cast(pl.Datetime("ms")), ValueType.DATETIME, 0),
        (pl.Series(["a"], dtype=pl.Categorical), ValueType.TEXT, 0),
        (pl.Series([None, None]), ValueType.TEXT, 0),
    ],
)
def test_typed_storage_is_taken_at_its_word(series: pl.Series, type_: ValueType, scale: int) -> None:
    column = detect(pl.LazyFrame({"x": series}), ["x"])["x"]
    assert (column.type, column.scale, column.storage) == (type_, scale, series.dtype)
    assert column.missing == series.null_count()


def test_the_user_can_declare_what_the_data_leave_open() -> None:
    swapped = ["03/04/2024", None]
    assert found(swapped, declared=Column("x", ValueType.DATE, date_format="%m/%d/%Y")).date_format == "%m/%d/%Y"
    assert isinstance(found(swapped, declared=Column("x", ValueType.DATE)), AmbiguousDate)
    assert found(["2024-04-03"], declared=Column("x", ValueType.DATE)).date_format == "%Y-%m-%d"
    assert found([None], declared=Column("x", ValueType.DATE)).type is ValueType.DATE
    assert found(["12", "13"], declared=Column("x", ValueType.TEXT)).type is ValueType.TEXT
    padded = found(["007.50", "1"], declared=Column("x", ValueType.DECIMAL))
    assert (padded.type, padded.scale, padded.rows) == (ValueType.DECIMAL, 2, 2)


@pytest.mark.requirement("V-05")
def test_a_declared_date_that_is_none_names_the_column_only() -> None:
    with pytest.raises(DataError, match="column 'x'") as raised:
        found(["2024-01-01", "secret"], declared=Column("x", ValueType.DATE))
    assert "secret" not in str(raised.value)


def test_names_with_bars_keep_apart() -> None:
    table = pl.LazyFrame({"a": ["1"], "a|values": ["x"], "a|rows": ["2.5"], "a|%Y-%m-%d": ["2024-01-01"]})
    types = [str(column.type) for column in detect(table, table.collect_schema().names()).values()]
    assert types == ["integer", "text", "decimal", "date"]


def test_only_the_asked_columns_in_the_asked_order() -> None:
    table = pl.LazyFrame({"a": ["1"], "b": ["x"], "c": ["2.5"]})
    assert list(detect(table, ["c", "a"])) == ["c", "a"]
    assert detect(table, []) == {}


def test_screening_keeps_the_narrowest_number() -> None:
    candidates = screen(pl.DataFrame({"a": ["1"], "b": ["1.5"], "c": ["x"], "d": [1]}))
    assert candidates["a"] == TypeCandidates(integer=True)
    assert candidates["b"] == TypeCandidates(decimal=True)
    assert candidates["c"] == candidates["d"] == TypeCandidates()


@pytest.mark.parametrize(("last", "scans"), [("1", 2), ("1.5", 3)])
def test_a_further_pass_only_where_the_sample_misled(last: str, scans: int) -> None:
    started = []

    def produce(
        columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        started.append(columns)
        frame = pl.DataFrame({"x": ["1", "2", last], "y": ["a", "b", "c"]}).head(n_rows or 3)
        yield frame.select(columns) if columns else frame

    table = register_io_source(produce, schema={"x": pl.String(), "y": pl.String()})
    detect(table, ["x", "y"], sample_rows=2)
    assert len(started) == scans
    assert started[2:] == [["x"]] * (scans - 2), "only the column concerned is read again"
