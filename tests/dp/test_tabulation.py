"""Exact figures against plain Python: groups, conditions, nulls, joins, quantiles, and what a person adds."""

from __future__ import annotations

import datetime
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dp.brute_force import counted, worth
from tests.dp.datasets import COLUMNS, described, plan_of, table, two_tables

from shoal.dp.description import DatasetDescription
from shoal.dp.query_plan import QueryPlan
from shoal.dp.question import AggregateFunction
from shoal.dp.statistics import GroupSums, Statistic, StatisticKind, ingredients
from shoal.dp.tabulation import Tabulation, checked_frames, tabulated
from shoal.errors import DataError, RefusedQuestion

pytestmark = pytest.mark.requirement("C-01")

DAYS = st.dates(datetime.date(2025, 1, 1), datetime.date(2026, 12, 31))
ROW = st.fixed_dictionaries(
    {
        "who": st.none() | st.sampled_from("abcdefgh"),
        "age": st.none() | st.integers(0, 100).map(float),
        "income": st.none() | st.integers(-50, 1000).map(float),
        "free": st.none() | st.integers(-(10**6), 10**6).map(float),
        "region": st.none() | st.sampled_from(["north", "south", "east"]),
        "town": st.none() | st.sampled_from(["Ely", "Rye"]),
        "member": st.none() | st.booleans(),
        "seen": st.none() | DAYS,
    }
)
SQL = [
    "SELECT COUNT(*), COUNT(age), COUNT(DISTINCT who), SUM(age) FROM t WHERE age > 20 OR member",
    "SELECT region, member, COUNT(*), SUM(income), COUNT(DISTINCT who) FROM t GROUP BY region, member",
    "SELECT age - age % 25 AS a, AVG(age), COUNT(*) FROM t WHERE NOT region = 'east' GROUP BY a",
    "SELECT town, COUNT(*), SUM(CASE WHEN member THEN 3 ELSE -2 END) FROM t GROUP BY town",
    "SELECT DATE_TRUNC('quarter', seen) q, COUNT(*) FROM t WHERE seen BETWEEN '2025-02-01' AND '2026-10-31' GROUP BY q",
    "SELECT region, SUM(1), SUM(age * 2 - 3), COUNT(town) FROM t WHERE free / age > 3 OR age IS NULL GROUP BY region",
    "SELECT COUNT(*) FROM t WHERE town LIKE 'E%' AND income IN (1, 2, 3) OR COALESCE(age, 50) >= 50",
]


def figures_of(plan: QueryPlan, rows: list[dict[str, Any]], person: str | None = "who") -> tuple[Tabulation, Any]:
    """What was tabulated, and the same by brute force."""
    exact = tabulated(plan, checked_frames(plan, [table(rows)]))
    return exact, counted(plan.question, rows, person)


def expected(statistic: Statistic, aggregate_values: Any) -> int:
    if statistic.kind is not StatisticKind.TOTAL:
        return aggregate_values if isinstance(aggregate_values, int) else len(aggregate_values)
    return sum(round((value - statistic.offset) ** statistic.power / statistic.step) for value in aggregate_values)


@pytest.mark.parametrize("sql", SQL)
@given(rows=st.lists(ROW, max_size=30), person=st.booleans())
@settings(max_examples=25)
def test_figures_by_brute_force(sql: str, rows: list[dict[str, Any]], person: bool) -> None:
    if not person and "who" in sql:
        return
    plan = plan_of(sql, described(100 if person else None))
    exact, truth = figures_of(plan, rows, "who" if person else None)
    keys = exact.keys.rows() if plan.question.keys else [()]
    assert set(truth) <= set(keys)
    for place, (_, made_of) in enumerate(zip(plan.question.aggregates, plan.ingredients, strict=True)):
        for statistic in made_of.statistics:
            figures = exact.figures[plan.statistics.index(statistic)]
            for key, figure in zip(keys, figures, strict=True):
                values = truth[key][place] if key in truth else []
                assert figure == (expected(statistic, values) if values != [] else 0)
    if plan.public_keys is None:
        assert set(truth) == set(keys)


@given(rows=st.lists(ROW, max_size=40), most=st.integers(1, 3))
@settings(max_examples=40)
def test_nobody_adds_more_than_is_stated(rows: list[dict[str, Any]], most: int) -> None:
    """Each person alone: figures that they change, in all groups together, and who names nobody changes nothing."""
    plan = plan_of("SELECT region, COUNT(*), SUM(age), COUNT(DISTINCT who) FROM t GROUP BY region", described(most))
    whole, _ = figures_of(plan, rows)
    alone = {who: figures_of(plan, [row for row in rows if row["who"] == who])[0] for who in "abcdefgh"}
    for place, statistic in enumerate(plan.statistics):
        for exact in alone.values():
            assert sum(map(abs, exact.figures[place])) <= statistic.l1(plan.rows_per_person)
        if statistic.kind is not StatisticKind.TOTAL:
            assert sum(whole.figures[place]) == sum(sum(exact.figures[place]) for exact in alone.values())
    nobody, _ = figures_of(plan, [row for row in rows if row["who"] is None])
    assert not any(any(figures) for figures in nobody.figures)


