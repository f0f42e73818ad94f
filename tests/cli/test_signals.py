"""A command that is asked to end leaves nothing behind: neither a hidden folder nor an empty file."""

from __future__ import annotations

import csv
import json
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support.policies import policy_text

pytestmark = pytest.mark.requirement("T-02")

POLICY = policy_text("people.csv", "privacy: [{k_anonymity: {k: 2}}]", quasi="age")
WAYS = {
    "in Python": "time.sleep(600)",
    "in a long call": "hashlib.pbkdf2_hmac('sha512', b'', b'', 2**31 - 1)",
}
RUN = """
import hashlib, signal, sys, time
from shoal.cli.terminal import signals
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may be run where these are ignored
signal.signal(signal.SIGINT, signal.default_int_handler)
from shoal.release import run
signals.GRACE = {grace}
def recount(*given, **more):
    print("busy", flush=True)
    {way}
run.recount = recount
sys.argv[1:] = ["run", "policy.yaml", "--output", "deep/out"]
from shoal.cli import main
main()
"""
SCRUB = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # the tests may be run where it is ignored
sys.path.insert(0, {root!r})
from tests.text.known_forms import annotator
from shoal.scrub import scrubber
scrubber.standard_annotator = lambda *_, **__: annotator()
sys.argv[1:] = {arguments!r}
from shoal.cli import main
main()
"""


def begin(folder: Path, program: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_run_that_is_asked_to_end_leaves_nothing(tmp_path: Path, way: str, number: signal.Signals) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "people.csv").write_text("age\n" + "30\n31\n" * 20)
    # Where the main thread can end the run, it is given the time for it on a busy machine too.
    running = begin(tmp_path, RUN.format(way=way, grace=60 if way == WAYS["in Python"] else 3))
    assert running.stdout is not None
    assert running.stdout.readline() == b"busy\n"
    assert any(path.name.startswith(".out.partial-") for path in (tmp_path / "deep").iterdir())
    running.send_signal(number)
    _, said = running.communicate(timeout=120)
    assert running.returncode == 128 + number
    assert b"Traceback" not in said
    if way == WAYS["in Python"]:
        assert b"interrupted: nothing was written" in said
        assert names(tmp_path) == ["people.csv", "policy.yaml"]
    assert not list(tmp_path.rglob(".*"))


def test_an_ignored_signal_stays_ignored(tmp_path: Path) -> None:
    """As under ``nohup``."""
    program = """
import os, signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from shoal.cli import app
def run():
    os.kill(os.getpid(), signal.SIGHUP)
    return 0
app._run = run
app.main()
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def scrubbing(folder: Path, root: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """A scrubbing that has passed on a line and waits for the next."""
    running = begin(folder, SCRUB.format(root=str(root), arguments=["scrub", *arguments]))
    assert running.stdin is not None
    running.stdin.write(b"1 Asha Rao\n")
    running.stdin.flush()
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and running.poll() is None:
        partial = [path for path in folder.iterdir() if path.name.startswith(".out.txt.partial-")]
        if partial and partial[0].stat().st_size:
            return running
        time.sleep(0.02)
    raise AssertionError(running.stderr.read() if running.stderr else "")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_scrubbing_that_is_ended_leaves_whole_files(tmp_path: Path, root: Path, number: signal.Signals) -> None:
    for name in ("out.txt", "table.csv", "side.json"):
        (tmp_path / name).write_text("old")
    running = scrubbing(tmp_path, root, "-o", "out.txt", "--table", "table.csv", "--report", "side.json")
    assert {(tmp_path / name).read_text() for name in ("out.txt", "table.csv", "side.json")} == {"old"}
    running.send_signal(number)
    running.communicate(timeout=120)
    if number == signal.SIGKILL:
        assert {(tmp_path / name).read_text() for name in ("out.txt", "table.csv", "side.json")} == {"old"}
        return
    assert running.returncode == 128 + number
    assert (tmp_path / "out.txt").read_text() == "1 [PERSON]\n"
    assert json.loads((tmp_path / "side.json").read_text())["types"] == {"person": 1}
    assert [row["type"] for row in csv.DictReader((tmp_path / "table.csv").read_text().splitlines())] == ["person"]
    assert names(tmp_path) == ["out.txt", "side.json", "table.csv"]


def test_what_a_killed_scrubbing_left_is_swept_by_the_next(tmp_path: Path, root: Path) -> None:
    arguments = ["-o", "out.txt", "--table", "table.csv", "--keep-values"]
    running = scrubbing(tmp_path, root, *arguments)
    running.kill()
    running.communicate()
    left = [path for path in tmp_path.iterdir() if path.name.startswith(".table.csv")]
    assert [stat.S_IMODE(path.stat().st_mode) for path in left] == [0o600]
    again = begin(tmp_path, SCRUB.format(root=str(root), arguments=["scrub", *arguments]))
    assert again.communicate(b"Asha Rao\n", timeout=120) == (b"", b"")
    assert names(tmp_path) == ["out.txt", "table.csv"]
    assert stat.S_IMODE((tmp_path / "table.csv").stat().st_mode) == 0o600
