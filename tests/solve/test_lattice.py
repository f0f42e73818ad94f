"""The lattice search against brute force over every node."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import InfeasibleError
from shoal.privacy.k_anonymity import KAnonymity
from shoal.schema import Counts
from shoal.solve import Ladder, solve_lattice

pytestmark = pytest.mark.requirement("S-01", "S-07", "T-09")


def nested_ladder(draw: st.DrawFn, name: str, size: int) -> Ladder:
    """A random nested hierarchy over ``size`` values: each level merges some groups of the one below."""
    groups = [np.arange(size, dtype=np.int64)]
    for _ in range(draw(st.integers(0, 2))):
        below = groups[-1]
        merge = np.array(draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
        _, merged = np.unique(merge[below], return_inverse=True)
        groups.append(merged.astype(np.int64))
    groups.append(np.zeros(size, dtype=np.int64))
    losses = [(np.bincount(group)[group] - 1) / max(1, size - 1) for group in groups]
    return Ladder(name, tuple(groups), tuple(losses), 0, draw(st.sampled_from([1.0, 2.5])))


@st.composite
def problems(draw: st.DrawFn) -> tuple[Counts, list[Ladder], int, float]:
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    rows = draw(st.lists(st.tuples(*(st.integers(0, size - 1) for size in sizes)), min_size=1, max_size=30))
    names = tuple(f"q{place}" for place in range(len(sizes)))
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Int64), orient="row")
    counted = frame.group_by(names).agg(pl.len().alias("n"))
    counts = Counts.from_frame(counted, names, "n")
    ladders = [nested_ladder(draw, name, len(values)) for name, values in zip(names, counts.values, strict=True)]
    return counts, ladders, draw(st.integers(1, 6)), draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))


def brute_force(counts: Counts, ladders: list[Ladder], k: int, limit: float) -> float | None:
    """The least loss over all nodes, record by record."""
    best = None
    weights = sum(ladder.weight for ladder in ladders)
    for node in product(*(range(len(ladder.groups)) for ladder in ladders)):
        classes: dict[tuple[int, ...], int] = {}
        keys = [
            tuple(int(ladder.groups[level][code]) for ladder, level, code in zip(ladders, node, codes, strict=True))
            for codes in counts.codes
        ]
        for key, records in zip(keys, counts.records, strict=True):
            classes[key] = classes.get(key, 0) + int(records)
        suppressed, lost = 0, 0.0
        for key, codes, records in zip(keys, counts.codes, counts.records, strict=True):
            if classes[key] < k:
                suppressed += int(records)
                lost += float(records)
            else:
                lost += records * sum(
                    ladder.weight / weights * ladder.losses[level][code]
                    for ladder, level, code in zip(ladders, node, codes, strict=True)
                )
        loss = lost / counts.total_records
        if suppressed <= limit * counts.total_records + 1e-9 and (best is None or loss < best):
            best = loss
    return best


@given(problems())
@settings(max_examples=150)
def test_optimum_equals_brute_force(problem: tuple[Counts, list[Ladder], int, float]) -> None:
    counts, ladders, k, limit = problem
    expected = brute_force(counts, ladders, k, limit)
    if expected is None:
        with pytest.raises(InfeasibleError):
            solve_lattice(counts, ladders, [KAnonymity(k=k)], suppression_limit=limit)
        return
    solution = solve_lattice(counts, ladders, [KAnonymity(k=k)], suppression_limit=limit)
    assert solution.loss == pytest.approx(expected, abs=1e-12)
    assert solution.optimal
    assert solution.nodes_checked <= solution.nodes_total
    assert solution.suppressed <= limit * counts.total_records + 1e-9


def test_infeasible_says_how_many_records_and_what_would_help() -> None:
    counts = Counts.from_frame(pl.DataFrame({"q": [1, 2], "n": [1, 1]}), ("q",), "n")
    ladder = Ladder("q", (np.arange(2),), (np.zeros(2),), 0)
    with pytest.raises(InfeasibleError, match="at least 2 records") as caught:
        solve_lattice(counts, [ladder], [KAnonymity(k=2)])
    assert "suppression_limit" in str(caught.value)


def test_people_are_counted_not_records() -> None:
    """Three records of one person are one person."""
    pairs = pl.DataFrame({"q": ["a", "a", "b"], "who": [1, 2, 1], "n": [3, 1, 1]})
    counts = Counts.from_pairs(pairs, ("q",), "who", "n")
    ladder = Ladder("q", (np.arange(2), np.zeros(2, dtype=np.int64)), (np.zeros(2), np.ones(2)), 0)
    assert solve_lattice(counts, [ladder], [KAnonymity(k=2)], suppression_limit=0.2).suppressed == 1
    with pytest.raises(InfeasibleError):
        solve_lattice(counts, [ladder], [KAnonymity(k=3)])
