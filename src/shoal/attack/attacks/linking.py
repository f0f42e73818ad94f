"""Linking with an auxiliary file (ISO/IEC 20889, 7.2): whose record is it, judged by what somebody knows beforehand?

The attacker has the quasi-identifiers of some people and rules out the released records that can't be theirs. Of the m
that remain one is picked at random, so a person whose record is among them is found with probability 1/m; the rate is
the mean of these (the marketer risk of El Emam & Dankar 2008, where every class holds only its own people).

Success is right picks among all targets; guessing is right in one of as many cases as there are released records. A
person who isn't in the release has no record in it, so nothing that is said of them can be right: the attack on the
control group counts the *false claims*, strangers with exactly one candidate, of whom an attacker who doesn't know who
is in the table would be as sure as of a real find.

Where nobody knows whose record is whose, a single candidate need not be the right one: an independent table of the same
kind of people has single candidates too. Then the release has to show that it is made of these people
(:func:`derived`), or claims about them are compared with claims about strangers; where neither can be, nothing is
judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from shoal.attack.ground_truth.owners import Owners, Trials, judged_by_claims, owners_of
from shoal.attack.ground_truth.record_order import BY_CHANCE, chance_of_misfits
from shoal.attack.matching.coverage import Coverage, Match
from shoal.attack.registry import Try, attack
from shoal.attack.result import CERTAIN, Attack, NothingToTryError, Rate
from shoal.attack.scene import WHO, Scene
from shoal.errors import DataError
from shoal.kernels.arrays import Floats, Integers, Mask

RARER = 10
"""In an independent table at least one record in so many fits nobody, for each that fits one person alone."""
_COMBINATION = "__shoal_combination"


def linking(  # noqa: PLR0913  # what the attacker has, what is true, what counts
    release: pl.DataFrame,
    targets: pl.DataFrame,
    attributes: Sequence[str],
    *,
    aligned: bool,
    truth: str | None = None,
    person: str | None = None,
    owner: str | None = None,
    control: pl.DataFrame | None = None,
    known: Mapping[str, pl.DataFrame] | None = None,
    domain: pl.DataFrame | None = None,
    certain: bool = False,
) -> Attack:
    """Link every target with the release by ``attributes``.

    ``aligned`` says that released row i is the record of target i; ``truth`` names a column of both tables that does.
    Without either, a target's record is taken to be among the candidates wherever there are any, which a release that
    tells the truth makes so; where it has fewer rows than there are targets, by the share that can be there. With
    ``certain`` only those count who are the only candidate, and that the release tells the truth has to show.

    ``person`` names a column of the targets: rows with the same value are one person and one trial, who is found for
    certain where all candidates are their own records. ``owner`` names a column of the release that says whose each
    record is, so that candidates are counted in people. Nobody but the judge looks at either.

    ``known`` holds hierarchies by attribute. Where the targets are only some of the people, ``domain`` should be a
    table with all values, such as the original: a released word that no target has is otherwise taken for a wider one
    that can't be read, and rules nobody out.
    """
    everyone = with_strangers(targets, control, attributes)
    found = CandidateCounts.of(Match.of(release, everyone, attributes, known, domain), targets.height, release, owner)
    trials = Trials.by(None if person is None else targets[person], targets.height)
    mine, owners = found.of_targets, owners_of(release, targets, aligned=aligned, truth=truth)
    theirs = _supposed(found, trials, release.height) if owners is None else _theirs(found.match, owners)
    chance = np.divide(theirs, mine, out=np.zeros(len(mine)), where=mine > 0)
    single = found.single(trials.sizes if owners is None else theirs)
    shown = owners is not None or not certain or derived(found.match, targets.height)
    if not shown and found.of_control is not None:
        single, chance = mine == 1, (mine == 1).astype(np.float64)
    sure = trials.best(np.where(single, chance, 0.0))
    expected = trials.best(chance)
    fewest = mine[mine > 0].min(initial=release.height)
    details = {
        "sure": float(sure.mean()),
        "expected": float(expected.mean()),
        "fewest_candidates": float(fewest),
        "claims": float(trials.best(single.astype(np.float64)).mean()),
        "without_candidates": float((trials.best(mine.astype(np.float64)) == 0).mean()),
        "candidates": float(mine.mean()),
        "unread_labels": float(found.match.unread),
    }
    if found.people is not None:
        people = found.people[: targets.height]
        details["fewest_people"] = float(people[people > 0].min(initial=fewest))
    strangers = found.of_control
    if strangers is not None:
        details["control_without_candidates"] = float((strangers == 0).mean())
    outcome = Attack(
        "linking",
        "Linking with an auxiliary file" + (CERTAIN if certain else ""),
        f"{', '.join(attributes)} of {trials.count:,} people",
        Rate(float((sure if certain else expected).sum()), trials.count),
        Rate(len(mine) / max(release.height, len(mine)), trials.count),
        None if strangers is None else Rate(float(found.claimed_strangers), len(strangers)),
        details=details,
        claims_only=shown,
        certain=certain and owners is not None and float(sure.sum()) >= details["claims"] * trials.count - 1e-9,
    )
    return outcome if shown or strangers is not None else judged_by_claims(outcome, certain=certain)


def derived(match: Match, targets: int) -> bool:
    """Whether the released records show by themselves that they are these targets', and not others' of the same kind.

    A true label is somebody's. In an independent table the records that fit nobody are hardly rarer than those that fit
    one person alone, up to a factor for attributes of which most values are common (Good 1953). So where many fit one
    alone and next to none fits nobody, the records are those of the targets.
    """
    people = np.bincount(match.target_of[:targets], minlength=len(match.targets))
    of_records = match.by_class(people)[match.class_of]
    nobody, alone, records = int((of_records == 0).sum()), int((of_records == 1).sum()), len(of_records)
    return chance_of_misfits(nobody, records, 1 - alone / records / RARER) < BY_CHANCE


@dataclass(frozen=True)
class CandidateCounts:
    """The number of candidates of each target and of each stranger."""

    match: Match
    of_targets: Integers
    of_control: Integers | None
    people: Integers | None
    """The same, targets first, in people; None where it is not known whose released records are."""

    @classmethod
    def of(cls, match: Match, targets: int, release: pl.DataFrame, owner: str | None) -> CandidateCounts:
        if not targets:
            raise DataError("there is nobody to link: the targets' table has no rows")
        candidates = match.candidates()
        people = None if owner is None else match.people(release[owner])
        return cls(match, candidates[:targets], candidates[targets:] if len(candidates) > targets else None, people)

    def single(self, own: Floats | Integers) -> Mask:
        """Whether one person is left for the target: one record, or no more than are, or could be, the target's own."""
        alone = self.of_targets <= np.maximum(own, 1)
        if self.people is not None:
            alone = self.people[: len(own)] == 1
        return np.asarray(alone & (self.of_targets > 0))

    @property
    def claimed_strangers(self) -> int:
        """Strangers who would be taken for somebody."""
        left = self.of_control if self.people is None else self.people[len(self.of_targets) :]
        return 0 if left is None else int((left == 1).sum())


