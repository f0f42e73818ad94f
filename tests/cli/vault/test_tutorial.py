"""The tutorial on following up one person can be followed, from top to bottom, as it is written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

FENCE = re.compile(r"^```(console|yaml)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ENDED = "-- exit "


@pytest.mark.requirement("V-02")
def test_tutorial_can_be_followed(root: Path, tmp_path: Path) -> None:
    page = (root / "docs" / "tutorial" / "follow-up.md").read_text(encoding="utf-8")
    commands, policies = blocks(page)
    (tmp_path / "research.yaml").write_text("".join(policies), encoding="utf-8")
    said = follow(commands, tmp_path)

    assert len(policies) == 1
    waiting = [command for command, (code, _) in said.items() if code == 1]
    assert [code for code, _ in said.values() if code not in (0, 1)] == []
    assert [command.split(" --")[0] for command in waiting] == [
        "shoal vault reveal patients $FOUND",
        "shoal vault reveal",
    ]

    pseudonym = said["echo $FOUND"][1].strip()
    released = pl.read_csv(tmp_path / "release" / "data.csv", infer_schema=False)
    (row,) = (released["patient_id"] == pseudonym).arg_true()
    patient = pl.read_csv(tmp_path / "hospital.csv", infer_schema=False).row(row, named=True)
    answers = [told for command, (_, told) in said.items() if re.search(r"reveal --request 1 .*# 2", command)]
    assert patient["diagnosis"] == "Snake bite"
    assert [patient["patient_id"] in answer for answer in answers] == [True]
    trail = next(told for command, (_, told) in said.items() if command.startswith("shoal vault audit"))
    listed = re.findall(r"^\| `([a-z ]+)` \| (\w+) \|", page, re.MULTILINE)
    assert re.findall(r"\+00:00 +(\w+) +(\w+(?: \w+)?)  ", trail) == [(person, did) for did, person in listed]


def blocks(page: str) -> tuple[list[str], list[str]]:
    found = FENCE.findall(page)
    lines = [line for language, text in found if language == "console" for line in text.splitlines()]
    return [line.removeprefix("$ ") for line in lines], [text for language, text in found if language == "yaml"]


def follow(commands: list[str], folder: Path) -> dict[str, tuple[int, str]]:
    """All of them in one shell; of each the exit code and what it said. One that comes again gets its number."""
    numbered = [
        command if command not in commands[:place] else f"{command} # {commands[: place + 1].count(command)}"
        for place, command in enumerate(commands)
    ]
    script = "".join(f"{command}\necho '{ENDED}'$?\n" for command in commands)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SHOAL_")}
    environment |= {
        "PATH": f"{Path(sys.executable).parent}:{environment['PATH']}",
        "SHOAL_STATE": str(folder / "state"),
    }
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    parts = re.split(rf"^{ENDED}(\d+)\n", done.stdout, flags=re.MULTILINE)
    codes, told = [int(code) for code in parts[1::2]], parts[0::2]
    assert len(codes) == len(commands), done.stderr
    return {command: (code, text) for command, code, text in zip(numbered, codes, told, strict=False)}
