"""A reader that went away and an output that can't be written are no verdict: never exit code 1, never "our bug"."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.requirement("V-05")

COMMANDS = {
    "tables": ("measure", "table.csv", "--qi", "age"),
    "json": ("measure", "table.csv", "--qi", "age", "--json"),
    "bytes": ("scrub", "letter.txt"),
    "errors": ("measure", "nowhere.csv", "--qi", "age", "--json"),
}
SHOAL = (sys.executable, "-m", "shoal")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "table.csv").write_text("age,sex\n" + "30,F\n31,M\n" * 20)
    (tmp_path / "letter.txt").write_text("Call me at noon.\n")
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_reader_that_went_away(folder: Path, command: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*SHOAL, *command], cwd=folder, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert done.returncode == (2 if "nowhere.csv" in command else 141)
    assert "Traceback" not in done.stderr
    assert "bug" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_an_output_without_room(folder: Path, command: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*SHOAL, *command], cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert ("nowhere.csv" if "nowhere.csv" in command else "can't be written") in done.stderr


def test_closed_streams(folder: Path) -> None:
    """Without an output nothing is done; without a place for messages the exit code says it all."""
    command = " ".join((*SHOAL, *COMMANDS["json"]))
    without = subprocess.run(["sh", "-c", f"{command} >&-"], cwd=folder, capture_output=True, text=True, check=False)
    assert (without.returncode, without.stdout) == (2, "")
    assert "can't be written: it is closed" in without.stderr
    silent = subprocess.run(["sh", "-c", f"{command} 2>&-"], cwd=folder, capture_output=True, text=True, check=False)
    assert silent.returncode == 0
    refused = f"{command.replace('table', 'nowhere')} 2>&-"
    assert subprocess.run(["sh", "-c", refused], cwd=folder, capture_output=True, check=False).returncode == 2