def with_strangers(targets: pl.DataFrame, control: pl.DataFrame | None, attributes: Sequence[str]) -> pl.DataFrame:
    """Targets first, then the control group: both are read against the release in the same way."""
    missing = [name for name in attributes for frame in (targets, control) if frame is not None and name not in frame]
    if missing:
        raise DataError(f"the people's table has no column '{missing[0]}' to link by")
    if control is None:
        return targets.select(attributes)
    return pl.concat([targets.select(attributes), control.select(attributes)], how="vertical_relaxed")


def _theirs(match: Match, owners: Owners) -> Floats:
    """How many of a target's candidates are really theirs."""
    targets = pl.DataFrame({"owner": owners.targets, "target": match.target_of[: len(owners.targets)]})
    records = pl.DataFrame({"owner": owners.records, "class": match.class_of}).group_by("owner", "class").len("records")
    pairs = targets.unique().join(records, on="owner")
    fits = match.agrees(pairs["target"].to_numpy(), pairs["class"].to_numpy())
    counted = pairs.filter(fits).group_by("owner", "target").agg(pl.col("records").sum())
    found = targets.join(counted, on=["owner", "target"], how="left", maintain_order="left")["records"]
    return found.fill_null(0).cast(pl.Float64).to_numpy()


def _supposed(found: CandidateCounts, trials: Trials, released: int) -> Floats:
    """The same in expectation, where it is not known: as many as the person has rows, and no more than candidates."""
    there = found.of_targets
    theirs = np.minimum(there, trials.sizes).astype(np.float64)
    if found.people is not None:
        theirs = np.where(found.people[: len(there)] == 1, there, theirs)
    if released >= len(there):
        return np.asarray(theirs)
    return np.asarray(theirs * np.minimum(1.0, there / np.maximum(_rivals(found.match, len(there)), 1)))


