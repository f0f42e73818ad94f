"""What the solver minimises, as others have printed it."""

from __future__ import annotations

from math import log2

import numpy as np
import polars as pl
import pytest

from shoal.schema import Counts
from shoal.solve import Ladder, Problem
from shoal.solve.utility import make_utility

pytestmark = pytest.mark.requirement("S-07")


def ladder(name: str, values: range, divisors: tuple[int, ...]) -> Ladder:
    """Five values as they are, by their remainders, and all as one."""
    numbers = np.array(values)
    levels = [np.unique(numbers % divisor, return_inverse=True)[1] for divisor in divisors]
    groups = (np.arange(5), *levels, np.zeros(5, dtype=np.int64))
    losses = tuple((np.bincount(level)[level] - 1) / 4 for level in groups)
    return Ladder(name, groups, losses, 0, len(groups) - 1, 5)


def five_records() -> Problem:
    """The data and the rules of crowds' own tests, test_information_loss.py: a = 1 … 5 beside b = 6 … 10.

    Its levels don't nest, as a search needs them to; a single node doesn't.
    """
    codes = np.repeat(np.arange(5, dtype=np.int32), 2).reshape(5, 2)
    one = np.ones(5, dtype=np.int64)
    counts = Counts(("a", "b"), (pl.Series(range(1, 6)), pl.Series(range(6, 11))), codes, one, one)
    return Problem(counts, [ladder("a", range(1, 6), (5, 4, 3)), ladder("b", range(6, 11), (3, 2))], [])


def test_precision_as_crowds_prints_it() -> None:
    """Level 2 of 4 and level 1 of 3: 2/4 + 1/3, here as the mean of the two attributes."""
    assert make_utility("precision", five_records()).at_best((2, 1)) == pytest.approx((2 / 4 + 1 / 3) / 2)


def test_entropy_as_crowds_prints_it() -> None:
    """Remainders by 3 (1, 2, 0, 1, 2) and by 2 (0, 1, 0, 1, 0), in bits, record by record."""
    printed = (1 + log2(3)) + (1 + 1) + (0 + log2(3)) + (1 + 1) + (1 + log2(3))
    assert make_utility("entropy", five_records()).at_best((3, 2)) == pytest.approx(printed)