def test_rows_are_drawn_by_chance_alone() -> None:
    """Of five rows two are used; each is as likely as any other, in whichever order they stand."""
    plan = plan_of(
        "SELECT age, COUNT(*) FROM t GROUP BY age", described(2, columns={"age": {"type": "integer", "bounds": [0, 4]}})
    )
    rows = [{"who": "a", "age": age} for age in range(5)]
    used = Counter[int]()
    for _ in range(200):
        exact = tabulated(plan, checked_frames(plan, [table(rows)]))
        assert sum(exact.figures[0]) == 2
        used.update(place for place, count in enumerate(exact.figures[0]) if count)
    assert all(40 < used[place] < 120 for place in range(5))


@given(rows=st.lists(ROW, min_size=1, max_size=20), order=st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_the_order_of_rows_is_not_seen(rows: list[dict[str, Any]], order: Any) -> None:
    plan = plan_of(SQL[3], described(100))
    shuffled = list(rows)
    order.shuffle(shuffled)
    first, second = (figures_of(plan, one)[0] for one in (rows, shuffled))
    assert first.keys.equals(second.keys)
    assert (first.figures, first.people) == (second.figures, second.people)


@given(
    people=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["north", "south"])), max_size=8),
    visits=st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 9)), max_size=12),
)
@settings(max_examples=40)
def test_joined_by_brute_force(people: list[tuple[str, str]], visits: list[tuple[str, int]]) -> None:
    sql = (
        "SELECT region, COUNT(*), SUM(cost) FROM people p JOIN visits v ON p.who = v.who WHERE cost > 1 GROUP BY region"
    )
    described_here = two_tables().model_dump(mode="json", exclude_none=True)
    for one in described_here["tables"].values():
        one["rows_per_person"] = 100
    frames = [
        pl.DataFrame(people, schema={"who": pl.String, "region": pl.String}, orient="row").lazy(),
        pl.DataFrame(visits, schema={"who": pl.String, "cost": pl.Int64}, orient="row").lazy(),
    ]
    plan = plan_of(sql, DatasetDescription.model_validate(described_here))
    exact = tabulated(plan, checked_frames(plan, frames))
    pairs = [(region, cost) for who, region in people for other, cost in visits if who == other and cost > 1]
    for place, key in enumerate(["north", "south"]):
        found = exact.keys.rows().index((key,))
        costs = [cost for region, cost in pairs if region == key]
        assert [figures[found] for figures in exact.figures] == [len(costs), sum(costs)], place
    bounded = plan_of(sql, two_tables())
    few = tabulated(bounded, checked_frames(bounded, frames))
    assert sum(few.figures[0]) <= bounded.rows_per_person * 3 == 9


def test_people_are_joined_whatever_type_names_them() -> None:
    plan = plan_of("SELECT SUM(cost) FROM people p JOIN visits v ON p.who = v.who", two_tables())
    frames = [pl.LazyFrame({"who": [1, 2], "region": ["north"] * 2}), pl.LazyFrame({"who": ["2", "3"], "cost": [5, 7]})]
    assert tabulated(plan, checked_frames(plan, frames)).figures == ([5],)


@given(st.lists(st.none() | st.integers(-5, 120).map(float), max_size=30), st.sampled_from([0.1, 0.25, 0.5, 0.9]))
@settings(max_examples=30)
def test_quantiles_by_brute_force(ages: list[float | None], fraction: float) -> None:
    """The candidate with the best score is a quantile of the clipped values."""
    plan = plan_of(f"SELECT QUANTILE(age, {fraction}) FROM t", described(None))  # noqa: S608
    exact = tabulated(plan, checked_frames(plan, [table([{"age": age} for age in ages])]))
    quantile, counts = plan.quantiles[0], exact.ranked[0][0]
    clipped = sorted(min(100.0, max(0.0, age)) for age in ages if age is not None)
    assert counts.tolist() == [clipped.count(float(age)) for age in range(101)]
    scores = quantile.scores(counts)
    best = quantile.grid(1)[scores.argmax()]
    if clipped:
        below, above = sum(one < best for one in clipped), sum(one > best for one in clipped)
        assert below <= quantile.fraction * len(clipped)
        assert above <= (1 - quantile.fraction) * len(clipped)
    for place in range(0, 101, 20):  # a row more changes no score by more than is stated
        more = quantile.scores(counts + (np.arange(101) == place))
        assert np.abs(more - scores).max() <= quantile.weight


def test_where_many_have_one_value_it_is_the_quantile_itself() -> None:
    """And not the value beside it, whose own rows lie more evenly around the rank."""
    plan = plan_of("SELECT QUANTILE(age, 0.9) FROM t", described(None))
    counts = np.zeros(101, dtype=np.int64)
    counts[[30, 40, 41, 50]] = 865, 30, 30, 75
    scores = plan.quantiles[0].scores(counts)
    assert scores.argmax() == 41 and scores[41] == 0 and scores[40] < 0


