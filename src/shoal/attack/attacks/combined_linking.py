"""One attacker who knows everything at once: what labels say, what is left of identifiers, numbers that were altered.

Somebody who knows a person's quasi-identifiers rules out the records that don't fit. Among those that do, the one is
taken whose altered numbers are nearest to the person's, each measured by how far it usually moved: an attacker knows
what was done to a column, if not to whom. A table whose classes all have k people, and whose numbers are shared by k
records each, may still give away who has both.

A record is claimed where it is clearly nearer than the next. The yardstick is a pick for the same people among the
records that fit the quasi-identifiers alone, which is what k-anonymity leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from shoal.attack.attacks.linking import with_strangers
from shoal.attack.ground_truth.owners import Trials, judged_by_claims
from shoal.attack.ground_truth.targets import as_numbers
from shoal.attack.matching.coverage import Match, compatible
from shoal.attack.matching.label_join import spread
from shoal.attack.registry import Try, attack
from shoal.attack.result import Attack, Rate
from shoal.attack.scene import Scene
from shoal.kernels.arrays import Floats, Integers
from shoal.randomness import Randomness

MOST_PAIRS = 20_000_000
"""Pairs of a person and a record that fits, over all people who are tried."""
PIECE = 2_000_000
"""Those that are held at a time."""
CLEAR = 0.5
"""A pick is clear where the squared distance is less than this share of that of the next record."""


def combined_linking(  # noqa: PLR0913  # what is attacked, what is known, how far to go
    release: pl.DataFrame,
    original: pl.DataFrame,
    quasi: Sequence[str],
    *,
    numbers: Sequence[str] = (),
    parts: Sequence[str] = (),
    owner: str | None,
    person: str | None = None,
    control: pl.DataFrame | None = None,
    known: Mapping[str, pl.DataFrame] | None = None,
    randomness: Randomness,
    trials: int,
) -> Attack:
    """Pick each person's record by ``quasi``, ``parts`` and ``numbers`` together, where one is clearly nearest.

    ``owner`` names a column of both tables that says whose a row is. Without it the claims are compared with those
    about strangers, and where there are none it can only be judged that nothing is claimed.
    """
    labels = (*quasi, *(name for name in parts if name not in quasi))
    names = (*labels, *numbers)
    everyone = with_strangers(original, control, names)
    distances = NumberDistances.of(release, everyone, numbers, _own_rows(release, original, owner))
    fitting = LabelFit.of(release, everyone, labels, known)
    plain = fitting if len(labels) == len(quasi) else LabelFit.of(release, everyone, quasi, known)
    stream = randomness.stream("attack", "combined linking")
    people = fitting.affordable(stream.permutation(original.height)[:trials])
    strangers = fitting.affordable(original.height + stream.permutation(everyone.height - original.height, 1)[:trials])
    whose = None if owner is None else (original[owner].to_numpy(), release[owner].fill_null(-1).to_numpy())
    claimed, right = _tried(fitting, people, distances, whose)
    tried = Trials.by(None if person is None else original[person].gather(people), len(people))
    claims, hits = tried.best(claimed), tried.best(right)
    by_labels = tried.best(claimed / np.maximum(plain.candidates[people], 1))
    theirs = _tried(fitting, strangers, distances, None)[0] if len(strangers) else None
    found = Attack(
        "combined_linking",
        "Linking by all that is known together",
        f"{', '.join(names)} of {tried.count:,} people",
        Rate(float((claims if owner is None else hits).sum()), tried.count),
        Rate(float(by_labels.sum()), tried.count),
        None if theirs is None else Rate(float(theirs.sum()), len(strangers)),
        claims_only=owner is not None,
        details={
            "claims": float(claims.mean()),
            "precision": float(hits.sum() / claims.sum()) if owner is not None and claims.any() else 0.0,
            "by_labels_alone": float(by_labels.mean()),
        },
    )
    return found if owner is not None or theirs is not None else judged_by_claims(found, certain=True)


def _tried(
    fitting: LabelFit, people: Integers, distances: NumberDistances, whose: tuple[Integers, Integers] | None
) -> tuple[Floats, Floats]:
    """For each of the people whether one record is clearly nearest, and whether it is theirs."""
    claimed, right = np.zeros(len(people)), np.zeros(len(people))
    for some in fitting.pieces(people):
        person_of, record = fitting.pairs(people[some])
        nearest = _picks(distances(people[some][person_of], record), person_of)
        claimed[some[person_of[nearest]]] = 1.0
        if whose is not None:
            mine = whose[1][record[nearest]] == whose[0][people[some][person_of[nearest]]]
            right[some[person_of[nearest]]] = mine
    return claimed, right


def _picks(distance: Floats, person_of: Integers) -> Integers:
    """The pairs of a person and a record that is clearly nearest; pairs of one person stand together.

    >>> _picks(np.array([1.0, 9.0, 4.0, 5.0, 2.0]), np.array([0, 0, 1, 1, 2])).tolist()
    [0, 4]
    """
    order = np.lexsort((distance, person_of))
    first = np.flatnonzero(np.diff(person_of[order], prepend=-1))
    second = np.minimum(first + 1, len(order) - 1)
    alone = (second == first) | (person_of[order[second]] != person_of[order[first]])
    clear = distance[order[first]] < CLEAR * distance[order[second]]
    return np.sort(order[first[alone | clear]])


@dataclass(frozen=True)
class LabelFit:
    """Which released records fit whom, by labels; all of them where there is no label to go by."""

    match: Match | None = field(repr=False)
    records: int
    order: Integers = field(repr=False)
    """Released records, class by class."""
    starts: Integers = field(repr=False)
    """Where the records of each class begin in that order, and the end."""
    candidates: Integers = field(repr=False)
    """How many fit each person."""

    @classmethod
    def of(
        cls,
        release: pl.DataFrame,
        original: pl.DataFrame,
        labels: Sequence[str],
        known: Mapping[str, pl.DataFrame] | None,
    ) -> LabelFit:
        everything = np.arange(release.height)
        if not labels:
            return cls(None, release.height, everything, everything[:0], np.full(original.height, release.height))
        match = Match.of(release, original, labels, known)
        order = np.argsort(match.class_of, kind="stable")
        starts = np.searchsorted(match.class_of[order], np.arange(len(match.classes) + 1))
        return cls(match, release.height, order, starts, match.candidates())

    def affordable(self, people: Integers) -> Integers:
        """The first of these people, as many as can be compared, in their order in the table."""
        total = np.cumsum(self.candidates[people])
        return np.sort(people[: max(1, int(np.searchsorted(total, MOST_PAIRS, side="right")))])

    def pieces(self, people: Integers) -> Iterator[Integers]:
        """Places among the people, as many at a time as can be held."""
        piece = np.cumsum(self.candidates[people]) // PIECE
        yield from np.split(np.arange(len(people)), np.flatnonzero(np.diff(piece)) + 1)

    def pairs(self, people: Integers) -> tuple[Integers, Integers]:
        """For these people, by their place, the records that fit; those of one person stand together."""
        if self.match is None:
            return np.repeat(np.arange(len(people)), self.records), np.tile(self.order, len(people))
        wanted, place = np.unique(self.match.target_of[people], return_inverse=True)
        found = [np.stack(each) for each in compatible(self.match.targets[wanted], self.match.classes,
                                                       self.match.coverages)]  # fmt: skip
        target, released = np.concatenate(found, axis=1) if found else np.zeros((2, 0), dtype=np.int64)
        by_target = np.argsort(target, kind="stable")
        target, released = target[by_target], released[by_target]
        firsts = np.searchsorted(target, np.arange(len(wanted) + 1))
        person, at = spread(firsts[place], firsts[place + 1] - firsts[place])
        classes = released[at]
        pair, within = spread(self.starts[classes], self.starts[classes + 1] - self.starts[classes])
        return person[pair], self.order[within]


@dataclass(frozen=True)
class NumberDistances:
    """How far the altered numbers of records are from those of people."""

    people: Floats = field(repr=False)
    records: Floats = field(repr=False)

    @classmethod
    def of(
        cls,
        release: pl.DataFrame,
        original: pl.DataFrame,
        numbers: Sequence[str],
        own: tuple[Integers, Integers],
    ) -> NumberDistances:
        """Each number in units of how far it usually moved. A missing one is as far as numbers usually are.

        ``own`` has rows of people beside records of theirs, none where nobody knows.
        """
        row, record = own
        mine, theirs = [np.zeros((original.height, 0))], [np.zeros((release.height, 0))]
        for name in numbers:
            before, after = as_numbers(original[name]), as_numbers(release[name])
            moved = np.abs(before[row] - after[record])
            moved = moved[np.isfinite(moved)]
            spread_of = float(np.nanstd(after)) if np.isfinite(after).any() else 0.0
            unit = float(np.median(moved)) if len(moved) else spread_of
            unit = max(unit, spread_of * 1e-6) or 1.0
            mine.append(before[:, None] / unit)
            theirs.append(after[:, None] / unit)
        return cls(np.column_stack(mine), np.column_stack(theirs))

    def __call__(self, people: Integers, records: Integers) -> Floats:
        total = np.zeros(len(people))
        for column in range(self.people.shape[1]):
            apart = np.abs(self.people[people, column] - self.records[records, column])
            missing = np.isnan(apart)
            if missing.any():
                apart[missing] = np.median(apart[~missing]) if not missing.all() else 0.0
            total += apart**2
        return total


def _own_rows(release: pl.DataFrame, original: pl.DataFrame, owner: str | None) -> tuple[Integers, Integers]:
    """One row of each person in the original, and in the release."""
    if owner is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    own = pl.DataFrame({"who": release[owner], "record": np.arange(release.height)}).drop_nulls().unique("who")
    rows = pl.DataFrame({"who": original[owner], "row": np.arange(original.height)}).unique("who")
    both = rows.join(own, on="who")
    return both["row"].to_numpy(), both["record"].to_numpy()


@attack("combined_linking", order=55)
def tries_combined(scene: Scene) -> Iterator[tuple[str, Try]]:
    """Where there is more than one kind of knowledge."""
    numbers = scene.tables.numbers
    quasi = tuple(name for name in scene.tables.quasi if name not in numbers)
    parts = tuple(name for name in scene.tables.pseudonyms if name not in numbers and _is_part(scene, name))
    if quasi and (numbers or parts):
        yield "combined_linking", lambda: [_in_scene(scene, quasi, numbers, parts)]


def _in_scene(scene: Scene, quasi: Sequence[str], numbers: Sequence[str], parts: Sequence[str]) -> Attack:
    return combined_linking(
        scene.shown,
        scene.people,
        quasi,
        numbers=numbers,
        parts=parts,
        owner=scene.truth,
        person=scene.person,
        control=scene.control_with((*quasi, *numbers, *parts)),
        known=scene.known,
        randomness=scene.randomness,
        trials=scene.trials,
    )


def _is_part(scene: Scene, name: str) -> bool:
    """Whether something of an identifier can be read, and not all of it."""
    released = scene.tables.release[name]
    return released.n_unique() > 1 and not scene.as_it_was(name) and not scene.unreadable(name)
