"""Rows belong to a seed, a column and a number: not to batches, threads or other columns."""

from __future__ import annotations

import datetime
import hashlib
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.synth.test_data.making import made

from shoal.errors import InputError
from shoal.randomness import Randomness
from shoal.synth.test_data import TableSchema, registered_generators, rows_of

pytestmark = pytest.mark.requirement("T-25")

NEEDED: dict[str, object] = {"category": ["a", "b", "c"], "pattern": "TEST-####-?"}
EVERYTHING = TableSchema.of(
    {"shoal": 1, "columns": {key: {key: NEEDED.get(key)} for key in registered_generators.names()}}
)
COUNTABLE = [key for key, column in EVERYTHING.columns.items() if column.generator.distinct >= 500]

COLUMNS: dict[str, object] = {
    "serial": {"serial": 100},
    "aadhaar": "aadhaar",
    "card": "card",
    "iban": "iban",
    "nric": {"nric": "T", "unique": True},
    "born": {"date": {"first": "1950-01-01", "last": "1999-12-31"}},
    "ward": {"category": ["A", "B"]},
    "bill": {"decimal": {"low": 0, "high": 10}, "missing": 0.25},
}


def table(columns: dict[str, object], rows: int, *, seed: int = 7, batch: int = 100_000) -> pl.DataFrame:
    return pl.concat(rows_of(TableSchema.of({"shoal": 1, "columns": columns}), rows, Randomness(seed=seed), batch))


def test_the_same_seed_gives_the_same_bytes_for_ever() -> None:
    written = table(COLUMNS, 1_000).write_csv().encode()
    assert hashlib.sha256(written).hexdigest() == "bfaa3c87905489bc06f031c054eb4d6a7be926ab04e1e5e65e193ef58473d59b"


@pytest.mark.parametrize("batch", [1, 2, 7, 33, 60])
def test_batches_change_nothing(batch: int) -> None:
    whole = pl.concat(rows_of(EVERYTHING, 60, Randomness(seed=7)))
    parts = list(rows_of(EVERYTHING, 60, Randomness(seed=7), batch))
    assert [len(part) for part in parts[:-1]] == [batch] * (len(parts) - 1)
    assert pl.concat(parts).equals(whole)


def test_other_columns_change_nothing() -> None:
    whole = table(COLUMNS, 300)
    for name in COLUMNS:
        assert table({name: COLUMNS[name]}, 300)[name].equals(whole[name], null_equal=True)


def test_further_rows_change_nothing() -> None:
    assert table(COLUMNS, 1_000).head(300).equals(table(COLUMNS, 300))


def test_another_seed_gives_other_rows_and_none_never_the_same() -> None:
    schema = TableSchema.of({"shoal": 1, "columns": {"id": "aadhaar"}})
    drawn = [made("aadhaar", 50, seed) for seed in (1, 2)]
    drawn += [next(rows_of(schema, 50, Randomness()))["id"] for _ in range(2)]
    assert pl.concat(drawn).n_unique() == 200


@pytest.mark.parametrize("key", COUNTABLE)
def test_unique_values_are(key: str) -> None:
    rows = min(EVERYTHING.columns[key].generator.distinct, 2_000)
    assert made({key: NEEDED.get(key), "unique": True}, rows).n_unique() == rows


def test_all_values_of_a_small_set_come_once() -> None:
    assert sorted(made({"ipv4": {}, "unique": True}, 768)) == sorted(made("ipv4", 50_000).unique())


def test_more_unique_rows_than_values_are_refused_before_any_is_made() -> None:
    schema = TableSchema.of({"shoal": 1, "columns": {"ip": {"ipv4": {}, "unique": True}}})
    with pytest.raises(InputError, match="column 'ip': 'ipv4' has 768 different values, and 769 are asked for"):
        rows_of(schema, 769, Randomness(seed=7))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_so_many_values_are_missing(share: float) -> None:
    missing = made({"integer": {}, "missing": share}, 20_000).null_count()
    assert abs(missing / 20_000 - share) <= 4 * (share * (1 - share) / 20_000) ** 0.5


