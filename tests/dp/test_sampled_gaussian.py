"""What rounds on samples cost, against another accountant; noise in bulk, against its formula and OpenDP's."""

from __future__ import annotations

from decimal import Decimal, getcontext

import numpy as np
import pytest

from shoal.dp.bulk_gaussian import SCALE, BulkGaussian, discrete_gaussian, gaussian_weights
from shoal.dp.sampled_gaussian import SampledRounds, delta_left, least_multiplier
from shoal.errors import BugError, InputError
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("T-25")

GRID = [(rate, rounds, noise) for rate in (0.01, 0.1, 1.0) for rounds in (1, 200) for noise in (0.8, 2.0, 8.0)]


@pytest.mark.parametrize(("rate", "rounds", "noise"), GRID)
def test_costs_are_those_of_another_accountant(rate: float, rounds: int, noise: float) -> None:
    accounting = pytest.importorskip("dp_accounting")
    event = accounting.SelfComposedDpEvent(
        accounting.PoissonSampledDpEvent(rate, accounting.GaussianDpEvent(noise)), rounds
    )
    theirs = accounting.rdp.RdpAccountant(orders=list(range(2, 64))).compose(event).get_epsilon(1e-6)
    ours = SampledRounds(rate, rounds, noise).epsilon(1e-6)
    assert ours == pytest.approx(theirs, rel=1e-6) or ours < theirs


def test_costs_are_never_below_the_tightest() -> None:
    accounting = pytest.importorskip("dp_accounting")
    round_ = accounting.PoissonSampledDpEvent(0.05, accounting.GaussianDpEvent(2.0))
    tightest = accounting.pld.PLDAccountant(value_discretization_interval=1e-3).compose(round_, 50).get_epsilon(1e-6)
    assert tightest < SampledRounds(0.05, 50, 2.0).epsilon(1e-6) < 1.2 * tightest


def test_the_least_noise_is_just_enough() -> None:
    noise = least_multiplier(0.05, 100, 1.0, 1e-6, rho=0.001)
    assert SampledRounds(0.05, 100, noise, 0.001).epsilon(1e-6) <= 1.0
    assert SampledRounds(0.05, 100, noise * 0.99, 0.001).epsilon(1e-6) > 1.0


def test_what_no_noise_can_do_is_refused() -> None:
    with pytest.raises(InputError, match="too small"):
        least_multiplier(0.05, 100, 1e-6, 1e-6)
    with pytest.raises(InputError, match="too large"):
        delta_left(1e-9, 60.0, 2.0**-80)


def test_weights_of_the_table_are_exponentials() -> None:
    getcontext().prec = 60
    weights = gaussian_weights(64, 500)
    for place in (0, 1, 63, 200, 500):
        exact = (-(Decimal(place) ** 2) / (2 * 64**2)).exp()
        assert abs(Decimal(weights[place]) / 2**256 - exact) < exact * Decimal("1e-40")


def test_coarse_and_fine_draws_make_one_gaussian() -> None:
    """The same construction with small numbers, convolved exactly: as the smoothing grows, nothing is left to see."""

    def off(smoothing: int) -> float:
        step, scale = 4, 8
        fine = np.exp(-(np.arange(-200, 201) ** 2) / (2 * (smoothing * step / 2) ** 2))
        coarse = np.zeros(801)
        coarse[::step] = np.exp(-((np.arange(-400, 401, step) / step) ** 2) / (2 * scale**2))
        made = np.convolve(coarse, fine)
        places = np.arange(-(len(made) // 2), len(made) // 2 + 1)
        true = np.exp(-(places**2) / (2 * ((scale * step) ** 2 + (smoothing * step / 2) ** 2)))
        return float(np.abs(made / made.sum() - true / true.sum()).sum() / 2)

    assert off(1) > 1e-4, "too little smoothing is seen"
    assert off(4) < 1e-14


def _distance(drawn: np.ndarray, scale: float) -> float:
    from scipy.special import ndtr

    values = np.sort(drawn)
    return float(
        np.abs(np.arange(1, len(values) + 1) / len(values) - ndtr(values / scale)).max() * np.sqrt(len(values))
    )


def test_noise_has_its_scale_and_no_other() -> None:
    drawn = BulkGaussian(Randomness()).draw(200_000).astype(np.float64)
    assert _distance(drawn, SCALE) < 2.6, "once in a million runs by chance (Kolmogorov)"
    assert _distance(drawn, 0.8 * SCALE) > 5
    assert _distance(drawn, 1.25 * SCALE) > 5
    assert len(np.unique(drawn % 256)) == 256, "all steps of the grid are used"


def test_noise_never_repeats_and_takes_no_seed() -> None:
    source = BulkGaussian(Randomness())
    assert not np.array_equal(source.draw(100), source.draw(100))
    with pytest.raises(BugError, match="from a seed"):
        BulkGaussian(Randomness(seed=1))


def test_a_place_has_one_number() -> None:
    stream = Randomness(3).stream("noise")
    whole = discrete_gaussian(stream, np.arange(1000, dtype=np.uint64))
    assert np.array_equal(whole[500:], discrete_gaussian(stream, np.arange(500, 1000, dtype=np.uint64)))
