"""What is left out without being looked at closely could not have told anything."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.measurement.read_back import DisclosureMethod, DisclosureRule, KnownQuasi, Levels, TrainingRecords, read_back
from shoal.measurement.read_back import search as searching
from shoal.measurement.read_back.column_types import kinds_of
from shoal.measurement.read_back.dictionary import columns_of, large_enough, learn
from shoal.measurement.read_back.record_order import is_sorted, may_be_sorted, ranked
from shoal.measurement.read_back.screen import Groups, Screen
from shoal.measurement.read_back.value_parts import PartKind, ValuePart, nested_groups
from shoal.schema.type_detection import detect

pytestmark = pytest.mark.requirement("D-07")

RULES = st.builds(DisclosureRule, st.integers(2, 10), st.sampled_from([0.6, 0.8, 0.95, 1.0]))


def levels_of(values: pl.Series, step: int) -> Levels:
    """Three levels: the value, its ``step``-th, and that of it."""
    distinct = values.unique().sort()
    numbers = distinct.to_numpy()
    ladder = [distinct.cast(pl.String), pl.Series([f"{n // step}a" for n in numbers])]
    ladder.append(pl.Series([f"{n // step // step}b" for n in numbers]))
    vocabulary = pl.concat([one.cast(pl.String) for one in ladder]).unique().sort()
    labels = tuple(one.cast(pl.Enum(vocabulary)).to_physical().cast(pl.Int32).to_numpy() for one in ladder)
    return Levels("q", ladder[0], labels, vocabulary)


@settings(max_examples=200)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 300),
    groups=st.integers(1, 40),
    values=st.integers(1, 60),
    skew=st.sampled_from([0.0, 0.9, 0.97]),
    step=st.integers(2, 5),
    rule=RULES,
)
def test_no_group_that_tells_is_screened_out(
    seed: int, rows: int, groups: int, values: int, skew: float, step: int, rule: DisclosureRule
) -> None:
    draw = np.random.default_rng(seed)
    places = draw.integers(0, groups + 1, rows)
    bound = draw.integers(0, values, groups + 1)[places]
    other = draw.integers(0, values, rows)
    original = pl.Series(np.where(draw.random(rows) < skew, 0, np.where(draw.random(rows) < 0.7, bound, other)))
    levels = levels_of(original, step)
    codes = levels.value_codes(original)
    everything = np.ones(groups, dtype=bool)
    told = learn(places - 1, groups, codes, levels, rule, everything, levels.common(codes, rule.share))
    passed = Screen.of(levels, codes, rule).passes(Groups(places, groups))[1:]
    assert passed[told.labels >= 0].all()


@settings(max_examples=100)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 3000), kind=st.sampled_from(["text", "number", "date"]))
def test_every_value_that_is_common_enough_has_a_code(seed: int, rows: int, kind: str) -> None:
    draw = np.random.default_rng(seed)
    drawn = np.where(draw.random(rows) < draw.random(), draw.integers(0, 10**9, rows), draw.integers(0, 20, rows))
    values = pl.Series("v", drawn)
    if kind == "text":
        values = "v" + values.cast(pl.String)
    elif kind == "date":
        values = (values % 40_000).cast(pl.Int32).cast(pl.Date)
    values = pl.select(pl.when(pl.Series(draw.random(rows) < 0.9)).then(values.alias("v"))).to_series().alias("v")
    rule = DisclosureRule()
    column = columns_of(values.to_frame(), rule)["v"]
    counted = {value: number for value, number in values.value_counts().iter_rows() if number >= rule.records}
    assert column.size == len(counted)
    assert column.missing == (None in counted)
    shown = [*column.values.to_list(), None]
    for value, code in zip(values.to_list(), column.codes.tolist(), strict=True):
        assert (code >= 0) == (value in counted)
        assert code < 0 or shown[code] == value
    assert np.array_equal(column.codes, column.of_others(values))
    assert large_enough(column.codes, column.size, None, rule).all()


def test_a_pair_that_seems_to_tell_in_some_records_is_looked_up_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fourth record is compared: there, both pairs tell; in all records, one does."""
    rows = 4000
    draw = np.random.default_rng(1)
    one, two, three = (draw.integers(0, 3, rows) for _ in range(3))
    true = (one + two) % 2
    code = np.where(np.arange(rows) % 4 == 0, true, draw.integers(0, 2, rows))
    both = {"code": code, "job": (one + three) % 2}
    tellers = {"a": one.astype(str), "b": two.astype(str), "c": three.astype(str)}
    released = pl.DataFrame({"code": ["*"] * rows, "job": ["*"] * rows, **tellers})
    quasi = []
    for name, values in both.items():
        original = pl.Series(name, values.astype(str))
        quasi.append(KnownQuasi(name, Levels.of(name, original, None), original))
    monkeypatch.setattr(searching, "PAIR_WORK", rows // 4 * 3 * 2)
    found, learnt = read_back(TrainingRecords(released, tuple(quasi), ("code", "job"), ("a", "b", "c")))
    assert learnt.pairs_looked_at == rows // 4
    assert [(told.columns, told.attribute, told.how) for told in found.tellings] == [
        (("a", "c"), "job", DisclosureMethod.PAIR)
    ]
    assert found.tellings[0].records == rows


@pytest.mark.parametrize("cut", [PartKind.FIRST, PartKind.LAST])
def test_nested_parts_are_the_parts(cut: PartKind) -> None:
    draw = np.random.default_rng(2)
    texts = ["".join(draw.choice(list("ab1"), draw.integers(0, 6))) for _ in range(500)]
    values = pl.Series("id", [None if place % 50 == 0 else text for place, text in enumerate(texts)])
    for length, groups in nested_groups(values, cut, 4, 5):
        parts = ValuePart("id", cut, length).of(values).to_list()
        numbers = {part: parts.count(part) for part in set(parts)}
        for part, place in zip(parts, groups.places.tolist(), strict=True):
            assert (place > 0) == (numbers[part] >= 5)
            assert place == 0 or groups.records[place] == numbers[part]


@settings(max_examples=100)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(2, 9000),
    kind=st.sampled_from(["text", "number", "digits", "date"]),
    wrong=st.sampled_from([0.0, 0.01, 0.03, 0.1, 1.0]),
    values=st.sampled_from([2, 30, 5000]),
)
def test_what_is_sorted_is_not_ruled_out(seed: int, rows: int, kind: str, wrong: float, values: int) -> None:
    draw = np.random.default_rng(seed)
    numbers = np.sort(draw.integers(0, values, rows))
    moved = np.flatnonzero(draw.random(rows) < wrong)
    numbers[moved] = draw.permutation(numbers[moved])
    if kind == "text":
        column = pl.Series([f"w{number:05}" for number in numbers])
    elif kind == "digits":
        column = pl.Series(numbers).cast(pl.String)
    elif kind == "date":
        first = datetime.date(2001, 1, 1)
        column = pl.Series([(first + datetime.timedelta(int(n))).strftime("%d/%m/%Y") for n in numbers])
    else:
        column = pl.Series(numbers)
    rule = DisclosureRule()
    assert may_be_sorted(column, rule) or not is_sorted(ranked(column), None, rule)


