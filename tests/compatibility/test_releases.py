"""Release folders of older versions: every command answers of them as it did then."""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from shoal.cli import main

OLD = Path(__file__).parent / "version_0_1"
ANSWERS: dict[str, dict[str, Any]] = json.loads((OLD / "answers.json").read_text())


def lacking(old: Any, new: Any, path: str = "") -> list[str]:
    """Where the new answer says less or something else than the old one; what it says besides is its own business."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [place for key in old for place in lacking(old[key], new.get(key, "nothing"), f"{path}/{key}")]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [place for at, pair in enumerate(zip(old, new, strict=True)) for place in lacking(*pair, f"{path}/{at}")]
    if isinstance(old, float) and isinstance(new, float):
        return [] if old == pytest.approx(new, rel=1e-9, abs=1e-12) else [path]
    return [] if old == new and type(old) is type(new) else [path]


def unpacked(folder: Path) -> Path:
    """The release folders as they were written; their report pages are stored packed."""
    shutil.copytree(OLD, folder)
    for packed in folder.rglob("*.html.gz"):
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
        packed.unlink()
    return folder


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_old_releases_give_the_answers_that_they_gave(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    then = ANSWERS[name]
    monkeypatch.chdir(unpacked(tmp_path / "then"))
    monkeypatch.setattr(sys, "argv", ["shoal", *then["command"]])
    with pytest.raises(SystemExit) as ended:
        main()
    answer, error = capfd.readouterr()
    assert int(ended.value.code or 0) == then["exit"]
    assert lacking(then["json"], json.loads(answer)) == []
    assert error == then["error"]


def test_an_answer_that_lacks_something_is_noticed() -> None:
    old = {"k": 3, "rows": [{"a": 1.0}], "name": None}
    assert lacking(old, {**old, "more": 1}) == []
    assert lacking(old, {"k": 3.0, "rows": [{"a": 1.1}], "name": ""}) == ["/k", "/rows/0/a", "/name"]
    assert lacking(old, {"k": 3, "rows": []}) == ["/rows", "/name"]
