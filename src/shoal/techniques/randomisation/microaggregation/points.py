"""Records as points, so that the distance between them makes sense over columns of any kind.

The squared distance of two records is the sum over the columns of

- numbers and dates: ((x − y) ÷ standard deviation)²;
- categories: w if they differ, with w = 2 ÷ (1 − Σ p²), where p are the shares of the categories.

So two records drawn at random are equally far apart in every column, on average of the squares (2), and none outweighs
the others by its unit or its kind. For two categories w is what standardised 0 and 1 would give. Being Euclidean, the
distance obeys the triangle inequality. The centre of points is the mean of numbers, the commonest of categories.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.kernels.arrays import Floats, Integers

EVERY = slice(None)


@dataclass(frozen=True)
class Points:
    """One row for each column, one entry for each record."""

    numbers: Floats
    codes: Integers
    weights: Floats
    """Squared distance of two different categories, for each row of ``codes``."""

    @classmethod
    def of(cls, numbers: Sequence[Floats], categories: Sequence[Integers], size: int) -> Points:
        """From numbers as they are, NaN where missing, and categories numbered from 1, 0 where missing.

        Only records that lack the same columns are compared; a missing value makes no distance between them.
        """
        return cls(
            np.array([_standardised(column) for column in numbers]).reshape(len(numbers), size),
            np.array(categories, dtype=np.int64).reshape(len(categories), size),
            np.array([_weight(codes) for codes in categories]),
        )

    def __len__(self) -> int:
        return int(self.numbers.shape[1])

    def take(self, places: Integers) -> Points:
        return Points(self.numbers[:, places], self.codes[:, places], self.weights)

    def distances(self, point: Points, part: slice = EVERY) -> Floats:
        """From each record of the part to the only one of ``point``."""
        gaps = self.numbers[:, part] - point.numbers
        gaps *= gaps
        squares: Floats = np.add.reduce(gaps, axis=0)
        for codes, centre_code, weight in zip(self.codes, point.codes, self.weights, strict=True):
            squares += weight * (codes[part] != centre_code)
        return np.asarray(np.sqrt(squares, out=squares))


def _standardised(values: Floats) -> Floats:
    """With mean 0 and standard deviation 1; 0 where missing, and everywhere if all are equal.

    Divided by the largest first, so that the squares of huge or tiny numbers stay numbers.
    """
    there = ~np.isnan(values)
    centred = np.zeros(len(values))
    if there.any():
        centred[there] = values[there] - values[there].mean()
    largest = np.abs(centred).max(initial=0.0)
    if largest == 0.0:
        return centred
    unit = centred / largest
    return np.asarray(unit / np.sqrt(np.mean(unit[there] ** 2)))


def _weight(codes: Integers) -> float:
    times = np.bincount(codes, minlength=1)[1:]
    if np.count_nonzero(times) < 2:
        return 0.0
    shares = times / times.sum()
    return float(2.0 / (1.0 - np.sum(shares * shares)))
