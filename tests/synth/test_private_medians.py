"""Ranges cut at noisy medians: where they lie, what one person can change, and what they cost."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.dp.accounting import rho_of
from shoal.dp.auditing import AuditFinding, audited
from shoal.dp.opendp_measurements import ConcentratedChoice
from shoal.kernels.arrays import Integers
from shoal.synth import private_medians
from shoal.synth.column_codes import NumberCodes
from shoal.synth.column_shapes import ColumnShape, ShapeKind
from shoal.synth.domain_discovery import Measure, column_search
from shoal.synth.private_medians import MedianBudget, halved

pytestmark = pytest.mark.requirement("T-25")

FAR = 2**61
NUMBERS = st.lists(st.one_of(st.integers(-50, 50), st.integers(-FAR, FAR)), max_size=60)
EPSILON, DELTA = 1.0, 1e-5
SAMPLES = 250


def whole(numbers: list[int]) -> Integers:
    return np.array(numbers, dtype=np.int64)


@given(NUMBERS, st.integers(1, 4), st.sampled_from([(-FAR, FAR), (0, FAR), (-20, 1_000)]))
@settings(max_examples=15, deadline=None)
def test_ranges_follow_each_other_within_the_public_ends(
    numbers: list[int], levels: int, ends: tuple[int, int]
) -> None:
    found = halved(whole(numbers), ends, MedianBudget(0.01, levels))
    assert 1 <= len(found) <= 2**levels
    assert ends[0] <= found[0][0]
    assert found[-1][1] <= ends[1]
    assert all(first <= last for first, last in found)
    assert all(before[1] + 1 == after[0] for before, after in pairwise(found))


def test_records_are_halved_where_noise_is_small() -> None:
    amounts = np.rint(np.random.default_rng(1).lognormal(10, 1.5, 20_000)).astype(np.int64)
    found = halved(amounts, (-FAR, FAR), MedianBudget(0.5, 3))
    held = [np.count_nonzero((amounts >= first) & (amounts <= last)) / 20_000 for first, last in found]
    assert len(found) == 8
    assert max(held) < 0.25
    assert sum(held) > 0.95


def test_nought_that_most_records_have_is_counted_by_itself() -> None:
    """The first look of so small a budget is not enough for the others."""
    others = np.rint(np.random.default_rng(3).lognormal(10, 2, 400)).astype(np.int64)
    search = column_search(
        pl.Series([0] * 600 + others.tolist()), ColumnShape(kind=ShapeKind.WHOLE), open_decimals=False
    )
    search.look(Measure(7e-4, 1e-9, 1), 1_000.0)
    found = search.finish(Measure(6e-3, 1e-9, 1), 1_000.0)
    assert isinstance(found.codes, NumberCodes)
    assert found.codes.special == (0,)
    assert found.counts[found.codes.missing] == pytest.approx(600, abs=100)


class RecordedChoices:
    """Every choice by what it costs and by the scores that it was made from; choices are those of an earlier run."""

    def __init__(self, repeated: list[int] | None = None) -> None:
        self.scores: list[Integers] = []
        self.costs: list[float] = []
        self.made: list[int] = []
        self._repeated = repeated

    def __call__(self, sensitivity: int, rho: float) -> Any:
        recorder = self

        class Recording(ConcentratedChoice):
            def chosen(self, scores: Any) -> int:
                recorder.scores.append(np.asarray(scores))
                recorder.costs.append(rho)
                place = len(recorder.made)
                made = super().chosen(scores) if recorder._repeated is None else recorder._repeated[place]
                recorder.made.append(made)
                return made

        return Recording(sensitivity, rho)


def recorded(values: Integers, budget: MedianBudget, repeated: list[int] | None = None) -> RecordedChoices:
    choices = RecordedChoices(repeated)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(private_medians, "ConcentratedChoice", choices)
        halved(values, (-FAR, FAR), budget)
    return choices


def by_level(choices: RecordedChoices) -> dict[int, list[Integers]]:
    """Scores of the parts of each level; nothing stays whole in what is tested, so a level has twice as many."""
    found: dict[int, list[Integers]] = defaultdict(list)
    for place, scores in enumerate(choices.scores):
        found[int(np.log2(place + 1))].append(scores)
    return found


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=40), st.lists(st.integers(-FAR, FAR), max_size=3))
@settings(max_examples=40, deadline=None)
def test_a_person_moves_all_scores_of_a_level_by_no_more_than_their_records(others: list[int], own: list[int]) -> None:
    """Whatever the choices before were: with the same ones, both tables offer the same edges."""
    budget = MedianBudget(0.01, 2, rows_per_person=3)
    without = recorded(whole(others), budget)
    having = recorded(whole(others + own), budget, repeated=without.made)
    assert len(without.scores) == len(having.scores)
    for before, after in zip(by_level(without).values(), by_level(having).values(), strict=True):
        moved = [np.abs(one - other).max() for one, other in zip(before, after, strict=True)]
        assert sum(moved) <= len(own)


def test_levels_and_ends_cost_what_was_given() -> None:
    found = recorded(np.arange(500), MedianBudget(0.3, 2))
    assert found.costs == pytest.approx([0.1] * 5)
    assert [len(parts) for parts in by_level(found).values()] == [1, 2, 2]


def audit(part_of_the_noise: float) -> AuditFinding:
    """Of three numbers two cuts are as good; somebody above them makes one of these better and the other one worse."""
    three, rho = whole([4, 50, 100]), rho_of(EPSILON, DELTA) / part_of_the_noise**2
    sides = []
    for values in (three, np.append(three, 200)):
        found = [halved(values, (0, 255), MedianBudget(rho, 1)) for _ in range(SAMPLES)]
        sides.append(np.array([[one[0][1], one[-1][1]] for one in found], dtype=np.float64))
    return audited(*sides, delta=DELTA)


def test_nasty_neighbours_do_not_refute_medians() -> None:
    assert not audit(1.0).refutes(EPSILON)


def test_too_little_noise_is_found() -> None:
    assert audit(1 / 16).refutes(EPSILON)


def test_a_small_table_of_amounts_is_not_one_range() -> None:
    """The first look of so small a budget shows nothing of a column whose amounts spread over ten doublings."""
    amounts = np.rint(np.random.default_rng(2).lognormal(10, 1.5, 1_000)).astype(np.int64)
    search = column_search(pl.Series(amounts), ColumnShape(kind=ShapeKind.WHOLE), open_decimals=False)
    search.look(Measure(7e-5, 1e-9, 1), 1_000.0)
    found = search.finish(Measure(6e-4, 1e-9, 1), 1_000.0)
    assert found.codes is not None
    drawn = found.codes.decode(np.arange(found.codes.size), np.full(found.codes.size, 0.5)).to_numpy()
    shares = np.maximum(found.counts, 0) / np.maximum(found.counts, 0).sum()
    true = np.quantile(amounts, [0.25, 0.75])
    assert shares[(drawn > true[0] / 3) & (drawn < true[1] * 3)].sum() > 0.25
    assert shares @ drawn < 100 * amounts.mean()
