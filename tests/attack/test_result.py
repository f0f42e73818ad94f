"""The arithmetic of rates: intervals against SciPy and Newcombe's own example, and what they must always satisfy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from shoal.attack import Attack, Rate
from shoal.results.attack_results import AttackResult

pytestmark = pytest.mark.requirement("R-04")


@st.composite
def rates(draw: st.DrawFn) -> Rate:
    trials = draw(st.integers(1, 5000))
    return Rate(draw(st.integers(0, trials)), trials)


def attack(success: Rate, baseline: Rate, control: Rate | None = None, *, claims_only: bool = False) -> Attack:
    return Attack("linking", "Linking", "age", success, baseline, control, claims_only=claims_only)


@given(rates())
def test_wilson_as_scipy_has_it(rate: Rate) -> None:
    expected = binomtest(int(rate.right), rate.trials).proportion_ci(0.95, method="wilson")
    assert rate.interval == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(rates())
def test_the_interval_holds_the_share_and_lies_between_0_and_1(rate: Rate) -> None:
    low, high = rate.interval
    assert 0 <= low <= rate.share + 1e-12
    assert rate.share - 1e-12 <= high <= 1


@given(rates())
def test_more_trials_make_the_interval_narrower(rate: Rate) -> None:
    more = Rate(rate.right * 4, rate.trials * 4)
    assert more.interval[1] - more.interval[0] < rate.interval[1] - rate.interval[0]


@given(rates())
def test_right_and_wrong_mirror_each_other(rate: Rate) -> None:
    low, high = Rate(rate.trials - rate.right, rate.trials).interval
    assert (1 - high, 1 - low) == pytest.approx(rate.interval)


def test_no_trial_tells_nothing() -> None:
    assert Rate(0, 0).share == 0
    assert Rate(0, 0).interval == (0, 1)
    assert not attack(Rate(0, 0), Rate(0, 0)).found


def test_newcombe_1998_method_10() -> None:
    """His first example: 56 of 70 against 48 of 80 differ by 0.2, from 0.0524 to 0.3339."""
    compared = attack(Rate(56, 70), Rate(48, 80))
    assert compared.excess == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert compared.found


@given(rates(), rates())
def test_the_difference_lies_in_its_interval_and_turns_with_the_sign(mine: Rate, other: Rate) -> None:
    low, high = attack(mine, other).excess
    gap = mine.share - other.share
    assert -1 - 1e-12 <= low <= gap + 1e-12
    assert gap - 1e-12 <= high <= 1 + 1e-12
    back = attack(other, mine).excess
    assert (-back[1], -back[0]) == pytest.approx((low, high), abs=1e-12)


@given(rates())
def test_what_equals_guessing_is_never_found(rate: Rate) -> None:
    same = attack(rate, rate)
    assert not same.found
    assert same.risk == 0


@given(rates(), rates(), rates())
def test_a_control_group_never_makes_an_attack_look_better(mine: Rate, guess: Rate, strangers: Rate) -> None:
    alone, compared = attack(mine, guess), attack(mine, guess, strangers)
    assert compared.risk <= alone.risk + 1e-12
    assert compared.yardstick.share == max(guess.share, strangers.share)


def test_false_claims_about_strangers_are_no_excuse() -> None:
    mine, guess, strangers = Rate(90, 100), Rate(1, 100), Rate(95, 100)
    assert not attack(mine, guess, strangers).found
    assert attack(mine, guess, strangers, claims_only=True).found


def test_risk_is_the_share_of_what_could_still_go_wrong() -> None:
    assert attack(Rate(60, 100), Rate(20, 100)).risk == pytest.approx(0.5)
    assert attack(Rate(10, 100), Rate(20, 100)).risk == 0
    assert attack(Rate(100, 100), Rate(100, 100)).risk == 0


def test_as_json() -> None:
    told = AttackResult.of(attack(Rate(56, 70), Rate(48, 80)).of_attribute("age").renamed("other", "Other")).to_dict()
    assert (told["attack"], told["title"], told["attribute"]) == ("other", "Other", "age")
    assert (told["success"]["right"], told["success"]["trials"], told["success"]["share"]) == (56, 70, 0.8)
    assert told["found"] is True
    assert told["control"] is None
    assert told["details"] == {}
