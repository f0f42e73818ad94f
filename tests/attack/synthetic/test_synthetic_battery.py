"""Attacks on synthetic tables: nothing is found in a fresh sample, and whatever gives people away is."""

from __future__ import annotations

import polars as pl
import pytest
from tests.support.synthetic_people import copying, copying_outliers, overfitted, people

from shoal.attack.battery import BatteryResult
from shoal.attack.synthetic.battery import run_synthetic_attacks
from shoal.attack.synthetic.registry import synthetic_attack_keys
from shoal.attack.synthetic.scene import SyntheticTables
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("T-25", "R-04")

ROWS = 1_000


def attacked(synthetic: pl.DataFrame, original: pl.DataFrame, control: pl.DataFrame | None, seed: int) -> BatteryResult:
    tables = SyntheticTables(synthetic, original, control, ("work",))
    return run_synthetic_attacks(tables, Randomness(seed), trials=300)


def keys_found(done: BatteryResult) -> set[str]:
    return {attack.key for attack in done.found}


def test_nothing_is_found_in_a_fresh_sample() -> None:
    """The chance of any find in a safe table is 2.5 % by design; these seeds have none. The slow test measures it."""
    for seed in range(4):
        original, control, fresh = (people(400, 3 * seed + each) for each in range(3))
        done = attacked(fresh, original, control, seed)
        assert not done.skipped
        assert {attack.key for attack in done.attacks} == set(synthetic_attack_keys()) - {"copied_identifiers"}
        assert keys_found(done) == set()


@pytest.mark.slow
def test_false_alarms_are_as_rare_as_is_said() -> None:
    """Any find at all in 2.5 % of safe tables: of 100, more than 8 would have a chance of one in a thousand."""
    alarms = 0
    for seed in range(100):
        original, control, fresh = (people(400, 9_000 + 3 * seed + each) for each in range(3))
        alarms += bool(attacked(fresh, original, control, seed).found)
    assert alarms <= 8


def test_copies_of_one_percent_are_found() -> None:
    original, control, fresh = (people(3 * ROWS, seed) for seed in (11, 12, 13))
    done = attacked(copying(original, fresh, 0.01), original, control, 1)
    assert "copies_of_unique" in keys_found(done)
    assert not keys_found(attacked(fresh, original, control, 1))


def test_copies_of_outliers_alone_are_found() -> None:
    original, control, fresh = (people(3 * ROWS, seed) for seed in (21, 22, 23))
    done = attacked(copying_outliers(original, fresh, 30), original, control, 1)
    assert "copies_of_outliers" in keys_found(done)


def test_a_model_of_few_people_is_found_by_more_than_copies() -> None:
    original, control = people(300, 31), people(300, 32)
    found = keys_found(attacked(overfitted(original, 1), original, control, 1))
    assert {"nearest_distance", "membership", "membership_top"} <= found
    assert not keys_found(attacked(people(300, 33), original, control, 1))


def test_a_table_that_is_the_original_is_found_by_all() -> None:
    original, control = people(500, 41), people(500, 42)
    done = attacked(original, original, control, 1)
    assert keys_found(done) == set(synthetic_attack_keys()) - {"copied_identifiers"}
    assert next(each for each in done.attacks if each.key == "copies").success.share == 1


def test_without_a_control_group_nothing_is_called_safe_that_may_not_be() -> None:
    original, fresh = people(500, 51), people(500, 52)
    done = attacked(fresh, original, None, 1)
    assert not done.found
    assert {"nearest_distance", "nearest_ratio", "membership"} <= set(done.unjudged)
    assert set(done.skipped) == set(done.unjudged)


def test_names_of_people_in_the_table_are_found() -> None:
    original, control, fresh = (people(200, seed) for seed in (61, 62, 63))
    names = [pl.Series("name", [f"{whose} {row}" for row in range(200)]) for whose in ("own", "other", "made up")]
    leaked = pl.concat([names[0][:20], names[2][20:]])
    for shown, found in ((leaked, True), (names[2], False)):
        tables = SyntheticTables(fresh, original, control, ("work",), {"name": (shown, names[0], names[1])})
        done = run_synthetic_attacks(tables, Randomness(1), trials=100)
        assert ("copied_identifiers" in keys_found(done)) is found


def test_the_same_seed_gives_the_same_rates() -> None:
    original, control, fresh = (people(300, seed) for seed in (71, 72, 73))
    first, second = (attacked(fresh, original, control, 5) for _ in range(2))
    assert first.attacks == second.attacks
