"""How well does a model that learned from the release predict original records?

The original is cut into folds. For each, one model learns from the original records outside it and one from the
released records outside it; both predict the original records in it, which neither has seen. The baseline always says
the most frequent class, or the mean, of the original records outside the fold. ``kept`` is what is left of the gain
over the baseline: (released − baseline) ÷ (original − baseline); 1 is nothing lost, 0 is nothing learned.

A released record must not teach a model about itself. Where rows are aligned, it has the fold of its original. Where
they are not, released records are paired with original ones of the same content (all attributes, in the released
labels): which of several equal records a released one belongs to makes no difference. What finds no partner, because
its content was changed, is given a fold at random; a record masked by noise can then teach about itself, and the
figure is that much too good.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.kernels.thread_limits import one_thread
from shoal.measurement.usefulness.attribute_pairs import AttributePair
from shoal.measurement.usefulness.base import (
    FigureReading,
    MeasuredFigures,
    Need,
    TableComparison,
    UsefulnessMeasure,
    higher,
)
from shoal.measurement.usefulness.features import Features, as_released, coded_alike, in_own_words, side_by_side
from shoal.measurement.usefulness.row_sampling import Rows, sample_rows
from shoal.randomness import Randomness, Stream
from shoal.schema.circumstances import Purpose

FOLDS = 5
MOST_RECORDS = 20_000
"""A larger table is sampled."""
MOST_CLASSES = 50
FEW_NUMBERS = 10
"""A number with no more distinct values is learned as classes."""
MOST_LABELS = 250
_TREES = 60
_FEWEST_RECORDS = 10

Folds = Integers


@dataclass(frozen=True)
class Scores:
    """Of the predictions for all folds together."""

    accuracy: float | None = None
    balanced_accuracy: float | None = None
    f1: float | None = None
    """The mean over the classes."""
    r2: float | None = None

    @property
    def main(self) -> float:
        return (self.accuracy if self.accuracy is not None else self.r2) or 0.0


@dataclass(frozen=True)
class LearningResult:
    target: str
    task: str = ""
    original: Scores | None = None
    released: Scores | None = None
    baseline: Scores | None = None
    sampled: bool = False
    problem: str | None = None

    @property
    def kept(self) -> float | None:
        """None where the original itself teaches no more than the baseline."""
        if self.original is None or self.released is None or self.baseline is None:
            return None
        gain = self.original.main - self.baseline.main
        return (self.released.main - self.baseline.main) / gain if gain > 0 else None


def measure_learning(
    pairs: Sequence[AttributePair],
    target: str,
    *,
    randomness: Randomness,
    aligned: bool = False,
    most: int = MOST_RECORDS,
) -> LearningResult:
    """All other attributes are learned from; those that can't be compared only by the model on the original."""
    goal = next(pair for pair in pairs if pair.name == target)
    features = [pair for pair in pairs if pair.name != target and pair.original.null_count() < len(pair.original)]
    comparable = [pair for pair in features if pair.problem is None]
    problem = goal.problem or (None if comparable else "no other attribute can be compared")
    if problem is not None:
        return LearningResult(target, problem=problem)
    stream = randomness.stream("usefulness", "learning")
    before, after = _chosen(goal, stream, most, aligned=aligned)
    sampled = min(len(before), len(after)) >= most
    if min(len(before), len(after)) < _FEWEST_RECORDS:
        return LearningResult(target, problem=f"fewer than {_FEWEST_RECORDS} records have a value of the target")
    regression = goal.numeric and goal.original.n_unique() > FEW_NUMBERS
    truth, taught = _targets(goal, before, after, regression=regression)
    if not regression and not 2 <= len(np.unique(truth)) <= MOST_CLASSES:
        return LearningResult(target, problem=f"the target has one class only, or more than {MOST_CLASSES}")
    folds = stream.permutation(len(before), 2) % FOLDS
    other = folds
    if not aligned:
        partners = _partners([*comparable, goal], before, after)
        other = np.where(partners >= 0, folds[partners], stream.permutation(len(after), 3) % FOLDS)
    recoded, released = side_by_side(comparable, before, after, MOST_LABELS)
    own = in_own_words(features, before, MOST_LABELS)
    seed = int(stream.words(np.array([0], dtype=np.uint64), 4)[0, 0] >> np.uint64(33))
    learner = GradientBoostedTrees(regression=regression, seed=seed)
    with one_thread():
        by_original = learner.predict(own, truth, folds, own, folds)
        by_release = learner.predict(released, taught, other, recoded, folds)
    score = score_numbers if regression else score_classes
    return LearningResult(
        target,
        "regression" if regression else "classification",
        score(truth, by_original),
        score(truth, by_release),
        score(truth, learner.baseline(truth, folds)),
        sampled,
    )


