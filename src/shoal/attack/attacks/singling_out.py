"""Singling out (Article 29 Working Party 2014; Giomi et al. 2023): does the release let somebody point at one person?

The attacker reads the released table and writes predicates: a rare value or an extreme number of one attribute, or
what a released record says in a few attributes, every other number as "at least" above the median and "at most" below
it. A try succeeds if its predicate is met by exactly one released record *and* by exactly one person of the original.

In a battery the attributes that are put together are those that others can know of a person, the quasi-identifiers. Any
other released attribute is tried by itself: a value that one person has works like a name, whatever its role. That one
member of an equivalence class has this sensitive value and the others don't is what k-anonymity gives out by its
nature, and is asked by the attacks on inference.

Guessing writes predicates of the same form without looking at records: numbers are drawn evenly between the smallest
and the largest, other values from those that more than one record has (a value of one record is known from it alone).
 The control group is asked the same predicates: what isolates a stranger as often says nothing about the people
in the table. Fewer people are easier or harder to isolate, so the control group should be about as large as the
original. Every try counts, also one that isolates no released record: in a k-anonymous table none does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb

import numpy as np
import polars as pl

from shoal.attack.ground_truth.owners import Trials
from shoal.attack.ground_truth.targets import TrialDesign, person_column
from shoal.attack.matching.predicates import Condition, Predicate, PredicateOperator, PredicateTable, ReleasedAttribute
from shoal.attack.registry import Try, attack
from shoal.attack.result import Attack, Rate
from shoal.attack.scene import Scene
from shoal.errors import DataError
from shoal.kernels.arrays import Mask
from shoal.randomness import Stream

MOST_ATTRIBUTES = 4
"""In one predicate."""


def singling_out(  # the tables, and how to attack
    release: pl.DataFrame,
    original: pl.DataFrame,
    attributes: Sequence[str],
    design: TrialDesign,
    *,
    alone: Sequence[str] = (),
) -> Attack:
    """Try to single people out by predicates on ``attributes``, together and each by itself, and on each of those that
    stand ``alone``; equal predicates are tried once.

    Somebody with several rows is singled out where all that meet the predicate are theirs, and no more released records
    do. Without a control group, the people beside the one whose record was met take its place, by the owners of rows.
    """
    names, control, randomness, trials = (*attributes, *alone), design.control, design.randomness, design.trials
    _check(release, original, control, names)
    read = [ReleasedAttribute.of(release[name]) for name in names]
    together = read[: len(attributes)]
    tried = _univariate(read, randomness.stream("attack", "singling out", "univariate"), max(1, trials // 2))
    tried += record_predicates(together, randomness.stream("attack", "singling out", "records"), trials - len(tried))
    tried = list(dict.fromkeys(tried))
    who = Trials.by(person_column(original, design.person), original.height)
    released, people = PredicateTable.released(read), PredicateTable.known(read, original, names, original, who.of)
    met = released.meeting(tried)
    claims = (met > 0) & (met <= who.sizes.max())
    claimed = [predicate for predicate, alone in zip(tried, claims, strict=True) if alone]
    right = people.isolated(claimed) >= met[claims]
    guesses = _guessed(tried, read, randomness.stream("attack", "singling out", "guesses"))
    strangers = None
    if control is not None and control.height:
        whose = Trials.by(person_column(control, design.person), control.height).of
        others = PredicateTable.known(read, control, names, original, whose)
        strangers = Rate(float((others.isolated(claimed) > 0).sum()), len(tried))
    elif design.owner is not None:
        owners = release[design.owner], original[design.owner]
        strangers = Rate(float(_others(released, people, claimed, *owners).sum()), len(tried))
    several = np.array([len(predicate) > 1 for predicate in claimed], dtype=bool)
    return Attack(
        "singling_out",
        "Singling out by predicates",
        f"the released values of {', '.join(names)}",
        Rate(float(right.sum()), len(tried)),
        Rate(float((people.isolated(guesses) > 0).sum()), len(tried)),
        strangers,
        left_out=strangers is not None and control is None,
        details={
            "isolating": len(claimed) / len(tried),
            "precision": float(right.mean()) if len(right) else 0.0,
            "univariate_successes": float(right[~several].sum()),
            "multivariate_successes": float(right[several].sum()),
        },
    )


def _others(
    released: PredicateTable, people: PredicateTable, claimed: Sequence[Predicate], records: pl.Series, whose: pl.Series
) -> Mask:
    """Whether a predicate that one released record meets isolates somebody whose record that is not."""
    owners, names = records.to_list(), whose.to_list()
    alone = []
    for predicate in claimed:
        met = {owners[row] for row in released.rows_meeting(predicate)}
        alone.append(len({names[row] for row in people.rows_meeting(predicate)} - met) == 1)
    return np.array(alone, dtype=bool)


def _univariate(read: Sequence[ReleasedAttribute], stream: Stream, trials: int) -> list[Predicate]:
    """The rarest labels of each attribute, and its smallest and largest number."""
    conditions: list[Condition] = []
    for place, attribute in enumerate(read):
        counts = attribute.counts
        conditions += [(place, PredicateOperator.SAME, int(label)) for label in np.flatnonzero(counts == counts.min())]
        if attribute.numbers is not None:
            conditions.append((place, PredicateOperator.AT_LEAST, int(np.nanargmax(attribute.numbers))))
            conditions.append((place, PredicateOperator.AT_MOST, int(np.nanargmin(attribute.numbers))))
    order = stream.permutation(len(conditions))[:trials]
    return [(conditions[at],) for at in order]


def record_predicates(
    read: Sequence[ReleasedAttribute], stream: Stream, trials: int, most_attributes: int = MOST_ATTRIBUTES
) -> list[Predicate]:
    """What records drawn at random say in subsets of the attributes drawn at random."""
    if len(read) < 2 or trials < 1:
        return []
    rows = len(read[0].codes)
    most = min(most_attributes, len(read))
    subsets = sum(comb(len(read), size) for size in range(2, most + 1))
    draws = np.arange(min(trials, rows * subsets), dtype=np.uint64)
    record = (stream.uniform(draws) * rows).astype(np.int64)
    size = 2 + (stream.uniform(draws, 1) * (most - 1)).astype(np.int64)
    keys = np.stack([stream.uniform(draws, 2 + place) for place in range(len(read))], axis=1)
    order = np.argsort(keys, axis=1)
    ranged = np.stack([stream.uniform(draws, 2 + len(read) + place) for place in range(len(read))], axis=1) < 0.5
    medians = [attribute.median for attribute in read]
    return [
        tuple(
            _condition(
                read[place], int(place), int(read[place].codes[at]), medians[place] if ranged[row, place] else None
            )
            for place in sorted(order[row][:many])
        )
        for row, (at, many) in enumerate(zip(record, size, strict=True))
    ]


def _condition(attribute: ReleasedAttribute, place: int, label: int, median: float | None) -> Condition:
    """With a median, a number becomes a bound."""
    if median is None or attribute.numbers is None or np.isnan(attribute.numbers[label]):
        return place, PredicateOperator.SAME, label
    return place, PredicateOperator.AT_LEAST if attribute.numbers[label] > median else PredicateOperator.AT_MOST, label


def _guessed(tried: Sequence[Predicate], read: Sequence[ReleasedAttribute], stream: Stream) -> list[Predicate]:
    """The same forms with values drawn from each attribute's domain; without those that name what nobody has."""
    rows = np.arange(len(tried), dtype=np.uint64)
    drawn = [each.guess(stream.uniform(rows, place)) for place, each in enumerate(read)]
    return [
        tuple((place, test, int(drawn[place][0][row])) for place, test, _ in predicate)
        for row, predicate in enumerate(tried)
        if all(drawn[place][1][row] for place, test, _ in predicate if test is PredicateOperator.SAME)
    ]


