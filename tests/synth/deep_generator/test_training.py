"""Gradients are clipped exactly, one person moves a sum by no more than is said, noise is what is accounted for."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="training a network needs PyTorch (extra deep)")

import torch

from shoal.dp.bulk_gaussian import SCALE, BulkGaussian
from shoal.errors import BugError, InputError
from shoal.kernels.arrays import Floats, Integers
from shoal.randomness import Randomness
from shoal.synth.deep_generator.architecture import WEIGHTS, Architecture, Weights
from shoal.synth.deep_generator.clipped_gradients import ClippedGradients
from shoal.synth.deep_generator.training import PrivateSum, TrainingPlan, TrainingRecords, trained

pytestmark = pytest.mark.requirement("T-25")

torch.set_num_threads(1)  # on a busy machine threads wait for each other

NETWORK = Architecture(sizes=(2, 3, 4), hidden=5, groups=3, positions=2)
SPARSE = Architecture(sizes=(2, 3, 4), hidden=5, groups=1, positions=3, neighbours=((), (), (0,)))
INFORMATION = 0.5


def weights(network: Architecture) -> Weights:
    chance = np.random.default_rng(5)
    return network.unpacked(chance.normal(size=len(network.free)))


def records(network: Architecture, number: int = 30) -> Integers:
    chance = np.random.default_rng(6)
    return np.stack([chance.integers(0, size, number) for size in network.sizes], axis=1)


def loss(packed: torch.Tensor, network: Architecture, ones: torch.Tensor) -> torch.Tensor:
    """Of one record, as the formula has it, by nothing that the code under test uses."""
    whole = torch.zeros(sum(one.size for one in network.masks.values()), dtype=torch.float64)
    whole = whole.index_put((torch.from_numpy(network.free),), packed)
    sizes = [network.masks[name].size for name in WEIGHTS]
    parts = zip(WEIGHTS, torch.split(whole, sizes), strict=True)
    at = {name: part.reshape(network.shapes[name]) for name, part in parts}
    odds = at["bias"] + ones @ at["direct"] + torch.tanh(ones @ at["inner"] + at["inner_bias"]) @ at["outer"]
    likelihoods = []
    for group in range(network.groups):
        for slide in network.slides:
            split = torch.split(odds + at["group"][group] + slide * at["slide"], list(network.sizes))
            chosen = zip(split, torch.split(ones, list(network.sizes)), strict=True)
            likelihoods.append(torch.stack([(torch.log_softmax(one, 0) * there).sum() for one, there in chosen]).sum())
    by_code = torch.stack(likelihoods)
    logs = torch.log_softmax(by_code, 0)
    return -torch.logsumexp(by_code, 0) - INFORMATION * (logs.exp() * logs).sum()


def one_by_one(network: Architecture, at: Weights, codes: Integers) -> Floats:
    """PyTorch's own gradient of each record."""
    ones = np.zeros((len(codes), network.width))
    ones[np.arange(len(codes))[:, None], codes + network.starts[:-1]] = 1
    packed = torch.from_numpy(network.packed(at)).requires_grad_()
    losses = [loss(packed, network, one) for one in torch.from_numpy(ones)]
    return np.stack([torch.autograd.grad(one, packed)[0].numpy() for one in losses])


@pytest.mark.parametrize("network", [NETWORK, SPARSE], ids=["all columns", "neighbours"])
def test_clipped_sums_are_those_of_gradients_taken_one_by_one(network: Architecture) -> None:
    at, codes = weights(network), records(network)
    gradients = one_by_one(network, at, codes)
    lengths = np.linalg.norm(gradients, axis=1)
    bound = float(np.median(lengths))
    found = ClippedGradients(network, INFORMATION).summed(at, codes, bound)
    assert np.allclose(found.lengths, lengths, rtol=1e-10)
    by_hand = (gradients * np.minimum(1, bound / lengths)[:, None]).sum(axis=0)
    assert np.allclose(found.packed, by_hand, atol=1e-7)
    assert np.allclose(ClippedGradients(network, INFORMATION).summed(at, codes, None).packed, gradients.sum(axis=0))


