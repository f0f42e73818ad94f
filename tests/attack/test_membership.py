"""Membership in tables whose truth is known."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shoal.attack.attacks.membership import membership, membership_by_distance
from shoal.attack.ground_truth.targets import TrialDesign
from shoal.attack.matching.label_pairs import rounding_base
from shoal.errors import DataError
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("R-04")

SEED = Randomness(seed=21)
IN = pl.DataFrame({"age": range(100, 140), "city": ["Pune", "Delhi"] * 20})
OUT = pl.DataFrame({"age": range(200, 240), "city": ["Pune", "Delhi"] * 20})


def test_a_table_in_clear_gives_members_away() -> None:
    attack = membership(IN, IN, ["age", "city"], TrialDesign(SEED, control=OUT))
    assert (attack.success.right, attack.success.trials, attack.baseline.share) == (80, 80, 0.5)
    assert attack.found and attack.details == {"members_found": 1.0, "strangers_mistaken": 0.0}


def test_identical_people_can_not_be_told_apart() -> None:
    attack = membership(IN, IN, ["age", "city"], TrialDesign(SEED, control=IN))
    assert attack.success.share == 0.5 and not attack.found


def test_stars_hide_membership() -> None:
    attack = membership(IN.with_columns(age=pl.lit("*")), IN, ["age", "city"], TrialDesign(SEED, control=OUT))
    assert attack.success.share == 0.5
    assert attack.details == {"members_found": 1.0, "strangers_mistaken": 1.0}


def test_a_known_share_of_strangers_fits() -> None:
    bands = IN.with_columns(age=pl.lit("100-209"))
    attack = membership(bands, IN, ["age"], TrialDesign(SEED, control=OUT))
    assert attack.success.right == 40 + 30


def test_people_left_out_of_the_release_are_not_found() -> None:
    assert membership(IN[:10], IN, ["age"], TrialDesign(SEED, control=OUT)).success.right == 10 + 40


def test_as_many_strangers_as_members_are_judged() -> None:
    assert membership(IN, IN, ["age"], TrialDesign(SEED, control=OUT[:7])).success.trials == 14
    assert membership(IN, IN, ["age"], TrialDesign(SEED, control=OUT, trials=20)).success.trials == 20


def test_noise_hides_fit_but_not_nearness() -> None:
    noisy = IN.with_columns(age=pl.col("age") + 0.25)
    assert membership(noisy, IN, ["age"], TrialDesign(SEED, control=OUT)).success.share == 0.5
    attack = membership_by_distance(noisy, IN, ["age"], TrialDesign(SEED, control=OUT))
    assert attack.success.share == 1.0 and attack.found


def test_distance_tells_nothing_of_identical_people() -> None:
    attack = membership_by_distance(IN, IN, ["age"], TrialDesign(SEED, control=IN))
    assert attack.success.share == 0.5


def test_numbers_are_standardised() -> None:
    """A wide column of noise doesn't drown a narrow one that tells members apart."""
    lots = Randomness(seed=1).stream("noise").uniform(np.arange(120, dtype=np.uint64)) * 1e6
    table = pl.DataFrame({"small": np.tile([0.0, 1e-3], 20), "wide": lots[:40]})
    strangers = pl.DataFrame({"small": np.full(40, 1.0), "wide": lots[40:80]})
    noisy = table.with_columns(pl.col("wide") + 10_000)
    attack = membership_by_distance(noisy, table, ["small", "wide"], TrialDesign(SEED, control=strangers))
    assert attack.success.share == 1.0


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=8),
    st.lists(st.integers(0, 5), min_size=1, max_size=8),
    st.lists(st.integers(0, 5), min_size=1, max_size=8),
)
def test_fit_is_counted_person_by_person(released: list[int], members: list[int], strangers: list[int]) -> None:
    size = min(len(members), len(strangers))
    members, strangers = members[:size], strangers[:size]
    known = np.array(sorted({*members, *strangers}), dtype=float)
    assume(rounding_base(np.array(sorted(set(released)), dtype=float), known) is None)  # else read as rounded numbers
    frames = [pl.DataFrame({"age": ages}) for ages in (released, members, strangers)]
    attack = membership(frames[0], frames[1], ["age"], TrialDesign(SEED, control=frames[2]))
    right = sum(age in released for age in members) + sum(age not in released for age in strangers)
    assert (attack.success.right, attack.success.trials) == (right, 2 * size)
    near = membership_by_distance(frames[0], frames[1], ["age"], TrialDesign(SEED, control=frames[2]))
    said = (near.details or {})["members_found"] + (near.details or {})["strangers_mistaken"]
    assert said == pytest.approx(1.0)


def test_round_numbers_fit_whoever_is_within_a_base_of_them() -> None:
    """A lone 5 that is nobody's value may be a rounded one: 1 to 9 fit it, 0 does not."""
    frames = [pl.DataFrame({"age": [age]}) for age in (5, 0, 1)]
    attack = membership(frames[0], frames[1], ["age"], TrialDesign(SEED, control=frames[2]))
    assert attack.details == {"members_found": 0.0, "strangers_mistaken": 1.0}


@pytest.mark.parametrize("attack", [membership, membership_by_distance])
def test_wrong_use_is_said(attack: object) -> None:
    assert callable(attack)
    for control in (None, OUT.clear()):
        with pytest.raises(DataError, match="control group"):
            attack(IN, IN, ["age"], TrialDesign(SEED, control=control))
    with pytest.raises(DataError, match="another type"):
        attack(IN, IN, ["age"], TrialDesign(SEED, control=OUT.with_columns(age=pl.lit("old"))))
    for release, people, known in ((IN.drop("age"), IN, ["age"]), (IN, IN.drop("age"), ["age"]), (IN, IN, []),
                                   (IN, IN.clear(), ["age"]), (IN.clear(), IN, ["age"])):  # fmt: skip
        with pytest.raises(DataError):
            attack(release, people, known, TrialDesign(SEED, control=OUT))


def test_a_person_without_the_numbers_is_far_from_everybody() -> None:
    people = IN.with_columns(age=pl.when(pl.col("age") < 110).then(None).otherwise("age"))
    attack = membership_by_distance(IN, people, ["age"], TrialDesign(SEED, control=OUT))
    assert attack.details is not None and attack.details["members_found"] == 0.75
    with pytest.raises(DataError, match="all of the numbers"):
        membership_by_distance(IN.with_columns(age=pl.lit("*")), IN, ["age"], TrialDesign(SEED, control=OUT))