def test_records_in_no_order_are_ruled_out_at_once() -> None:
    drawn = pl.Series(np.random.default_rng(3).integers(0, 1000, 20_000))
    assert not may_be_sorted(drawn, DisclosureRule())
    assert not may_be_sorted(drawn.cast(pl.String), DisclosureRule())


COLUMNS: dict[str, list[str | None]] = {
    "whole": ["1", "-3", None, "12"],
    "decimal": ["1.5", "2e3", "-0.25", "7"],
    "code": ["007", "120", "130", "140"],
    "plus": ["+65123", "65123", "1", "2"],
    "beyond": ["99999999999999999999", "1", "2", "3"],
    "words": ["a", "b", None, "c"],
    "missing": [None, None, None, None],
    "nan": ["nan", "NaN", "nan", "nan"],
    "some nan": ["nan", "1.5", "2", "3"],
    "iso": ["2020-01-31", "1999-12-01", None, "2024-02-29"],
    "no day": ["2020-02-31", "1999-12-01", "2000-01-01", "2024-02-29"],
    "old": ["0020-02-03", "1999-12-01", "2000-01-01", "2024-02-29"],
    "stamp": ["2020-01-31 10:00:00", "1999-12-01 23:59:59", "2000-01-01 00:00:00", None],
    "zone": ["2020-01-31T10:00:00Z", "1999-12-01T23:59:59Z", "2000-01-01T00:00:00Z", None],
    "T": ["2020-01-31T10:00:00", "1999-12-01T23:59:59", "2000-01-01T00:00:00", None],
    "day first": ["31/12/2020", "01/02/2021", "05/06/2021", "07/08/2021"],
    "either": ["01/02/2021", "05/06/2021", "07/08/2021", "03/03/2021"],
    "month": ["31-Dec-2020", "01-Feb-2021", "05-Jun-2021", None],
    "ward": ["12 beds", "3 beds", "4 beds", "5 beds"],
}


@pytest.mark.parametrize("late", [0, 300])
@pytest.mark.parametrize("name", COLUMNS)
def test_kinds_are_those_that_are_detected(name: str, late: int) -> None:
    """Whether the last value stands among the first records or behind them."""
    *first, last = COLUMNS[name]
    frame = pl.DataFrame({"v": [*first, *([first[0]] * late), last]}, schema={"v": pl.String})
    mine, theirs = kinds_of(frame, ["v"])["v"], detect(frame.lazy(), ["v"])["v"]
    assert (mine.is_number, mine.is_date, mine.date_format) == (theirs.is_number, theirs.is_date, theirs.date_format)


def test_kinds_of_typed_columns() -> None:
    frame = pl.DataFrame({"n": [1.5, None], "d": [datetime.date(2020, 1, 1), None], "b": [True, False], "i": [1, 2]})
    found = kinds_of(frame, frame.columns)
    assert [(one.is_number, one.is_date) for one in found.values()] == [
        (True, False),
        (False, True),
        (False, False),
        (True, False),
    ]
