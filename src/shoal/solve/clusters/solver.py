"""Clustering in two levels, as in section III of "Big Personal Data Anonymization" (Mziya and Selvam), after Vaghela.

1. Sort the combinations by their quasi-identifiers, in the order given (step 4).
2. Cut them into at most ⌊r ÷ k⌋ clusters of at least k records (steps 6 to 10) and generalise each to what its members
   have in common (step 11).
3. Split the clusters that lose more than the average into clusters of at least K = k ÷ 2 (steps 12 and 13): along the
   attribute on which a cluster is widest.
4. Give the surplus (what a cluster does not need to reach its size) to the clusters that lose least by it (15 to 17).

**What this guarantees** is K-anonymity with K = ⌈k ÷ 2⌉, not k-anonymity: a cluster that was split has k ÷ 2 records in
it, and whoever looks for one of them has a chance of 2 ÷ k. The paper's claim, the privacy of k with the loss of k ÷ 2,
does not hold. Without the second level the guarantee is k. `solution_of` therefore asks the models of the problem, and
clusters that they refuse are suppressed.

Departures: a combination stays whole (its records are alike, so to part them gains nothing), so clusters may be larger
than k. Where the paper says "suppression" it gives no rule; nothing is suppressed here. It names the clusters to split
in two ways, those with "more information loss" and "all clusters having information loss": ``worse_than=0`` is the
second. Its steps 2, 3 and 5, which keep the identifiers in a table of their own, are no part of the clustering.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shoal.errors import InfeasibleError, InputError
from shoal.kernels.arrays import Integers
from shoal.schema.progress import Progress
from shoal.solve.blas_threads import one_blas_thread
from shoal.solve.cells.verification import verified
from shoal.solve.clusters.information_loss import Clustered, Numeric, Shapes, common_levels, information_loss
from shoal.solve.problem import Problem
from shoal.solve.solution import Solution

__all__ = ["Clusters", "information_loss", "solution_of", "solve_clusters"]


@dataclass(frozen=True)
class Clusters:
    k: int
    smallest: int
    """What the method promises: no cluster has fewer records. Half of k (rounded up) where a cluster was split."""
    member: Integers
    """The cluster of each combination; -1 for one without records."""
    sizes: Integers
    """Records per cluster."""
    split: int
    """How many clusters of the first level were split."""
    information_loss: float


@one_blas_thread
def solve_clusters(  # noqa: PLR0913  # the method, its limits, and who listens
    problem: Problem,
    k: int,
    *,
    second_level: bool = True,
    numeric: Numeric | None = None,
    worse_than: float | None = None,
    progress: Progress | None = None,
) -> Clusters:
    """``worse_than`` is the loss per record above which a cluster is split; the average unless it is given."""
    if k < 1:
        raise InputError("k has to be at least 1")
    if problem.records < k:
        raise InfeasibleError(f"{problem.records} records can't be clustered by {k}", advice="lower k")
    shapes = Shapes(problem, numeric)
    records = problem.counts.records
    order = _sorted(shapes, np.flatnonzero(records > 0), range(len(problem.ladders)))
    blocks, surplus = _cut(order, records, k)
    smaller = -(-k // 2)
    split = 0
    if second_level and smaller < k:
        first = shapes.of(_numbered(blocks, problem.counts.size))
        losing = _losing(first, worse_than)
        for place in losing:
            if progress:
                progress(split, len(losing))
            widest_first = np.argsort(-first.widths[place], kind="stable").tolist()
            parts, rest = _cut(_sorted(shapes, np.array(blocks[place]), widest_first), records, smaller)
            blocks[place], *others = parts
            blocks += others
            surplus += rest
            split += 1
    member = _numbered(blocks, problem.counts.size)
    clusters = shapes.of(member)
    _place(shapes, clusters, member, surplus, progress)
    sizes = clusters.size.astype(np.int64)
    return Clusters(k, smaller if split else k, member, sizes, split, float(clusters.losses.sum()))


def solution_of(problem: Problem, clusters: Clusters) -> Solution:
    """Each cluster on the levels of its lowest common ancestors; what the models refuse is suppressed.

    Numeric attributes are released by their hierarchies too, so that the loss of the solution is the usual one and not
    the information loss of the clustering. A cluster without a common level that the policy allows is suppressed.
    """
    rows = np.flatnonzero(clusters.member >= 0)
    member, number = clusters.member[rows], len(clusters.sizes)
    levels = np.tile(np.array([ladder.lowest for ladder in problem.ladders], dtype=np.int8), (problem.counts.size, 1))
    shown = clusters.member >= 0
    for place, ladder in enumerate(problem.ladders):
        common = common_levels(ladder, problem.counts.codes[rows, place].astype(np.int64), member, number)
        shown[rows] &= (common <= ladder.highest)[member]
        levels[rows, place] = np.minimum(common, ladder.highest)[member]
    return verified(problem, levels, shown, recoding="clustered")


def _sorted(shapes: Shapes, rows: Integers, attributes: range | list[int]) -> Integers:
    """By these attributes, the first one first: numbers by size, the rest in the order of their codes."""
    keys = []
    for place in attributes:
        codes, values = shapes.codes[rows, place], shapes.values[place]
        keys.append(codes if values is None else values[codes])
    return rows[np.lexsort(keys[::-1])] if keys else rows


def _cut(order: Integers, records: Integers, least: int) -> tuple[list[list[int]], list[int]]:
    """Runs of at least so many records, and the combinations that are not needed for that."""
    blocks: list[list[int]] = []
    surplus: list[int] = []
    block: list[int] = []
    size = 0
    for row in order.tolist():
        block.append(row)
        size += int(records[row])
        if size >= least:
            kept = list(_needed(block, records, size - least))
            surplus += [row for row in block if row not in kept]
            blocks.append(kept)
            block, size = [], 0
    return blocks, surplus + block


def _needed(block: list[int], records: Integers, spare: int) -> Iterator[int]:
    for row in block:
        if records[row] <= spare:
            spare -= int(records[row])
        else:
            yield row


def _losing(clusters: Clustered, worse_than: float | None) -> list[int]:
    each = clusters.widths.sum(axis=1)
    limit = float(clusters.losses.sum() / clusters.size.sum()) if worse_than is None else worse_than
    return [int(place) for place in np.flatnonzero(each > limit)]


def _place(
    shapes: Shapes, clusters: Clustered, member: Integers, surplus: list[int], progress: Progress | None
) -> None:
    """Each surplus combination joins the cluster where the sum of losses rises least."""
    for done, row in enumerate(surplus):
        if progress:
            progress(done, len(surplus))
        widths = shapes.with_row(clusters, row)
        rise = (clusters.size + shapes.records[row]) * widths.sum(axis=1) - clusters.losses
        best = int(rise.argmin())
        shapes.add(clusters, row, best, widths[best])
        member[row] = best


def _numbered(blocks: list[list[int]], size: int) -> Integers:
    member = np.full(size, -1, dtype=np.int64)
    for number, rows in enumerate(blocks):
        member[rows] = number
    return member
