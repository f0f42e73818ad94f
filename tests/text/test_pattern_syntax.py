"""The tree of a pattern says of it what the engines say; what can't be read is said to be so."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.discover.recognisers import default_recognisers
from shoal.discover.recognisers.expressions import LinearError, is_whole, linear
from shoal.text.matching.pattern_syntax import Characters, Choice, Repeat, least_length, read_pattern, singles

pytestmark = pytest.mark.requirement("X-02")

ASCII = [chr(code) for code in range(128)]
MEMBERS = ["a", "Z", "0", "-", "^", "a-f", "0-9", "!-/", r"\d", r"\W", r"\s", r"\]", r"\\", r"\x1f", r"\t", ".", "("]
ATOMS = ["a", "é", r"\.", r"\x41", ".", r"\d", "[a-z]", "[^0-9]", "(?:ab|c)", "(x)", "(?i:y|)", "(?:z)"]
TIMES = ["", "?", "*", "+", "{2}", "{0,3}", "{1,}", "+?", "{2,4}?"]


@given(st.booleans(), st.lists(st.sampled_from(MEMBERS), min_size=1, max_size=4))
def test_a_class_holds_what_it_matches(negated: bool, members: list[str]) -> None:
    members = [one for one in members if one != "-"] + ["-"] * ("-" in members)
    if not negated and members[0] == "^":
        members = [r"\^", *members[1:]]
    pattern = f"[{'^' * negated}{''.join(members)}]"
    read = read_pattern(pattern)
    assert read is not None
    (characters,) = read
    assert isinstance(characters, Characters)
    compiled = linear(pattern)
    assert [sign for sign in ASCII if sign in characters] == [
        sign for sign in ASCII if is_whole(compiled, sign.encode())
    ]


@settings(max_examples=200)
@given(st.data(), st.lists(st.tuples(st.sampled_from(ATOMS), st.sampled_from(TIMES)), max_size=4))
def test_no_match_is_shorter_and_none_has_other_characters(data: st.DataObject, parts: list[tuple[str, str]]) -> None:
    pattern = "".join(atom + times for atom, times in parts)
    read = read_pattern(pattern)
    assert read is not None
    match = data.draw(st.from_regex(re.compile(pattern, re.ASCII), fullmatch=True))
    assert len(match) >= least_length(read)
    if "(?i" not in pattern:
        known = [one for one in singles(read) if isinstance(one, Characters)]
        assert all(any(sign in one for one in known) for sign in match)


def test_alternatives_groups_and_repeats_stand_where_they_were() -> None:
    read = read_pattern(r"a|(?P<value>[0-9]{2,})?\bx")
    assert read is not None
    (choice,) = read
    assert isinstance(choice, Choice)
    assert [least_length(branch) for branch in choice.branches] == [1, 1]
    repeat = choice.branches[1][0]
    assert isinstance(repeat, Repeat)
    assert (repeat.low, repeat.high) == (0, 1)
    assert least_length(repeat.inner) == 2


@pytest.mark.parametrize(
    "pattern",
    ["(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", r"(a)\1", "a++", "(?>a)", r"\pL", r"[[:alpha:]]", "a{,3}", "*a", "a**",
     "a{2}{3}", r"\b?", "(a", "a)", "[a", "[b-a]", "a{3,2}", "\\", r"\x{41}", r"\xg", "(?x: a)", "(?P=name)", r"[\b]",
     r"\Q.\E", "(" * 200 + ")" * 200],
)  # fmt: skip
def test_what_is_not_read_is_said_to_be_so(pattern: str) -> None:
    assert read_pattern(pattern) is None


def test_every_recogniser_can_be_read() -> None:
    expressions = [
        expression
        for recogniser in default_recognisers()
        if recogniser.text
        for expression in (recogniser.text.expression, *([recogniser.text.labelled] if recogniser.text.after else ()))
    ]
    assert len(expressions) > 100
    assert [expression for expression in expressions if read_pattern(expression) is None] == []


@settings(max_examples=300)
@given(st.text(r"ab0[](){}|\.^$*+?-,:i<>P=dwbx1", max_size=12))
def test_whatever_is_read_is_a_pattern(pattern: str) -> None:
    """Of RE2; so nothing is read that no engine would look for."""
    if read_pattern(pattern) is not None:
        try:
            linear(pattern)
        except LinearError as error:
            assert "size" in str(error) or "duplicate" in str(error)  # too large, or a name twice