def test_nobody_moves_a_rounded_sum_further_than_the_noise_is_for() -> None:
    """Every record that there can be, added to a batch: in steps of the grid, z times the way is within the noise."""
    at, codes = weights(NETWORK), records(NETWORK)
    gradients = ClippedGradients(NETWORK, INFORMATION)
    plan = TrainingPlan(bound=0.3, multiplier=1.5)
    private = PrivateSum(gradients, plan, None)

    def rounded(some: Integers) -> Floats:
        return np.rint(gradients.summed(at, some, plan.bound).packed / private.grid)

    everybody = np.stack(np.meshgrid(*[np.arange(size) for size in NETWORK.sizes], indexing="ij"), axis=-1)
    ways = [
        float(np.linalg.norm(rounded(np.vstack([codes, one[None]])) - rounded(codes)))
        for one in everybody.reshape(-1, len(NETWORK.sizes))
    ]
    assert max(ways) * plan.multiplier <= SCALE
    assert max(ways) * plan.multiplier > 0.99 * SCALE, "and it is not wasted"


def test_noise_in_sums_has_the_scale_that_is_accounted_for() -> None:
    at, codes = weights(NETWORK), records(NETWORK)
    plan = TrainingPlan(bound=0.3, multiplier=1.5)
    gradients = ClippedGradients(NETWORK, INFORMATION)
    exact = gradients.summed(at, codes, plan.bound).packed
    private = PrivateSum(gradients, plan, BulkGaussian(Randomness()))
    noise = np.concatenate([private.of(at, codes, 1) - exact for _ in range(200)])
    scale = plan.multiplier * 0.3
    spread, doubt = float(noise.std()), 6 / np.sqrt(2 * len(noise))
    assert abs(spread / scale - 1) < doubt + 0.01
    for wrong in (0.8, 1.25):
        assert abs(spread / (wrong * scale) - 1) > doubt + 0.01


def test_several_records_of_a_person_share_the_bound() -> None:
    at, codes = weights(NETWORK), np.repeat(records(NETWORK, 1), 3, axis=0)
    gradients = ClippedGradients(NETWORK, INFORMATION)
    together = gradients.summed(at, codes, 0.3 / 3).packed
    assert np.linalg.norm(together) <= 0.3
    plan = TrainingPlan(rate=0.1)
    assert plan.person_rate(3) == pytest.approx(1 - 0.9**3, rel=1e-6)


def test_noise_without_clipping_or_from_a_seed_is_refused() -> None:
    with pytest.raises(BugError, match="clipped"):
        TrainingPlan(multiplier=1.0)
    plan = TrainingPlan(rounds=1, bound=1.0, multiplier=1.0)
    beginning = NETWORK.beginning(np.zeros(NETWORK.width), Randomness(1))
    with pytest.raises(BugError, match="from a seed"):
        trained(NETWORK, beginning, TrainingRecords(records(NETWORK), 30), plan, Randomness(1))


def test_who_trains_twice_from_one_source_gets_other_noise() -> None:
    """Noise that comes twice can be taken out by a subtraction."""
    plan, source = TrainingPlan(rounds=1, rate=1.0, bound=1.0, multiplier=1.0), Randomness()
    beginning = NETWORK.beginning(np.zeros(NETWORK.width), Randomness(1))
    first, again = (
        trained(NETWORK, beginning, TrainingRecords(records(NETWORK), 30), plan, source)["bias"] for _ in range(2)
    )
    assert not np.array_equal(first, again)


def test_too_much_noise_for_the_grid_is_refused() -> None:
    plan = TrainingPlan(bound=1.0, multiplier=4_000.0)
    with pytest.raises(InputError, match="too small"):
        _ = PrivateSum(ClippedGradients(NETWORK, INFORMATION), plan, None).grid


def test_the_same_seed_gives_the_same_weights() -> None:
    def run(seed: int) -> Weights:
        beginning = NETWORK.beginning(np.zeros(NETWORK.width), Randomness(seed))
        return trained(
            NETWORK,
            beginning,
            TrainingRecords(records(NETWORK), 30),
            TrainingPlan(rounds=5, rate=0.5),
            Randomness(seed),
        )

    first, again, other = run(1), run(1), run(2)
    assert all(first[name].tobytes() == again[name].tobytes() for name in WEIGHTS)
    assert not np.array_equal(first["inner"], other["inner"])
