"""Logistic regression (softmax) by full-batch gradient descent with noise.

With w = (x, 1), ‖x‖₂ ≤ N, and the model's probabilities p, a person with class y adds (p − e_y) ⊗ w to the gradient.
‖p − e_y‖₂ ≤ √2 and ‖p − e_y‖₁ ≤ 2, whatever the coefficients are, so

    l1 = 2 (‖x‖₁ + 1),    l2 = √(2 (N² + 1)),

without clipping of gradients. Each of T steps costs a like share, and one more share of 5 % the number of people.
Steps are those of Nesterov's method; the coefficients are the mean of the last half of them, in which noise averages
out. Use δ > 0: with ε alone a step costs ε / T, and noise grows with T instead of √T.

References: Song, Chaudhuri, Sarwate (GlobalSIP 2013); Bassily, Smith, Thakurta (FOCS 2014); Bun, Steinke (TCC 2016).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, Final

import numpy as np

from shoal.dp.learning.estimator import PrivateClassifier, TrainingSet
from shoal.dp.learning.fixed_point import LearningBudget, PersonalSums, Reals
from shoal.dp.learning.public_box import PublicBox
from shoal.errors import InputError

_COUNTING: Final = 0.05


def gradient_sums(box: PublicBox, classes: int) -> PersonalSums:
    return PersonalSums(classes * (box.features + 1), l1=2 * (box.l1 + 1), l2=sqrt(2 * (box.norm**2 + 1)))


def gradient_rows(rows: Reals, target: Any, weights: Reals) -> Reals:
    """What each person adds, class after class."""
    off = _softmax(rows @ weights.T)
    off[np.arange(len(rows)), target] -= 1.0
    return (off[:, :, None] * rows[:, None, :]).reshape(len(rows), weights.size)


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateLogisticRegression(PrivateClassifier):
    steps: int = 30
    """Public number of steps: more of them get nearer to the best fit, and each has more noise."""
    penalty: float = 1e-3
    """Of squared coefficients, for each person; it keeps them bounded where classes lie apart."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.steps, int | np.integer) or self.steps < 1:
            raise InputError("has to be a whole number from 1 on", field="steps")
        if not self.penalty > 0:
            raise InputError("has to be a number above 0", field="penalty")

    def _learn(self, data: TrainingSet, budget: LearningBudget) -> None:
        counting = PersonalSums(1, l1=1.0, l2=1.0)
        exact = np.array([counting.units(np.ones(1))[0] * len(data.rows)])
        count = max(1.0, float(counting.noisy(exact, counting.noise(budget.share(_COUNTING)))[0]))
        rows = np.column_stack([data.rows, np.ones(len(data.rows))])
        weights = self._descended(rows, data, count, budget.share((1 - _COUNTING) / self.steps))
        self._weights = weights
        self.coef_ = weights[:, :-1] / data.box.half
        self.intercept_ = weights[:, -1] - self.coef_ @ data.box.middle

    def _descended(self, rows: Reals, data: TrainingSet, count: float, budget: LearningBudget) -> Reals:
        sums = gradient_sums(data.box, len(self.classes_))
        noise = sums.noise(budget)
        shape = len(self.classes_), rows.shape[1]
        here, before = np.zeros(shape), np.zeros(shape)
        total, kept = np.zeros(shape), 0
        rate = 1 / ((data.box.norm**2 + 1) / 2 + self.penalty)
        for step in range(self.steps):
            ahead = here + (here - before) * step / (step + 3)
            exact = sums.units(gradient_rows(rows, data.target, ahead)).sum(axis=0)
            slope = sums.noisy(exact, noise).reshape(shape) / count + self.penalty * ahead
            before, here = here, ahead - rate * slope
            if step >= self.steps // 2:
                total, kept = total + here, kept + 1
        return total / kept

    def _scores(self, X: Any) -> Reals:
        scaled = self._scaled(X)
        return np.asarray(scaled @ self._weights[:, :-1].T + self._weights[:, -1])


def _softmax(scores: Reals) -> Reals:
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
