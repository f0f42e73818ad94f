"""Even classes: every class has an even number of people, and not too few."""

from __future__ import annotations

import numpy as np

from shoal.privacy import Classes, Figure, PrivacyModel


class EvenClasses(PrivacyModel):
    key = "even_classes"
    title = "even classes"
    clause = "none"
    monotone_under_generalisation = True
    monotone_under_suppression = True

    least: int

    @property
    def required(self) -> float:
        return self.least

    def figures(self, classes: Classes) -> np.ndarray:
        return np.where(classes.people % 2 == 0, classes.people, 0).astype(np.float64)

    def holds(self, classes: Classes) -> np.ndarray:
        return self.figures(classes) >= self.least

    def explain(self) -> str:
        return "Every class has an even number of people."

    @classmethod
    def measured_by(cls) -> tuple[Figure, ...]:
        return (Figure("even", "people in even classes", lambda _, bound, _k: cls(least=int(bound)), sensitive=False),)
