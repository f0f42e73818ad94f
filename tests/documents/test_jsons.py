"""JSON: values are scrubbed where they stand, and everything else stays to the character."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.marked import NUMBER, mark, scrub

from shoal import documents
from shoal.documents.cleaning_account import EditRecorder
from shoal.documents.json_files import cleaned, tokens
from shoal.errors import SourceError

TEXTS = st.text(max_size=8) | st.sampled_from([mark("a"), f"x {mark('b')}", mark("c") + "\n"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def by_hand(value: Any) -> Any:
    """The plain way: read it all, walk through it."""
    if isinstance(value, str):
        return scrub(value).text
    if isinstance(value, list):
        return [by_hand(one) for one in value]
    return {key: by_hand(one) for key, one in value.items()} if isinstance(value, dict) else value


@pytest.mark.requirement("X-05")
@given(VALUES, st.sampled_from([None, 0, 2]), st.booleans())
def test_like_reading_it_all_and_walking_through(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert json.loads(cleaned(text, EditRecorder(scrub), "x")) == by_hand(value)


@given(VALUES, st.sampled_from([None, 1, 4]))
def test_what_nobody_touches_stays_to_the_character(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    assert cleaned(text, EditRecorder(str), "x") == text


@given(VALUES)
def test_paths_lead_to_the_values(value: Any) -> None:
    for token in tokens(json.dumps(value), "x"):
        if token.kind in {"text", "number"} and '"' not in token.path:
            assert _at(value, token.path) == json.loads(token.raw)


def _at(value: Any, path: str) -> Any:
    for step in path[1:].replace("[", ".[").split(".")[1:]:
        value = value[int(step[1:-1])] if step.startswith("[") else value[step]
    return value


def test_odd_but_valid_documents() -> None:
    text = (
        f'{{ "a" :1.10, "a": "{mark("x")}",\t"big": 123456789012345678901234567890, '
        '"e": 1E400, "s": "\\u0051uillyfeather" }\n'
    )
    new = cleaned(text, EditRecorder(scrub), "x")
    assert new == (
        '{ "a" :1.10, "a": "[PERSON]",\t"big": 123456789012345678901234567890, "e": 1E400, "s": "[PERSON]" }\n'
    )


def test_numbers_that_are_identifiers() -> None:
    ledger = EditRecorder(scrub)
    assert cleaned(f'{{"id": {NUMBER}, "n": [1, 2.5]}}', ledger, "x") == '{"id": "[PERSON]", "n": [1, 2.5]}'
    to_number = EditRecorder(lambda text: text.replace(NUMBER, "100000000"))
    assert cleaned(f"[{NUMBER}]", to_number, "x") == "[100000000]"
    assert [(one.place, one.what) for one in ledger.account().cleaned] == [("$.id", "person")]


def test_a_key_is_context_and_stays() -> None:
    ledger = EditRecorder(lambda text: scrub(text.replace("phone: 5", "phone: [PHONE]")).text)
    assert cleaned(f'{{"phone": [5, "5"], "{mark("k")}": 5}}', ledger, "x") == (
        f'{{"phone": ["[PHONE]", "[PHONE]"], "{mark("k")}": 5}}'
    )
    assert [(one.what, one.count) for one in ledger.account().kept] == [("key that looks personal", 1)]


def test_a_personal_key_is_not_in_the_account() -> None:
    ledger = EditRecorder(scrub)
    cleaned(f'{{"{mark("k")}": {{"{mark("l")}": "{mark("x")}"}}}}', ledger, "x")
    assert [one.place for one in ledger.account().cleaned] == ["$.[PERSON].[PERSON]"]


def test_halves_of_characters_stay_escaped(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'["\\ud800 {mark("x")}", "é"]\n')
    documents.open(path).rewrite(path, path, scrub)
    assert path.read_text() == '["\\ud800 [PERSON]", "é"]\n'


@pytest.mark.parametrize(
    "text", ['{"a": 1', "{'a': 1}", "[NaN]", "[1,]", '{"a": 1} x', "[" * 100_000, "// hi\n[]", "01"]
)
def test_what_is_not_json_is_refused_without_being_quoted(text: str) -> None:
    with pytest.raises(SourceError) as caught:
        cleaned(text, EditRecorder(scrub), "file.json")
    assert len(str(caught.value)) < 60


def test_json_lines_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(f'{{"who": "{mark("a")}"}}\n\n{{"who": ["x", "{mark("b")}"]}}')
    account = documents.open(path).rewrite(path, path, scrub)
    assert path.read_text() == '{"who": "[PERSON]"}\n\n{"who": ["x", "[PERSON]"]}'
    assert [(one.place, one.count) for one in account.cleaned] == [("$.who", 1), ("$.who[]", 1)]
    path.write_text('{"a": 1}\n{"a": \n')
    with pytest.raises(SourceError, match="line 2: is not JSON"):
        documents.open(path).rewrite(path, path, scrub)
    assert path.read_text() == '{"a": 1}\n{"a": \n'


def test_places_and_labels(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": [{"b c": "x"}, 2], "": true}')
    pieces = [(piece.place, piece.text, piece.label) for piece in documents.open(path).texts(path)]
    assert ('$.a[0]."b c"', "x", "b c") in pieces
    assert ("$.a[1]", "2", "a") in pieces
    assert ("key below $", "b c", "") in pieces
