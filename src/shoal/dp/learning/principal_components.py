"""Principal components and truncated SVD by a noisy covariance.

The eigenvectors of the noisy covariance (PCA), or of the noisy XᵀX (SVD), are worked out of noisy second moments, so
what a person can change is what they can change there (`second_moments`). Features count in their own units, as
without privacy: bring them to like units by the bounds you choose, or scale them.

Reference: Dwork, Talwar, Thakurta, Zhang (STOC 2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from shoal.dp.learning.estimator import PrivateEstimator, TrainingSet
from shoal.dp.learning.fixed_point import LearningBudget, Reals
from shoal.dp.learning.second_moments import SecondMoments, noisy_moments
from shoal.errors import InputError


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateTruncatedSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):
    """The directions in which the rows are longest, seen from nought."""

    n_components: int = 1

    def _check_parameters(self) -> None:
        if not isinstance(self.n_components, int | np.integer) or self.n_components < 1:
            raise InputError("has to be a whole number from 1 on", field="n_components")

    def _learn(self, data: TrainingSet, budget: LearningBudget) -> None:
        moments = noisy_moments(data.rows, data.box, budget)
        box = data.box
        scattered = moments.covariance * np.outer(box.half, box.half)
        values, vectors = np.linalg.eigh(self._scatter(scattered, box.unscaled(moments.mean), moments))
        kept = np.argsort(values)[::-1][: self.n_components]
        self.components_ = _signed(vectors[:, kept].T)
        self._describe(np.maximum(values, 0.0), kept, moments)

    def _scatter(self, covariance: Reals, mean: Reals, moments: SecondMoments) -> Reals:
        self._centre = np.zeros(len(mean))
        return covariance + np.outer(mean, mean)

    def _describe(self, values: Reals, kept: Any, moments: SecondMoments) -> None:
        self.singular_values_ = np.sqrt(values[kept] * moments.count)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def transform(self, X: Any) -> Reals:
        check_is_fitted(self)
        return np.asarray((self._rows(X) - self._centre) @ self.components_.T)

    def inverse_transform(self, X: Any) -> Reals:
        check_is_fitted(self)
        return np.asarray(np.asarray(X, dtype=np.float64) @ self.components_ + self._centre)


@dataclass(kw_only=True, eq=False, repr=False)
class PrivatePCA(PrivateTruncatedSVD):
    """The directions in which the rows vary most."""

    def _scatter(self, covariance: Reals, mean: Reals, moments: SecondMoments) -> Reals:
        self.mean_ = self._centre = mean
        return covariance

    def _describe(self, values: Reals, kept: Any, moments: SecondMoments) -> None:
        self.explained_variance_ = values[kept]
        self.explained_variance_ratio_ = values[kept] / max(float(values.sum()), 1e-300)


def _signed(components: Reals) -> Reals:
    """The entry that is largest in size is positive, as in scikit-learn."""
    largest = np.abs(components).argmax(axis=1)
    return components * np.where(components[np.arange(len(components)), largest] < 0, -1.0, 1.0)[:, None]
