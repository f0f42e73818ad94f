"""Every recogniser of the files knows its values in text, and tells them from what looks alike."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

from shoal.discover.recognisers import Recogniser, default_recognisers, with_files
from shoal.errors import SourceError
from shoal.text.annotator import THRESHOLD
from shoal.text.matching.patterns import SURE, PatternFinder
from shoal.text.spans import Span

pytestmark = pytest.mark.requirement("D-03")

CASES = Path(__file__).resolve().parent.parent / "text" / "cases"
IN_TEXT = {each.key: each for each in default_recognisers() if each.text}


def load() -> Iterator[tuple[str, dict[str, str]]]:
    for file in sorted(CASES.glob("*.yaml")):
        yield from yaml.safe_load(file.read_text(encoding="utf-8")).items()


TABLE = dict(load())


def wanted(recogniser: Recogniser) -> set[str]:
    """The kinds of cases that a recogniser has to be shown by."""
    how = recogniser.text
    assert how
    kinds = {"valid", "lookalike"}
    kinds |= {"invalid"} if how.check else set()
    usual = how.checked if how.check else how.score
    return kinds | ({"context"} if how.context and usual < SURE else set())


def lacking(recognisers: dict[str, Recogniser], table: dict[str, dict[str, str]]) -> list[str]:
    return [
        f"{key}: {kind}"
        for key, each in recognisers.items()
        for kind in sorted(wanted(each))
        if kind not in table.get(key, {})
    ]


def test_every_recogniser_has_every_kind_of_case() -> None:
    assert lacking(IN_TEXT, TABLE) == []
    assert TABLE.keys() <= IN_TEXT.keys()


def test_a_case_that_lacks_is_noticed() -> None:
    assert lacking({"card": IN_TEXT["card"]}, {"card": {"valid": "", "lookalike": ""}}) == [
        "card: context",
        "card: invalid",
    ]


@cache
def patterns(key: str) -> PatternFinder:
    return PatternFinder((IN_TEXT[key],), least=0)


def spans(key: str, text: str) -> list[Span]:
    return list(patterns(key).find(text))


def marked(text: str) -> tuple[str, tuple[int, int]]:
    """The text without its marks, and where they were."""
    start, end = text.index("«"), text.index("»") - 1
    return text.replace("«", "").replace("»", ""), (start, end)


def score(key: str, text: str) -> float:
    plain, place = marked(text)
    found = {(span.start, span.end): span.score for span in spans(key, plain)}
    assert place in found, f"{found} in {plain!r}"
    return found[place]


def of_kind(kind: str) -> list[str]:
    return [key for key, cases in TABLE.items() if kind in cases]


@pytest.mark.parametrize("key", of_kind("valid"))
def test_valid_values_are_found_where_they_are(key: str) -> None:
    assert score(key, TABLE[key]["valid"]) > 0


@pytest.mark.parametrize("key", of_kind("invalid"))
def test_a_failed_check_rules_out(key: str) -> None:
    assert spans(key, TABLE[key]["invalid"]) == []


@pytest.mark.parametrize("key", of_kind("lookalike"))
def test_look_alikes_are_not_believed(key: str) -> None:
    assert [span for span in spans(key, TABLE[key]["lookalike"]) if span.score >= THRESHOLD] == []


@pytest.mark.parametrize("key", of_kind("context"))
def test_context_makes_surer(key: str) -> None:
    plain, (start, end) = marked(TABLE[key]["context"])
    alone = score(key, f"«{plain[start:end]}»")
    assert score(key, TABLE[key]["context"]) == pytest.approx(1 - (1 - alone) / 2)
    assert score(key, TABLE[key]["context"]) >= THRESHOLD


def value_of(key: str) -> str:
    plain, (start, end) = marked(TABLE[key]["valid"])
    return plain[start:end]


def values_in(key: str, text: str) -> dict[str, float]:
    return {text[span.start : span.end]: span.score for span in spans(key, text)}


@pytest.mark.parametrize("key", [key for key, each in IN_TEXT.items() if each.text and each.text.after])
def test_a_label_is_needed_and_any_of_its_languages_does(key: str) -> None:
    how, value = IN_TEXT[key].text, value_of(key)
    assert how
    assert spans(key, value) == []
    assert [label for label in how.after if value not in values_in(key, f"{label} {value}")] == []


@pytest.mark.parametrize("key", of_kind("context"))
def test_every_word_of_context_counts_in_any_of_its_languages(key: str) -> None:
    how, value = IN_TEXT[key].text, value_of(key)
    assert how
    alone = values_in(key, value)[value]
    surer = pytest.approx(1 - (1 - alone) / 2)
    assert [word for word in how.context if values_in(key, f"{word.strip()} {value}").get(value) != surer] == []


@pytest.mark.parametrize("key", [key for key, each in IN_TEXT.items() if each.text and each.text.avoid_after])
def test_every_word_that_rules_out_does(key: str) -> None:
    how, value = IN_TEXT[key].text, value_of(key)
    assert how
    assert [word for word in how.avoid_after if value in values_in(key, f"{word} {value}")] == []


OWN = """\
lists:
  wards: [Nightingale, Curie]
