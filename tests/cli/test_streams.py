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
    "help": ("--help",),
    "version": ("--version",),
    "a large JSON": ("profile", "wide.csv", "--json"),
    "large bytes": ("scrub", "long.txt"),
    "a verdict": ("measure", "table.csv", "--qi", "age", "--require", "k=999", "--json"),
}
SHOAL = (sys.executable, "-m", "shoal")
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")


@pytest.fixture(params=["buffered", "unbuffered"])
def buffering(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a buffer a write fails at once, with one perhaps only when the interpreter ends."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    if request.param == "unbuffered":
        monkeypatch.setenv("PYTHONUNBUFFERED", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "table.csv").write_text("age,sex\n" + "30,F\n31,M\n" * 20)
    (tmp_path / "letter.txt").write_text("Call me at noon.\n")
    (tmp_path / "long.txt").write_text("Call me at noon.\n" * 20_000)
    names = [f"column{place}" for place in range(150)]
    (tmp_path / "wide.csv").write_text(f"{','.join(names)}\n" + f"{','.join(['1'] * len(names))}\n" * 3)
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


@FULL
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_an_output_without_room(folder: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*SHOAL, *command], cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert ("nowhere.csv" if "nowhere.csv" in command else "can't be written") in done.stderr


@FULL
@pytest.mark.usefixtures("buffering")
@pytest.mark.parametrize("ending", ["return 0", "raise InputError('x')", "raise KeyboardInterrupt"])
def test_what_is_left_in_a_buffer_does_not_fail_again(ending: str) -> None:
    """Where nothing was flushed, the interpreter would fail when it ends, with 120."""
    program = (
        "import sys; from shoal.cli import app; from shoal.errors import InputError\n"
        f"def run():\n    sys.stdout.write('some words')\n    {ending}\n"
        "app._run = run; app.main()"
    )
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-c", program], stdout=full, stderr=subprocess.PIPE, check=False)
    unbuffered = "PYTHONUNBUFFERED" in os.environ
    assert done.returncode == (130 if "Keyboard" in ending and not unbuffered else 2)
    assert done.stderr.count(b"\n") == 1


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
