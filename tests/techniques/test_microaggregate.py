"""Microaggregation: groups of at least k whatever the data, the best grouping against all others, MDAV as published."""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from shoal.errors import DataError
from shoal.randomness import Randomness
from shoal.schema import ROW, Column, ValueType
from shoal.techniques.base import Context, Scope, Step
from shoal.techniques.randomisation.microaggregation.mdav import mdav_groups
from shoal.techniques.randomisation.microaggregation.microaggregate import Microaggregate
from shoal.techniques.randomisation.microaggregation.points import Points
from shoal.techniques.randomisation.microaggregation.univariate import join_runs, optimal_runs

pytestmark = pytest.mark.requirement("T-16")

X = Column("x", ValueType.INTEGER, pl.Int64())
Y = Column("y", ValueType.DECIMAL, pl.Float64(), scale=2)
JOB = Column("job")
KNOWN = {column.name: column for column in (X, Y, JOB)}


def bound(column: Column = X, person: str | None = None, **parameters: object) -> Step:
    context = Context(KNOWN, Randomness(16).stream("microaggregate"), person=person)
    return Microaggregate.model_validate(parameters).bind(column, context)


def table(**columns: object) -> pl.DataFrame:
    frame = pl.DataFrame(columns)
    return frame.with_columns(pl.Series(ROW, range(frame.height), dtype=pl.UInt64))


def sse(values: np.ndarray) -> float:
    return float(((values - values.mean()) ** 2).sum())