def test_a_person_in_a_period() -> None:
    plan = plan_of("SELECT COUNT(*), COUNT(DISTINCT who) FROM t", described(2, per="month", time="seen"))
    rows: list[dict[str, Any]] = [
        {"who": "a", "seen": f"2026-{month:02}-{day:02}"} for month in (1, 2, 3) for day in (1, 2, 3, 4)
    ]
    rows += [{"who": "b", "seen": "2026-01-01"}, {"who": "c", "seen": None}, {"who": None, "seen": "2026-01-01"}]
    exact = tabulated(plan, checked_frames(plan, [table(rows)]))
    assert exact.figures == ([7], [2])


def test_a_period_and_several_tables() -> None:
    visits = {"source": "v.csv", "rows_per_person": 1, "columns": {"seen": COLUMNS["seen"]}}
    description = two_tables(tables={"a": visits, "b": visits}, per="month", time="seen")
    with pytest.raises(RefusedQuestion, match="month"):
        plan_of("SELECT COUNT(*) FROM a JOIN b USING (who)", description)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (pl.LazyFrame({"who": ["a"]}), "no column 'age'"),
        (pl.LazyFrame({"who": ["a"], "age": [True]}), "described as integer"),
        (pl.LazyFrame({"who": [[1]], "age": [1]}), "can't name people"),
        (pl.LazyFrame({"age": [1]}), "no column 'who'"),
    ],
)
def test_data_that_are_not_as_described(frame: pl.LazyFrame, said: str) -> None:
    plan = plan_of("SELECT SUM(age) FROM t")
    with pytest.raises(DataError, match=said):
        checked_frames(plan, [frame])


@given(st.lists(st.floats(width=64) | st.sampled_from([-0.0, 1e308, -1e308, 5e-324]), min_size=1, max_size=8))
@settings(max_examples=60)
def test_no_float_adds_more_than_the_most(values: list[float]) -> None:
    """Whatever the column holds: each row adds a whole number within ± most, alone or together."""
    for sql in ("SELECT SUM(income) FROM t", "SELECT VARIANCE(LEAST(GREATEST(free, -3.3), 9e9)) FROM t"):
        plan = plan_of(sql, described(None))
        frame = pl.LazyFrame({"income": values, "free": values}, schema={"income": pl.Float64, "free": pl.Float64})
        exact = tabulated(plan, checked_frames(plan, [frame]))
        singles = [tabulated(plan, checked_frames(plan, [frame.slice(at, 1)])) for at in range(len(values))]
        for place, statistic in enumerate(plan.statistics):
            assert all(abs(one.figures[place][0]) <= statistic.most for one in singles)
            assert exact.figures[place] == [sum(one.figures[place][0] for one in singles)]


@pytest.mark.parametrize("low", [0, 12.5, 1e4, 1e6, 1e8, 1e11])
@pytest.mark.parametrize("width", [0, 0.001, 1, 1000, 1e6])
@pytest.mark.parametrize("figures", ["SUM(x)", "AVG(x)", "VARIANCE(x), SUM(x)"])
def test_no_sum_of_four_billion_rows_overflows(low: float, width: float, figures: str) -> None:
    """What is added up of each row is small enough, before anything is taken off the sum as well."""
    columns = {"x": {"type": "number", "bounds": [low, low + width]}}
    plan = plan_of(f"SELECT {figures} FROM t", described(None, columns=columns))  # noqa: S608
    made = GroupSums(plan.statistics)
    ends = pl.DataFrame({"x": [float(low), float(low + width)]}).select(made.rows())
    assert max(abs(cell) for row in ends.rows() for cell in row) * 2**32 < 2**63
    shifts = [abs(one.shift or 0) for one in plan.statistics]
    assert max(shifts) * 2**32 < 2**62


def test_what_aggregates_are_made_of() -> None:
    plan = plan_of("SELECT COUNT(age), AVG(age), STDDEV(age), SUM(age) FROM t")
    assert [len(one.statistics) for one in plan.ingredients] == [1, 2, 3, 1]
    assert len(plan.statistics) == 4, "each is asked for once"
    mean = ingredients(plan.question.aggregates[1], plan.columns).statistics[1]
    assert (mean.offset, mean.step, mean.most) == (50.0, 1.0, 50)
    assert plan.question.aggregates[1].function is AggregateFunction.MEAN
    assert worth(plan.question.aggregates[1].argument, {"age": 3.0}) == 3.0  # type: ignore[arg-type]
    people = plan_of("SELECT COUNT(DISTINCT who) FROM t", described(9))
    assert people.statistics[0].l1(9, people.groups) == 1
    grouped = plan_of("SELECT region, COUNT(DISTINCT who) FROM t GROUP BY region", described(9))
    assert grouped.statistics[0].l1(9, grouped.groups) == 3
    assert grouped.statistics[0].l2(9, grouped.groups) == pytest.approx(3**0.5)
