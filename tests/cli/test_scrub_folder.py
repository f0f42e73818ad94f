"""A tree in, a tree out: what can't be scrubbed is never in it, and is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Call

pytestmark = pytest.mark.requirement("D-02")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    (folder / "inner" / "asha_rao").mkdir(parents=True)
    (folder / "letter.txt").write_text("Write to asha@clinic.in.\n", encoding="utf-8")
    (folder / "inner" / "asha_rao" / "app.log").write_text("mail=asha@clinic.in ok\n", encoding="utf-8")
    (folder / "inner" / "data.json").write_text('{"to": "asha@clinic.in"}', encoding="utf-8")
    (folder / "empty.txt").touch()
    (folder / "outside").symlink_to(tmp_path)
    return folder


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()}


def test_a_tree_is_written_as_it_was(call: Call, tree: Path, tmp_path: Path) -> None:
    before = files(tree)
    done = call("scrub", "papers", "-o", "clean", "--report", "report.json")
    assert done.code == 0, done.stderr
    assert files(tmp_path / "clean") == {
        "letter.txt": "Write to [EMAIL].\n",
        "inner/asha_rao/app.log": "mail=[EMAIL] ok\n",
        "inner/data.json": '{"to": "[EMAIL]"}',
        "empty.txt": "",
    }
    assert "left out: outside: is a link" in done.stderr
    assert "1 file(s) or folder(s) may tell of people" in done.stderr
    assert files(tree) == before
    assert '"document": "inner/asha_rao/app.log"' in (tmp_path / "report.json").read_text(encoding="utf-8")


def test_what_nobody_reads_is_left_out_and_changes_the_verdict(call: Call, tree: Path, tmp_path: Path) -> None:
    (tree / "photo.bin").write_bytes(b"\0\1\2")
    (tree / "broken.docx").write_bytes(b"PK\3\4")
    done = call("scrub", "papers", "-o", "clean", "--json")
    assert done.code == 1
    assert {one["path"] for one in done.found["left_out"]} == {"photo.bin", "broken.docx", "outside"}
    assert not {"photo.bin", "broken.docx"} & files(tmp_path / "clean").keys()
    assert "letter.txt" in files(tmp_path / "clean")


@pytest.mark.parametrize("target", ["papers", "papers/clean", ".", "papers/../papers/inner"])
def test_the_tree_that_is_read_is_never_written_to(call: Call, tree: Path, target: str) -> None:
    before = files(tree)
    refused = call("scrub", "papers", "-o", target)
    assert refused.code == 2
    assert files(tree) == before


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize("more", [[], ["--in-place"], ["papers/letter.txt", "-o", "clean"]])
def test_a_folder_goes_alone_to_another_folder(call: Call, tmp_path: Path, more: list[str]) -> None:
    assert call("scrub", "papers", *more).code == 2
    assert not (tmp_path / "clean").exists()


def test_what_is_there_is_not_overwritten(call: Call, tree: Path, tmp_path: Path) -> None:
    (tmp_path / "clean").mkdir()
    (tmp_path / "clean" / "mine.txt").write_text("keep", encoding="utf-8")
    assert call("scrub", "papers", "-o", "clean").code == 2
    assert files(tmp_path / "clean") == {"mine.txt": "keep"}
