"""Files of recognisers of one's own: checked as a whole, with lines; their examples are tried."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.discover.recognisers import PROJECT_FILE, project_files
from shoal.discover.recognisers.own_files import checked_file, recognisers_with
from shoal.errors import PolicyError, SourceError
from shoal.text.recogniser_trials import try_examples

pytestmark = pytest.mark.requirement("D-10")

GOOD = r"""
lists: {wards: [Nightingale, Curie]}
badge:
  title: a staff badge number
  role: direct
  because: worn in sight
  pattern: '[A-Z]{2}[0-9]{6}'
  column: {names: [badge]}
  text: {score: 0.3, context: {en: [badge]}, avoid: ['XX[0-9]+']}
  examples: [Badge AB123456, "badge: zz000000"]
  counter_examples: [order AB123456, badge XX123456, badge AB12345]
bed:
  title: a bed
  role: quasi
  because: visitors know it
  pattern: 'CURIE-[0-9]{2}'
  examples: [Curie-07]
  counter_examples: [Curie-7]
"""
BAD = r"""
lists: {wards: []}
badge:
  title: a badge
  role: dirct
  becuse: so
  text: {pattern: '[A-Z]{2', score: 3}
bed: {title: a bed, role: quasi, because: so, pattern: '(a)\1'}
email: {title: x, role: direct, because: so, text: {pattern: '(?=a)'}}
email: 7
"""
LINES = [
    (2, "lists"),
    (3, "badge.because"),
    (5, "badge.role"),
    (6, "badge.becuse"),
    (7, "badge.text.score"),
    (8, "bed.pattern"),
    (10, "email"),
    (10, "email"),
]


def file(folder: Path, text: str, name: str = "own.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_every_problem_is_said_with_its_line(tmp_path: Path) -> None:
    checked = checked_file(file(tmp_path, BAD))
    assert [(one.line, one.path) for one in checked.problems] == LINES
    assert "did you mean 'because'" in str(checked.problems[3])
    with pytest.raises(PolicyError) as refused:
        recognisers_with([checked.path])
    assert len(refused.value.problems) == len(LINES)


@pytest.mark.parametrize(("text", "line"), [("a: [1\n", 2), ("- a\n", 1), ("a: &x [*x]\n", 1)])
def test_what_is_no_such_file_is_said(tmp_path: Path, text: str, line: int) -> None:
    assert [one.line for one in checked_file(file(tmp_path, text)).problems][:1] == [line]
    with pytest.raises(SourceError, match="can't be read"):
        checked_file(tmp_path / "none.yaml")


def test_the_examples_of_a_file_are_tried(tmp_path: Path) -> None:
    good = list(try_examples(checked_file(file(tmp_path, GOOD)).required().recognisers))
    assert [(one.key, one.text) for one in good if not one.passed] == []
    assert len(good) == 7
    wrong = GOOD.replace("Badge AB123456", "AB123456").replace("[Curie-7]", "[Curie-17]")
    failed = {one.text: one.why for one in try_examples(checked_file(file(tmp_path, wrong)).recognisers) if one.why}
    assert failed["Curie-17"] == "is found, and must not be"
    assert "has the form, but is believed with" in failed["AB123456"]


def test_own_entries_come_beside_ours_or_in_their_place(tmp_path: Path) -> None:
    assert recognisers_with([]) is None
    path = file(tmp_path, GOOD + "email: {title: ours no more, role: quasi, because: so}\n")
    checked, known = checked_file(path), recognisers_with([path])
    assert checked.replaced == ("email",)
    assert known is not None
    titles = {one.key: one.title for one in known}
    assert titles["email"] == "ours no more"
    assert {"badge", "bed", "iban"} <= titles.keys()


def test_the_projects_file_is_found_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert project_files(Path(), tmp_path) == ()
    file(tmp_path, GOOD, PROJECT_FILE)
    assert project_files(Path(), tmp_path) == (tmp_path / PROJECT_FILE,)
