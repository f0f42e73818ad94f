"""Inference of a sensitive value by somebody who knows a person's quasi-identifiers (ISO/IEC 20889, 7.2).

Homogeneity (Machanavajjhala et al. 2007): where all records that can be the person's share a value, it is the person's.
Skewness and similarity (Li, Li & Venkatasubramanian 2007): where a value is commoner among those records than in the
whole table, it is the better guess; and where they all lie close together, the value is nearly known.

The same is tried on a control group of people who are not in the release: what is right for them too is knowledge
about the population, which a release is meant to give. Without such people, those in the release stand in for them,
with their own records left out. Where several values are equally common the attacker draws lots, and the expectation is
counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from shoal.attack.class_baseline import with_class_baseline
from shoal.attack.ground_truth.owners import Trials
from shoal.attack.ground_truth.targets import People, TrialDesign, as_numbers, select_columns
from shoal.attack.matching.posteriors import OwnRecords, Posteriors, SensitiveView
from shoal.attack.registry import Try, attack
from shoal.attack.result import Attack, Rate
from shoal.attack.scene import Scene
from shoal.errors import InputError
from shoal.kernels.arrays import Floats, Integers, Mask, as_floats

CLOSE = 0.05
"""Numbers are close that differ by no more than this share of their range in the original."""
Known = Mapping[str, pl.DataFrame]


def homogeneity(  # noqa: PLR0913  # what is attacked, what is known, how far to go
    release: pl.DataFrame,
    original: pl.DataFrame,
    attributes: Sequence[str],
    sensitive: str,
    design: TrialDesign,
    *,
    known: Known | None = None,
    confidence: float = 1.0,
) -> Attack:
    """Claim a value only where at least the share ``confidence`` of the fitting records has it.

    Of somebody with several rows any of the values is theirs. Guessing is tried on the same people: the release's
    commonest value, for those about whom a claim is made.
    """
    if not 0 < confidence <= 1:
        raise InputError("confidence has to be above 0 and at most 1")
    people = design.people(original, (*attributes, sensitive))
    seen = _seen(release, people, attributes, sensitive, known)
    own = _own(release, original, people, design)
    mine, strangers = _tallies(seen, people, confidence, None, own)
    precision = mine.right / mine.claims if mine.claims else 0.0
    return Attack(
        "homogeneity",
        "Inference where all agree",
        *_told(attributes, mine, strangers if design.control is not None or own is not None else None),
        attribute=sensitive,
        left_out=own is not None,
        details={"claims": mine.claims / mine.people, "precision": precision, "unread": float(seen.unread)},
    )


def skewness(  # noqa: PLR0913  # what is attacked, what is known, how far to go
    release: pl.DataFrame,
    original: pl.DataFrame,
    attributes: Sequence[str],
    sensitive: str,
    design: TrialDesign,
    *,
    known: Known | None = None,
) -> Attack:
    """Guess the commonest value among the fitting records, or in the release where none fits.

    ``gain`` is the largest growth of belief in any one value of any one person, from the whole table to the fitting
    records; ``similar`` the share of people whose fitting records lie within 5 % of the range of a number (or in one
    group of the first level that ``known`` has for the attribute), and their value with them.
    """
    people = design.people(original, (*attributes, sensitive))
    seen = _seen(release, people, attributes, sensitive, known)
    line = _Line.of(seen, CLOSE * span(original[sensitive]), (known or {}).get(sensitive))
    own = _own(release, original, people, design)
    mine, strangers = _tallies(seen, people, 0.0, line, own)
    similar = {} if mine.similar is None else {"similar": mine.similar / mine.people}
    return Attack(
        "skewness",
        "Inference by the likeliest value",
        *_told(attributes, mine, strangers if design.control is not None or own is not None else None),
        attribute=sensitive,
        left_out=own is not None,
        details={"gain": mine.gain, **similar, "unread": float(seen.unread)},
    )


@dataclass(frozen=True)
class _InferenceTally:
    """How an attack went, added up over people."""

    people: int
    claims: float
    right: float
    guessed: float
    gain: float
    similar: float | None

    @property
    def rate(self) -> Rate:
        return Rate(self.right, self.people)


def _told(
    attributes: Sequence[str], mine: _InferenceTally, strangers: _InferenceTally | None
) -> tuple[str, Rate, Rate, Rate | None]:
    """What is known; the rates of the attack, of guessing, and about others."""
    known = f"the quasi-identifiers of people who are in the release ({len(attributes)})"
    return known, mine.rate, Rate(mine.guessed, mine.people), None if strangers is None else strangers.rate


@dataclass(frozen=True)
class _Line:
    """Where the labels and the people's true values stand, and how far apart is close."""

    labels: Floats
    values: Floats
    width: float

    @classmethod
    def of(cls, seen: SensitiveView, width: float, known: pl.DataFrame | None) -> _Line | None:
        """By the groups that are known for the values; else by number; None if there is neither."""
        labels, values = seen.coverage.labels, seen.coverage.values
        if known is not None and known.width > 1:
            names = known[:, 0].cast(pl.String)
            codes = known[:, 1].cast(pl.String).rank("dense").cast(pl.Float64)
            old = {"old": names, "new": codes}
            places = [_looked_up(each.cast(pl.String), pl.DataFrame(old)) for each in (labels, values)]
            return cls(places[0], places[1][seen.values], 0.0)
        numbers = as_numbers(labels)
        if not width or np.isnan(numbers[~seen.coverage.everything]).any():
            return None
        return cls(numbers, as_numbers(values)[seen.values], width)

    def similar(self, posteriors: Posteriors) -> Mask:
        """Which of the people are nearly known."""
        count, place = len(posteriors.people), self.labels[posteriors.labels]
        low, high = np.full(count, np.inf), np.full(count, -np.inf)
        np.minimum.at(low, posteriors.rows, place)
        np.maximum.at(high, posteriors.rows, place)
        told = np.bincount(posteriors.rows, posteriors.records, minlength=count)
        value = self.values[posteriors.people]
        near = (told > 0) & (told == posteriors.fitting)
        near[near] &= high[near] - low[near] <= self.width
        return np.asarray(near & (low <= value) & (value <= high))


