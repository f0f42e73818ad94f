"""Figures of usefulness that others have printed, from the input that they printed; else reckoned step by step."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.measurement.useful.associations import cramers_v, pearson, theils_u
from shoal.measurement.useful.comparable import make_comparable
from shoal.measurement.useful.distances import kolmogorov_smirnov, total_variation, wasserstein
from shoal.measurement.useful.numeric import eigen_difference, il1s
from shoal.measurement.useful.propensity import score
from shoal.measurement.useful.queries import measure_queries
from shoal.randomness import Randomness
from shoal.schema.arrays import Integers

pytestmark = pytest.mark.requirement("R-06")


def remainders() -> Integers:
    """0 … 149 by their remainders when divided by 10 and by 4."""
    table = np.zeros((10, 4), dtype=np.int64)
    numbers = np.arange(150)
    np.add.at(table, (numbers % 10, numbers % 4), 1)
    return table


def test_cramers_v_and_its_correction_as_clickhouse_prints_them() -> None:
    """ClickHouse documentation, cramersVBiasCorrected: 0.5798… and 0.5305… for ``number % 10`` and ``number % 4``.

    Other editions of that page print 0.4117 and 0.3337, which are not what the formula gives.
    """
    assert cramers_v(remainders()) == pytest.approx(0.5798088336225178, abs=1e-14)
    assert cramers_v(remainders(), corrected=True) == pytest.approx(0.5305112825189074, abs=1e-14)


def test_theils_u_as_clickhouse_prints_it() -> None:
    """ClickHouse documentation, theilsU: 0.30195… for the same numbers, the first explained by the second."""
    assert theils_u(remainders()) == pytest.approx(0.30195720557678846, abs=1e-14)


def test_pearson_as_scipy_prints_it() -> None:
    """SciPy documentation, pearsonr: −0.828503883588428."""
    x, y = np.arange(1.0, 8.0), np.array([10, 9, 2.5, 6, 4, 3, 2])
    assert pearson(x, y) == pytest.approx(-0.828503883588428, abs=1e-14)


def test_wasserstein_as_scipy_prints_it() -> None:
    """SciPy documentation, wasserstein_distance: 5.0 and 0.25; here as shares of the original's range, 3 and 1."""
    assert wasserstein(np.array([0.0, 1, 3]), np.array([5.0, 6, 8])) == pytest.approx(5 / 3)
    assert wasserstein(np.array([0.0, 0, 0, 1]), np.array([0.0, 0, 1, 1])) == pytest.approx(0.25)


def test_kolmogorov_smirnov_as_the_rv_crate_prints_it() -> None:
    """Documentation of rv, ks_two_sample: ten numbers each, D = 0.3."""
    first = [0.95692026, 1.1348812, -0.76579239, -0.58065653, -0.05122393]
    first += [0.71598754, 1.39873528, 0.42790527, 1.84580764, 0.64228521]
    second = [0.6948678, -0.3741825, 0.36657279, 1.15834174, -0.32421706]
    second += [-0.38499295, 1.44976991, 0.2504608, -0.53694774, 1.42221993]
    assert kolmogorov_smirnov(np.array(first), np.array(second)) == pytest.approx(0.3)


def test_total_variation_with_pencil() -> None:
    """A definition without an example: shares ½, ¼, ¼ become ¼, ¼, ½: (¼ + 0 + ¼)/2 = ¼ of the records changed."""
    before, after = pl.Series(["a", "a", "b", "c"]), pl.Series(["a", "b", "c", "c"])
    assert total_variation(before, after) == pytest.approx(0.25)


def test_propensity_with_pencil() -> None:
    """Woo et al. (2009), Snoke et al. (2018): no printed figures were at hand. Four records of each table: c = ½.

    Scores 0.3, 0.3, 0.5, 0.5 and 0.5, 0.5, 0.7, 0.7: four times 0.2² = 0.16 over 8 is a pMSE of 0.02. With k = 3:
    (k − 1)(1 − c)²c/N = 2 · 0.125/8 = 0.03125; the ratio 0.64; √(2 · 2) · 0.125/8 = 0.03125 as deviation, so −0.36.
    """
    chances = np.array([0.3, 0.3, 0.5, 0.5, 0.5, 0.5, 0.7, 0.7])
    found = score(chances, np.arange(8) >= 4, 3)
    assert (found.pmse, found.expected) == (pytest.approx(0.02), pytest.approx(0.03125))
    assert (found.ratio, found.standardised) == (pytest.approx(0.64), pytest.approx(-0.36))


def test_il1s_with_pencil() -> None:
    """Formula as in the Handbook on SDC, 3.5, without figures. 2, 4, 6 have S = 2; they become 3, 4, 4.

    (1 + 0 + 2)/3 = 1 in the mean, over √2 · 2: 0.353553.
    """
    assert il1s(np.array([2.0, 4, 6]), np.array([3.0, 4, 4])) == pytest.approx(0.353553, abs=5e-7)


def test_eigenvalues_with_pencil() -> None:
    """Formula as in sdcMicro's dUtility ("eigen"), without figures. Correlations 0.5 and 0.25 have 1 ± r:

    1.5 and 0.5 become 1.25 and 0.75, so |0.25|/1.5 + |0.25|/0.5 = 1/6 + 1/2 = 2/3.
    """
    before, after = (np.array([[1, r], [r, 1]]) for r in (0.5, 0.25))
    assert eigen_difference(before, after) == pytest.approx(2 / 3)


def test_query_error_with_pencil() -> None:
    """Formula of Vitter and Wang (1999). A release with a quarter of the records answers a quarter of each count.

    |T/4 − T|/T = 0.75 for every query that anybody is in, as all 400 counts are far above 0.1 % of 400 records.
    """
    towns = pl.Series("town", ["A", "B", "C", "D"] * 100)
    pair = make_comparable("town", towns, towns.head(100))
    found = measure_queries([pair], randomness=Randomness(1), queries=20)
    assert (found.mean, found.median) == (pytest.approx(0.75), pytest.approx(0.75))