def _rivals(match: Match, targets: int) -> Integers:
    """For each target, the number of targets that compete for the least wanted of its candidates, itself included."""
    people = np.bincount(match.target_of[:targets], minlength=len(match.targets))
    wanted = match.by_class(people)
    fewest = np.full(len(match.targets), wanted[match.wide].min(initial=np.inf))
    for target, released in match.told_pairs():
        np.minimum.at(fewest, target, wanted[released])
    return np.where(np.isfinite(fewest), fewest, 0).astype(np.int64)[match.target_of[:targets]]


@attack("linking", order=20)
def tries_linking(scene: Scene) -> Iterator[tuple[str, Try]]:
    if scene.tables.quasi:
        yield "linking", lambda: [_linked(scene, scene.tables.quasi)]


@attack("auxiliary_linking", order=40)
def tries_auxiliary(scene: Scene) -> Iterator[tuple[str, Try]]:
    if scene.tables.auxiliary is not None:
        yield "auxiliary_linking", partial(_by_auxiliary, scene, scene.tables.auxiliary)


@attack("identifier_linking", order=70)
def tries_identifiers(scene: Scene) -> Iterator[tuple[str, Try]]:
    """Somebody knows a person's name or number, and the release still shows it, or a part of it."""
    for name in scene.tables.pseudonyms:
        yield f"identifier_linking: {name}", partial(_by_identifier, scene, name)


def _linked(scene: Scene, by: Sequence[str]) -> Attack:
    known = {name: table for name, table in scene.known.items() if name in by}
    control = scene.control_with(by)
    return linking(
        scene.shown, scene.people, by, **scene.judged_by(by), owner=scene.owner_by(by), control=control, known=known
    )


def _by_identifier(scene: Scene, name: str) -> Sequence[Attack]:
    people = scene.tables.original.height
    seen = Coverage.of(scene.tables.original[name], scene.tables.release[name], scene.known.get(name))
    if seen.everything.all():
        guessed = Rate(people / max(people, scene.shown.height), people)
        told = {"unread_labels": float(seen.unread)}
        found = Attack("", "", f"{name} of {people:,} people", Rate(0, people), guessed, claims_only=True, details=told)
    else:
        found = _linked(scene, (name,))
    return [found.renamed("identifier_linking", "Linking by an identifier").of_attribute(name)]


def _by_auxiliary(scene: Scene, auxiliary: pl.DataFrame) -> Sequence[Attack]:
    """Of people in a second file it is known what they have in common with the original's: a link is right where the
    record is of somebody who is just so."""
    original, shown = scene.tables.original, scene.shown
    common = tuple(name for name in scene.tables.release.columns if name in auxiliary.columns)
    if not common:
        raise NothingToTryError("the auxiliary table has no column in common with the release")
    told = set(common) <= set(original.columns)
    truth = None
    if told and scene.truth is not None:
        codes = _combinations(scene.people, auxiliary, common)
        whose = pl.DataFrame({scene.truth: scene.people[scene.truth], _COMBINATION: codes[: original.height]})
        shown = shown.join(whose.unique(scene.truth), on=scene.truth, how="left", maintain_order="left")
        auxiliary, truth = auxiliary.with_columns(codes[original.height :]), _COMBINATION
    found = linking(
        shown,
        auxiliary,
        common,
        aligned=False,
        truth=truth,
        certain=True,
        owner=scene.owner_by(common),
        control=scene.control_with(common),
        known={name: table for name, table in scene.known.items() if name in common},
        domain=original if told else None,
    )
    return [found.renamed("auxiliary_linking", "Linking with the auxiliary table given")]


def _combinations(original: pl.DataFrame, auxiliary: pl.DataFrame, common: Sequence[str]) -> pl.Series:
    """Of the people of both tables, who is who by the columns in common; null where several people are alike."""
    both = pl.concat([frame.select(pl.col(name).cast(pl.String, strict=False) for name in common)
                      for frame in (original, auxiliary)])  # fmt: skip
    numbered = both.unique(maintain_order=True).with_row_index(_COMBINATION)
    found = both.join(numbered, on=list(common), how="left", nulls_equal=True, maintain_order="left")
    codes = found[_COMBINATION].cast(pl.Int64)
    people = pl.DataFrame({"code": codes.head(original.height), "who": original[WHO]}).unique()
    shared = people.filter(people["code"].is_duplicated())["code"]
    return codes.set(codes.is_in(shared.unique().implode()), None)
