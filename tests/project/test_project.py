"""The frame around the code: the lock, the make targets, the set-up on a bare machine, the account of a test run."""

from __future__ import annotations

import ast
import importlib.metadata
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
UNLOCKED = {"torch": "half a gigabyte for one method; the set-up of tests gets it where it can, and tests skip without"}


def normal(requirement: str) -> str:
    """The name alone, as package indexes spell it."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""


def locked() -> set[str]:
    return {normal(line) for line in LOCK.splitlines() if line and not line.startswith(" ")}


def test_lock_has_every_requirement() -> None:
    wanted = declared() | {normal(one) for one in SETTINGS["dependency-groups"]["dev"]}
    assert wanted - locked() == set(UNLOCKED)


def imported(folder: str) -> dict[str, Path]:
    """Package of others → a file that imports it. One import name may come from several packages: the first will do."""
    homes = importlib.metadata.packages_distributions()
    found: dict[str, Path] = {}
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            found |= {normal(homes[top][0]): path for name in names if (top := name.partition(".")[0]) in homes}
    return {package: path for package, path in found.items() if package != "shoal"}


def declared() -> set[str]:
    project = SETTINGS["project"]
    extras = [one for extra in project["optional-dependencies"].values() for one in extra]
    return {normal(one) for one in (*project["dependencies"], *extras)} - {"shoal"}


def test_what_the_code_imports_is_declared() -> None:
    """Declared, or part of what is declared: MarkupSafe is Jinja's, pydantic-core pydantic's."""
    parts = {
        normal(one) for package in declared() - set(UNLOCKED) for one in importlib.metadata.requires(package) or ()
    }
    assert {package: path for package, path in imported("src").items() if package not in declared() | parts} == {}


@pytest.mark.parametrize("folder", ["src", "tests", "scripts", "benchmarks"])
def test_what_anything_imports_is_locked(folder: str) -> None:
    assert imported(folder)
    assert {
        package: path for package, path in imported(folder).items() if package not in locked() | set(UNLOCKED)
    } == {}


def test_lock_pins_and_hashes_everything() -> None:
    entries = re.split(r"^(?=\S)", LOCK, flags=re.MULTILINE)[1:]
    assert len(entries) > 50
    loose = [entry for entry in entries if not re.match(r"[a-z0-9-]+==\d.* \\\n +--hash=sha256:[0-9a-f]{64}\b", entry)]
    assert loose == []


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


def test_a_machine_without_servers_is_told_what_will_be_skipped(bare: Path) -> None:
    for name in ("bash", "dirname"):
        (bare / "bin" / name).symlink_to(shutil.which(name) or "")
    command = [str(ROOT / "scripts" / "test-machine")]
    done = subprocess.run(command, env={"PATH": str(bare / "bin")}, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    needed = ["mariadbd", "java", "chromium", "pdftotext", "docx2txt", "xlsx2csv", "node", "sqlite3"]
    assert re.findall(r"no (\w+) here.* will be skipped", done.stderr) == needed


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


CLOCKS = {"perf_counter", "process_time", "monotonic", "time_ns", "perf_counter_ns"}


def clocked(source: str) -> list[int]:
    """Lines that assert what a clock said: such a test fails on a busy machine, and shows nothing on a fast one."""
    asserts = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assert))
    return [
        node.lineno
        for node in asserts
        for call in ast.walk(node.test)
        if isinstance(call, ast.Call) and CLOCKS & {getattr(call.func, "attr", ""), getattr(call.func, "id", "")}
    ]


def test_an_assertion_on_a_clock_is_seen() -> None:
    assert clocked("assert time.process_time() - started < 2\nassert perf_counter() < 3\nassert calls(work) < 4") == [
        1,
        2,
    ]


def test_no_test_asserts_what_a_clock_says() -> None:
    """Patience is no assertion: what waits for another process has a deadline, and says that nothing came."""
    found = {
        f"{path.relative_to(ROOT)}:{line}"
        for path in (ROOT / "tests").rglob("*.py")
        for line in clocked(path.read_text(encoding="utf-8"))
    }
    assert found == set()


def test_coroutines_run_where_no_loop_does() -> None:
    """A test that starts a loop in its own thread fails in whichever process has had a browser before."""
    starts = re.compile(r"asyncio\.run\(|run_until_complete\(")
    found = {
        str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("*.py") if starts.search(path.read_text("utf-8"))
    }
    assert found - {"tests/project/test_project.py"} == set()
