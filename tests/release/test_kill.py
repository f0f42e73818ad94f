"""SIGKILL at any moment leaves the old release or the whole new one, never a mixture, and no original value."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shoal.io import sha256_of

POLICY = """\
shoal: 1
name: kill
source: people.csv
attributes:
  name: {role: direct}
  age: {role: quasi, hierarchy: {intervals: {widths: [5, 10]}}}
  city: {role: insensitive}
privacy: [{k_anonymity: {k: 2}}]
solve: {suppression_limit: 1}
"""


def whole(folder: Path) -> str:
    """The checksum of a release that is whole: its data is what its manifest says."""
    manifest = json.loads((folder / "release.json").read_text())
    assert sha256_of(folder / manifest["data"]["path"]) == manifest["data"]["sha256"]
    assert (folder / "report.html").read_text().rstrip().endswith("</html>")
    return str(manifest["data"]["sha256"])


@pytest.mark.requirement("T-02")
def test_sigkill_at_ten_random_moments(tmp_path: Path) -> None:
    chance = random.Random(20889)
    (tmp_path / "policy.yaml").write_text(POLICY)
    lines = [f"Secretname{place},{place % 90},City{place % 7}" for place in range(200_000)]
    (tmp_path / "people.csv").write_text("name,age,city\n" + "\n".join(lines) + "\n")
    command = [sys.executable, "-m", "shoal", "run", "policy.yaml", "--output", "out", "--force"]
    started = time.monotonic()
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    duration = time.monotonic() - started
    whole(tmp_path / "out")
    killed = 0
    for _ in range(10):
        run = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            run.wait(timeout=chance.uniform(0.3, 1.05) * duration)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.wait()
            killed += 1
        whole(tmp_path / "out")
        for left in tmp_path.rglob("*"):
            if left.is_file() and left.name != "people.csv":
                assert b"Secretname" not in left.read_bytes()
    assert killed
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "people.csv", "policy.yaml"]


@pytest.mark.requirement("T-02")
def test_interrupt_cleans_up(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY)
    lines = [f"Secretname{place},{place % 90},City{place % 7}" for place in range(3_000_000)]
    (tmp_path / "people.csv").write_text("name,age,city\n" + "\n".join(lines) + "\n")
    command = [sys.executable, "-m", "shoal", "run", "policy.yaml", "--output", "out"]
    run = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  # it may be ignored here
    )
    deadline = time.monotonic() + 60
    while not any(path.name.startswith(".out") for path in tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 130, errors
    assert "nothing was written" in errors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "policy.yaml"]