def test_what_is_missing_leaves_the_rest_as_it_is() -> None:
    whole, gaps = made("nric"), made({"nric": "T", "missing": 0.3})
    assert whole.filter(gaps.is_not_null()).equals(gaps.drop_nulls())


def test_no_rows_have_columns_and_types_all_the_same() -> None:
    empty, some = (pl.concat(rows_of(EVERYTHING, rows, Randomness(seed=7))) for rows in (0, 3))
    assert len(empty) == 0
    assert empty.schema == some.schema


@pytest.mark.parametrize(("rows", "batch"), [(-1, 5), (5, 0)])
def test_fewer_than_no_rows_are_refused(rows: int, batch: int) -> None:
    with pytest.raises(InputError, match="at least"):
        rows_of(EVERYTHING, rows, Randomness(seed=7), batch)


def test_rows_are_made_when_they_are_asked_for() -> None:
    frames = rows_of(EVERYTHING, 10**12, Randomness(seed=7), 10)
    assert [len(next(frames)) for _ in range(3)] == [10, 10, 10]


@given(low=st.integers(-(2**61), 2**61), width=st.integers(0, 2**61), unique=st.booleans())
@settings(max_examples=60, deadline=None)
def test_whole_numbers_lie_within_their_range(low: int, width: int, unique: bool) -> None:
    high = min(low + width, 2**61)
    rows = min(50, high - low + 1)
    values = made({"integer": {"low": low, "high": high}, "unique": unique}, rows)
    assert values.is_between(low, high).all()
    assert not unique or values.n_unique() == rows


@given(low=st.decimals(-1000, 1000, places=3), width=st.decimals("0.01", 1000, places=3), places=st.integers(2, 6))
@settings(max_examples=60, deadline=None)
def test_decimals_lie_within_their_range(low: Decimal, width: Decimal, places: int) -> None:
    high = low + width
    values = made({"decimal": {"low": float(low), "high": float(high), "places": places}}, 50)
    assert values.is_between(float(low), float(high)).all()
    assert values.round(places).equals(values)


@given(first=st.dates(), days=st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_dates_lie_within_their_range(first: datetime.date, days: int) -> None:
    last = min(first.toordinal() + days, datetime.date.max.toordinal())
    column = {"date": {"first": first.isoformat(), "last": datetime.date.fromordinal(last).isoformat()}}
    assert made(column, 50).is_between(first, datetime.date.fromordinal(last)).all()


def test_moments_and_formats() -> None:
    moments = made({"datetime": {"first": "2024-01-01T00:00:00", "last": "2024-01-01T00:00:59"}})
    assert moments.dtype == pl.Datetime("us")
    assert sorted(moments.dt.second().unique()) == list(range(60))
    assert made({"date": {"format": "%d/%m/%Y"}}).str.to_date("%d/%m/%Y").is_between(
        datetime.date(1940, 1, 1), datetime.date(2020, 12, 31)
    ).all()  # fmt: skip


def test_every_value_is_as_likely_as_any_other() -> None:
    """χ² of 100 values among 100,000 rows: below 99 + 4 · √198 with a chance of 0.9999."""
    counts = made({"integer": {"low": 0, "high": 99}}, 100_000).value_counts()["count"]
    assert len(counts) == 100
    assert ((counts - 1000) ** 2 / 1000).sum() < 99 + 4 * 198**0.5


def test_weights_are_kept() -> None:
    values = made({"category": {"values": ["often", "seldom", "never"], "weights": [9, 1, 0]}}, 20_000)
    counts = dict(values.value_counts().iter_rows())
    assert counts.keys() == {"often", "seldom"}
    assert abs(counts["seldom"] - 2_000) < 4 * (20_000 * 0.09) ** 0.5


def test_words_are_as_many_as_asked_for() -> None:
    assert made({"words": 11}).str.split(" ").list.len().unique().to_list() == [11]
