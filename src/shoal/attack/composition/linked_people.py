"""Releases joined through the people behind them, as far as the owner of the data can tell: the exact figures.

Each person has a class in each release, or none there. The people who fit all releases for a target are those of whom
every release says something that is true of the target too, and who are in the same releases. That is the worst case:
somebody who could tell which records of different releases are one person's would be left with these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from shoal.attack.composition.released_counts import RECORDS, ReleasedCounts
from shoal.attack.matching.coverage import Match
from shoal.kernels.arrays import Integers

ABSENT: Final = -1
PEOPLE: Final = "__shoal_people"
TARGET: Final = "__shoal_target"


@dataclass(frozen=True)
class JointFigures:
    people: int
    """Who are in the new release."""
    left_out: int
    """People who are in another release and not in the new one."""
    left_out_below: int
    """Those of them whom fewer than k fit, for somebody who can tell who is missing."""
    effective_k: int
    """The fewest people who fit all releases, for any of them; 0 where there is nobody."""
    unique: int
    """People whom nobody else fits."""
    below: int
    """People whom fewer than k fit."""
    certain: Mapping[str, int]
    """By sensitive attribute, people of whom all who fit have the same value, though a release alone leaves several."""
    unplaced: int
    """People whom no class of the new release fits: they are suppressed there, or not in it."""
    ambiguous: int
    """People whom several classes fit, and who are taken to be in the smallest."""


@dataclass(frozen=True)
class Placement:
    """Who is in which class of a release: by distinct kinds of people, their class and those that fit."""

    own: Integers = field(repr=False)
    """The class of each kind of people, or ``ABSENT``."""
    fitting: pl.DataFrame | None = field(default=None, repr=False)
    """Pairs of ``TARGET`` and ``class``; None where only the own class fits."""
    ambiguous: int = 0

    @classmethod
    def by_values(cls, release: ReleasedCounts, people: pl.DataFrame) -> Placement:
        """``people`` has a row for each distinct kind, with the original's values and how many ``PEOPLE`` it is."""
        labels = release.classes
        if labels.is_empty():
            return cls(np.full(people.height, ABSENT, dtype=np.int64))
        match = Match.of(labels, people, release.quasi, dict(release.ladders))
        sizes = labels[RECORDS].to_numpy().astype(np.int64)
        found = [pl.DataFrame({"target": target, "class": match_class}) for target, match_class in match.pairs()]
        pairs = pl.concat(found) if found else pl.DataFrame(schema={"target": pl.Int64, "class": pl.Int64})
        # One row for each class stands in ``labels``; a row of ``match.classes`` is one of these.
        row = np.empty(len(match.classes), dtype=np.int64)
        row[match.class_of] = np.arange(labels.height)
        pairs = pairs.with_columns(pl.Series("class", row[pairs["class"].to_numpy()]))
        pairs = pairs.with_columns(pl.Series("size", sizes[pairs["class"].to_numpy()])).sort("target", "size", "class")
        smallest = pairs.group_by("target", maintain_order=True).agg(pl.col("class").first(), pl.len().alias("number"))
        own = np.full(len(match.targets), ABSENT, dtype=np.int64)
        own[smallest["target"].to_numpy()] = smallest["class"].to_numpy()
        several = np.zeros(len(match.targets), dtype=bool)
        several[smallest.filter(pl.col("number") > 1)["target"].to_numpy()] = True
        ambiguous = int(people[PEOPLE].to_numpy()[several[match.target_of]].sum())
        if not ambiguous:
            return cls(own[match.target_of])
        persons = pl.DataFrame({"target": match.target_of, TARGET: np.arange(people.height)})
        fitting = persons.join(pairs.select("target", "class"), on="target").select(TARGET, "class")
        return cls(own[match.target_of], fitting, ambiguous)


def compose_people(
    placements: Sequence[Placement], people: Integers, k: int, sensitive: Mapping[str, pl.Series] | None = None
) -> JointFigures:
    """The new release first. Row by row, kinds of people: where they are placed, how many they are, what is sensitive.

    >>> ages, areas = Placement(np.array([0, 0, 1, 1])), Placement(np.array([0, 1, 0, 1]))
    >>> compose_people([ages, areas], np.array([5, 5, 5, 1]), 5).effective_k
    1
    """
    signature = pl.DataFrame({f"{place}": each.own for place, each in enumerate(placements)})
    names = signature.columns
    values = {f"s{place}": each for place, each in enumerate((sensitive or {}).values())}
    table = signature.with_columns(pl.Series(PEOPLE, people), *(each.alias(name) for name, each in values.items()))
    everyone = table.with_columns(pl.Series(TARGET, np.arange(table.height), dtype=pl.Int64)).filter(
        pl.any_horizontal(pl.col(name) != ABSENT for name in names)
    )
    present = everyone.filter(pl.col("0") != ABSENT)
    fits = _fitting(placements, everyone.select(TARGET, PEOPLE, *names), table, names)
    counted = fits.group_by(TARGET).agg(
        pl.col(PEOPLE).sum().alias("fit"), *(pl.col(name).n_unique() for name in values)
    )
    judged = present.select(TARGET, PEOPLE, "0").join(counted, on=TARGET)
    weights, fit = judged[PEOPLE], judged["fit"]
    certain = {}
    for name, called in zip(values, sensitive or {}, strict=True):
        alone = present.group_by("0").agg(pl.col(name).n_unique().alias("alone"))
        told = judged.join(alone, on="0").filter((pl.col(name) == 1) & (pl.col("alone") > 1))
        if told.height:
            certain[called] = int(told[PEOPLE].sum())
    missing = everyone.filter(pl.col("0") == ABSENT).select(TARGET, PEOPLE).join(counted, on=TARGET)
    return JointFigures(
        people=int(weights.sum()),
        left_out=int(missing[PEOPLE].sum()),
        left_out_below=int(missing.filter(pl.col("fit") < k)[PEOPLE].sum()),
        effective_k=int(fit.min() or 0),  # type: ignore[arg-type]  # a count
        unique=int(weights.filter(fit == 1).sum()),
        below=int(weights.filter(fit < k).sum()),
        certain=certain,
        unplaced=int(people.sum()) - int(weights.sum()),
        ambiguous=placements[0].ambiguous,
    )


def _fitting(
    placements: Sequence[Placement], targets: pl.DataFrame, table: pl.DataFrame, names: Sequence[str]
) -> pl.DataFrame:
    """Each target beside all kinds of people who fit it in every release."""
    said = [name for name in table.columns if name not in (PEOPLE, *names)]
    groups = table.group_by(*names, *said).agg(pl.col(PEOPLE).sum())
    asked = targets.select(TARGET, *names)
    if all(each.fitting is None for each in placements):
        return asked.join(groups, on=names).select(TARGET, PEOPLE, *said)
    for name, each in zip(names, placements, strict=True):
        if each.fitting is None:
            continue
        wider = each.fitting.rename({"class": name})
        absent = asked.filter(pl.col(name) == ABSENT)
        there = asked.filter(pl.col(name) != ABSENT).drop(name).join(wider, on=TARGET)
        asked = pl.concat([there.select(asked.columns), absent]).unique()
    return asked.join(groups, on=names).select(TARGET, PEOPLE, *said)