def _check(
    release: pl.DataFrame, original: pl.DataFrame, control: pl.DataFrame | None, attributes: Sequence[str]
) -> None:
    if not attributes:
        raise DataError("there is no attribute to single people out by")
    tables = [(release, "the release"), (original, "the original")]
    tables += [] if control is None else [(control, "the control group")]
    for frame, whose in tables:
        for name in attributes:
            if name not in frame.columns:
                raise DataError(f"{whose} has no column '{name}' to single people out by")
    if not release.height or not original.height:
        raise DataError("nobody can be singled out: a table has no rows")


@attack("singling_out", order=10, of_population=True)
def tries_singling_out(scene: Scene) -> Iterator[tuple[str, Try]]:
    quasi, alone = scene.tables.quasi, _alone(scene)
    if quasi or alone:
        yield "singling_out", lambda: [singling_out(scene.release, scene.people, quasi, scene.design, alone=alone)]


def _alone(scene: Scene) -> tuple[str, ...]:
    """What is released besides quasi-identifiers and what names people; of strangers only some of it is known."""
    tables = scene.tables
    others = [
        name
        for name in tables.release.columns
        if name in tables.original.columns
        and scene.control is None
        and not tables.original[name].dtype.is_nested()
        and name not in (*tables.quasi, *tables.sensitive, *tables.pseudonyms)
    ]
    return (*tables.sensitive, *others)
