"""Columns that a policy lists are named once; else a library would stumble over the second one."""

from __future__ import annotations

import pytest
from tests.support.policies import policy_text

from shoal.errors import PolicyError
from shoal.policy import Policy

pytestmark = pytest.mark.requirement("V-05")
TECHNIQUES = {
    "kind": ["{pram: {keep: 0.5, within: [age, age]}}"],
    "share": [
        "{noise: {correlated: {with: [age, age], share: 0.1}}}",
        "{permute: {within: [age, age]}}",
        "{microaggregate: {k: 3, with: [age, age]}}",
    ],
}
SETTINGS = [
    "sample: {fraction: 0.5, within: [age, age]}",
    "privacy: [{k_anonymity: {k: 2, attributes: [age, age]}}]",
    "anatomise: {sensitive: [kind, kind], l: 2}\nshuffle_rows: true",
    "suppress_records: {outliers: {columns: [age, age], iqr: 3}}",
    "aggregate: {by: [age, age]}",
    "read_back: {accept: [{columns: [kind, kind], tells: age, because: known to all}]}",
]


def text(rest: str = "", **techniques: str) -> str:
    further = {column: f"technique: {technique}" for column, technique in techniques.items()}
    return policy_text("twice.csv", rest, further, quasi="age", sensitive="kind", insensitive="share")


@pytest.mark.parametrize(
    "text",
    [
        *(text(**{column: technique}) for column, techniques in TECHNIQUES.items() for technique in techniques),
        *(text(setting) for setting in SETTINGS),
    ],
)
def test_a_column_that_is_listed_twice_is_refused(text: str) -> None:
    with pytest.raises(PolicyError, match="a column is named once"):
        Policy.from_text(text)
    Policy.from_text(text.replace("[age, age]", "[age]").replace("[kind, kind]", "[kind]"))
