"""The tutorial from request to expunge can be followed as it is written; its commands run in this process."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.commands import Call, in_process

import newcomer

LOOP = re.compile(r"for (\w+) in (.*); do (.*); done")


@pytest.mark.requirement("G-01", "G-03", "G-04", "G-05", "G-07", "G-08", "G-09", "G-11", "G-12", "G-13", "G-14")
def test_tutorial_can_be_followed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """``govern-a-release.md``"""
    page = (root / "docs" / "tutorial" / "govern-a-release.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("SHOAL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    call = in_process(monkeypatch, capfd)
    for step in newcomer.steps(page):
        if isinstance(step, newcomer.Fence):
            if step.title is not None:
                (tmp_path / step.title).write_text(step.text, encoding="utf-8")
            continue
        told, code = "", 0
        for words in expanded(step.command):
            code, said = typed(words, call, monkeypatch)
            told += said
        assert code == step.exit_code, f"{step.command}\n{told}"
        assert newcomer.first_missing(step.shown, told) is None, f"{step.command}\n{told}"
    manifest = json.loads((tmp_path / "received" / "release.json").read_text())
    assert manifest["withdrawn"] == 1
    assert manifest["records"]["source"] == 799
    withdrew = (tmp_path / "person.txt").read_text().strip().encode()
    kept = [*tmp_path.glob("registry.db*"), *(tmp_path / "received").iterdir(), tmp_path / "checklist.html"]
    assert not [path for path in kept if withdrew in path.read_bytes()], "nothing that stays names who withdrew"


def expanded(command: str) -> Iterator[str]:
    loop = LOOP.fullmatch(command)
    if loop is None:
        yield command
        return
    name, values, body = loop.groups()
    for value in shlex.split(values):
        yield body.replace(f'"${name}"', shlex.quote(value)).replace(f"${name}", shlex.quote(value))


def typed(command: str, call: Call, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    words = shlex.split(command)
    if words[0] == "export":
        for word in words[1:]:
            monkeypatch.setenv(*word.split("=", 1))
        return 0, ""
    if words[0] == "shoal":
        ended = call(*words[1:])
        return ended.code, ended.stdout + ended.stderr
    shell = command.replace("python -c", f"{shlex.quote(sys.executable)} -c")
    done = subprocess.run(["/bin/bash", "-c", shell], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr
