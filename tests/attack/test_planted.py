"""Faults that were planted are found; releases without them are not accused, however many seeds are tried.

The bounded sample runs always; the rates over many seeds with `-m slow`.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.attack.planted import PLANTED, SAFE

from shoal.results.attack_results import AttackResult

pytestmark = pytest.mark.requirement("R-04", "R-05")

SEEDS = 16
"""Of each safe release: 19 × 16 = 304 in all."""
TRIES = 4
"""Of each planted fault: 28 × 4 = 112 in all."""


def lots(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("name", PLANTED)
def test_what_was_planted_is_found(name: str) -> None:
    make, key = PLANTED[name]
    done = make(lots(1)).attacked()
    assert key in {attack.key for attack in done.found}


@pytest.mark.parametrize("name", SAFE)
def test_a_release_without_the_fault_is_not_accused(name: str) -> None:
    assert SAFE[name](lots(2)).attacked().found == ()


@pytest.mark.slow
def test_at_most_five_in_a_hundred_safe_releases_are_accused() -> None:
    runs = [make(lots(5000 + seed)).attacked(seed).found for make in SAFE.values() for seed in range(SEEDS)]
    assert len(runs) >= 200
    assert sum(bool(found) for found in runs) <= 0.05 * len(runs)


@pytest.mark.slow
def test_at_least_95_in_a_hundred_planted_faults_are_found() -> None:
    runs = [
        key in {attack.key for attack in make(lots(6000 + seed)).attacked(seed).found}
        for make, key in PLANTED.values()
        for seed in range(TRIES)
    ]
    assert len(runs) >= 100
    assert sum(runs) >= 0.95 * len(runs)


def test_no_value_of_the_original_is_told() -> None:
    make, _ = PLANTED["last four digits"]
    release = make(lots(3))
    done = release.attacked()
    told = str([AttackResult.of(attack).to_dict() for attack in done.attacks]) + str(done.skipped)
    assert "aadhaar" in told
    assert not any(value in told for name in ("aadhaar", "phone", "city") for value in release.original[name].unique())


def test_rows_that_nobody_knows_are_never_certain() -> None:
    done = SAFE["independent, no control group"](lots(5)).attacked()
    assert not done.rows_known
    assert "linking" in done.unjudged
    compared = SAFE["independent"](lots(5)).attacked()
    linked = {attack.key: attack for attack in compared.attacks}["linking"]
    assert not linked.certain
    assert linked.yardstick == linked.control
