"""PDPC annex D: its tables, its formula, and the verdict in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.measurement.risk.reidentification import (
    Controls,
    Harm,
    Motive,
    acquaintance_probability,
    assess,
)
from shoal.results.risk_results import AssessmentResult

pytestmark = pytest.mark.requirement("R-02")

CHANCE = st.floats(0, 1)


@pytest.mark.parametrize(
    ("controls", "low", "medium", "high"),
    [("high", 0.03, 0.05, 0.1), ("medium", 0.2, 0.25, 0.3), ("low", 0.4, 0.5, 0.6), ("none", 1.0, 1.0, 1.0)],
)
def test_insider_attacks_by_motive_and_controls_are_those_of_the_guide(
    controls: str, low: float, medium: float, high: float
) -> None:
    found = [assess(1, harm="low", motive=motive, controls=controls).parts["insider"] for motive in Motive]
    assert found == [low, medium, high]


@pytest.mark.parametrize(("harm", "threshold"), [("low", 0.2), ("medium", 0.1), ("high", 0.01)])
def test_thresholds_by_harm_are_those_of_the_guide(harm: str, threshold: float) -> None:
    assert assess(3, harm=harm, motive="low", controls="high").threshold == threshold


def test_an_assessment_by_hand() -> None:
    """k = 5, a motivated insider under medium controls (0.3), acquaintances 0.4, breaches 0.27: 0.4/5 = 0.08."""
    found = assess(5, harm="medium", motive="high", controls="medium", acquaintance=0.4, breach=0.27)
    assert found.parts == {"insider": 0.3, "acquaintance": 0.4, "breach": 0.27}
    assert (found.attempt, found.success, found.within) == (0.4, 0.2, True)
    assert found.probability == pytest.approx(0.08)
    assert found.words == (
        "The probability of re-identification is 0.08, which is within the threshold of 0.1 for medium potential harm.",
        "Every person is among at least 5 who look alike, so an attempt succeeds with at most 1/5.",
        "The likeliest attempt is recognition by somebody who knows a person in the table, with a probability of 0.4.",
        "The PDPC guide, annex D, was followed: the probability may be as high as the threshold.",
    )
    assert AssessmentResult.model_validate(found).to_dict()["probability"] == found.probability


@given(st.integers(1, 1000), st.sampled_from(Harm), st.sampled_from(Motive), st.sampled_from(Controls), CHANCE, CHANCE)
def test_the_likeliest_attempt_counts_and_a_larger_k_never_harms(
    k: int, harm: Harm, motive: Motive, controls: Controls, acquaintance: float, breach: float
) -> None:
    found = assess(k, harm=harm, motive=motive, controls=controls, acquaintance=acquaintance, breach=breach)
    larger = assess(k + 1, harm=harm, motive=motive, controls=controls, acquaintance=acquaintance, breach=breach)
    assert found.probability == pytest.approx(found.attempt / k)
    assert found.attempt == max(found.parts["insider"] or 0, acquaintance, breach)
    assert larger.probability <= found.probability
    assert larger.within >= found.within


@pytest.mark.parametrize(("k", "motive", "harm"), [(3, "high", "medium"), (30, "high", "high"), (5, "low", "low")])
def test_exactly_at_the_threshold_is_within(k: int, motive: str, harm: str) -> None:
    controls = "none" if motive == "low" else "medium"
    assert assess(k, harm=harm, motive=motive, controls=controls).within
    assert not assess(k - 1, harm=harm, motive=motive, controls=controls).within


def test_what_is_not_given_is_said_to_be_left_out() -> None:
    words = assess(3, harm="low", motive="low", controls="high").words
    assert words[-2:] == (
        "Not assessed: recognition by somebody who knows a person in the table.",
        "Not assessed: a data breach at the recipient.",
    )


def test_one_person_alone_is_taken_to_be_found_and_nobody_is_not() -> None:
    alone = assess(1, harm="low", motive="low", controls="none")
    assert (alone.probability, alone.within) == (1.0, False)
    assert "alone in their class" in alone.words[1]
    nobody = assess(0, harm="high", motive="high", controls="none")
    assert (nobody.probability, nobody.success, nobody.within) == (0.0, 0.0, True)
    assert "No record" in nobody.words[1]


def test_own_figures_stand_in_for_the_guides() -> None:
    found = assess(2, harm="low", motive="low", controls="none", insider=0.1, threshold=0.05)
    assert (found.probability, found.within) == (0.05, True)


def test_acquaintances_as_el_emam_reckons_them() -> None:
    """One in a hundred has it; two acquaintances: 1 − 0.99²."""
    assert acquaintance_probability(0.01, 2) == pytest.approx(0.0199)
    assert acquaintance_probability(0.01) == pytest.approx(1 - 0.99**150)
    assert (acquaintance_probability(0), acquaintance_probability(1), acquaintance_probability(1, 0)) == (0, 1, 0)


def test_wrong_use_is_told() -> None:
    with pytest.raises(InputError, match="motive: 'hihg' is none of low, medium, high; did you mean 'high'"):
        assess(3, harm="low", motive="hihg", controls="none")
    with pytest.raises(InputError, match="controls: 'some'"):
        assess(3, harm="low", motive="low", controls="some")
    with pytest.raises(InputError, match="breach: 27 is no probability"):
        assess(3, harm="low", motive="low", controls="none", breach=27)
    for k in (-1, True, 2.5):
        with pytest.raises(InputError, match="whole number"):
            assess(k, harm="low", motive="low", controls="none")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="fewer than 0"):
        acquaintance_probability(0.5, -1)


@pytest.mark.parametrize(("k", "motive", "harm"), [(3, "high", "medium"), (30, "high", "high"), (5, "low", "low")])
def test_meity_asks_for_less_than_the_threshold(k: int, motive: str, harm: str) -> None:
    """MeitY, 3.2.1, step 13; the same cases are within the threshold by the PDPC guide."""
    controls = None if motive == "low" else "medium"
    found = assess(k, harm=harm, motive=motive, controls=controls, procedure="meity")
    assert not found.within
    assert "which is not less than the threshold" in found.words[0]
    assert "has to be less than the threshold" in found.words[3]
    assert assess(k + 1, harm=harm, motive=motive, controls=controls, procedure="meity").within
    assert assess(k, harm=harm, motive=motive, controls=controls, procedure="pdpc").within


def test_what_is_unsaid_of_controls_makes_an_attempt_certain() -> None:
    found = assess(4, harm="low", motive="low", controls=None)
    assert (found.attempt, AssessmentResult.model_validate(found).to_dict()["controls"]) == (1.0, None)
