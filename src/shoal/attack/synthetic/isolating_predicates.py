"""Singling out by predicates from a synthetic table (Giomi et al. 2022).

What exactly one synthetic record meets is asked of the original: a value that no other has, the smallest or largest
number, or what a record says in a few of its columns. Where exactly one person meets it, somebody is singled out. The
same predicates are asked of a control group of the same size. Guessing asks predicates of the same form, each value
from another record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
import polars as pl

from shoal.attack.attacks.singling_out import record_predicates
from shoal.attack.matching.predicates import (
    Condition,
    Predicate,
    PredicateColumn,
    PredicateOperator,
    PredicateTable,
    ReleasedAttribute,
)
from shoal.attack.registry import Try
from shoal.attack.result import Attack, NothingToTryError, Rate
from shoal.attack.synthetic.registry import synthetic_attack
from shoal.attack.synthetic.scene import SyntheticScene
from shoal.randomness import Stream

MOST_PEOPLE = 100_000
"""Of either group; a larger one is sampled, and the other with it."""
PREDICATES = 1_000
"""That isolate a synthetic record; one half at most of one column."""
_DRAWN = 6
"""Times as many are made, since most isolate nobody."""
MOST_ATTRIBUTES = 8


def isolating_predicates(scene: SyntheticScene) -> Attack:
    original, control = scene.tables.original, scene.tables.control
    size = min(original.height, MOST_PEOPLE, *([] if control is None else [control.height]))
    groups = [scene.drawn(scene.tables.synthetic, "singling out, records", MOST_PEOPLE)]
    groups.append(scene.drawn(original, "singling out", size))
    groups += [] if control is None else [scene.drawn(control, "singling out, control", size)]
    tables = _tables(groups)
    read = [column.attribute for column in tables[0].columns]
    tried = _univariate(read, scene.stream("singling out", "univariate"))
    tried += record_predicates(read, scene.stream("singling out", "records"), _DRAWN * PREDICATES, MOST_ATTRIBUTES)
    claims = (each for each in dict.fromkeys(tried) if len(tables[0].rows_meeting(each)) == 1)
    claimed = list(islice(claims, PREDICATES))
    if not claimed:
        raise NothingToTryError("no predicate isolates a synthetic record")
    right, *others = (table.isolated(claimed) > 0 for table in tables[1:])
    guesses = _guessed(claimed, read, scene.stream("singling out", "guesses"))
    single = np.array([len(each) == 1 for each in claimed], dtype=bool)
    return Attack(
        "singling_out",
        "Singling out by predicates",
        "the synthetic table alone",
        Rate(float(right.sum()), len(claimed)),
        Rate(float((tables[1].isolated(guesses) > 0).sum()), len(claimed)),
        Rate(float(others[0].sum()), len(claimed)) if others else None,
        details={
            "univariate": float(single.sum()),
            "univariate_successes": float(right[single].sum()),
            "multivariate_successes": float(right[~single].sum()),
        },
    )


def _tables(groups: Sequence[pl.DataFrame]) -> list[PredicateTable]:
    """The groups with the same codes for the same values."""
    ends = np.cumsum([group.height for group in groups])[:-1]
    columns = []
    for name in groups[0].columns:
        whole = ReleasedAttribute.of(pl.concat([group[name] for group in groups]).to_physical())
        columns.append([replace(whole, codes=codes) for codes in np.split(whole.codes, ends)])
    return [
        PredicateTable(tuple(PredicateColumn.released(each[place]) for each in columns), group.height)
        for place, group in enumerate(groups)
    ]


def _univariate(read: Sequence[ReleasedAttribute], stream: Stream) -> list[Predicate]:
    """Values that one record has, and the smallest and largest number."""
    conditions: list[Condition] = []
    for place, attribute in enumerate(read):
        counts = attribute.counts
        conditions += [(place, PredicateOperator.SAME, int(label)) for label in np.flatnonzero(counts == 1)]
        if attribute.numbers is not None:
            there = np.where(counts > 0, attribute.numbers, np.nan)
            if np.isfinite(there).any():
                conditions.append((place, PredicateOperator.AT_LEAST, int(np.nanargmax(there))))
                conditions.append((place, PredicateOperator.AT_MOST, int(np.nanargmin(there))))
    order = stream.permutation(len(conditions))[: PREDICATES // 2]
    return [(conditions[at],) for at in order]


def _guessed(tried: Sequence[Predicate], read: Sequence[ReleasedAttribute], stream: Stream) -> list[Predicate]:
    rows = np.arange(len(tried), dtype=np.uint64)
    drawn = [
        each.codes[(stream.uniform(rows, place) * len(each.codes)).astype(np.int64)] for place, each in enumerate(read)
    ]
    return [
        tuple((place, test, int(drawn[place][row])) for place, test, _ in predicate)
        for row, predicate in enumerate(tried)
    ]


@synthetic_attack("singling_out", order=30)
def tries_isolating_predicates(scene: SyntheticScene) -> Iterator[tuple[str, Try]]:
    yield "singling_out", lambda: [isolating_predicates(scene)]
