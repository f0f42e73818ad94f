"""Attribute inference by a model: learn from released records how a sensitive value goes with the others, apply it.

The model (a forest of random trees) finds what no single group of records shows. Labels are put on a line for it, at
the mean of the values that they cover; a person stands where the commonest label stands that covers their value.
A number with many values counts as known if the guess lies within 5 % of its range; the model is asked for the stretch
that most likely holds it, and guessing, then, is the one number that lies so close to most released ones.
Anything else counts as known if the predicted label covers it.

Only the excess over a control group is the release's doing: a good model is right about strangers too. Without one,
trees that have not learnt from a person's own record stand in for a release without it (Breiman 2001).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from shoal.attack.attacks.inference import CLOSE, span, tries_inference
from shoal.attack.ground_truth.targets import People, TrialDesign, as_numbers, draw_rows, select_columns
from shoal.attack.matching.coverage import Coverage
from shoal.attack.matching.posteriors import OwnRecords
from shoal.attack.registry import Try, attack
from shoal.attack.result import Attack, NothingToTryError, Rate
from shoal.attack.scene import Scene
from shoal.errors import DataError
from shoal.hierarchy.labels import text_of
from shoal.kernels.arrays import Floats, Integers, Mask

LEARNED = 20_000
"""Released records that the model learns from, at most."""
VALUES = 50
"""The model tells the commonest so many labels apart."""
MANY = 20
"""A number with more distinct values than this is predicted as a number."""
TREES = 30
LEAVES = 4_096
STEPS = 200
"""Numbers are told apart in steps of half the width, at most so many; four steps are what a guess covers."""


def learned(  # noqa: PLR0913  # what is attacked, what is known, how far to go
    release: pl.DataFrame,
    original: pl.DataFrame,
    attributes: Sequence[str],
    sensitive: str,
    design: TrialDesign,
    *,
    known: Mapping[str, pl.DataFrame] | None = None,
) -> Attack:
    """Predict the sensitive value of people by what the release teaches about their other attributes.

    Of somebody with several rows any of the values is theirs.
    """
    if not attributes:
        raise DataError("learned inference: there is no attribute to predict from")
    columns, tables = (*attributes, sensitive), known or {}
    people, randomness = design.people(original, columns), design.randomness
    lessons = select_columns(release, columns, "the release")
    taught = draw_rows(lessons.height, randomness, "lessons", LEARNED)
    lessons = lessons[taught]
    placed = [_placed(people, lessons[name], tables.get(name)) for name in attributes]
    seed = int(randomness.stream("attack", "learned").words(np.zeros(1, dtype=np.uint64))[0, 0] % 2**31)
    seen, asked = (np.column_stack([each[side] for each in placed]) for side in (0, 1))
    own = None
    if design.owner is not None and design.control is None:
        own = OwnRecords.of(release.select(design.owner)[taught], original, design.owner, people.members)
    forest = _Forest(seen, asked, seed, None if own is None else own.among(people.members))
    if _is_number(original[sensitive], lessons[sensitive]):
        right, guessed = _by_number(forest, lessons[sensitive], people, CLOSE * span(original[sensitive]))
    else:
        right, guessed = _by_label(forest, lessons[sensitive], people, tables.get(sensitive))
    strangers: Rate | None
    if own is not None:
        inside, outside = (people.trials.best(each) for each in np.split(right, 2))
        strangers, mine = Rate(float(outside.sum()), len(outside)), inside
        lucky = people.trials.best(guessed[: len(guessed) // 2])
    else:
        (mine, theirs), (lucky, _) = people.best(right), people.best(guessed)
        strangers = None if design.control is None else Rate(float(theirs.sum()), len(theirs))
    return Attack(
        "learned_inference",
        "Inference by a model",
        f"the quasi-identifiers of people who are in the release ({len(attributes)})",
        Rate(float(mine.sum()), len(mine)),
        Rate(float(lucky.sum()), len(mine)),
        strangers,
        attribute=sensitive,
        left_out=own is not None,
        details={"learned_from": float(lessons.height)},
    )


@dataclass(frozen=True)
class _Forest:
    """A model of the released records, asked about people.

    Where it is known which lesson is whose, each person is asked about twice: of trees that have learnt once from the
    person's own lesson, and of as many that have not.
    """

    seen: Floats = field(repr=False)
    asked: Floats = field(repr=False)
    seed: int
    own: OwnRecords | None = None
    """Places among those asked about, and lessons."""

    def twice(self, truth: Integers | Floats) -> Any:
        """What is true of each answer."""
        return truth if self.own is None else np.concatenate([truth, truth])

    def labels(self, of: Integers, among: Integers) -> Integers:
        """The likeliest of the labels, for each of the people."""
        chances, labels = self._chances(of, np.isin(of, among))
        return np.asarray(labels[chances.argmax(axis=1)])

    def numbers(self, of: Floats, width: float) -> Floats:
        """For each of the people the number that lies, as likely as any, within the width of theirs."""
        low, cell = float(np.nanmin(of)), width / 2
        steps = np.clip(np.nan_to_num(of - low) / cell, 0, STEPS - 1).astype(np.int64)
        chances, found = self._chances(steps, np.isfinite(of))
        below = np.zeros((len(chances), int(found.max()) + 5))
        below[:, found + 4] = chances
        below = below.cumsum(axis=1)
        within = below[:, 4:] - below[:, :-4]
        return np.asarray(low + cell * (within.argmax(axis=1) - 1))

    def _chances(self, of: Integers, there: Mask) -> tuple[Floats, Integers]:
        """People × classes, and what the classes are."""
        from sklearn.ensemble import RandomForestClassifier

        model = RandomForestClassifier(TREES, max_leaf_nodes=LEAVES, random_state=self.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nearly as many classes as records: what a number often is
            model.fit(self.seen[there], of[there])
        classes = np.asarray(model.classes_, dtype=np.int64)
        if self.own is None:
            return np.asarray(model.predict_proba(self.asked)), classes
        learnt = self._learnt(model.estimators_samples_, self.own, there)
        few = np.minimum((learnt == 1).sum(axis=0), (learnt == 0).sum(axis=0))
        chances = np.zeros((2, len(self.asked), len(classes)))
        chosen = [each & (np.cumsum(each, axis=0) <= few) for each in (learnt == 1, learnt == 0)]
        for number, tree in enumerate(model.estimators_):
            told = tree.predict_proba(self.asked)
            for side in range(2):
                chances[side] += told * np.where(few > 0, chosen[side][number], 1)[:, None]
        return chances.reshape(-1, len(classes)), classes

    def _learnt(self, samples: Sequence[Integers], own: OwnRecords, there: Mask) -> Integers:
        """Trees × people: how often the tree has learnt from a lesson that is the person's."""
        place = np.cumsum(there) - 1
        taught = there[own.records]
        people, lessons = own.people[taught], place[own.records[taught]]
        learnt = np.zeros((len(samples), len(self.asked)), dtype=np.int64)
        for number, sample in enumerate(samples):
            often = np.bincount(sample, minlength=int(there.sum()))
            learnt[number] = np.bincount(people, often[lessons], len(self.asked))
        return learnt


