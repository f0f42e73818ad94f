"""Stated intervals cover as often as they say; HAVING, ORDER BY and LIMIT see noisy figures alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from tests.dp.datasets import described, plan_of, table

from shoal.dp.noisy_answer import NoisyFigures, with_noise, worked_out
from shoal.dp.opendp_measurements import GaussianNoise, Noise, NoisyChoice, WholeNumbers
from shoal.dp.query_plan import QueryPlan
from shoal.dp.statistics import QuantileStatistic
from shoal.dp.tabulation import Tabulation, checked_frames, tabulated

pytestmark = pytest.mark.requirement("C-01")

RUNS = 6000
"""A share of 95 % is then known to ± 0.28 %, so that ± 1.5 % is missed by no chance to speak of."""
ROWS = [
    {"who": f"p{place}", "age": place % 80 + 10, "income": place % 900, "member": place % 3 == 0}
    for place in range(3000)
]


def many(plan: QueryPlan, runs: int) -> Tabulation:
    """The exact figures so many times, as if they were groups."""
    exact = tabulated(plan, checked_frames(plan, [table(ROWS)]))
    figures, ranked = tuple(one * runs for one in exact.figures), tuple(one * runs for one in exact.ranked)
    return Tabulation(pl.DataFrame({"run": np.arange(runs)}), figures, ranked, {})


def share(covered: pl.Series) -> float:
    return float(np.mean(covered.to_numpy()))


def exactly(plan: QueryPlan) -> float:
    exact = tabulated(plan, checked_frames(plan, [table(ROWS)]))
    figures = NoisyFigures(pl.DataFrame({"run": [0]}), exact.figures, ())
    return float(worked_out(plan, figures).frame["x"][0])


@pytest.mark.parametrize("accounting", ["approximate", "zcdp"])
@pytest.mark.parametrize(
    "figure",
    [
        "COUNT(*)",
        "SUM(age)",
        "AVG(income)",
        "VARIANCE(age)",
        "STDDEV(income)",
        "SUM(age) / COUNT(*)",
        "SUM(CASE WHEN member THEN income ELSE 0 END) / SUM(income)",
        "2 * COUNT(*) - SUM(age)",
    ],
)
def test_intervals_cover_as_often_as_they_say(figure: str, accounting: str) -> None:
    plan = plan_of(f"SELECT {figure} AS x FROM t", described(1, accounting=accounting), "0.3")  # noqa: S608
    truth = exactly(plan)
    answer = worked_out(plan, with_noise(plan, many(plan, RUNS))).frame
    covered = share(answer["x_low"].le(truth) & answer["x_high"].ge(truth))
    assert 0.935 <= covered <= 0.965, covered
    spread = float(answer["x"].std() or 0)  # type: ignore[arg-type]
    assert float(answer["x_error"].median() or 0) == pytest.approx(spread, rel=0.15)  # type: ignore[arg-type]


_CHANCE = np.random.default_rng(20889)
EVEN = np.arange(3000) / 3000
SHAPES: dict[str, NDArray[np.float64]] = {
    "even": 1000 * EVEN,
    "skewed": 1000 * EVEN**4,
    "in two heaps": np.concatenate([100 + np.arange(1510) / 15, 700 + np.arange(1490) / 15]),
    "of few people": 1000 * np.arange(60) / 60,
}
"""The interval was worked out with a look at these."""
FRESH: dict[str, NDArray[np.float64]] = {
    "normal": _CHANCE.normal(480, 90, 5000),
    "log-normal": _CHANCE.lognormal(4, 0.8, 2000),
    "in three heaps": np.concatenate([_CHANCE.normal(at, 12, 700) for at in (150, 420, 905)]),
    "whole tens": np.round(_CHANCE.gamma(3, 60, 4000), -1),
    "mostly nothing": np.where(_CHANCE.random(3000) < 0.45, 0.0, _CHANCE.exponential(120, 3000)),
    "few and far": _CHANCE.uniform(0, 1000, 150) ** 2 / 1000,
    "at the upper end": 1000 - _CHANCE.exponential(30, 2500),
}
"""And not at these."""
_AGES = np.floor(_CHANCE.triangular(0, 30, 95, 4000))
_PAID = _CHANCE.lognormal(5.3, 0.6, 5000)
ROUNDED: dict[str, NDArray[np.float64]] = {
    "to fives": 5 * np.round(_CHANCE.normal(420, 110, 4000) / 5),
    "to twenty-fives": 25 * np.round(_CHANCE.gamma(4, 75, 5000) / 25),
    "to fifties": 50 * np.round(_CHANCE.normal(500, 180, 3000) / 50),
    "ages in heaps": np.where(_CHANCE.random(4000) < 0.35, 5 * np.round(_AGES / 5), _AGES),
    "two digits of incomes": np.array([float(f"{one:.1e}") for one in _PAID]),
    "seven values": _CHANCE.choice([40.0, 90, 160, 250, 360, 640, 810], 3000, p=[0.1, 0.2, 0.15, 0.2, 0.15, 0.1, 0.1]),
    "exact and rounded": np.where(_CHANCE.random(4000) < 0.5, 100 * np.round(_PAID[:4000] / 100), _PAID[:4000]),
}
"""Set aside: the rule was made before these were looked at."""


class DrawnChoice(NoisyChoice):
    """The same choice by exponential noise of NumPy's, a hundred times as quick: for coverage alone.

    Candidates whose score is so far behind that they would win once in 10¹² times are left out.
    """

    def chosen(self, scores: WholeNumbers) -> int:
        scale, given = 2 * self.sensitivity / self.epsilon, np.asarray(scores)
        near = np.flatnonzero(given >= given.max() - 40 * scale)
        return int(near[(given[near] + _CHANCE.exponential(scale, len(near))).argmax()])


def drawn(noise: Noise, size: int | tuple[int, int], chance: np.random.Generator) -> NDArray[np.int64]:
    """Noise by NumPy, which can be drawn alike again: the law of the real one is tested by itself."""
    if isinstance(noise, GaussianNoise):
        reach = np.arange(-int(12 * noise.scale) - 2, int(12 * noise.scale) + 3)
        weights = np.exp(-((reach / noise.scale) ** 2) / 2)
        return chance.choice(reach, size, p=weights / weights.sum())
    stays = 1 - np.exp(-1 / noise.scale)
    return chance.geometric(stays, size) - chance.geometric(stays, size)


class DrawnPlan(QueryPlan):
    def choice(self, quantile: QuantileStatistic) -> NoisyChoice:
        real = super().choice(quantile)
        return DrawnChoice(real.sensitivity, real.epsilon)

    @property
    def rank_noise(self) -> Noise:
        real = super().rank_noise
        noise = replace(real)
        object.__setattr__(noise, "add", lambda cells: list(cells + drawn(real, len(cells), _CHANCE)))
        return noise


def test_drawn_choices_are_as_likely_as_real_ones() -> None:
    scores = np.asarray([0, -1, -1, -3, 2, 1, -6], dtype=np.int64)
    number = 4000
    shares = [
        np.bincount([choice.chosen(scores) for _ in range(number)], minlength=len(scores)) / number
        for choice in (NoisyChoice(1, 0.8), DrawnChoice(1, 0.8))
    ]
    spread = np.sqrt(np.mean(shares, axis=0) / number) + 1 / number
    assert np.all(np.abs(shares[0] - shares[1]) < 5 * np.sqrt(2) * spread), shares


def quantile_coverage(values: NDArray[np.float64], share: float, accounting: str, runs: int, epsilon: str) -> float:
    """How often intervals hold the quantile of the values within their bounds."""
    real = plan_of(f"SELECT QUANTILE(income, {share}) AS x FROM t", described(1, accounting=accounting), epsilon)  # noqa: S608
    plan = DrawnPlan(**{name: getattr(real, name) for name in QueryPlan.__dataclass_fields__})
    global _CHANCE  # noqa: PLW0603  # the same draws, whichever other tests ran before
    _CHANCE = np.random.default_rng([runs, int(10_000 * share), len(values), int(1000 * float(epsilon))])
    clipped = np.clip(values, 0, 1000)
    rows = pl.DataFrame({"who": np.arange(len(values)), "income": clipped}).lazy()
    exact = tabulated(plan, checked_frames(plan, [rows]))
    truth, found = float(np.quantile(clipped, share)), []
    for _ in range(runs):
        found += with_noise(plan, exact).quantiles[0]
    assert all(low <= point <= high for point, low, high in found)
    return float(np.mean([low <= truth <= high for _, low, high in found]))


@pytest.mark.parametrize("shape", ["even", "in two heaps"])
def test_intervals_of_quantiles_cover(shape: str) -> None:
    """Few runs: a share of 95 % is then known to ± 0.8 % only, so the bound is four times that below it."""
    assert quantile_coverage(SHAPES[shape], 0.5, "approximate", 800, "0.3") >= 0.919


@pytest.mark.slow
@pytest.mark.parametrize("accounting", ["approximate", "zcdp"])
@pytest.mark.parametrize("share", [0.5, 0.9])
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_of_quantiles_cover_as_often_as_they_say(shape: str, share: float, accounting: str) -> None:
    covered = quantile_coverage(SHAPES[shape], share, accounting, 2000, "0.3")
    assert covered >= 0.935
    assert covered <= 0.975 or shape not in ("even", "in two heaps")


@pytest.mark.slow
@pytest.mark.parametrize("accounting", ["approximate", "zcdp"])
@pytest.mark.parametrize(("share", "epsilon"), [(0.5, "0.5"), (0.25, "0.3"), (0.95, "0.5")])
@pytest.mark.parametrize("shape", FRESH)
def test_intervals_cover_on_other_tables(shape: str, share: float, epsilon: str, accounting: str) -> None:
    assert quantile_coverage(FRESH[shape], share, accounting, 2000, epsilon) >= 0.935


@pytest.mark.slow
@pytest.mark.parametrize("accounting", ["approximate", "zcdp"])
@pytest.mark.parametrize(("share", "epsilon"), [(0.5, "0.5"), (0.25, "0.3"), (0.95, "0.5")])
@pytest.mark.parametrize("shape", ROUNDED)
def test_intervals_cover_on_rounded_tables(shape: str, share: float, epsilon: str, accounting: str) -> None:
    assert quantile_coverage(ROUNDED[shape], share, accounting, 2000, epsilon) >= 0.935


def test_intervals_of_whole_numbers_hold_the_quantile_nearly_always() -> None:
    """Where the value is the quantile itself more often than not, no interval misses in 5 % of cases."""
    plan = plan_of("SELECT MEDIAN(age) AS x FROM t", described(1), "1")
    answer = worked_out(plan, with_noise(plan, many(plan, 150))).frame
    truth = float(np.median([row["age"] for row in ROWS]))
    assert share(answer["x_low"].le(truth) & answer["x_high"].ge(truth)) >= 0.935
    assert float((answer["x_high"] - answer["x_low"]).median() or 0) < 4  # type: ignore[arg-type]
    assert float((answer["x"] - truth).abs().median() or 0) <= 1.5  # type: ignore[arg-type]


def test_a_mean_of_few_rows_stays_within_public_bounds() -> None:
    plan = plan_of("SELECT AVG(age) AS x, VARIANCE(age) AS v FROM t WHERE age > 1000", described(1), "0.01")
    answer = worked_out(plan, with_noise(plan, many(plan, 500))).frame
    for column, least, most in (("x", 0, 100), ("v", 0, 2500)):
        for end in ("", "_low", "_high"):
            values = answer[f"{column}{end}"].drop_nulls()
            assert values.is_between(least, most).all()


def test_having_order_and_limit() -> None:
    plan = plan_of(
        "SELECT region, COUNT(*) AS n, 'x' AS word, n > 5 AS big FROM t GROUP BY 1 HAVING n > 5 ORDER BY n DESC LIMIT 2"
    )
    figures = NoisyFigures(pl.DataFrame({"\x00key0": ["east", "north", "south"]}), ([7, 3, 9],), ())
    answer = worked_out(plan, figures)
    assert answer.frame["region"].to_list() == ["south", "east"]
    assert answer.frame["n"].to_list() == [9, 7]
    assert answer.frame["word"].to_list() == ["x", "x"]
    assert answer.estimates == ("n",)
    assert answer.frame.columns == ["region", "n", "n_low", "n_high", "n_error", "word", "big"]


def test_an_answer_without_groups_that_may_be_told() -> None:
    plan = plan_of("SELECT town, COUNT(*) AS n, AVG(age) AS a FROM t GROUP BY town")
    exact = tabulated(plan, checked_frames(plan, [table([{"who": "a", "town": "Ely", "age": 3}])]))
    assert worked_out(plan, with_noise(plan, exact)).frame.height == 0
