"""Columns that a policy lists are named once; else a library would stumble over the second one."""

from __future__ import annotations

import pytest

from shoal.errors import PolicyError
from shoal.policy import Policy

pytestmark = pytest.mark.requirement("V-05")
POLICY = """\
shoal: 1
name: twice
attributes:
  age: {role: quasi}
  kind: {role: sensitive%s}
  share: {role: insensitive%s}
  "*": suppress
"""


@pytest.mark.parametrize(
    ("of_kind", "of_share", "further"),
    [
        ("", "", "sample: {fraction: 0.5, within: [age, age]}"),
        (", technique: {pram: {keep: 0.5, within: [age, age]}}", "", ""),
        ("", ", technique: {noise: {correlated: {with: [age, age], share: 0.1}}}", ""),
        ("", ", technique: {permute: {within: [age, age]}}", ""),
        ("", ", technique: {microaggregate: {k: 3, with: [age, age]}}", ""),
        ("", "", "privacy: [{k_anonymity: {k: 2, attributes: [age, age]}}]"),
        ("", "", "anatomise: {sensitive: [kind, kind], l: 2}\nshuffle_rows: true"),
        ("", "", "suppress_records: {outliers: {columns: [age, age], iqr: 3}}"),
        ("", "", "aggregate: {by: [age, age]}"),
        ("", "", "read_back: {accept: [{columns: [kind, kind], tells: age, because: known to all}]}"),
    ],
)
def test_a_column_that_is_listed_twice_is_refused(of_kind: str, of_share: str, further: str) -> None:
    text = POLICY % (of_kind, of_share) + further
    with pytest.raises(PolicyError, match="a column is named once"):
        Policy.from_text(text)
    Policy.from_text(text.replace("[age, age]", "[age]").replace("[kind, kind]", "[kind]"))
