"""Can anything tell synthetic records from real ones?

Two ways. The *propensity* error of a logistic regression with main effects (Woo et al. 2009; see
``usefulness.propensity``), which sees columns that moved. The *classifier two-sample test* (Lopez-Paz & Oquab 2017):
boosted trees learn from one half of both tables to tell them apart and are asked about the other half; the area under
the curve is ½ where they can't, and 1 where they always can. Trees see broken links between columns too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from shoal.kernels.rank_statistics import area_interval, area_under_curve
from shoal.kernels.thread_limits import one_thread
from shoal.measurement.fidelity.base import FidelityComparison, FidelityMeasure
from shoal.measurement.usefulness.attribute_pairs import AttributePair
from shoal.measurement.usefulness.base import FigureReading, MeasuredFigures, lower
from shoal.measurement.usefulness.features import side_by_side
from shoal.measurement.usefulness.propensity import measure_propensity
from shoal.measurement.usefulness.row_sampling import sample_rows
from shoal.randomness import Randomness

MOST_RECORDS = 20_000
"""Of each table, half to learn from and half to be asked about."""
_FEWEST = 20
_Z = 1.959963984540054


def told_apart(pairs: Sequence[AttributePair], *, randomness: Randomness) -> tuple[float, float, float] | None:
    """The area under the curve on records that trees have not seen, and its 95 % interval; None of too few records."""
    usable = [pair for pair in pairs if pair.original.null_count() < len(pair.original)]
    rows = min(len(pairs[0].original), len(pairs[0].released), MOST_RECORDS) if usable else 0
    if rows < _FEWEST:
        return None
    from sklearn.ensemble import HistGradientBoostingClassifier

    stream = randomness.stream("fidelity", "two samples")
    before, after = (
        sample_rows(stream, len(column), rows, lane=lane)
        for lane, column in enumerate((usable[0].original, usable[0].released))
    )
    real, made = side_by_side(usable, before, after, MOST_LABELS)
    matrix = np.vstack((real.matrix, made.matrix))
    synthetic = np.repeat([False, True], rows)
    order = stream.permutation(2 * rows, 2)
    train, test = order[:rows], order[rows:]
    seed = int(stream.words(np.array([0], dtype=np.uint64), 3)[0, 0] >> np.uint64(33))
    model = HistGradientBoostingClassifier(
        max_iter=60,
        learning_rate=0.1,
        max_leaf_nodes=15,
        categorical_features=real.categories,
        early_stopping=False,
        random_state=seed,
    )
    with one_thread():
        model.fit(matrix[train], synthetic[train])
        chance = model.predict_proba(matrix[test])[:, 1]
    ours, theirs = chance[synthetic[test]], chance[~synthetic[test]]
    if not len(ours) or not len(theirs):
        return None
    area = area_under_curve(ours, theirs)
    return area, *area_interval(area, len(ours), len(theirs), _Z)


MOST_LABELS = 250


class TwoSampleTest(FidelityMeasure):
    key = "two_samples"
    order = 40
    readings: ClassVar[Mapping[str, FigureReading]] = {
        "c2st_auc": lower(
            "Told apart", "How often trees tell a synthetic record from a real one; 0.5 is guessing.", in_short=5
        ),
        "c2st_auc_low": lower("Told apart, at least", "The lower end of its 95 % interval."),
        "c2st_auc_high": lower("Told apart, at most", "The upper end of its 95 % interval."),
        "pmse": lower("Propensity error", "How well a simple model tells them apart; 0 is not at all."),
        "pmse_ratio": lower("Propensity ratio", "The propensity error over that of a resampled original."),
    }

    def evaluate(self, comparison: FidelityComparison) -> MeasuredFigures:
        areas = told_apart(comparison.pairs, randomness=comparison.randomness) or (None, None, None)
        found = measure_propensity(comparison.pairs, randomness=comparison.randomness)
        figures = {
            **dict(zip(("c2st_auc", "c2st_auc_low", "c2st_auc_high"), areas, strict=True)),
            "pmse": found.pmse,
            "pmse_ratio": found.ratio,
        }
        reasons = dict.fromkeys(figures, "there are too few records to learn from")
        reasons |= dict.fromkeys(("pmse", "pmse_ratio"), found.problem or "no attribute varies")
        rows = max(comparison.original.height, comparison.synthetic.height)
        notes = () if rows <= MOST_RECORDS else (f"told apart: a random sample of {MOST_RECORDS:,} records of each",)
        return MeasuredFigures(figures, reasons, notes)
