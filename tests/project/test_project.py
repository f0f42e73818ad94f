"""The frame around the code: the lock, the make targets, the set-up on a bare machine, the account of a test run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def normal(requirement: str) -> str:
    """The name alone, as package indexes spell it."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""


def locked() -> dict[str, int]:
    """Package → number of hashes."""
    entries = re.split(r"^(?=\S)", LOCK, flags=re.MULTILINE)
    return {normal(entry): entry.count("--hash=sha256:") for entry in entries if entry.strip()}


def test_lock_has_every_requirement() -> None:
    project = SETTINGS["project"]
    extras = [one for extra in project["optional-dependencies"].values() for one in extra]
    wanted = {normal(one) for one in (*project["dependencies"], *extras, *SETTINGS["dependency-groups"]["dev"])}
    assert wanted - {"shoal"} - set(locked()) == set()


def test_lock_pins_and_hashes_everything() -> None:
    assert min(locked().values()) > 0
    assert re.findall(r"^[^\s#]+(?!==)\S*$", re.sub(r"==\S+.*", "", LOCK), re.MULTILINE) == list(
        re.findall(r"^([^\s#=]+)==", LOCK, re.MULTILINE)
    )


def test_lock_names_no_place() -> None:
    assert re.findall(r"://|--index|--find-links|--extra|@|^/|\./", LOCK, re.MULTILINE) == []


@pytest.mark.parametrize("target", ["demo", "test", "bench", "lint", "docs", "clean"])
def test_make_has_the_target(target: str) -> None:
    done = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_ci_runs_make_test() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert ".ci/run" in (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A machine with nothing but a shell and an odd Python."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "bin").mkdir()
    shutil.copy(ROOT / "scripts" / "setup", tmp_path / "scripts")
    program(tmp_path, "id", "echo 1000")
    return tmp_path


def program(machine: Path, name: str, script: str) -> None:
    path = machine / "bin" / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def set_up(machine: Path, python: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{machine / 'bin'}:/usr/bin:/bin"}
    command = [str(machine / "scripts" / "setup"), python]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_set_up_without_python_says_so(bare: Path) -> None:
    done = set_up(bare, "python-that-is-not-there")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "install Python 3.11 or later" in done.stderr


def test_set_up_with_an_old_python_says_so(bare: Path) -> None:
    program(bare, "old-python", '[ "$1" = --version ] && echo Python 3.9.2; exit 1')
    done = set_up(bare, "old-python")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "Python 3.9.2 is too old" in done.stderr


def test_set_up_without_venv_and_rights_says_what_to_do(bare: Path) -> None:
    program(bare, "thin-python", 'case "$2" in *ensurepip*) exit 1;; esac')
    done = set_up(bare, "thin-python")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "as root: apt-get install python3-venv" in done.stderr


TESTS = """
import pytest

@pytest.mark.requirement("T-04")
def test_shown(): ...

@pytest.mark.requirement("T-05")
def test_not_here(shared): ...

@pytest.mark.requirement("T-06")
@pytest.mark.skip(reason="no server")
def test_no_server(): ...
"""


@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_run_ends_with_an_account_of_skips_and_requirements(processes: str, tmp_path: Path) -> None:
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  requirement(*ids): shown\n")
    (tmp_path / "test_few.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "--numprocesses", processes, str(tmp_path)]
    environment = {**os.environ, "SHOAL_SHARED": str(tmp_path / "absent")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "1 requirements shown: T-04\n" in done.stdout
    assert "2 tests skipped\n" in done.stdout
    assert "1 x no server" in done.stdout
    assert "1 x shared data absent" in done.stdout