badge:
  title: a badge number
  role: direct
  because: worn in sight
  text: {pattern: '<wards>-[0-9]{3}', score: 0.8}
project:
  title: a project
  role: quasi
  because: colleagues know it
  text: {words: [Blue Heron, Red Kite], score: 0.7}
"""


@pytest.mark.requirement("D-10")
def test_own_patterns_and_dictionaries_by_file(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(OWN, encoding="utf-8")
    text = "Badge curie-007 of blue heron, not Curie-0071."
    found = PatternFinder(with_files(file)).find(text)
    assert {(span.type, text[span.start : span.end]) for span in found if span.by in ("badge", "project")} == {
        ("badge", "curie-007"),
        ("project", "blue heron"),
    }


@pytest.mark.requirement("D-10")
def test_an_own_entry_takes_the_place_of_ours(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("pan: {title: a pan, role: quasi, because: kitchens, text: {words: [wok]}}", encoding="utf-8")
    chosen = {each.key: each for each in with_files(file)}
    assert chosen["pan"].title == "a pan"
    assert len(chosen) == len(default_recognisers())


ENTRY = "x: {{title: an x, role: direct, because: so, {}}}"
REFUSED = {
    "text: {pattern: '(?<=a)b'}": "x.text: the pattern is refused: invalid perl operator",
    "text: {pattern: '(a)\\1'}": "x.text: the pattern is refused: invalid escape sequence",
    "text: {pattern: 'a*', edges: none}": "x.text: the pattern matches an empty text",
    "text: {pattern: a, avoid: ['(']}": "x.text: the avoid is refused: missing )",
    "text: {pattern: a, check: ibam}": "x.text.check: unknown check 'ibam'; did you mean 'iban'",
    "check: stdnum.os": "x.check: unknown check 'stdnum.os'",
    "check: os.system": "x.check: unknown check",
    "text: {pattern: a, score: 2}": "x.text.score: ",
    "txt: {}": "x.txt: ",
}


@pytest.mark.requirement("D-10")
@pytest.mark.parametrize("part", REFUSED)
def test_what_is_wrong_in_a_file_is_said_in_one_line(part: str, tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(ENTRY.format(part), encoding="utf-8")
    with pytest.raises(SourceError) as caught:
        with_files(file)
    assert f"own.yaml: {REFUSED[part]}" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["[1", "- a", "lists: 7\n", "lists: {a: b}\n"])
def test_files_of_another_form_are_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match=r"own\.yaml"):
        with_files(file)
    with pytest.raises(SourceError, match="can't be read"):
        with_files(tmp_path / "none.yaml")