@dataclass(frozen=True)
class GradientBoostedTrees:
    regression: bool
    seed: int

    def predict(self, known: Features, target: Floats, folds: Folds, asked: Features, asked_folds: Folds) -> Floats:
        """For each record asked for, what a model says that learned from the known records of the other folds."""
        said = np.empty(len(asked_folds))
        for fold in range(FOLDS):
            train, test = folds != fold, asked_folds == fold
            if test.any():
                said[test] = self.taught(known, target, train, asked.matrix[test])
        return said

    def baseline(self, target: Floats, folds: Folds) -> Floats:
        said = np.empty(len(target))
        for fold in range(FOLDS):
            said[folds == fold] = self.simplest(target[folds != fold])
        return said

    def simplest(self, target: Floats) -> float:
        """The most frequent class, or the mean."""
        if self.regression or not len(target):
            return float(target.mean()) if len(target) else 0.0
        return float(np.bincount(target.astype(np.int64)).argmax())

    def taught(self, known: Features, target: Floats, train: Mask, asked: Floats) -> Floats:
        """What a model says of those asked for that learned from some of the known records."""
        from sklearn.ensemble import (
            HistGradientBoostingClassifier,
            HistGradientBoostingRegressor,
        )

        taught = target[train]
        classes = len(np.unique(taught))
        if classes < 2:
            return np.full(len(asked), self.simplest(taught))
        kind = HistGradientBoostingRegressor if self.regression else HistGradientBoostingClassifier
        trees = _TREES if self.regression or classes == 2 else max(6, 2 * _TREES // classes)
        model = kind(
            max_iter=trees,
            learning_rate=0.15,
            max_leaf_nodes=15,
            categorical_features=known.categories,
            early_stopping=False,
            random_state=self.seed,
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)  # few records: it is known
            model.fit(known.matrix[train], taught)
        said: Floats = model.predict(asked).astype(np.float64)
        return said


def _chosen(goal: AttributePair, stream: Stream, most: int, *, aligned: bool) -> tuple[Rows, Rows]:
    """Rows that have the target, sampled where there are too many; of aligned tables the same rows."""
    old, new = (np.flatnonzero(column.is_not_null().to_numpy()) for column in (goal.recoded, goal.released))
    if aligned:
        both = np.intersect1d(old, new, assume_unique=True)
        rows = both[sample_rows(stream, len(both), most)]
        return rows, rows
    return old[sample_rows(stream, len(old), most)], new[sample_rows(stream, len(new), most, lane=1)]


def _targets(goal: AttributePair, before: Rows, after: Rows, *, regression: bool) -> tuple[Floats, Floats]:
    old, new = goal.recoded.gather(before), goal.released.gather(after)
    if not regression and goal.numeric:
        old, new = old.cast(pl.String), new.cast(pl.String)
    truth, taught = coded_alike(old, new, most_labels=MOST_CLASSES + 1)
    return truth, taught


def _partners(pairs: Sequence[AttributePair], before: Rows, after: Rows) -> Rows:
    """For each released record the place of an original one of the same content, no two the same; −1: there is none."""
    names = [str(place) for place in range(len(pairs))]
    old, new = (
        pl.DataFrame({name: column.gather(rows) for name, column in zip(names, columns, strict=True)}).with_columns(
            turn=pl.int_range(pl.len()).over(names)
        )
        for columns, rows in (
            ([as_released(pair) for pair in pairs], before),
            ([pair.released for pair in pairs], after),
        )
    )
    places = old.with_columns(place=pl.int_range(pl.len(), dtype=pl.Int64))
    found = new.join(places, on=[*names, "turn"], how="left", nulls_equal=True, maintain_order="left")
    return found["place"].fill_null(-1).to_numpy()


def score_numbers(truth: Floats, said: Floats) -> Scores:
    around = float(((truth - truth.mean()) ** 2).sum())
    return Scores(r2=1 - float(((truth - said) ** 2).sum()) / around if around else None)


def score_classes(truth: Floats, said: Floats) -> Scores:
    number = int(max(truth.max(), said.max())) + 1
    table = np.bincount((truth * number + said).astype(np.int64), minlength=number * number).reshape(number, number)
    right, true, told = np.diag(table), table.sum(axis=1), table.sum(axis=0)
    there = true > 0
    recall = right[there] / true[there]
    f1 = 2 * right[there] / (true[there] + told[there])
    return Scores(float(right.sum() / table.sum()), float(recall.mean()), float(f1.mean()))


class LearningTask(UsefulnessMeasure):
    key = "learning"
    order = 70
    readings: ClassVar[Mapping[str, FigureReading]] = {
        "accuracy_original": higher(
            "Accuracy, original", "Share of right predictions when learning from the original."
        ),
        "accuracy_released": higher(
            "Accuracy, release",
            "Share of right predictions when learning from the release.",
            purposes={Purpose.ANALYTICS: 2},
        ),
        "accuracy_baseline": higher("Accuracy, baseline", "Share of right predictions by the most frequent class."),
        "balanced_accuracy_original": higher("Balanced accuracy, original", "Mean over the classes of those found."),
        "balanced_accuracy_released": higher("Balanced accuracy, release", "Mean over the classes of those found."),
        "balanced_accuracy_baseline": higher("Balanced accuracy, baseline", "Mean over the classes of those found."),
        "f1_original": higher("F1, original", "Balance of found and falsely named, mean over the classes."),
        "f1_released": higher(
            "F1, release", "Balance of found and falsely named, mean over the classes.", purposes={Purpose.ANALYTICS: 3}
        ),
        "f1_baseline": higher("F1, baseline", "Balance of found and falsely named, mean over the classes."),
        "r2_original": higher("Explained variance, original", "Share of the target's variance that is predicted."),
        "r2_released": higher(
            "Explained variance, release",
            "Share of the target's variance that is predicted.",
            purposes={Purpose.ANALYTICS: 4},
        ),
        "r2_baseline": higher("Explained variance, baseline", "Share of the target's variance that is predicted."),
        "learning_kept": higher(
            "Learning kept",
            "What is left of the gain over guessing; 1 is all of it.",
            purposes={Purpose.RESEARCH: 5, Purpose.ANALYTICS: 1},
            in_short=8,
        ),
    }
    needs = frozenset({Need.TARGET})

    def evaluate(self, comparison: TableComparison) -> MeasuredFigures:
        found = _learned(comparison)
        figures: dict[str, float | None] = {}
        for score in ("accuracy", "balanced_accuracy", "f1", "r2"):
            for side in ("original", "released", "baseline"):
                scores = getattr(found, side)
                figures[f"{score}_{side}"] = None if scores is None else getattr(scores, score)
        reasons = dict.fromkeys(figures, found.problem or f"it is no figure of {found.task}")
        reasons["learning_kept"] = found.problem or "the original itself teaches no more than the baseline"
        rows = max(comparison.original.height, comparison.released.height)
        sampled = (f"learning: a random sample of {MOST_RECORDS:,} of {rows:,} records",) if found.sampled else ()
        return MeasuredFigures({**figures, "learning_kept": found.kept}, reasons, sampled)


def _learned(comparison: TableComparison) -> LearningResult:
    target = comparison.target or ""
    if not any(pair.name == target for pair in comparison.pairs):
        return LearningResult(target, problem="the release has no target")
    return measure_learning(comparison.pairs, target, randomness=comparison.randomness, aligned=comparison.aligned)
