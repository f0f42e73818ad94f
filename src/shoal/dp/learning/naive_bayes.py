"""Gaussian naive Bayes by noisy counts and moments of each class.

A person adds (1, x₁, …, x_d, x₁² − ½, …, x_d² − ½) to the sums of their own class only, with x scaled to [−1, 1]. For
t = x² the pair (x, t − ½) has length √(t² + ¼) ≤ √1.25 and absolute entries that sum to at most 1.5, so

    l1 = 1 + 1.5 d,    l2 = √(1 + 1.25 d)

for all classes together. Taking ½ away is undone with the noisy count; it makes the squares cost less. Variances below
what noise in them could be are taken as that.

Reference: Vaidya, Shafiq, Basu, Hong, "Differentially private naive Bayes classification" (WI-IAT 2013).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from shoal.dp.learning.estimator import PrivateClassifier, TrainingSet
from shoal.dp.learning.fixed_point import UNITS, LearningBudget, PersonalSums, Reals


def class_moment_sums(features: int) -> PersonalSums:
    return PersonalSums(1 + 2 * features, l1=1 + 1.5 * features, l2=sqrt(1 + 1.25 * features))


def class_moment_rows(scaled: Reals) -> Reals:
    return np.column_stack([np.ones(len(scaled)), scaled, scaled * scaled - 0.5])


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateGaussianNB(PrivateClassifier):
    def _learn(self, data: TrainingSet, budget: LearningBudget) -> None:
        features, classes = data.box.features, len(self.classes_)
        sums = class_moment_sums(features)
        noise = sums.noise(budget)
        told = sums.noisy(sums.by_group(class_moment_rows(data.rows), data.target, classes), noise)
        counts = np.maximum(told[:, :1], 1.0)
        means = np.clip(told[:, 1 : features + 1] / counts, -1.0, 1.0)
        squares = told[:, features + 1 :] / counts + 0.5
        least = np.minimum(0.25, noise.standard_error / UNITS / counts + 1e-6)
        self._means, self._variances = means, np.clip(squares - means * means, least, 1.0)
        self.theta_ = data.box.unscaled(means)
        self.var_ = self._variances * data.box.half**2
        self.class_count_ = counts[:, 0]
        self.class_prior_ = self.class_count_ / self.class_count_.sum()

    def _scores(self, X: Any) -> Reals:
        scaled = self._scaled(X)[:, None, :]
        far = (scaled - self._means) ** 2 / self._variances + np.log(self._variances)
        return np.asarray(np.log(self.class_prior_) - far.sum(axis=2) / 2)
