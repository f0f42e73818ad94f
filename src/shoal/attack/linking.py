"""Linking with an auxiliary file (ISO/IEC 20889, 7.2): whose record is it, judged by what somebody knows beforehand?

The attacker has the quasi-identifiers of some people and rules out the released records that can't be theirs. Of the m
that remain one is picked at random, so a person whose record is among them is found with probability 1/m; the rate is
the mean of these (the marketer risk of El Emam & Dankar 2008, where every class holds only its own people).

Success is right picks among all targets; guessing is right in one of as many cases as there are released records. A
person who isn't in the release has no record in it, so nothing that is said of them can be right: the attack on the
control group counts the *false claims*, strangers with exactly one candidate, of whom an attacker who doesn't know who
is in the table would be as sure as of a real find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.attack.coverage import Match
from shoal.attack.result import CERTAIN, Attack, Rate
from shoal.attack.truth import own_records
from shoal.errors import DataError
from shoal.schema.arrays import Floats, Integers


def linking(  # noqa: PLR0913  # what the attacker has, what is true, what counts
    release: pl.DataFrame,
    targets: pl.DataFrame,
    attributes: Sequence[str],
    *,
    aligned: bool,
    truth: str | None = None,
    control: pl.DataFrame | None = None,
    known: Mapping[str, pl.DataFrame] | None = None,
    domain: pl.DataFrame | None = None,
    certain: bool = False,
) -> Attack:
    """Link every target with the release by ``attributes``.

    ``aligned`` says that released row i is the record of target i; ``truth`` names a column of both tables that does.
    Without either, a target's record is taken to be among the candidates wherever there are any, which a release that
    tells the truth makes so; where it has fewer rows than there are targets, by the share that can be there. With
    ``certain`` only those count who are the only candidate. ``known`` holds hierarchies by attribute. Where the
    targets are only some of the people, ``domain`` should be a table with all values, such as the original: a released
    word that no target has is otherwise taken for a wider one that can't be read, and rules nobody out.
    """
    people = with_strangers(targets, control, attributes)
    found = Found.of(Match.of(release, people, attributes, known, domain), targets.height)
    mine = found.of_targets
    theirs = _theirs(found, release, targets, aligned=aligned, truth=truth)
    chance = np.divide(theirs, mine, out=np.zeros(len(mine)), where=mine > 0)
    sure = np.where(mine == 1, chance, 0.0)
    details = {
        "sure": float(sure.mean()),
        "expected": float(chance.mean()),
        "fewest_candidates": float(mine[mine > 0].min(initial=release.height)),
        "claims": float((mine == 1).mean()),
        "without_candidates": float((mine == 0).mean()),
        "candidates": float(mine.mean()),
        "unread_labels": float(found.match.unread),
    }
    strangers = found.of_control
    if strangers is not None:
        details["control_without_candidates"] = float((strangers == 0).mean())
    return Attack(
        "linking",
        "Linking with an auxiliary file" + (CERTAIN if certain else ""),
        f"{', '.join(attributes)} of {len(mine):,} people",
        Rate(float((sure if certain else chance).sum()), len(mine)),
        Rate(len(mine) / max(release.height, len(mine)), len(mine)),
        None if strangers is None else Rate(float((strangers == 1).sum()), len(strangers)),
        details=details,
        claims_only=True,
        certain=certain and (aligned or truth is not None),
    )


@dataclass(frozen=True)
class Found:
    """The number of candidates of each target and of each stranger."""

    match: Match
    of_targets: Integers
    of_control: Integers | None

    @classmethod
    def of(cls, match: Match, targets: int) -> Found:
        if not targets:
            raise DataError("there is nobody to link: the targets' table has no rows")
        candidates = match.candidates()
        return cls(match, candidates[:targets], candidates[targets:] if len(candidates) > targets else None)


def with_strangers(targets: pl.DataFrame, control: pl.DataFrame | None, attributes: Sequence[str]) -> pl.DataFrame:
    """Targets first, then the control group: both are read against the release in the same way."""
    missing = [name for name in attributes for frame in (targets, control) if frame is not None and name not in frame]
    if missing:
        raise DataError(f"the people's table has no column '{missing[0]}' to link by")
    if control is None:
        return targets.select(attributes)
    return pl.concat([targets.select(attributes), control.select(attributes)], how="vertical_relaxed")


def _theirs(found: Found, release: pl.DataFrame, targets: pl.DataFrame, *, aligned: bool, truth: str | None) -> Floats:
    """How many of a target's candidates are really theirs, in expectation."""
    if aligned or truth is not None:
        person, record = own_records(release, targets, aligned=aligned, truth=truth)
        fits = found.match.fits(person, record)
        return np.bincount(person[fits], minlength=targets.height).astype(np.float64)
    there = (found.of_targets > 0).astype(np.float64)
    if release.height >= targets.height:
        return there
    return there * np.minimum(1.0, found.of_targets / np.maximum(_rivals(found.match, targets.height), 1))


def _rivals(match: Match, targets: int) -> Integers:
    """For each target, the number of targets that compete for the least wanted of its candidates, itself included."""
    people = np.bincount(match.target_of[:targets], minlength=len(match.targets))
    wanted = np.zeros(len(match.classes))
    for target, released in match.pairs():
        wanted += np.bincount(released, weights=people[target], minlength=len(wanted))
    fewest = np.full(len(match.targets), np.inf)
    for target, released in match.pairs():
        np.minimum.at(fewest, target, wanted[released])
    return np.where(np.isfinite(fewest), fewest, 0).astype(np.int64)[match.target_of[:targets]]
