"""Edit rules as a policy says them."""

from __future__ import annotations

import pytest

from shoal.errors import PolicyError
from shoal.policy import Policy

POLICY = """
shoal: 1
name: hospital
attributes:
  name: {role: direct}
  sex: {role: quasi}
  ward: {role: sensitive, technique: permute}
rules:
"""


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (
            "{name: a, never: \"sxe = 'm'\"}",
            "line 9, column 15: rules.0.never: there is no attribute 'sxe'; did you mean",
        ),
        ("{name: a, never: \"name = 'm'\", on_violation: refuse}", "'name' is not released, so nobody could see"),
        ("{name: a, never: 'sum(age) > 3'}", "looks at other records"),
        ("{name: a, never: 'sex ='}", "not an expression"),
        ("{name: a, nevr: \"sex = 'm'\"}", "unknown parameter 'nevr'; did you mean 'never'"),
        ("{name: a, never: \"sex = 'm'\", on_violation: ignore}", "on_violation: has to be 'report', 'refuse' or"),
    ],
)
def test_a_rule_that_can_not_be_kept_is_refused_with_its_line(rule: str, said: str) -> None:
    with pytest.raises(PolicyError) as raised:
        Policy.from_text(f"{POLICY}  - {rule}\n")
    assert said in str(raised.value)


def test_two_rules_of_one_name_are_refused() -> None:
    rule = "  - {name: a, never: \"sex = 'm'\"}\n"
    with pytest.raises(PolicyError, match="another rule is called 'a' too"):
        Policy.from_text(POLICY + rule + rule)


def test_columns_that_stand_under_the_rest_or_are_made_are_known() -> None:
    rest = POLICY.replace("  name: {role: direct}", '  "*": suppress')
    rest = rest.replace(
        "{role: quasi}", "{role: quasi, technique: {combine: {into: both, expression: \"sex || 'x'\"}}}"
    )
    rest = rest.replace("rules:", "  both: {role: quasi}\nrules:")
    rules = "  - {name: a, never: \"name = 'm'\"}\n  - {name: b, never: \"both = 'm'\", on_violation: refuse}\n"
    assert [rule.columns for rule in Policy.from_text(rest + rules).rules] == [("name",), ("both",)]


def test_an_aggregated_table_has_no_record_that_could_be_refused() -> None:
    text = POLICY.replace("  ward: {role: sensitive, technique: permute}", "  ward: {role: insensitive}")
    text += (
        "  - {name: a, never: \"sex = 'm'\", on_violation: refuse}\naggregate: {by: [sex], measures: {people: count}}\n"
    )
    with pytest.raises(PolicyError, match="there are none in an aggregated table"):
        Policy.from_text(text)
