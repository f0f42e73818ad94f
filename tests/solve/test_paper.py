"""The paper's two-level clustering: its measure by hand, its sizes on any table, its curves on public data."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from benchmarks.adult import ALL, Adult
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import InfeasibleError, InputError
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.schema import Counts
from shoal.solve import Ladder, Problem
from shoal.solve.clusters import Clusters, information_loss, solution_of, solve_clusters

pytestmark = pytest.mark.requirement("S-09")

AGES = np.array([20.0, 30.0, 40.0, 60.0])
TREE = (np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64))


def ladder(name: str, highest: int = 2) -> Ladder:
    losses = tuple((np.bincount(groups)[groups] - 1) / 3 for groups in TREE)
    return Ladder(name, TREE[: highest + 1], losses[: highest + 1], 0, 2, 4)


def problem(rows: list[tuple[int, int, int]], k: int = 1, limit: float = 0.0, highest: int = 2) -> Problem:
    """Age, job and records. All four values of each are known, whether they occur or not."""
    frame = pl.DataFrame(rows, schema=["age", "job", "n"], orient="row").group_by("age", "job").agg(pl.sum("n"))
    frame = frame.sort("age", "job")
    records = frame["n"].to_numpy()
    codes = frame.select("age", "job").to_numpy().astype(np.int32)
    known = (pl.Series(AGES), pl.Series(list("abcd")))
    counts = Counts(("age", "job"), known, codes, records, records)
    return Problem(counts, [ladder("age", highest), ladder("job")], [KAnonymity(k=k)], suppression_limit=limit)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    row = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 4))
    return problem(draw(st.lists(row, min_size=1, max_size=16)))


def by_hand(given: Problem, clusters: Clusters) -> float:
    """The measure, cluster by cluster and record by record."""
    total = 0.0
    for number in range(len(clusters.sizes)):
        rows = np.flatnonzero(clusters.member == number)
        ages, jobs = AGES[given.counts.codes[rows, 0]], set(given.counts.codes[rows, 1].tolist())
        height = next(level for level, groups in enumerate(TREE) if len({int(groups[job]) for job in jobs}) == 1)
        for _ in range(int(given.counts.records[rows].sum())):
            total += (ages.max() - ages.min()) / 40 + height / 2
    return total


def test_measure_of_one_cluster_by_hand() -> None:
    """Ages 20 to 40 of a range of 40; jobs a and b meet on level 1 of 2; three records: 3 × (½ + ½)."""
    given = problem([(0, 0, 2), (2, 1, 1)])
    assert information_loss(given, np.array([0, 0]), numeric={"age": AGES}) == pytest.approx(3.0)
    assert information_loss(given, np.array([0, 1]), numeric={"age": AGES}) == 0
    assert information_loss(given, np.array([0, -1]), numeric={"age": AGES}) == 0
    assert information_loss(given, np.array([0, 0])) == pytest.approx(3 * (1 + 0.5))


@given(problems(), st.integers(1, 9), st.booleans(), st.sampled_from([None, 0.0]))
@settings(max_examples=200)
def test_every_record_is_in_a_cluster_of_the_promised_size(
    given: Problem, k: int, second: bool, worse_than: float | None
) -> None:
    if given.records < k:
        with pytest.raises(InfeasibleError, match="can't be clustered"):
            solve_clusters(given, k, second_level=second)
        return
    clusters = solve_clusters(given, k, second_level=second, numeric={"age": AGES}, worse_than=worse_than)
    sizes = np.bincount(clusters.member, weights=given.counts.records)
    assert sizes.tolist() == clusters.sizes.tolist()
    assert sizes.min() >= clusters.smallest >= k / 2
    assert second or clusters.smallest == k
    assert len(sizes) <= given.records // clusters.smallest
    assert clusters.information_loss == pytest.approx(by_hand(given, clusters))


def test_second_level_splits_what_loses_most_and_promises_half() -> None:
    """Two clusters of four: the uniform one stays, the mixed one falls into its two jobs."""
    given = problem([(0, 0, 4), (1, 0, 1), (1, 3, 1), (2, 0, 1), (2, 3, 1)])
    once = solve_clusters(given, 4, second_level=False, numeric={"age": AGES})
    twice = solve_clusters(given, 4, numeric={"age": AGES})
    assert (once.smallest, sorted(once.sizes)) == (4, [4, 4])
    assert (twice.smallest, sorted(twice.sizes), twice.split) == (2, [2, 2, 4], 1)
    assert once.information_loss == pytest.approx(4 * (0.25 + 1))
    assert twice.information_loss == pytest.approx(4 * 0.25)


def test_surplus_joins_the_cluster_that_loses_least_by_it() -> None:
    """The last record, job a, goes back to the cluster of job a though the one before it ends with d."""
    given = problem([(0, 0, 2), (1, 3, 2), (3, 0, 1)])
    clusters = solve_clusters(given, 2, second_level=False)
    assert clusters.member.tolist() == [0, 1, 0]


@given(problems(), st.integers(2, 5))
@settings(max_examples=100)
def test_solution_meets_the_models_or_says_so(given: Problem, k: int) -> None:
    """What a second level leaves below k is suppressed, since the model is asked for k."""
    wanted = Problem(given.counts, given.ladders, [KAnonymity(k=k)], suppression_limit=1.0)
    if given.records < k:
        return
    solution = solution_of(wanted, solve_clusters(wanted, k, numeric={"age": AGES}))
    assert solution.recoding == "clustered"
    assert solution.cells is not None
    rows: dict[tuple[int, ...], int] = {}
    for codes, levels, records, gone in zip(
        wanted.counts.codes, solution.cells, wanted.counts.records, solution.withheld, strict=True
    ):
        shown = [int(part) for level, code in zip(levels, codes, strict=True) for part in (level, TREE[level][code])]
        if not gone:
            rows[tuple(shown)] = rows.get(tuple(shown), 0) + int(records)
    assert min(rows.values(), default=k) >= k
    assert solution.suppressed == wanted.records - sum(rows.values())


def test_second_level_does_not_keep_k() -> None:
    given = problem([(0, 0, 4), (1, 0, 1), (1, 1, 1), (2, 0, 1), (2, 1, 1)], k=4)
    clusters = solve_clusters(given, 4, numeric={"age": AGES})
    with pytest.raises(InfeasibleError, match="4 records would have to be suppressed, 0 may be"):
        solution_of(given, clusters)
    assert solution_of(given, solve_clusters(given, 4, second_level=False)).suppressed == 0


def test_a_cluster_without_an_allowed_common_level_is_suppressed() -> None:
    given = problem([(0, 0, 1), (3, 0, 1), (1, 1, 2)], limit=0.5, highest=1)
    one = Clusters(2, 2, np.array([0, 1, 0]), np.array([2, 2]), 0, 0.0)
    assert solution_of(given, one).withheld.tolist() == [True, False, True]


def test_wrong_parameters_are_refused() -> None:
    given = problem([(0, 0, 4)])
    with pytest.raises(InputError, match="at least 1"):
        solve_clusters(given, 0)
    with pytest.raises(InputError, match="no quasi-identifier is called height"):
        solve_clusters(given, 2, numeric={"height": AGES})
    with pytest.raises(InputError, match="one number for each"):
        solve_clusters(given, 2, numeric={"age": AGES[:3]})
    with pytest.raises(InputError, match="none missing"):
        solve_clusters(given, 2, numeric={"age": np.array([1.0, 2.0, 3.0, np.nan])})


def test_curves_on_adult(adult: Adult) -> None:
    """For every k of the paper's table the second level loses less than one pass, at half the guarantee."""
    names = [name for name in ALL if name != "salary-class"]
    given = adult.problem(names, [])
    numeric = {"age": given.counts.values_of("age").cast(pl.Float64).to_numpy()}
    losses = []
    for k in (10, 20, 30, 40, 50):
        once = solve_clusters(given, k, second_level=False, numeric=numeric)
        twice = solve_clusters(given, k, numeric=numeric)
        assert once.sizes.min() >= k > twice.sizes.min() >= k / 2
        assert 0.7 < twice.information_loss / once.information_loss < 0.92
        assert twice.information_loss == pytest.approx(information_loss(given, twice.member, numeric=numeric))
        losses.append(once.information_loss)
    assert losses == sorted(losses)