def partitions(items: list[int], k: int) -> Iterator[list[list[int]]]:
    """Every way to put the items into groups of k or more."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(k - 1, len(rest) + 1):
        for others in combinations(rest, size):
            left = [item for item in rest if item not in others]
            for groups in partitions(left, k):
                yield [[first, *others], *groups]


@given(values=st.lists(st.integers(-50, 50), min_size=3, max_size=8), k=st.integers(2, 3))
@settings(max_examples=60)
def test_no_grouping_of_all_loses_less_than_the_optimal_one(values, k):
    data = np.sort(np.array(values, dtype=np.float64))
    starts = optimal_runs(data, k)
    loss = sum(sse(run) for run in np.split(data, starts[1:-1]))
    least = min(sum(sse(data[group]) for group in groups) for groups in partitions(list(range(len(data))), k))
    assert loss == pytest.approx(least, abs=1e-9)


@given(values=st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=90), k=st.integers(2, 7))
@settings(max_examples=60)
def test_the_optimal_grouping_by_blocks_is_the_one_of_the_plain_recursion(values, k):
    data = np.sort(np.array(values))
    least = [0.0] + [np.inf] * len(data)
    for end in range(k, len(data) + 1):
        least[end] = min(least[end - size] + sse(data[end - size : end]) for size in range(k, min(2 * k, end + 1)))
    starts = optimal_runs(data, k)
    assert set(np.diff(starts)) <= set(range(k, 2 * k))
    loss = sum(sse(run) for run in np.split(data, starts[1:-1]))
    assert loss == pytest.approx(least[-1], rel=1e-9, abs=1e-6)


def test_small_gaps_count_beside_large_sums():
    far = np.array([-1e9, -5e8, 0.0, 0.25, 1.0, 1.25, 2.0, 2.25])
    assert optimal_runs(far, 2).tolist() == [0, 2, 4, 6, 8]


def test_a_grouping_longer_than_what_is_held_at_once():
    data = np.repeat(np.arange(100_000.0), 3) * 10 + np.tile([0.0, 1.0, 2.0], 100_000)
    assert (np.diff(optimal_runs(data, 3)) == 3).all()


@given(
    rows=st.lists(st.tuples(st.integers(-9, 9), st.floats(-9, 9), st.sampled_from("abc")), min_size=7, max_size=40),
    k=st.integers(2, 7),
    columns=st.sampled_from([["y"], ["job"], ["y", "job"]]),
)
@settings(max_examples=80)
def test_at_least_k_records_are_alike_in_the_columns_together(rows, k, columns):
    frame = table(**pl.DataFrame(rows, schema=["x", "y", "job"], orient="row").to_dict())
    released = bound(k=k, **{"with": columns}).apply(frame)
    assert released.group_by("x", *columns).len()["len"].min() >= k
    assert released[ROW].equals(frame[ROW])
    assert abs(released["x"].sum() - frame["x"].sum()) <= 0.5 * len(rows)
    if "y" in columns:
        assert abs(released["y"].sum() - frame["y"].sum()) <= 0.005 * len(rows) + 1e-9


@given(values=st.lists(st.integers(0, 1000), min_size=3, max_size=60), k=st.integers(2, 3), order=st.randoms())
@settings(max_examples=60)
def test_one_column_keeps_its_sum_and_its_order(values, k, order):
    column = Column("x", ValueType.DECIMAL, pl.Float64(), scale=6)
    released = bound(column, k=k).apply(table(x=[float(value) for value in values]))["x"].to_numpy()
    assert released.sum() == pytest.approx(sum(values), abs=1e-6 * len(values))
    assert (np.diff(released[np.argsort(values, kind="stable")]) >= 0).all()
    shuffled = order.sample(values, len(values))
    again = bound(column, k=k).apply(table(x=[float(value) for value in shuffled]))["x"]
    assert sorted(again) == sorted(released)


def plain_mdav(points: np.ndarray, k: int) -> list[frozenset[int]]:
    """MDAV as the paper states it, a record at a time."""
    left, groups = list(range(len(points))), []

    def farthest(origin: np.ndarray) -> int:
        return max(left, key=lambda at: float(((points[at] - origin) ** 2).sum()))

    def cut_off(centre: int) -> None:
        near = sorted(left, key=lambda at: float(((points[at] - points[centre]) ** 2).sum()))[:k]
        groups.append(frozenset(near))
        left[:] = [at for at in left if at not in near]

    while len(left) >= 3 * k:
        first = farthest(points[left].mean(axis=0))
        second = farthest(points[first])
        cut_off(first)
        cut_off(second)
    if len(left) >= 2 * k:
        cut_off(farthest(points[left].mean(axis=0)))
    return [*groups, frozenset(left)]


@pytest.mark.parametrize(("size", "k"), [(29, 2), (60, 3), (61, 3), (700, 4), (1500, 25)])
@pytest.mark.parametrize("skew", [False, True])
def test_mdav_with_shells_forms_the_groups_of_the_plain_one(size, k, skew):
    drawn = np.random.default_rng(size + k).normal(size=(3, size))
    points = Points.of(list(np.exp(2 * drawn) if skew else drawn), [], size)
    groups = mdav_groups(points, k, np.arange(size))
    found = {frozenset(np.flatnonzero(groups == group).tolist()) for group in set(groups.tolist())}
    assert found == set(plain_mdav(points.numbers.T, k))


def test_mdav_loses_no_more_than_sdcmicro(shared):
    original = pl.read_csv(shared / "data" / "sdcmicro" / "CASCrefmicrodata.csv")
    theirs = pl.read_csv(shared / "golden" / "sdcmicro" / "CASC_mdav_k3.csv")
    first, *others = (Column(name, ValueType.DECIMAL, pl.Float64(), scale=9) for name in original.columns)
    technique = Microaggregate.model_validate({"k": 3, "with": [column.name for column in others]})
    context = Context({column.name: column for column in others}, Randomness(1).stream("x"))
    ours = technique.bind(first, context).apply(original)

    def loss(released: pl.DataFrame) -> float:
        return float(
            np.mean([((released[n] - original[n]) ** 2).sum() / sse(original[n].to_numpy()) for n in original.columns])
        )

    assert loss(ours) == pytest.approx(0.0569218628, abs=1e-9)
    assert loss(ours) <= loss(theirs) + 1e-9
    assert (ours - theirs).select(pl.all().abs().max()).max_horizontal().item() < 1e-6


def test_a_grouping_by_hand():
    frame = table(x=[10, 12, 1000, 11, 1010, 1001])
    assert bound(k=3).apply(frame)["x"].to_list() == [11, 11, 1004, 11, 1004, 1004]
    assert bound(k=3, centre="median").apply(frame)["x"].to_list() == [11, 11, 1001, 11, 1001, 1001]
    assert bound(k=2).apply(frame)["x"].to_list() == [11, 11, 1004, 11, 1004, 1004]
    assert bound(k=4).apply(frame)["x"].to_list() == [507] * 6


def test_the_mode_is_somebodys_value_and_of_several_the_commoner_in_the_table():
    frame = table(x=[7, 7, 8, 30, 31, 31, 31], job=["cook", "cook", "nurse", "nurse", "judge", "nurse", "nurse"])
    assert bound(k=3, centre="mode").apply(frame)["x"].to_list() == [7, 7, 7, 31, 31, 31, 31]
    released = bound(k=3, **{"with": ["job"]}).apply(frame)  # type: ignore[arg-type]
    assert released["job"].to_list() == ["cook"] * 3 + ["nurse"] * 4
    tie = table(job=["b", "a", "c", "c", "c"])
    assert bound(JOB, k=2).apply(tie).group_by("job").len()["len"].min() >= 2
    assert bound(JOB, k=2).apply(table(job=["b", "a"]))["job"].to_list() == ["a", "a"]


def test_categories_weigh_what_standardised_numbers_would():
    bits = [0, 1, 1, 0, 1, 1, 1]
    as_numbers = Points.of([np.array(bits, dtype=np.float64)], [], 7)
    as_categories = Points.of([], [np.array(bits) + 1], 7)
    origin = np.array([0])
    assert as_categories.distances(as_categories.take(origin)) == pytest.approx(
        as_numbers.distances(as_numbers.take(origin))
    )


def test_dates_and_truth_values():
    day = Column("day", ValueType.DATE, pl.String(), date_format="%d.%m.%Y")
    frame = table(day=["01.01.2020", "03.01.2020", "01.01.2021", "03.01.2021"])
    assert bound(day, k=2).apply(frame)["day"].to_list() == ["02.01.2020"] * 2 + ["02.01.2021"] * 2
    when = Column("when", ValueType.DATETIME, pl.Datetime("us"))
    moments = [datetime.datetime(2020, 1, 1, hour) for hour in (1, 2, 13, 14)]  # noqa: DTZ001
    assert bound(when, k=2).apply(table(when=moments))["when"].dt.minute().to_list() == [30] * 4
    flag = Column("flag", ValueType.BOOLEAN, pl.Boolean())
    assert bound(flag, k=3).apply(table(flag=[True, False, True, None]))["flag"].to_list() == [True, True, True, None]


def test_numbers_keep_their_digits():
    decimal = Column("x", ValueType.DECIMAL, pl.String(), scale=1)
    assert bound(decimal, k=3).apply(table(x=["1.0", "1.0", "1.5"]))["x"].to_list() == [1.2, 1.2, 1.2]
    assert bound(decimal, k=3).apply(table(x=["1.0", "1.0", "1.5"]))["x"].dtype == pl.Float64()
    assert Microaggregate(k=3).leaves(decimal).storage == pl.Float64()
    assert Microaggregate(k=3).leaves(Column("x", ValueType.INTEGER)).storage == pl.Int64()
    assert Microaggregate(k=3).leaves(JOB) == JOB


def test_strata_are_never_mixed():
    frame = table(x=[1, 100, 2, 101, 3, 102, 4], sex=["m", "f", "m", "f", "m", "f", "m"])
    released = bound(k=3, within=["sex"]).apply(frame)
    assert released["x"].to_list() == [2, 101, 2, 101, 2, 101, 2]
    with pytest.raises(DataError, match=r"column 'x': 3 record\(s\) are in strata of fewer than 4"):
        bound(k=4, within=["sex"]).apply(frame)
    with pytest.raises(DataError, match=r"7 record\(s\) are in strata of fewer than 8"):
        bound(k=8).apply(frame)


def test_missing_values_stay_missing_and_their_records_keep_to_themselves():
    assert bound(k=2).apply(table(x=[1, None, 3, None, None]))["x"].to_list() == [2, None, 2, None, None]
    frame = table(x=[1, 3, None, None, 50, 60, None], y=[1.0, 3.0, 8.0, 9.0, None, None, None])
    released = bound(k=2, **{"with": ["y"]}).apply(frame)  # type: ignore[arg-type]
    assert released["x"].to_list() == [2, 2, None, None, 55, 55, None]
    assert released["y"].to_list() == [2.0, 2.0, 8.5, 8.5, None, None, None]
    with pytest.raises(DataError, match=r"1 record\(s\) are in strata of fewer than 2") as raised:
        bound(k=2, **{"with": ["y"]}).apply(frame[:5])  # type: ignore[arg-type]
    assert "column missing" in str(raised.value)


people_rows = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 5) | st.none()), min_size=3, max_size=40
).filter(lambda rows: len({who for *_, who in rows}) >= 3)


@given(rows=people_rows, k=st.integers(2, 3), together=st.booleans())
@settings(max_examples=100)
def test_k_counts_people_where_there_are_any(rows, k, together):
    frame = table(
        **pl.DataFrame(rows, schema={"x": pl.Int64, "y": pl.Float64, "who": pl.Int64}, orient="row").to_dict()
    )
    columns = ["y"] if together else []
    released = bound(k=k, person="who", **{"with": columns}).apply(frame)  # type: ignore[arg-type]
    assert released.group_by("x", *columns).agg(pl.col("who").n_unique())["who"].min() >= k


def test_runs_are_joined_until_they_have_k_people():
    starts = np.array([0, 2, 4, 6, 8])
    assert join_runs(starts, np.array([1, 2, 3, 3, 1, 2, 1, 1]), 2).tolist() == [0, 2, 8]
    assert join_runs(starts, np.array([1, 1, 1, 2, 3, 4, 5, 6]), 2).tolist() == [0, 4, 6, 8]


def test_people_are_read_and_one_person_alone_is_an_error():
    step = bound(k=2, person="who", within=["s"])
    assert step.reads == ("x", "s", "who")
    with pytest.raises(DataError, match=r"3 record\(s\) are in strata of fewer than 2"):
        bound(k=2, person="who").apply(table(x=[1, 2, 3], who=["a", "a", "a"]))


@pytest.mark.parametrize(
    "parameters",
    [
        {"k": 3},
        {"k": 3, "method": "mdav"},
        {"k": 3, "with": ["y", "job"]},
        {"k": 3, "centre": "mode", "within": ["job"]},
    ],
)
def test_pickling_repeating_and_the_empty_frame(parameters):
    step = bound(**parameters)
    values = np.random.default_rng(5).integers(0, 1000, 90)
    frame = table(x=values, y=values * 1.5, job=[("cook", "nurse")[at % 2] for at in range(90)])
    released = step.apply(frame)
    assert not released.equals(frame)
    assert released["x"].n_unique() <= 30
    assert pickle.loads(pickle.dumps(step)).apply(frame).equals(released)  # noqa: S301
    assert step.apply(frame.clear()).schema == released.schema
    assert step.scope is Scope.TABLE
    assert set(step.reads) == {"x", *parameters.get("with", ()), *parameters.get("within", ())}


@pytest.mark.parametrize("scale", [1e-300, 1e90])
def test_tiny_and_large_numbers(scale):
    column = Column("y", ValueType.DECIMAL, pl.Float64(), scale=15)
    assert bound(column, k=2).apply(table(y=[3e90, 1e90, 9e90, 8e90]))["y"].to_list() == [2e90, 2e90, 8.5e90, 8.5e90]
    points = Points.of([np.array([1.0, 2.0, 9.0]) * scale], [], 3)
    assert points.numbers[0].std() == pytest.approx(1.0)


def test_numbers_without_an_exact_average_are_an_error():
    with pytest.raises(DataError, match=r"column 'x': 1 number\(s\) are too large to be averaged"):
        bound(k=2).apply(table(x=[2**53 + 1, 1, 2]))


@pytest.mark.requirement("T-29")
@pytest.mark.parametrize(
    ("parameters", "column", "reason"),
    [
        ({"method": "optimal"}, JOB, "needs numbers or dates to sort; column 'job' is text"),
        ({"centre": "median"}, JOB, "no median of categories"),
        ({"with": ["x"]}, X, "with or within itself"),
        ({"within": ["x"]}, X, "with or within itself"),
    ],
)
def test_refusals_say_why(parameters, column, reason):
    assert reason in (Microaggregate.model_validate({"k": 3} | parameters).refuse(column) or "")
    assert Microaggregate(k=3).refuse(column) is None


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"k": 1},
        {"k": 3, "with": ["y"], "method": "optimal"},
        {"k": 3, "with": ["y"], "within": ["y"]},
        {"k": 3, "centre": "midpoint"},
        {"k": 3, "groups": 3},
    ],
)
def test_wrong_parameters(parameters):
    with pytest.raises(ValidationError):
        Microaggregate.model_validate(parameters)