def _own(release: pl.DataFrame, original: pl.DataFrame, people: People, design: TrialDesign) -> OwnRecords | None:
    """People's own records, where these have to stand in for a control group."""
    if design.owner is None or design.control is not None:
        return None
    return OwnRecords.of(release, original, design.owner, people.members)


def _tallies(
    seen: SensitiveView, people: People, confidence: float, line: _Line | None, own: OwnRecords | None
) -> tuple[_InferenceTally, _InferenceTally]:
    """Of the members, and of the strangers or of the members without their own records."""
    mine = _tally(seen, people.members, people.trials, confidence, line)
    if own is not None:
        return mine, _tally(seen, people.members, people.trials, confidence, line, own)
    return mine, _tally(seen, people.strangers, people.other_trials, confidence, line)


def _tally(  # noqa: PLR0913, PLR0917  # who is attacked, and how
    seen: SensitiveView,
    rows: Integers,
    trials: Trials,
    confidence: float,
    line: _Line | None,
    own: OwnRecords | None = None,
) -> _InferenceTally:
    """With a confidence of 0 everybody is claimed; whom no record fits gets the commonest value of the release."""
    claims, rights, guesses, similar = np.zeros((4, len(rows)))
    prior, by_guessing, gain = seen.prior, seen.guessed, 0.0
    for held in seen.posteriors(rows):
        posteriors = held if own is None else seen.left_out(held, own)
        there = posteriors.best > 0
        claimed = there & (posteriors.share >= confidence - 1e-12)
        place = np.searchsorted(rows, posteriors.people)
        right = _expected(seen, posteriors, trials.of[place])
        guessed = by_guessing[posteriors.people]
        if confidence == 0:
            right, claimed = np.where(there, right, guessed), np.ones_like(there)
        claims[place], rights[place], guesses[place] = claimed, right * claimed, guessed * claimed
        posterior = posteriors.records / np.maximum(posteriors.fitting[posteriors.rows], 1)
        gain = max(gain, float((posterior - prior[posteriors.labels]).max(initial=0.0)))
        if line is not None:
            similar[place] = line.similar(posteriors)
    told, hits, lucky, near = (float(trials.best(each).sum()) for each in (claims, rights, guesses, similar))
    return _InferenceTally(trials.count, told, hits, lucky, gain, None if line is None else near)


def _expected(seen: SensitiveView, posteriors: Posteriors, who: Integers) -> Floats:
    """For each of the people, the chance that one of their commonest labels, drawn by lot, is right.

    ``who`` says which of them are one person, of whom a label may tell any value.
    """
    best = posteriors.modal
    rows, labels = posteriors.rows[best], posteriors.labels[best]
    told = pl.DataFrame({"who": who, "known": seen.match.target_of[posteriors.people]})
    claims = told[rows].with_columns(
        pl.Series("label", labels), pl.Series("right", seen.right(posteriors.people[rows], labels))
    )
    by_label = claims.group_by("who", "known", "label").agg(pl.col("right").any())
    chance = by_label.group_by("who", "known").agg(pl.col("right").mean())
    found = told.join(chance, on=["who", "known"], how="left", maintain_order="left")["right"]
    return found.fill_null(0.0).to_numpy()


def _seen(
    release: pl.DataFrame, people: People, attributes: Sequence[str], sensitive: str, known: Known | None
) -> SensitiveView:
    released = select_columns(release, (*attributes, sensitive), "the release")
    return SensitiveView.of(released, people.frame, attributes, sensitive,
                        known)  # fmt: skip


def span(values: pl.Series) -> float:
    """The range of a number; 0 for anything else."""
    if not values.dtype.is_numeric():
        return 0.0
    numbers = as_numbers(values)
    numbers = numbers[np.isfinite(numbers)]
    return float(np.ptp(numbers)) if len(numbers) else 0.0


def _looked_up(values: pl.Series, table: pl.DataFrame) -> Floats:
    asked = pl.DataFrame({"old": values})
    found = asked.join(table.unique("old"), on="old", how="left", maintain_order="left")["new"]
    return as_floats(found)


def tries_inference(name: str, infer: Callable[..., Attack], scene: Scene) -> Iterator[tuple[str, Try]]:
    """Of each sensitive attribute, by the quasi-identifiers."""
    quasi = scene.tables.quasi
    for sensitive in scene.tables.sensitive if quasi else ():
        yield (
            f"{name}: {sensitive}",
            partial(_tried, infer, scene, sensitive),
        )


def _tried(infer: Callable[..., Attack], scene: Scene, sensitive: str) -> list[Attack]:
    def on(shown: pl.DataFrame, people: pl.DataFrame) -> Attack:
        return infer(shown, people, scene.tables.quasi, sensitive, scene.design, known=scene.known)

    return [with_class_baseline(on(scene.shown, scene.people), on, scene, sensitive)]


@attack("homogeneity", order=60, of_population=True)
def tries_homogeneity(scene: Scene) -> Iterator[tuple[str, Try]]:
    return tries_inference("homogeneity", homogeneity, scene)


@attack("skewness", order=61, of_population=True)
def tries_skewness(scene: Scene) -> Iterator[tuple[str, Try]]:
    return tries_inference("skewness", skewness, scene)
