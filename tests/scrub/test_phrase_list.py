"""Lists of one's own: what always goes, what always stays."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from shoal.errors import InputError, SourceError
from shoal.scrub.phrase_list import PhraseList, PhraseLists, phrases_from
from shoal.scrub.scrubber import Scrubber, standard_annotator

pytestmark = pytest.mark.requirement("D-10")

TEXT = "Ask Marie Curie about Project Heron at the Curie ward, or write to marie@example.org."


def scrubbed(text: str, *, allow: tuple[str, ...] = (), deny: tuple[str, ...] = (), **options: object) -> str:
    lists = PhraseLists.of(allow, deny)
    annotator = standard_annotator(deny=lists.deny)
    return Scrubber(annotator, allow=lists.allow, **options).scrub(text).text  # type: ignore[arg-type]


def test_denied_phrases_go_in_any_case_as_whole_words() -> None:
    assert scrubbed("PROJECT heron, not herons.", deny=("Project Heron", "heron")) == "[LISTED], not herons."
    assert "[LISTED]" in scrubbed(TEXT, deny=("project heron",), types=frozenset({"email"}))
    assert scrubbed("(C++ is not C)", deny=("c++",)) == "([LISTED] is not C)"


def test_allowed_phrases_stay_and_longer_findings_go() -> None:
    assert "marie@example.org" in scrubbed(TEXT, allow=("marie@example.org",))
    kept = scrubbed(TEXT, allow=("Curie ward", "Curie"))
    assert "Curie ward" in kept
    assert "Marie Curie" not in kept


def test_scrubbing_again_changes_nothing() -> None:
    lists = {"allow": ("Curie ward",), "deny": ("listed", "Project Heron")}
    once = scrubbed(TEXT, **lists)
    assert scrubbed(once, **lists) == once


def test_a_phrase_can_not_stay_and_go() -> None:
    with pytest.raises(InputError, match=r"1 phrase\(s\) are to stay and to go"):
        PhraseLists.of(["Heron ", "a"], ["heron"])
    assert PhraseList.of(["", "  "]) is None


def test_a_list_comes_from_a_file(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("# wards\nCurie ward\n\n  Heron\n", encoding="utf-8")
    assert phrases_from([str(words), "Mercury"], "allow") == ["Curie ward", "Heron", "Mercury"]
    with pytest.raises(SourceError, match="no such list"):
        phrases_from(["lost.txt"], "deny")
    words.write_bytes(b"\xff\xfe")
    with pytest.raises(SourceError, match="UTF-8"):
        phrases_from([str(words)], "deny")


def test_a_list_travels_to_other_processes() -> None:
    listed = PhraseList.of(["Heron"])
    assert listed is not None
    listed.ranges("heron")
    assert pickle.loads(pickle.dumps(listed)) == listed  # noqa: S301  # our own
