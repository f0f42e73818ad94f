"""Linkability (Giomi et al. 2022): does the release help to find out that two files tell of the same person?

The attacker has two files with different columns of the same people. The record that is nearest to a person by the
columns of the one file and the one that is nearest by those of the other are looked for; where the k nearest of both
have a record in common, it links the two files. Distances are those of Gower (1971): a number by its share of the
range, anything else by whether the label can stand for the value. Of equally near records those that count are drawn by
lot.

Attributes that go together link strangers too, so only the excess over a control group is the release's doing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import comb

import numpy as np
import polars as pl

from shoal.attack.ground_truth.targets import People, TrialDesign, as_numbers, select_columns
from shoal.attack.matching.coverage import Coverage
from shoal.attack.matching.posteriors import OwnRecords
from shoal.attack.registry import Try, attack
from shoal.attack.result import Attack, NothingToTryError, Rate
from shoal.attack.scene import Scene
from shoal.errors import DataError
from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.randomness import Stream

MOST_PAIRS = 10_000_000
"""Pairs of a person and a record that are compared, over all people who are tried."""
PIECE = 1_000_000
Columns = tuple[Sequence[str], Sequence[str]]


def linkability(  # noqa: PLR0913  # what is attacked, what is known, how far to go
    release: pl.DataFrame,
    original: pl.DataFrame,
    columns: Columns,
    design: TrialDesign,
    *,
    known: Mapping[str, pl.DataFrame] | None = None,
    neighbours: int = 1,
) -> Attack:
    """Link people's values in the one set of columns with those in the other by their nearest records."""
    names = (*columns[0], *columns[1])
    if not columns[0] or not columns[1]:
        raise DataError("linkability needs columns for two files")
    neighbours = min(neighbours, release.height)
    most = max(1, min(design.trials, MOST_PAIRS // release.height))
    people = replace(design, trials=most).people(original, names)
    own = None
    if design.control is None and design.owner is not None:
        own = OwnRecords.of(release, original, design.owner, people.members).among(people.members)
    sides = []
    for number, some in enumerate(columns):
        stream = design.randomness.stream("attack", "linkability", str(number))
        gower = GowerDistance.of(select_columns(release, some, "the release"), people, some, known or {})
        sides.append(_nearest(gower, own, neighbours, stream))
    linked = [((mine[:, :, None] == theirs[:, None, :]) & (mine[:, :, None] >= 0)).any(axis=(1, 2)).astype(np.float64)
              for mine, theirs in zip(*sides, strict=True)]  # fmt: skip
    members, others = people.best(linked[0])
    if own is not None:
        others = people.trials.best(linked[1])
    by_chance = 1 - comb(release.height - neighbours, neighbours) / comb(release.height, neighbours)
    return Attack(
        "linkability",
        "Linking two files by the release",
        f"{', '.join(columns[0])} of people in one file, {', '.join(columns[1])} in another",
        Rate(float(members.sum()), len(members)),
        Rate(by_chance * len(members), len(members)),
        Rate(float(others.sum()), len(others)) if design.control is not None or own is not None else None,
        left_out=own is not None,
        details={"neighbours": float(neighbours)},
    )


@dataclass(frozen=True)
class GowerDistance:
    """Distances between people and released records, attribute by attribute."""

    people: int
    records: int
    parts: tuple[CoverDistance | RangeDistance, ...] = field(repr=False)

    @classmethod
    def of(
        cls, release: pl.DataFrame, people: People, names: Sequence[str], known: Mapping[str, pl.DataFrame]
    ) -> GowerDistance:
        parts = tuple(_compared(release[name], people, known.get(name)) for name in names)
        return cls(len(people.judged), release.height, parts)

    def __call__(self, some: Integers) -> Floats:
        """Of these people, by their place among those judged, to all records."""
        total = np.zeros((len(some), self.records))
        for part in self.parts:
            total += part(some)
        return total


@dataclass(frozen=True)
class RangeDistance:
    """A number by its share of the range."""

    people: Floats
    records: Floats

    def __call__(self, some: Integers) -> Floats:
        return np.nan_to_num(np.abs(self.people[some, None] - self.records), nan=1.0)


@dataclass(frozen=True)
class CoverDistance:
    """Anything else by whether the label can stand for the value."""

    coverage: Coverage
    people: Integers
    records: Integers

    def __call__(self, some: Integers) -> Mask:
        covers, row = self.coverage.of_each(self.people[some])
        return ~covers[row][:, self.records]


def _compared(released: pl.Series, people: People, known: pl.DataFrame | None) -> CoverDistance | RangeDistance:
    values = people.frame[released.name]
    if _counts(released) and _counts(values):
        records, everybody = as_numbers(released), as_numbers(values)
        span = float(np.nanmax(np.concatenate([records, everybody])) - np.nanmin(np.concatenate([records, everybody])))
        return RangeDistance(everybody[people.judged] / (span or 1.0), records / (span or 1.0))
    coverage = Coverage.of(values, released, known)
    return CoverDistance(coverage, coverage.codes(values)[people.judged], coverage.label_codes(released))


def _counts(values: pl.Series) -> bool:
    return (values.dtype.is_numeric() or values.dtype.is_temporal()) and values.null_count() < len(values)


def _nearest(gower: GowerDistance, own: OwnRecords | None, neighbours: int, stream: Stream) -> list[Integers]:
    """The nearest records of each of those judged, -1 where there are fewer; then, where ``own`` is known, those beside
    their own."""
    lots = stream.uniform(np.arange(gower.people, dtype=np.uint64))
    order = stream.permutation(gower.records, 1)
    found = np.full((2 if own is not None else 1, gower.people, neighbours), -1, dtype=np.int64)
    step = max(1, PIECE // gower.records)
    for start in range(0, gower.people, step):
        some = np.arange(start, min(start + step, gower.people))
        far = gower(some)[:, order]
        for row, place in enumerate(some):
            found[0, place] = order[_drawn(far[row], neighbours, lots[place])]
        if own is not None:
            here = (own.people >= start) & (own.people < start + len(some))
            where = np.empty(gower.records, dtype=np.int64)
            where[order] = np.arange(gower.records)
            far[own.people[here] - start, where[own.records[here]]] = np.inf
            for row, place in enumerate(some):
                nearest = order[_drawn(far[row], neighbours, lots[place])]
                found[1, place, : len(nearest)] = nearest
    return list(found)


def _drawn(far: Floats, neighbours: int, lot: float) -> Integers:
    """The places of the smallest; among equal ones from where the lot falls on. What is infinitely far is none.

    >>> _drawn(np.array([np.inf, 2.0, 1.0]), 3, 0.0).tolist()
    [2, 1]
    """
    neighbours = min(neighbours, int(np.isfinite(far).sum()))
    if not neighbours:
        return np.empty(0, dtype=np.int64)
    level = np.partition(far, neighbours - 1)[neighbours - 1]
    nearer, ties = np.flatnonzero(far < level - 1e-12), np.flatnonzero(np.abs(far - level) <= 1e-12)
    first = int(lot * len(ties))
    return np.concatenate([nearer, np.roll(ties, -first)])[:neighbours]


@attack("linkability", order=35, of_population=True)
def tries_linkability(scene: Scene) -> Iterator[tuple[str, Try]]:
    """What an attacker may know, dealt out to two files."""
    names = list(dict.fromkeys((*scene.tables.quasi, *scene.tables.numbers)))
    if scene.tables.quasi and len(names) > 1:
        yield "linkability", lambda: [_tried(scene, (names[0::2], names[1::2]))]


def _tried(scene: Scene, columns: Columns) -> Attack:
    design = replace(scene.design, control=scene.control_with((*columns[0], *columns[1])))
    if design.control is None and scene.whose is None:
        raise NothingToTryError(
            "links between attributes that go together can't be told from people's own without a control group",
            advice="give people who are not in the original",
        )
    return linkability(scene.shown, scene.people, columns, design, known=scene.known)
