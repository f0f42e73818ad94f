"""k-means by Lloyd's steps on noisy counts and sums (DPLloyd).

In each step a person is in one cluster and adds (1, x) to it, with x scaled to [−1, 1] and ‖x‖₂ ≤ N: l1 = 1 + ‖x‖₁,
l2 = √(1 + N²) for all clusters together. Each step costs a like share. The first centres depend on the seed alone, not
on the data: points of the box that keep apart from each other and from its sides. A cluster that noise leaves without
people keeps its centre.

References: Blum, Dwork, McSherry, Nissim (PODS 2005); Su, Cao, Li, Bertino, Jin, "Differentially private k-means
clustering" (CODASPY 2016), for first centres and for few steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from shoal.dp.learning.estimator import PrivateEstimator, TrainingSet
from shoal.dp.learning.fixed_point import UNITS, LearningBudget, PersonalSums, Reals
from shoal.dp.learning.public_box import PublicBox
from shoal.errors import InputError
from shoal.randomness import Randomness

_TRIES: Final = 512
_REACH: Final = 0.6
"""First centres lie within this part of the box: people rarely fill its corners."""


def cluster_sums(box: PublicBox) -> PersonalSums:
    return PersonalSums(1 + box.features, l1=1 + box.l1, l2=sqrt(1 + box.norm**2))


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateKMeans(ClusterMixin, PrivateEstimator):
    n_clusters: int = 3
    steps: int = 5
    seed: int = 0
    """Of the first centres, which are public."""

    def _check_parameters(self) -> None:
        for field, value in (("n_clusters", self.n_clusters), ("steps", self.steps)):
            if not isinstance(value, int | np.integer) or value < 1:
                raise InputError("has to be a whole number from 1 on", field=field)

    def _learn(self, data: TrainingSet, budget: LearningBudget) -> None:
        centres = first_centres(self.n_clusters, data.box, self.seed)
        sums = cluster_sums(data.box)
        noise = sums.noise(budget.share(1 / self.steps))
        rows = np.column_stack([np.ones(len(data.rows)), data.rows])
        least = max(1.0, 2 * noise.standard_error / UNITS)
        for _ in range(self.steps):
            told = sums.noisy(sums.by_group(rows, _nearest(data.rows, centres), self.n_clusters), noise)
            peopled = told[:, 0] >= least
            moved = np.clip(told[peopled, 1:] / told[peopled, :1], -1.0, 1.0)
            centres[peopled] = moved
        self._centres = centres
        self.cluster_centers_ = data.box.unscaled(centres)

    def fit_predict(self, X: Any, y: Any = None, **options: Any) -> NDArray[np.intp]:
        """There is no ``labels_``: what the model holds may be given away, and labels of the rows may not."""
        return self.fit(X).predict(X)

    def predict(self, X: Any) -> NDArray[np.intp]:
        check_is_fitted(self)
        box = PublicBox.of(self.bounds, self.n_features_in_, self.norm)
        return _nearest(box.scaled(self._rows(X)), self._centres)


def first_centres(number: int, box: PublicBox, seed: int) -> Reals:
    """Each is, of many random points, the one farthest from those before it."""
    stream = Randomness(seed=seed).stream("first centres")
    drawn = [stream.uniform(np.arange(_TRIES, dtype=np.uint64), lane=lane) for lane in range(box.features)]
    points = (np.column_stack(drawn) * 2 - 1) * _REACH
    chosen = [points[0]]
    for _ in range(number - 1):
        apart = np.min([((points - one) ** 2).sum(axis=1) for one in chosen], axis=0)
        chosen.append(points[int(apart.argmax())])
    return np.array(chosen)


def _nearest(rows: Reals, centres: Reals) -> NDArray[np.intp]:
    apart = (centres**2).sum(axis=1) - 2 * rows @ centres.T
    return np.asarray(apart.argmin(axis=1))
