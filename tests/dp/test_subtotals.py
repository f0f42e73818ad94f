"""Totals add up, their intervals cover as often as they say, and counts are not negative where that is asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.dp.datasets import described, plan_of

from shoal.dp.noisy_answer import NoisyFigures, with_noise, worked_out
from shoal.dp.query_plan import QueryPlan
from shoal.dp.subtotals import non_negative
from shoal.dp.tabulation import Tabulation

pytestmark = pytest.mark.requirement("C-01")

ROLLED = "SELECT region, member, COUNT(*) AS n, SUM(age) AS s, AVG(age) AS a FROM t GROUP BY ROLLUP (region, member)"
KEYS = pl.DataFrame({"\x00key0": ["east", "east", "north", "north", "south", "south"], "\x00key1": [False, True] * 3})


def answer(plan: QueryPlan, *statistics: list[int]) -> pl.DataFrame:
    return worked_out(plan, NoisyFigures(KEYS, statistics, ())).frame


def test_totals_add_up() -> None:
    found = answer(plan_of(ROLLED), [10, 20, 30, 40, 50, 60], [1, 2, 3, 4, 5, 6], [9] * 6, [-10, 20, 0, 0, 0, 0])
    assert found["n"].to_list() == [10, 20, 30, 40, 50, 60, 30, 70, 110, 210]
    assert found["region"].to_list()[6:] == ["east", "north", "south", None]
    assert found["member"].to_list()[6:] == [None] * 4
    assert found["s"][9] == sum(found["s"][6:9])
    widths = (found["n_high"] - found["n_low"]).to_list()
    assert widths[0] < widths[6] < widths[9] < 6 * widths[0]


def test_levels_as_they_are_asked() -> None:
    def rows(group: str) -> list[tuple[object, object]]:
        found = answer(plan_of(f"SELECT region, member, COUNT(*) AS n FROM t GROUP BY {group}"), [1] * 6)  # noqa: S608
        return found.select("region", "member").rows()

    assert len(rows("CUBE (region, member)")) == 6 + 3 + 2 + 1
    assert rows("GROUPING SETS ((member, region), ())")[6:] == [(None, None)]
    assert rows("region, member WITH TOTALS") == rows("GROUPING SETS ((region, member), ())")
    assert rows("region, member WITH ROLLUP") == rows("ROLLUP (region, member)")
    assert len(rows("region, ROLLUP (member)")) == 6 + 3


@pytest.mark.parametrize("accounting", ["approximate", "zcdp"])
@pytest.mark.parametrize("figure", ["COUNT(*)", "SUM(age)", "AVG(age)"])
def test_intervals_of_totals_cover(figure: str, accounting: str) -> None:
    """Over twelve groups at a time, as often as there are keys."""
    plan = plan_of(
        f"SELECT age, member, {figure} AS x FROM t GROUP BY GROUPING SETS ((age, member), (age))",  # noqa: S608
        described(1, accounting=accounting),
        "0.5",
    )
    runs, cells = 4000, 12
    keys = pl.DataFrame({"\x00key0": np.repeat(np.arange(runs), cells), "\x00key1": np.arange(runs * cells)})
    figures = tuple([1000 + 7 * place for place in range(cells)] * runs for _ in plan.statistics)
    found = worked_out(plan, with_noise(plan, Tabulation(keys, figures, (), {}))).frame[-runs:]
    exact = worked_out(plan, NoisyFigures(keys[:cells], tuple(one[:cells] for one in figures), ())).frame["x"][-1]
    covered = (found["x_low"] <= exact) & (found["x_high"] >= exact)
    assert 0.935 <= float(np.mean(covered.to_numpy())) <= 0.965


def test_counts_that_are_not_negative_still_add_up() -> None:
    plan = plan_of(ROLLED)
    plan = replace(plan, question=replace(plan.question, non_negative=True))
    found = answer(plan, [10, -20, 30, 40, -3, 1], [1] * 6, [9] * 6, [0] * 6)
    counts = found["n"].to_list()
    assert min(counts) >= 0
    assert counts[9] == pytest.approx(58)
    assert sum(counts[:6]) == pytest.approx(counts[9])
    assert sum(counts[6:9]) == pytest.approx(counts[9])
    assert (found["n_low"] >= 0).all()
    assert ((found["n_low"] <= found["n"]) & (found["n"] <= found["n_high"])).all()


def test_counts_by_themselves_are_cut_at_nought() -> None:
    plan = plan_of("SELECT region, member, COUNT(*) AS n FROM t GROUP BY region, member")
    plan = replace(plan, question=replace(plan.question, non_negative=True))
    assert answer(plan, [10, -20, 30, 40, -3, 1])["n"].to_list() == [10, 0, 30, 40, 0, 1]


@given(st.lists(st.integers(-50, 100), min_size=1, max_size=30))
def test_the_nearest_counts_with_the_same_sum(counts: list[int]) -> None:
    found = non_negative(np.asarray(counts, dtype=float), keep_sum=True)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(max(0, sum(counts)))
    moved = [one - now for one, now in zip(counts, found, strict=True) if now > 0]
    assert not moved or max(moved) - min(moved) < 1e-9, "all that stay above nought are moved by the same"
