"""Train on synthetic, test on real (Esteban et al. 2017): is a model as good that learned from the synthetic table?

For each target one model learns from the original and one from the synthetic table, as many records each; both predict
real records. With a control group these are people that neither has seen. Without one, a third of the original is kept
back from the first model; the synthetic table was made from them too, so its figure may be a little too good.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.kernels.arrays import Floats
from shoal.kernels.thread_limits import one_thread
from shoal.measurement.fidelity.base import FidelityComparison, FidelityMeasure
from shoal.measurement.usefulness.associations import measure_associations
from shoal.measurement.usefulness.attribute_pairs import AttributePair, make_comparable
from shoal.measurement.usefulness.base import FigureReading, MeasuredFigures, higher, mean
from shoal.measurement.usefulness.features import Features, coded_alike
from shoal.measurement.usefulness.learning import (
    FEW_NUMBERS,
    MOST_CLASSES,
    MOST_LABELS,
    GradientBoostedTrees,
    Scores,
    score_classes,
    score_numbers,
)
from shoal.measurement.usefulness.row_sampling import sample_rows

MOST_RECORDS = 20_000
"""That a model learns from, and that it is asked about."""
PROPOSED = 3
_FEWEST = 30
_FEW_CLASSES = 12
_LARGEST = 0.95
"""A target whose largest class has a greater share teaches nothing."""
_LEAST = 0.05
"""What real records have to teach for a share of it to mean anything."""
_DETERMINED = 0.98
"""Two columns that go together so closely are one."""


@dataclass(frozen=True)
class Prediction:
    target: str
    task: str = ""
    real: Scores | None = None
    synthetic: Scores | None = None
    baseline: Scores | None = None
    tested_on: str = ""
    problem: str | None = None

    @property
    def ratio(self) -> float | None:
        """What learning from the synthetic table comes to, as a share of learning from real records."""
        if self.real is None or self.synthetic is None or self.real.main < _LEAST:
            return None
        return self.synthetic.main / self.real.main

    @property
    def kept(self) -> float | None:
        """The same of the gain over the most frequent class, or the mean; None where real records teach hardly any."""
        if self.real is None or self.synthetic is None or self.baseline is None:
            return None
        gain = self.real.main - self.baseline.main
        return (self.synthetic.main - self.baseline.main) / gain if gain > _LEAST else None


def propose_targets(pairs: Sequence[AttributePair], most: int = PROPOSED) -> tuple[str, ...]:
    """Categories of few classes that other columns tell most of."""
    fit = {pair.name for pair in pairs if pair.problem is None and _is_target(pair)}
    if not fit:
        return ()
    strongest: dict[str, float] = {}
    for each in measure_associations([pair for pair in pairs if pair.problem is None]):
        if each.before is None or abs(each.before) > _DETERMINED:
            continue
        for name in {each.first, each.second} & fit:
            strongest[name] = max(strongest.get(name, 0.0), abs(each.before))
    return tuple(sorted(strongest, key=lambda name: (-strongest[name], name))[:most])


def _is_target(pair: AttributePair) -> bool:
    present = pair.before.codes[pair.before.codes >= 0]
    most = FEW_NUMBERS if pair.numeric else _FEW_CLASSES
    if not 2 <= len(pair.before.values) <= most or not len(present):
        return False
    return float(np.bincount(present).max() / len(present)) <= _LARGEST


@dataclass(frozen=True)
class _Parts:
    """Real records to learn from, synthetic ones to learn from, real ones to be asked about."""

    real: pl.DataFrame
    synthetic: pl.DataFrame
    asked: pl.DataFrame
    tested_on: str

    @classmethod
    def of(cls, comparison: FidelityComparison, target: str) -> _Parts:
        stream = comparison.randomness.stream("fidelity", "predictions", target)
        real, synthetic = (frame.filter(pl.col(target).is_not_null()) for frame in comparison.sample)
        asked = None if comparison.control is None else comparison.control.filter(pl.col(target).is_not_null())
        tested_on = "people who are not in the original"
        if asked is None or asked.height < _FEWEST:
            order = stream.permutation(real.height)
            real, asked = real[np.sort(order[real.height // 3 :])], real[np.sort(order[: real.height // 3])]
            tested_on = "a third of the original"
        rows = min(real.height, synthetic.height, MOST_RECORDS)
        chosen = [
            frame[sample_rows(stream, frame.height, most, lane=lane)]
            for lane, (frame, most) in enumerate(((real, rows), (synthetic, rows), (asked, MOST_RECORDS)), start=1)
        ]
        return cls(chosen[0], chosen[1], chosen[2], tested_on)


def predict_real(comparison: FidelityComparison, target: str) -> Prediction:
    parts = _Parts.of(comparison, target)
    if min(parts.real.height, parts.synthetic.height, parts.asked.height) < _FEWEST:
        return Prediction(target, problem=f"fewer than {_FEWEST} records have a value of the target")
    names = [pair.name for pair in comparison.pairs if pair.problem is None and pair.name != target]
    pair = next(each for each in comparison.pairs if each.name == target)
    if not names or pair.problem is not None:
        return Prediction(target, problem=pair.problem or "no other column can be compared")
    regression = pair.numeric and pair.original.n_unique() > FEW_NUMBERS
    frames = (parts.real, parts.synthetic, parts.asked)
    kinds = {each.name: each for each in comparison.pairs}
    columns = [_coded([frame[name] for frame in frames], kinds[name], regression=kinds[name].numeric) for name in names]
    goals = _coded([frame[target] for frame in frames], pair, regression=regression)
    if not regression and not 2 <= len(np.unique(goals[0])) <= MOST_CLASSES:
        return Prediction(target, problem=f"the target has one class only, or more than {MOST_CLASSES}")
    categories = np.array([not kinds[name].numeric for name in names], dtype=np.bool_)
    real, made, asked = (Features(np.column_stack([each[side] for each in columns]), categories) for side in range(3))
    stream = comparison.randomness.stream("fidelity", "predictions", target)
    seed = int(stream.words(np.array([0], dtype=np.uint64), 9)[0, 0] >> np.uint64(33))
    trees = GradientBoostedTrees(regression=regression, seed=seed)
    score = score_numbers if regression else score_classes
    with one_thread():
        said = [
            trees.taught(known, goal, np.ones(len(goal), dtype=np.bool_), asked.matrix)
            for known, goal in ((real, goals[0]), (made, goals[1]))
        ]
    simplest = np.full(len(goals[2]), trees.simplest(goals[0]))
    task = "regression" if regression else "classification"
    scores = [score(goals[2], each) for each in (*said, simplest)]
    return Prediction(target, task, scores[0], scores[1], scores[2], parts.tested_on)


def _coded(columns: Sequence[pl.Series], pair: AttributePair, *, regression: bool) -> list[Floats]:
    """All three sides in the same numbers or codes."""
    first, *others = columns
    read = [make_comparable(pair.name, first, other, kind=pair.kind) for other in others]
    sides = [read[0].original, *(each.released for each in read)]
    if not regression and pair.numeric:
        sides = [side.cast(pl.String) for side in sides]
    return coded_alike(*sides, most_labels=MOST_LABELS)


class Predictions(FidelityMeasure):
    key = "predictions"
    order = 50
    readings: ClassVar[Mapping[str, FigureReading]] = {
        "prediction_ratio": higher(
            "Learning from it", "Right answers after learning from it, as a share of learning from real.", in_short=6
        ),
        "prediction_kept": higher("Learning kept", "What is left of the gain over guessing; 1 is all of it."),
    }

    def evaluate(self, comparison: FidelityComparison) -> MeasuredFigures:
        targets = tuple(comparison.targets) or propose_targets(comparison.pairs)
        found = tuple(predict_real(comparison, target) for target in targets)
        figures = {
            "prediction_ratio": mean(each.ratio for each in found if each.ratio is not None),
            "prediction_kept": mean(each.kept for each in found if each.kept is not None),
        }
        told = next((each.problem for each in found if each.problem), "real records teach no more than guessing")
        reasons = dict.fromkeys(figures, told if targets else "no column is fit to be predicted")
        notes = () if comparison.targets or not found else (f"predicted, as proposed: {', '.join(targets)}",)
        return MeasuredFigures(figures, reasons, notes, {"predictions": found})
