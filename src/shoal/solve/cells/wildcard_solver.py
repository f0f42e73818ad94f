"""Local suppression (ISO/IEC 20889, 9.3.3) where a star matches any value, as statistical offices count it.

Record i is matched by record j if on every quasi-identifier their cells are equal or one of them is ``*``; everyone has
to be matched by k records, themselves included. As in `solve_cells`, only rare combinations lose cells, and the search
keeps the weighted number of stars small.

What it protects from is an attacker who treats a star as "could be anything". It is much weaker than `solve_cells`: the
k records that match a person need not look alike, and a rare combination may even stay as it is because starred ones
match it. Whoever knows that only rare combinations are starred can often tell them apart again.

Taken to its end this reading defeats itself: a few records with hardly any cell left would match everybody, so that
nobody else needed a star. Therefore a combination is never given more stars than would do for itself alone, that is,
to be matched by k records as they were. Within that rule the choice is greedy with exchanges (`company`, `cover`). It
takes at most the stars of any solution of `solve_cells` that stars rare combinations only, since there every starred
record has that company, too.

A record with nothing but stars is suppressed: it matches nobody and counts towards the suppression limit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.errors import InputError
from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.schema.progress import Progress
from shoal.solve.blas_threads import one_blas_thread
from shoal.solve.cells.table import Levels, number_rows
from shoal.solve.cells.verification import solution_of_cells
from shoal.solve.cells.wildcard_cover import WildcardCover
from shoal.solve.cells.wildcard_options import CombinationRows, StarOptions, cheapest_options
from shoal.solve.problem import Problem
from shoal.solve.solution import Solution


@one_blas_thread
def solve_wildcards(problem: Problem, *, progress: Progress | None = None) -> Solution:
    """Stars in rare combinations, so that every record is matched by k records when a star matches anything."""
    rows, member = _rows(problem)
    options = cheapest_options(rows, progress)
    checked = options.checked
    while np.isinf(options.price).any():
        rows = replace(rows, records=np.where(np.isinf(options.price), 0, rows.records))
        options = cheapest_options(rows)
    pattern = _starred(rows, options)
    levels, prices = _levels(problem, rows, pattern[member])
    withheld: Mask = (problem.counts.records > 0) & (rows.records[member] == 0)
    return solution_of_cells(
        problem,
        levels,
        withheld,
        recoding="cells",
        prices=prices,
        nodes=(1 << len(rows.starrable), checked),
        optimal=not pattern.any() and not withheld.any(),
    )


def _asked(problem: Problem) -> int:
    """The k to reach. Other models speak of classes, and matches by stars don't make classes."""
    others = [each.key for each in problem.models if not isinstance(each, KAnonymity) or not each.plain]
    if others:
        raise InputError(f"stars that match anything go with k_anonymity by all attributes only, not with {others[0]}")
    if len(problem.counts.shared) or not np.array_equal(problem.counts.people, problem.counts.records):
        raise InputError("stars that match anything are counted by records, so each person may have one record only")
    return max((each.k for each in problem.models if isinstance(each, KAnonymity)), default=1)


def _rows(problem: Problem) -> tuple[CombinationRows, Integers]:
    """Combinations that look alike on their lowest levels are one; and the number of each combination there."""
    ladders = problem.ladders
    columns = [
        ladder.groups[ladder.lowest][problem.counts.codes[:, place]].astype(np.int64)
        for place, ladder in enumerate(ladders)
    ]
    member, where = number_rows(columns, problem.counts.size)
    records = np.bincount(member, weights=problem.counts.records, minlength=len(where)).astype(np.int64)
    starrable = tuple(place for place, each in enumerate(ladders) if each.highest == each.height > each.lowest)
    always = sum(1 << place for place, each in enumerate(ladders) if each.lowest == each.height > 0)
    rows = CombinationRows(
        [each[where] for each in columns], records, problem.weights, starrable, always, _asked(problem)
    )
    return rows, member


def _starred(rows: CombinationRows, options: StarOptions) -> Integers:
    """The pattern of each combination."""
    pattern = np.zeros(len(rows.records), dtype=np.int64)
    if rows.risky.any():
        cover = WildcardCover(rows, options)
        cover.choose()
        chosen = cover.option >= 0
        pattern[cover.rare[chosen]] = options.pattern[cover.option[chosen]]
    return pattern


def _levels(problem: Problem, rows: CombinationRows, pattern: Integers) -> tuple[Levels, Floats]:
    levels = np.tile(np.array([each.lowest for each in problem.ladders], dtype=np.int8), (problem.counts.size, 1))
    prices = np.zeros(problem.counts.size)
    for place in rows.starrable:
        starred = pattern >> place & 1 == 1
        levels[starred, place] = problem.ladders[place].height
        prices[starred] += rows.weights[place]
    return levels, prices
