"""Policies made to harm, or merely odd: every one is a line with its place, at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.discover.recognisers.pack_files import recognisers_in
from shoal.errors import PolicyError, SourceError
from shoal.policy import Policy
from shoal.policy.load import read_policy
from shoal.policy.yaml_tree import read_tree
from shoal.schema.bounded_yaml import MAX_DEPTH, MAX_NODES

pytestmark = pytest.mark.requirement("V-05")

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"a{one}: &a{one} [{', '.join([f'*a{one - 1}'] * 9)}]" for one in range(1, 9)
)
POLICY = """\
shoal: 1
name: {name}
attributes:
  age: {{role: quasi}}
privacy: [{{k_anonymity: {{k: 2}}}}]
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"shoal: 1\n{BOMB}\n", f"more than {MAX_NODES:,} values"),
        ("shoal: 1\nname: " + "[" * 100_000, f"more than {MAX_DEPTH} levels"),
        ("shoal: 1\nname: " + "{a: " * 100_000, f"more than {MAX_DEPTH} levels"),
        ("shoal: 1\n" + "".join("  " * one + "a:\n" for one in range(200)), f"more than {MAX_DEPTH} levels"),
        ("a: &a [*a]\n", "contains itself"),
        ("a: 1\nb:\n  <<: {c: 1}\n", "shoal"),
        (POLICY.format(name="!!timestamp nonsense"), "line 2, column 1: name: a tag"),
        (POLICY.format(name="!!python/object/apply:os.system [echo]"), "name"),
        (POLICY.format(name="!!binary AAAA"), "a tag"),
        (POLICY.format(name="9" * 5000), "can't be read"),
        (POLICY.format(name="a\tb: c"), "not YAML"),
        ("1: 2\n[a, b]: 3\n", "a key must be a word"),
        ("shoal: 1\nname: \x00\n", "not YAML"),
    ],
)
def test_a_hostile_policy_is_a_line_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PolicyError, match=said):
        Policy.load(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "latin-1"])
def test_a_policy_in_another_encoding_is_no_policy(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("shoal: 1\nname: Übung\n", encoding=encoding)
    with pytest.raises(SourceError, match="not UTF-8"):
        read_policy(path)


def test_a_mark_at_the_start_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY.format(name="clinic"), encoding="utf-8-sig")
    assert Policy.load(path).name == "clinic"


def test_aliases_within_bounds_are_followed() -> None:
    tree = read_tree("a: &x [1, 2]\nb: [*x, *x]\n", source="a")
    assert tree.data == {"a": [1, 2], "b": [[1, 2], [1, 2]]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, "more than"),
        ("a: " + "[" * 100_000, "levels"),
        ("a: !!timestamp nonsense", "can't be read"),
        ("a: !!python/name:os.system", "is not YAML"),
        ("a: &a [*a]\n", "contains itself"),
    ],
)
def test_a_hostile_file_of_recognisers_is_a_line(text: str, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        recognisers_in(text, "mine.yaml")


@pytest.mark.parametrize(
    ("expression", "said"),
    [(" + ".join(["age"] * 20_000), "at most 4,000"), ("+".join(["a"] * 1900), "nested too deep")],
)
def test_an_expression_that_would_overflow_the_stack_is_refused(expression: str, said: str) -> None:
    from shoal.schema.expressions import of_one_record

    with pytest.raises(ValueError, match=said):
        of_one_record(expression)


def test_a_policy_that_never_ends_is_refused() -> None:
    """A device has no size to be looked at."""
    with pytest.raises(SourceError, match="too large for a policy file"):
        read_policy(Path("/dev/zero"))
