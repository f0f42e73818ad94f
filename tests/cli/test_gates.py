"""Gates: the exit code, what CI systems read, and a JUnit file that is whole or not there."""

from __future__ import annotations

from math import inf
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from shoal.cli.terminal.ci_gates import finish, in_words, refuse_junit, write_junit
from shoal.errors import TargetError
from shoal.privacy import ModelFinding

pytestmark = pytest.mark.requirement("R-04")

MET, MISSED = ModelFinding("linking", 0.05, 0.01, met=True), ModelFinding("homogeneity of ill", 0.05, 0.5, met=False)
ABSENT = ModelFinding("membership", 0.5, inf, met=False)


@pytest.fixture(autouse=True)
def outside_of_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)


def read(path: Path) -> ElementTree.Element:
    return ElementTree.parse(path).getroot()  # noqa: S314  # written by the code under test


def test_all_met_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    finish("shoal attack", [MET], None)
    finish("shoal attack", [], None)
    assert capsys.readouterr() == ("", "")


def test_what_is_missed_is_said_once_and_ends_with_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended:
        finish("shoal attack", [MET, MISSED, ABSENT], None)
    assert ended.value.exit_code == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines() == [
        "not met: homogeneity of ill: required 0.05, found 0.5",
        "not met: membership: required 0.5, no figure could be found",
    ]


def test_annotations_where_they_are_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    odd = ModelFinding("ill\n::error::100%", 1, 2, met=False)
    with pytest.raises(typer.Exit):
        finish("shoal attack a:b,c\n", [MET, odd], None)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines() == [
        "::error title=shoal attack a%3Ab%2Cc%0A::ill%0A::error::100%25: required 1, found 2"
    ]


def test_junit_has_a_case_for_each_figure(tmp_path: Path) -> None:
    write_junit("shoal attack", [MET, MISSED, ABSENT], tmp_path / "out.xml")
    suite = read(tmp_path / "out.xml")
    assert (suite.tag, suite.get("name")) == ("testsuite", "shoal attack")
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    assert [case.get("name") for case in suite] == ["linking", "homogeneity of ill", "membership"]
    said = [failure.get("message") for case in suite for failure in case]
    assert said == [in_words(MISSED), in_words(ABSENT)]
    assert [path.name for path in tmp_path.iterdir()] == ["out.xml"]


@given(st.text(), st.text())
def test_junit_can_be_read_whatever_a_column_is_called(
    tmp_path_factory: pytest.TempPathFactory, title: str, name: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.xml"
    write_junit(title, [ModelFinding(name, 1, 2, met=False)], path)
    (case,) = read(path)
    assert case.get("name") == "".join(each if each.isprintable() else "\ufffd" for each in name)


def test_junit_that_can_not_be_written(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="its folder does not exist"):
        refuse_junit(tmp_path / "absent" / "out.xml")
    (tmp_path / "folder").mkdir()
    with pytest.raises(TargetError, match="is a folder"):
        refuse_junit(tmp_path / "folder")
    refuse_junit(None)
    refuse_junit(tmp_path / "out.xml")
    with pytest.raises(TargetError, match="can't be written"):
        write_junit("x", [MET], tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_junit_is_written_before_the_command_ends(tmp_path: Path) -> None:
    (tmp_path / "out.xml").write_text("an older one")
    with pytest.raises(typer.Exit):
        finish("x", [MISSED], tmp_path / "out.xml")
    assert read(tmp_path / "out.xml").get("failures") == "1"
