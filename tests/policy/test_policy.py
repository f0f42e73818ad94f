"""Policies: what they accept, what they refuse, and that every problem is named where it stands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import PolicyError, PolicyProblem
from shoal.policy import PRESETS, Policy, UseCase, warnings_in
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.schema import Role
from shoal.techniques.suppression.mask import Mask

GOOD = """\
shoal: 1
name: clinic
attributes:
  name: {role: direct}
  aadhaar: {role: direct, technique: {mask: {keep_last: 4, char: "x"}}}
  age: {role: quasi, hierarchy: {intervals: {widths: [5, 10, 20], origin: 0}}}
  salary: {role: insensitive, technique: [{round: {base: 100}}, {noise: {laplace: {scale: 50}}}]}
  "*": suppress
privacy:
  - k_anonymity: {k: 5}
solve: {suppression_limit: 0.05, levels: {age: [0, 3]}}
shuffle_rows: true
sample: {fraction: 0.5}
"""


def problems(text: str) -> tuple[PolicyProblem, ...]:
    with pytest.raises(PolicyError) as caught:
        Policy.from_text(text)
    return caught.value.problems


def test_a_good_policy_is_read_as_written() -> None:
    policy = Policy.from_text(GOOD)
    assert policy.attributes["aadhaar"].technique == (Mask(keep_last=4, char="x"),)
    assert [step.key for step in policy.attributes["salary"].steps] == ["round", "noise"]
    assert [step.key for step in policy.attributes["name"].steps] == ["suppress"]
    assert policy.quasi_identifiers == ("age",)
    assert policy.models == (KAnonymity(k=5),)
    assert set(policy.table_steps) == {"sample", "shuffle_rows"}
    assert policy.solve.levels == {"age": (0, 3)}
    assert policy.attributes["*"].role is Role.DIRECT


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("shoal: 1", "shoal: 2", 1, "has to be 1"),
        ("name: clinic", "name: clinic\nsorce: x.csv", 3, "unknown key 'sorce'; did you mean 'source'?"),
        ("{mask:", "{maks:", 5, "unknown technique 'maks'; did you mean 'mask'?"),
        ("keep_last", "keep_lats", 5, "unknown parameter 'keep_lats'; did you mean 'keep_last'?"),
        ("intervals", "interval", 6, "unknown hierarchy 'interval'; did you mean 'intervals'?"),
        ("[5, 10, 20]", "[5, 7]", 6, "multiple"),
        ("role: quasi", "role: kwasi", 6, "direct"),
        ("{round: {base: 100}}", "{round: {base: 0}}", 7, "above 0"),
        ("k_anonymity", "k_anonimity", 10, "unknown privacy model 'k_anonimity'; did you mean 'k_anonymity'?"),
        ("{k: 5}", "{k: 0}", 10, "at least 1"),
        ("{k: 5}", "{k: five}", 10, "whole number"),
        ("  - k_anonymity: {k: 5}", "  k_anonymity: {k: 5}", 9, "privacy: has to be a list"),
        ("levels: {age: [0, 3]}", "levels: 2", 11, "has to be a mapping"),
        ("suppression_limit: 0.05", "suppression_limit: 2", 11, "at most 1"),
        ("age: [0, 3]", "age: [3, 0]", 11, "crossed"),
        ("age: [0, 3]", "aeg: [0, 3]", 11, "did you mean 'age'?"),
        ("fraction: 0.5", "fraction: 1.5", 13, "at most 1"),
        ("fraction", "fractoin", 13, "unknown parameter 'fractoin'; did you mean 'fraction'?"),
        ('"*": suppress', '"*": {role: insensitive}', 8, "can only be suppressed"),
        ("  name: {role: direct}", "  name: {role: direct}\n  name: {role: quasi}", 5, "stands twice"),
        (
            "role: insensitive, technique",
            "role: insensitive, hierarchy: {rare: {minimum: 3}}, technique",
            7,
            "is used only",
        ),
    ],
)
def test_every_problem_is_named_where_it_stands(old: str, new: str, line: int, says: str) -> None:
    assert old in GOOD
    found = problems(GOOD.replace(old, new))
    assert [problem for problem in found if problem.line == line and says in str(problem)], found


def test_all_problems_come_at_once_in_the_order_of_the_file() -> None:
    text = GOOD.replace("{mask:", "{maks:").replace("{k: 5}", "{k: 0}").replace("fraction: 0.5", "fraction: 7")
    assert [problem.line for problem in problems(text)] == [5, 10, 13]


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "just words", "a: [", "a: &x [*x]\n", "\x00"])
def test_what_is_no_policy_is_refused(text: str) -> None:
    assert problems(text)


@given(st.text(max_size=60))
def test_any_text_gives_a_policy_or_problems(text: str) -> None:
    try:
        Policy.from_text(text)
    except PolicyError as error:
        assert error.problems


def test_words_that_yaml_1_1_takes_for_booleans_and_octals_stay_words() -> None:
    policy = Policy.from_text(
        GOOD.replace("{rare: {minimum: 3}}", "").replace(
            "{intervals: {widths: [5, 10, 20], origin: 0}}", "{taxonomy: {tree: {Answers: [yes, no, on, 011]}}}"
        )
    )
    assert '"no"' in policy.attributes["age"].hierarchy.model_dump_json()
    assert '"011"' in policy.attributes["age"].hierarchy.model_dump_json()


def test_the_schema_for_editors_is_json_and_knows_every_technique() -> None:
    schema = Policy.json_schema()
    text = json.dumps(schema)
    for word in ("mask", "k_anonymity", "intervals", "shuffle_rows", "suppression_limit"):
        assert f'"{word}"' in text
    assert "table" not in schema["properties"]


@pytest.mark.requirement("G-02")
def test_a_use_case_brings_its_k() -> None:
    bare = GOOD.replace("privacy:\n  - k_anonymity: {k: 5}\n", "")
    for use_case, preset in PRESETS.items():
        policy = Policy.from_text(bare.replace("name: clinic", f"name: clinic\nuse_case: {use_case}"))
        assert policy.models == (() if preset.k is None else (KAnonymity(k=preset.k),))
    assert PRESETS[UseCase.EXTERNAL_SHARING].k == 5


@pytest.mark.requirement("G-02")
def test_warnings_say_what_falls_short_of_the_use_case() -> None:
    low = Policy.from_text(
        GOOD.replace("name: clinic", "name: clinic\nuse_case: external-sharing").replace("k: 5", "k: 3")
    )
    assert warnings_in(low)[-1] == "k = 3 is below the 5 that external-sharing aims at"
    test_data = GOOD.replace("name: clinic", "name: clinic\nuse_case: test-data")
    untouched = Policy.from_text(test_data.replace("privacy:", "  city: {role: insensitive}\nprivacy:"))
    assert "untouched: city" in warnings_in(untouched)[-1]


def test_a_released_direct_identifier_and_unprotected_quasi_identifiers_are_warned_of() -> None:
    assert "'aadhaar' names a person" in warnings_in(Policy.from_text(GOOD))[0]
    bare = Policy.from_text(GOOD.replace("privacy:\n  - k_anonymity: {k: 5}\n", ""))
    assert any("no privacy model" in warning for warning in warnings_in(bare))


@pytest.mark.requirement("V-05")
def test_a_password_in_a_policy_is_never_shown(tmp_path: Path) -> None:
    secret = "hunter2secret"  # noqa: S105
    text = GOOD.replace("name: clinic", f"name: clinic\nsource: {{url: 'postgresql://u:{secret}@h/d', tabel: t}}")
    (tmp_path / "policy.yaml").write_text(text)
    with pytest.raises(PolicyError) as caught:
        Policy.load(tmp_path / "policy.yaml")
    assert secret not in str(caught.value)
    fine = Policy.from_text(text.replace("tabel", "table"))
    assert secret not in repr(fine)
    assert secret not in str(fine.source)


@pytest.mark.requirement("T-22", "T-23", "T-29")
@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        (
            "{role: sensitive, technique: [{share: {parties: 3}}, {round: {base: 10}}]}",
            "share takes the column out of the table",
        ),
        (
            "{role: insensitive, technique: [{encrypt: {scheme: homomorphic}}, mask]}",
            "encrypt takes the column out of the table",
        ),
        (
            "{role: quasi, technique: {share: {parties: 3}}}",
            "a column that leaves the table is no quasi-identifier of it",
        ),
    ],
)
def test_a_column_that_leaves_the_table_leaves_it_last(attribute: str, said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        Policy.from_text(GOOD.replace("privacy:", f"  pay: {attribute}\nprivacy:"))


@pytest.mark.requirement("T-23", "T-29")
def test_no_model_looks_at_a_column_that_has_left_the_table() -> None:
    diverse = GOOD.replace("privacy:", "  pay: {role: sensitive, technique: {share: {parties: 3}}}\nprivacy:")
    with pytest.raises(PolicyError, match="'pay' has to be a sensitive attribute that is released"):
        Policy.from_text(
            diverse.replace("{k: 5}\n", "{k: 5}\n  - l_diversity: {attribute: pay, l: 2, kind: distinct}\n")
        )


def test_what_is_asked_is_said_in_words_that_need_no_python() -> None:
    wrong = (
        'shoal: 1\nname: "a/b"\nattributes: 5\nprivacy: []\n'
        "aggregate: {by: [age], measures: {bill: mean}, minimum: 1}\n"
    )
    with pytest.raises(PolicyError) as caught:
        Policy.from_text(wrong)
    said = {problem.path: problem.message for problem in caught.value.problems}
    assert said == {
        "name": "has to be up to 100 letters, digits, spaces, dots and dashes, with a letter or digit first",
        "attributes": "has to be a mapping: {name: value}, or each name on its own line",
        "aggregate.measures.bill": (
            "has to be 'count' or 'people', or a mapping: {name: value}, or each name on its own line"
        ),
        "aggregate.minimum": "has to be at least 2",
    }


def test_every_pattern_that_a_policy_is_held_against_has_words() -> None:
    from shoal.schema.validation_messages import WRITTEN

    patterns = set(re.findall(r'"pattern": "((?:[^"\\]|\\.)*)"', json.dumps(Policy.json_schema())))
    assert {json.loads(f'"{one}"') for one in patterns} <= set(WRITTEN)
    assert len(patterns) >= 3