def _by_number(forest: _Forest, released: pl.Series, people: People, width: float) -> tuple[Floats, Floats]:
    """For each of the people whether the model is close, and whether the best single number is."""
    numbers = as_numbers(released)
    truth = forest.twice(as_numbers(people.frame[released.name])[people.judged])
    guesses = forest.numbers(numbers, width), _likeliest(numbers[np.isfinite(numbers)], width)
    close = [np.abs(truth - guess) <= width * (1 + 1e-9) for guess in guesses]
    return close[0].astype(np.float64), close[1].astype(np.float64)


def _by_label(
    forest: _Forest, released: pl.Series, people: People, known: pl.DataFrame | None
) -> tuple[Floats, Floats]:
    """For each of the people whether the model's label is right, and whether the commonest is."""
    values = people.frame[released.name]
    coverage = Coverage.of(values, released, known)
    labels, truth = coverage.label_codes(released), forest.twice(coverage.codes(values)[people.judged])
    counts = np.where(coverage.everything, 0, np.bincount(labels, minlength=len(coverage.labels)))
    common = np.argsort(-counts, kind="stable")[:VALUES]
    common = common[counts[common] > 0]
    if not len(common):
        raise NothingToTryError(f"{released.name}: no released cell tells anything that could be learned")
    guesses = forest.labels(labels, common), np.full(len(truth), common[0])
    right = [coverage.covers(truth, guess) for guess in guesses]
    return right[0].astype(np.float64), right[1].astype(np.float64)


def _placed(people: People, labels: pl.Series, known: pl.DataFrame | None) -> tuple[Floats, Floats]:
    """Where released cells and people's values stand on one line; a cell that could be anything stands nowhere."""
    values = people.frame[labels.name]
    coverage = Coverage.of(values, labels, known)
    of_label, of_value = _positions(coverage.labels, coverage.values)
    covered = np.bincount(coverage.of_label, minlength=len(of_label))
    total = np.bincount(coverage.of_label, weights=of_value[coverage.of_value], minlength=len(of_label))
    of_label = np.where(covered > 0, total / np.maximum(covered, 1), of_label)
    of_label[coverage.everything] = np.nan
    codes = coverage.label_codes(labels)
    often = np.bincount(codes, minlength=len(of_label))
    order = np.lexsort((-often[coverage.of_label], coverage.of_value))
    value, first = np.unique(coverage.of_value[order], return_index=True)
    of_value[value] = of_label[coverage.of_label[order][first]]
    seen = of_label[codes]
    return np.zeros_like(seen) if np.isnan(seen).all() else seen, of_value[coverage.codes(values)[people.judged]]


def _positions(labels: pl.Series, values: pl.Series) -> tuple[Floats, Floats]:
    """Numbers and dates stand where they are, other words in the order of the alphabet."""
    if values.dtype.is_numeric():
        return as_numbers(labels), as_numbers(values)
    both = pl.concat([text_of(labels).alias("text"), text_of(values).alias("text")])
    ranks = as_numbers(both.rank("dense"))
    return ranks[: len(labels)], ranks[len(labels) :]


def _likeliest(numbers: Floats, width: float) -> float:
    """The number that lies within the width of most of these.

    >>> _likeliest(np.array([1.0, 5.0, 6.0, 7.0, 20.0]), 1.0)
    6.0
    """
    ordered = np.sort(numbers)
    within = np.searchsorted(ordered, ordered + 2 * width * (1 + 1e-9), "right") - np.arange(len(ordered))
    start = int(np.argmax(within))
    return float(ordered[start] + ordered[start + int(within[start]) - 1]) / 2


def _is_number(original: pl.Series, released: pl.Series) -> bool:
    """Whether it is to be predicted as a number: it has many values and most released cells are numbers too."""
    read = np.isfinite(as_numbers(released)).sum()
    return original.dtype.is_numeric() and original.n_unique() > MANY and 2 * int(read) > len(released)


@attack("learned_inference", order=62, of_population=True)
def tries_learned(scene: Scene) -> Iterator[tuple[str, Try]]:
    return tries_inference("learned_inference", learned, scene)
