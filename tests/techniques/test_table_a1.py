"""What techniques and models say of themselves: lines of ISO/IEC 20889, table A.1, and what follows from parameters."""

from __future__ import annotations

import pytest

from shoal.privacy import privacy_models
from shoal.schema import Role, ValueType
from shoal.techniques.base import ANY_ROLE, ANY_TYPE, Facts, Lowers, Missing, table_techniques, techniques

pytestmark = pytest.mark.requirement("T-28")

YES, PARTIALLY, NO = Lowers.YES, Lowers.PARTIALLY, Lowers.NO
NUMBERS = {ValueType.INTEGER, ValueType.DECIMAL}
DATES = {ValueType.DATE, ValueType.DATETIME}
TRUE, FALSE, RANDOM, STEADY = True, False, True, False

LINES = {
    "aggregate": (TRUE, STEADY, (YES, YES, YES), ANY_TYPE, ANY_ROLE),
    "anatomise": (TRUE, RANDOM, (NO, PARTIALLY, PARTIALLY), ANY_TYPE, {Role.SENSITIVE}),
    "code": (TRUE, STEADY, (NO, PARTIALLY, PARTIALLY), NUMBERS | DATES, ANY_ROLE),
    "combine": (TRUE, STEADY, (NO, PARTIALLY, PARTIALLY), ANY_TYPE, ANY_ROLE),
    "generalise": (TRUE, STEADY, (PARTIALLY, PARTIALLY, PARTIALLY), ANY_TYPE, ANY_ROLE),
    "itemset": (
        TRUE,
        STEADY,
        (PARTIALLY, PARTIALLY, PARTIALLY),
        {ValueType.TEXT, ValueType.INTEGER},
        ANY_ROLE - {Role.DIRECT},
    ),
    "mask": (TRUE, STEADY, (YES, PARTIALLY, NO), ANY_TYPE, ANY_ROLE),
    "microaggregate": (FALSE, STEADY, (NO, PARTIALLY, PARTIALLY), ANY_TYPE, ANY_ROLE),
    "noise": (FALSE, RANDOM, (PARTIALLY, PARTIALLY, PARTIALLY), NUMBERS | DATES, {Role.DIRECT, Role.QUASI}),
    "permute": (FALSE, RANDOM, (PARTIALLY, PARTIALLY, PARTIALLY), ANY_TYPE, {Role.DIRECT, Role.QUASI}),
    "pram": (
        FALSE,
        RANDOM,
        (PARTIALLY, PARTIALLY, PARTIALLY),
        {ValueType.TEXT, ValueType.BOOLEAN, ValueType.INTEGER},
        {Role.DIRECT, Role.QUASI, Role.SENSITIVE},
    ),
    "pseudonymise": (TRUE, STEADY, (NO, PARTIALLY, NO), ANY_TYPE, {Role.DIRECT}),
    "round": (TRUE, RANDOM, (NO, PARTIALLY, PARTIALLY), NUMBERS, ANY_ROLE),
    "sample": (TRUE, RANDOM, (PARTIALLY, PARTIALLY, PARTIALLY), ANY_TYPE, ANY_ROLE),
    "suppress": (TRUE, STEADY, (YES, PARTIALLY, NO), ANY_TYPE, ANY_ROLE),
    "suppress_records": (TRUE, STEADY, (PARTIALLY, PARTIALLY, PARTIALLY), ANY_TYPE, ANY_ROLE),
}
"""Truthful, random, what is lowered (singling out, linking, inference), value types, roles."""


def facts_of(key: str) -> Facts:
    found = techniques.get(key) or table_techniques.get(key)
    assert found is not None
    return found.facts


@pytest.mark.parametrize("key", LINES)
def test_lines(key: str) -> None:
    facts = facts_of(key)
    lowers = (facts.singling_out, facts.linking, facts.inference)
    assert (facts.truthful, facts.random, lowers, facts.types, facts.roles) == LINES[key]


@pytest.mark.parametrize("key", LINES)
def test_only_suppression_replaces_what_is_missing(key: str) -> None:
    assert facts_of(key).missing is (Missing.REPLACED if key == "suppress" else Missing.KEPT)


@pytest.mark.parametrize(
    ("key", "clause"), [("anatomise", "9.5"), ("combine", "9.6.4"), ("mask", "9.3.2"), ("suppress", "9.3.2")]
)
def test_clauses(key: str, clause: str) -> None:
    assert facts_of(key).clause == f"ISO/IEC 20889, {clause}"


MODELS = {
    "differential_privacy": (YES, YES, PARTIALLY),  # the line of the standard, which thinks of noise: records stay true
    "k_anonymity": (YES, PARTIALLY, NO),  # the line of the standard; the others follow from what they bound
    "maximum_risk": (YES, PARTIALLY, NO),
    "alpha_k": (YES, PARTIALLY, PARTIALLY),
    "ke_anonymity": (YES, PARTIALLY, PARTIALLY),
    "l_diversity": (YES, PARTIALLY, PARTIALLY),
    "p_sensitive": (YES, PARTIALLY, PARTIALLY),
    "beta_likeness": (PARTIALLY, PARTIALLY, PARTIALLY),
    "delta_disclosure": (PARTIALLY, PARTIALLY, PARTIALLY),
    "lkc": (PARTIALLY, PARTIALLY, PARTIALLY),
    "t_closeness": (PARTIALLY, PARTIALLY, PARTIALLY),
    "average_risk": (PARTIALLY, PARTIALLY, NO),
    "delta_presence": (PARTIALLY, PARTIALLY, NO),
    "k_map": (PARTIALLY, PARTIALLY, NO),
    "population_uniqueness": (PARTIALLY, PARTIALLY, NO),
    "sample_uniqueness": (PARTIALLY, PARTIALLY, NO),
}
"""What is lowered; records stay truthful, since models are reached by generalisation and suppression."""


def test_models_state_their_lines_too() -> None:
    stated = {key: model.properties for key, model in privacy_models}
    assert all(one.truthful for one in stated.values())
    assert {key: (one.singling_out, one.linking, one.inference) for key, one in stated.items()} == MODELS
