"""What all private estimators share: public parameters, rows that are checked, a budget that is reserved first.

``fit`` refuses what can't be used before anything is spent: such an error of form tells whoever called it that a value
is missing or is no number, and never which. Then the budget is reserved, and only then are sums taken.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import validate_data

from shoal.dp.learning.fixed_point import LearningBudget, Reals
from shoal.dp.learning.public_box import PublicBox
from shoal.errors import DataError, InputError


class BudgetKeeper(Protocol):
    """Who pays for a fit: a ``shoal.Curator``."""

    def learning(
        self, fitted: str, *, epsilon: Decimal, delta: Decimal, rho: float, analyst: str | None
    ) -> AbstractContextManager[None]:
        """Reserves on entry, or raises BudgetExhausted; on exit the ledger knows that it was answered."""


class TrainingDataError(DataError, ValueError):
    """Rows that can't be learnt from; a ValueError for who treats these estimators as any other."""


@dataclass(frozen=True)
class TrainingSet:
    """Rows within the box, and what goes with each: a number within −1…1, or the place of its class."""

    rows: Reals
    box: PublicBox
    target: NDArray[Any]


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateEstimator(BaseEstimator, ABC):
    epsilon: float = 1.0
    """What the fit costs, at most."""
    delta: float = 0.0
    """Above 0, noise is Gaussian and (ε, δ) is what ρ-zCDP means; at 0 it is Laplace noise and ε alone."""
    bounds: Any = None
    """Public least and greatest values: a pair of numbers, or of one number for each feature. Others are clipped."""
    norm: float | None = None
    """Public: rows, scaled to −1…1, are shortened to this length. Less noise where few are longer; √d without."""
    curator: BudgetKeeper | None = None
    """Keeps the budget. Without one, nobody counts what is spent."""
    analyst: str | None = None

    def fit(self, X: Any, y: Any = None) -> Self:
        budget = LearningBudget.of(self.epsilon, self.delta)
        self._check_parameters()
        rows, target = self._checked(X, y)
        box = PublicBox.of(self.bounds, rows.shape[1], self.norm)
        with self._reserved(budget):
            self._learn(TrainingSet(box.scaled(rows), box, target), budget)
        return self

    def _check_parameters(self) -> None:
        """Raises an InputError for those that an estimator adds."""

    @abstractmethod
    def _learn(self, data: TrainingSet, budget: LearningBudget) -> None:
        """All sums are taken and get their noise here."""

    def _checked(self, X: Any, y: Any) -> tuple[Reals, NDArray[Any]]:
        rows = self._rows(X, reset=True)
        return rows, np.zeros(len(rows))

    def _rows(self, X: Any, *, reset: bool = False) -> Reals:
        return np.asarray(self._validated(X, reset=reset, dtype=np.float64))

    def _validated(self, *given: Any, **options: Any) -> Any:
        """By scikit-learn, whose messages are kept as long as they hold no value."""
        try:
            return validate_data(self, *given, **options)
        except ValueError as error:
            raise TrainingDataError(_without_values(str(error))) from None

    def _reserved(self, budget: LearningBudget) -> AbstractContextManager[None]:
        if self.curator is None:
            return nullcontext()
        public = {name: value for name, value in self.get_params(deep=False).items() if name not in _NOT_TOLD}
        fitted = f"{type(self).__name__}({', '.join(f'{name}={_told(value)}' for name, value in public.items())})"
        amounts = {"epsilon": Decimal(str(self.epsilon)), "delta": Decimal(str(self.delta))}
        return self.curator.learning(fitted, **amounts, rho=budget.rho, analyst=self.analyst)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateClassifier(ClassifierMixin, PrivateEstimator):
    """``classes`` are public; a row of any other class is left out, and nobody is told."""

    classes: Sequence[Any] | None = None

    def _check_parameters(self) -> None:
        if self.classes is None or len(self.classes) < 2:
            raise InputError("name all classes there can be; they are not taken from the data", field="classes")
        if len(set(self.classes)) < len(self.classes):
            raise InputError("one of them stands twice", field="classes")

    def _checked(self, X: Any, y: Any) -> tuple[Reals, NDArray[Any]]:
        from sklearn.utils.multiclass import check_classification_targets
        from sklearn.utils.validation import column_or_1d

        rows, labels = self._validated(X, y, reset=True, dtype=np.float64)
        labels = column_or_1d(labels, warn=True)
        check_classification_targets(labels)
        self.classes_ = np.unique(np.asarray(self.classes))
        places = np.full(len(labels), -1, dtype=np.intp)
        for place, name in enumerate(self.classes_):
            places[np.asarray(labels == name)] = place
        known = places >= 0
        return np.asarray(rows)[known], places[known]

    def predict(self, X: Any) -> NDArray[Any]:
        best = self._scores(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> Reals:
        scores = self._scores(X)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    @abstractmethod
    def _scores(self, X: Any) -> Reals:
        """Logarithms of what is proportional to the probability of each class."""

    def _scaled(self, X: Any) -> Reals:
        """Rows to predict for, each in the box: what is beyond the bounds is taken as the bound."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return PublicBox.of(self.bounds, self.n_features_in_, self.norm).scaled(self._rows(X))


_NOT_TOLD = frozenset({"epsilon", "delta", "curator", "analyst"})


def _without_values(message: str) -> str:
    """Of scikit-learn, which shows the array that it has not the shape for, and the text that is no number."""
    if "could not convert" in message:
        return "holds what is no number"
    first = message.partition("\n")[0]
    return f"{first.rstrip(':')}. Reshape your data" if "Reshape your data" in message else first


def _told(value: object) -> str:
    return " ".join(repr(value).split())
