"""Public bounds of features: rows are clipped to them and brought to −1…1, so that nobody stands out by size.

Bounds come from who knows the subject, never from the data: the least and greatest value would tell who is in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from shoal.dp.learning.fixed_point import Reals
from shoal.errors import InputError


@dataclass(frozen=True)
class PublicBox:
    """Of d features. A scaled row is no longer than ``norm``; what is longer is shortened."""

    middle: Reals
    half: Reals
    norm: float

    @classmethod
    def of(cls, bounds: object, features: int, norm: object = None, *, field: str = "bounds") -> PublicBox:
        """Bounds are a pair (least, greatest), each a number for all features or one number for each.

        >>> box = PublicBox.of(([0, 10], 20), features=2)
        >>> box.scaled(np.array([[5.0, 15.0], [99.0, 10.0]])).tolist()
        [[-0.5, 0.0], [1.0, -1.0]]
        """
        if bounds is None:
            raise InputError("say between which values the data lie; they are not taken from the data", field=field)
        try:
            low, high = (np.broadcast_to(np.asarray(one, dtype=np.float64), (features,)) for one in bounds)  # type: ignore[attr-defined]  # what is no pair says so
        except (TypeError, ValueError):
            raise InputError(
                f"a pair (least, greatest) of numbers, or of {features} numbers each", field=field
            ) from None
        if not (np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()):
            raise InputError("the least value is below the greatest, and both are finite", field=field)
        return cls((low + high) / 2, (high - low) / 2, _norm(norm, features))

    @property
    def features(self) -> int:
        return len(self.middle)

    @property
    def l1(self) -> float:
        """The largest sum of absolute entries of a scaled row."""
        return min(float(self.features), sqrt(self.features) * self.norm)

    def scaled(self, rows: Reals) -> Reals:
        inside = np.clip((rows - self.middle) / self.half, -1.0, 1.0)
        lengths = np.sqrt((inside * inside).sum(axis=1, keepdims=True))
        return np.asarray(inside * (self.norm / np.maximum(lengths, self.norm)))

    def unscaled(self, rows: Reals) -> Reals:
        return rows * self.half + self.middle


def _norm(given: object, features: int) -> float:
    largest = sqrt(features)
    if given is None:
        return largest
    if not isinstance(given, int | float) or not given > 0:
        raise InputError("has to be a number above 0", field="norm")
    return min(float(given), largest)
