"""k nearest neighbours among noisy counts of each class on a grid.

Neighbours themselves are people's rows and can't be shown. Instead the people of each class are counted in the cells of
a grid, once, with noise; a prediction looks at the nearest cells until they hold k people and takes the class that has
most of them. Predictions use the noisy counts only, so there may be any number of them (post-processing). A person is
in one cell of one class: l1 = l2 = 1.

In many dimensions cells would be empty. So there (``projected``), a half of the budget tells noisy means of the classes
(as in `naive_bayes`, without squares: l1 = 1 + ‖x‖₁, l2 = √(1 + N²)), and the grid lies in the few directions in which
these differ, around them: both are worked out of what was told.

References: Dwork, McSherry, Nissim, Smith (TCC 2006) for histograms; Gursoy, Inan, Nergiz, Saygin (DMKD 2017) for
the problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from shoal.dp.learning.estimator import PrivateClassifier, TrainingSet
from shoal.dp.learning.fixed_point import LearningBudget, PersonalSums, Reals
from shoal.dp.learning.k_means import cluster_sums
from shoal.errors import InputError

_CELLS: Final = 65_536
"""At most so many of them: noise is drawn for each."""


@dataclass(frozen=True)
class NoisyGrid:
    """Cells of like size between two corners; what lies outside is in the outermost cell."""

    low: Reals
    high: Reals
    bins: int

    def places(self, points: Reals) -> NDArray[np.intp]:
        """The number of the cell of each point."""
        along = np.floor((points - self.low) / (self.high - self.low) * self.bins)
        inside = np.clip(along, 0, self.bins - 1).astype(np.intp)
        return np.asarray(np.ravel_multi_index(tuple(inside.T), (self.bins,) * len(self.low)))

    def centres(self) -> Reals:
        axes = [
            low + (np.arange(self.bins) + 0.5) * (high - low) / self.bins
            for low, high in zip(self.low, self.high, strict=True)
        ]
        return np.stack([one.ravel() for one in np.meshgrid(*axes, indexing="ij")], axis=1)


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateNeighboursClassifier(PrivateClassifier):
    n_neighbors: int = 20
    """People that vote; noise asks for more of them than usual."""
    bins: int = 8
    """Cells along each direction."""
    projected: bool = True
    """Whether the grid lies along the noisy means of the classes, or along the features themselves."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for field, value, least in (("n_neighbors", self.n_neighbors, 1), ("bins", self.bins, 2)):
            if not isinstance(value, int | np.integer) or value < least:
                raise InputError(f"has to be a whole number from {least} on", field=field)

    def _checked(self, X: Any, y: Any) -> tuple[Reals, NDArray[Any]]:
        rows, target = super()._checked(X, y)
        if self.bins ** self._dimensions(rows.shape[1]) * len(self.classes_) > _CELLS:
            raise InputError("would make too many cells; take fewer, or `projected`", field="bins")
        return rows, target

    def _dimensions(self, features: int) -> int:
        return min(len(self.classes_) - 1, features, 2) if self.projected else features

    def _learn(self, data: TrainingSet, budget: LearningBudget) -> None:
        if self.projected:
            self._directions, self._grid = self._along_means(data, budget.share(0.5))
        else:
            edge = np.ones(data.box.features)
            self._directions, self._grid = np.eye(data.box.features), NoisyGrid(-edge, edge, self.bins)
        cells, classes = self.bins ** len(self._grid.low), len(self.classes_)
        counting = PersonalSums(1, l1=1.0, l2=1.0)
        places = self._grid.places(data.rows @ self._directions.T) * classes + data.target
        exact = counting.by_group(np.ones((len(places), 1)), places, cells * classes)
        noise = counting.noise(budget.share(0.5) if self.projected else budget)
        self._counts = counting.noisy(exact, noise).reshape(cells, classes)
        self._centres = self._grid.centres()
        self.n_cells_ = cells

    def _along_means(self, data: TrainingSet, budget: LearningBudget) -> tuple[Reals, NoisyGrid]:
        sums = cluster_sums(data.box)
        rows = np.column_stack([np.ones(len(data.rows)), data.rows])
        told = sums.noisy(sums.by_group(rows, data.target, len(self.classes_)), sums.noise(budget))
        means = np.clip(told[:, 1:] / np.maximum(told[:, :1], 1.0), -1.0, 1.0)
        number = self._dimensions(data.box.features)
        directions = np.linalg.svd(means - means.mean(axis=0), full_matrices=False)[2][:number]
        along = means @ directions.T
        width = np.maximum(np.ptp(along, axis=0), 0.05)
        return directions, NoisyGrid(along.min(axis=0) - width / 2, along.max(axis=0) + width / 2, self.bins)

    def _scores(self, X: Any) -> Reals:
        points = self._scaled(X) @ self._directions.T
        votes = np.array([self._votes(point) for point in points])
        return np.asarray(np.log(np.maximum(votes, 1e-3)))

    def _votes(self, point: Reals) -> Reals:
        """Counts of the classes over the nearest cells that hold k people together, or over all."""
        order = np.argsort(((self._centres - point) ** 2).sum(axis=1), kind="stable")
        running = self._counts[order].cumsum(axis=0)
        enough = running.sum(axis=1) >= self.n_neighbors
        return np.asarray(running[int(enough.argmax()) if enough.any() else -1])
