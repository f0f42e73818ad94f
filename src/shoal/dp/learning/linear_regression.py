r"""Linear regression by noisy sufficient statistics.

The noisy second moments of (x, y, 1) give the mean and the covariance C of features and target (`second_moments`, where
it is shown what a person can change). The coefficients are (C_xx + λI)⁻¹ C_xy with

    λ = max(0, 2 σ √d − λ_min(C_xx)),

where σ is the noise in an entry of C_xx and 2σ√d about the largest eigenvalue of such noise. So noise alone can't make
the matrix singular, and with much data or ε λ is 0: the estimate is then that of least squares.

References: Wang, "Revisiting differentially private linear regression" (UAI 2018), AdaSSP; Vu, Slavković (ICDMW 2009).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from shoal.dp.learning.estimator import PrivateEstimator, TrainingSet
from shoal.dp.learning.fixed_point import LearningBudget, Reals
from shoal.dp.learning.public_box import PublicBox
from shoal.dp.learning.second_moments import noisy_moments


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateLinearRegression(RegressorMixin, PrivateEstimator):
    """
    >>> rows = np.linspace(0, 10, 2001).reshape(-1, 1)
    >>> model = PrivateLinearRegression(epsilon=5, bounds=(0, 10), target_bounds=(0, 30)).fit(rows, 3 * rows[:, 0])
    >>> bool(abs(model.coef_[0] - 3) < 0.5)
    True
    """

    target_bounds: Any = None
    """Public least and greatest value of the target."""

    def _checked(self, X: Any, y: Any) -> tuple[Reals, NDArray[Any]]:
        self._target = PublicBox.of(self.target_bounds, 1, field="target_bounds")
        rows, target = self._validated(X, y, reset=True, dtype=np.float64, y_numeric=True)
        column = np.asarray(column_or_1d(target, warn=True), dtype=np.float64)
        return np.asarray(rows), self._target.scaled(column[:, None])[:, 0]

    def _learn(self, data: TrainingSet, budget: LearningBudget) -> None:
        box, target = data.box, self._target
        joint = PublicBox(np.append(box.middle, target.middle), np.append(box.half, target.half), sqrt(box.norm**2 + 1))
        moments = noisy_moments(np.column_stack([data.rows, data.target]), joint, budget)
        features = moments.covariance[:-1, :-1]
        least = float(np.linalg.eigvalsh(features)[0])
        ridge = max(0.0, 2 * moments.deviation * sqrt(box.features) - least)
        slope = np.linalg.pinv(features + ridge * np.eye(box.features)) @ moments.covariance[:-1, -1]
        self.coef_ = slope * target.half / box.half
        centre = joint.unscaled(moments.mean)
        self.intercept_ = float(centre[-1] - centre[:-1] @ self.coef_)
        self.ridge_ = ridge

    def predict(self, X: Any) -> Reals:
        """Within the bounds of the target: what lies beyond is taken as the bound."""
        check_is_fitted(self)
        low, high = self.target_bounds
        return np.clip(self._rows(X) @ self.coef_ + self.intercept_, low, high)
