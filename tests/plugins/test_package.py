"""A distribution of its own adds one thing of each kind: built, installed in a folder, and used by the command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.support.harbour import TOWNS, policy

import shoal

pytestmark = pytest.mark.requirement("T-28")

PACKAGE = Path(__file__).with_name("package")


class Harbour(NamedTuple):
    """A folder to work in, and the variables with which Python finds the distribution."""

    folder: Path
    site: Path
    environment: dict[str, str]

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return _run([sys.executable, "-m", "shoal", *arguments], self.folder, self.environment)

    def done(self, *arguments: str) -> str:
        found = self.call(*arguments)
        assert found.returncode == 0, found.stderr
        return found.stdout


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def _pip(folder: Path, *arguments: str) -> None:
    found = _run([sys.executable, "-m", "pip", *arguments, "--no-deps", "--no-index"], folder, dict(os.environ))
    assert found.returncode == 0, found.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("distribution")
    shutil.copytree(PACKAGE, folder / "source")
    _pip(folder, "wheel", "--no-build-isolation", "--wheel-dir", "wheels", "./source")
    (wheel,) = (folder / "wheels").glob("harbour-1.0-*.whl")
    _pip(folder, "install", "--target", "site", str(wheel))
    return folder / "site"


@pytest.fixture(scope="module")
def harbour(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Harbour:
    folder = tmp_path_factory.mktemp("harbour")
    rows = [f"LOCK-{at:03}|{town}|{('north', 'south')[at % 2]}" for at, town in enumerate(TOWNS)]
    (folder / "table.psv").write_text("\n".join(["locker|town|ward", *rows]) + "\n", encoding="utf-8")
    (folder / "policy.yaml").write_text(policy("table.psv"), encoding="utf-8")
    (folder / "note.logbook").write_text("The shoes are in LOCK-042 since Monday.\n", encoding="utf-8")
    return Harbour(folder, installed, _with(installed))


def _with(*folders: Path) -> dict[str, str]:
    """The environment of a process that finds the tree that is tested, and what else is in the folders."""
    tree = Path(shoal.__file__).parents[1]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (tree, *folders)))}


@pytest.fixture(scope="module")
def release(harbour: Harbour) -> dict[str, object]:
    harbour.done("check", "policy.yaml", "--input", "table.psv")
    told: dict[str, object] = json.loads(harbour.done("run", "policy.yaml", "--output", "out", "--json"))
    return told


def test_a_run_uses_format_techniques_hierarchy_and_model(harbour: Harbour, release: dict[str, object]) -> None:
    names, *rows = (harbour.folder / "out" / "data.psv").read_text(encoding="utf-8").splitlines()
    cells = [row.split("|") for row in rows]
    assert names == "town|ward", "the format, read and written"
    assert len(cells) == 8, "the table technique"
    assert {ward for _, ward in cells} == {"NORTH", "SOUTH"}, "the technique"
    assert {town for town, _ in cells} == {"P", "G"}, "the hierarchy"
    assert [one["name"] for one in release["models"]] == ["even_classes"]  # type: ignore[attr-defined]  # a list


def test_both_editions_of_the_report_have_the_section(harbour: Harbour, release: dict[str, object]) -> None:
    for edition in ("report.html", "recipient.html"):
        page = (harbour.folder / "out" / edition).read_text(encoding="utf-8")
        assert '<h2 id="tide">The tide</h2>' in page
        assert "High water came with 8 records." in page


def test_a_measurement_shows_model_and_measure(harbour: Harbour, release: dict[str, object]) -> None:
    asked = ("measure", "out/data.psv", "--policy", "policy.yaml", "--original", "table.psv")
    told = json.loads(harbour.done(*asked, "--json"))
    assert [one["name"] for one in told["models"]] == ["even_classes"]
    assert told["usefulness"]["labels_kept"] > 0
    assert "Labels kept" in harbour.done(*asked)


def test_an_attack_is_tried_and_can_be_asked_for(harbour: Harbour, release: dict[str, object]) -> None:
    asked = ("attack", "out/data.psv", "--original", "table.psv", "--policy", "policy.yaml", "--json")
    told = json.loads(harbour.done(*asked, "--require", "coin_toss=0.5"))
    assert "coin_toss" in {one["attack"] for one in told["attacks"]}


def test_a_scan_reads_documents_and_finds_what_is_recognised(harbour: Harbour) -> None:
    told = json.loads(harbour.done("scan", "note.logbook", "table.psv", "--json"))
    found = {(Path(one["source"]).name, one["type"]) for one in told["findings"]}
    assert ("note.logbook", "locker") in found, "the document format and the recogniser"
    assert ("table.psv", "locker") in found, "the table format and the recogniser"


def test_a_document_is_scrubbed(harbour: Harbour) -> None:
    harbour.done("scrub", "note.logbook", "--output", "clean.logbook")
    assert (harbour.folder / "clean.logbook").read_text(encoding="utf-8").startswith("The shoes are in [LOCKER]")


def test_a_command_is_there(harbour: Harbour) -> None:
    assert harbour.done("tide") == "High water.\n"
    assert "Tell the tide." in harbour.done("--help")


def test_without_the_distribution_nothing_of_it_is_known(harbour: Harbour) -> None:
    bare = harbour._replace(environment=_with())
    assert bare.call("check", "policy.yaml").returncode == 2
    assert bare.call("tide").returncode == 2


class Broken(NamedTuple):
    group: str
    name: str
    code: str
    said: str
    command: tuple[str, ...]


TECHNIQUE = """
from shoal.techniques.base import *
from shoal.techniques.base import ANY_ROLE, ANY_TYPE, Facts, Lowers, TableTechnique
FACTS = Facts("x", "none", True, ANY_TYPE, ANY_ROLE, Lowers.NO, Lowers.NO, Lowers.NO)
"""
FORMAT = "from shoal.io.formats.base import FileFormat, file_formats\n"
CHECK, MEASURE = ("check", "policy.yaml"), ("measure", "plain.csv", "--qi", "town", "--original", "plain.csv")
KNOWN_BAD = [
    Broken("shoal.techniques", "gone", "import nothing_of_the_kind", "can't be loaded: ModuleNotFoundError", CHECK),
    Broken("shoal.techniques", "none", "", "it adds no technique 'none'", CHECK),
    Broken(
        "shoal.techniques",
        "mask",
        f"{TECHNIQUE}class Mask(Technique):\n    key = 'mask'\n    facts = FACTS\n",
        "there is a technique 'mask' already",
        CHECK,
    ),
    Broken(
        "shoal.table_techniques",
        "late",
        f"{TECHNIQUE}class Late(TableTechnique):\n    key = 'late'\n    facts = FACTS\n    stage = 'after all'\n",
        "the table technique 'late' has to declare its stage",
        CHECK,
    ),
    Broken(
        "shoal.formats",
        "also_csv",
        f"{FORMAT}file_formats.add('also_csv', FileFormat('also_csv', ('.csv',), None, len, len))",
        "'.csv' is a suffix of csv",
        MEASURE,
    ),
    Broken(
        "shoal.formats",
        "odd",
        f"{FORMAT}file_formats.add('odd', FileFormat('odd', ('.odd',), None, None, None))",
        "needs sink and scan, or else a separator",
        MEASURE,
    ),
    Broken(
        "shoal.models",
        "boundless",
        "from shoal.privacy import PrivacyModel\nclass Boundless(PrivacyModel):\n    key = 'boundless'\n",
        "the model 'boundless' has to say which parameter is the figure it asks for",
        CHECK,
    ),
    Broken("shoal.attacks", "none", "", "it adds no attack 'none'", ("attack", *MEASURE[1:])),
    Broken("shoal.measures", "none", "", "it adds no usefulness measure 'none'", MEASURE),
    Broken("shoal.documents", "none", "", "it adds no document format 'none'", ("scan", "note.html")),
    Broken(
        "shoal.report_sections",
        "limits",
        "",
        "there is a report section 'limits' already",
        ("run", "p.yaml", "-o", "o"),
    ),
]


@pytest.mark.parametrize("bad", KNOWN_BAD, ids=lambda bad: f"{bad.group}-{bad.name}")
def test_what_cannot_be_used_stops_with_one_line(tmp_path: Path, bad: Broken) -> None:
    described = tmp_path / "site" / "bad-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 1.0\n", encoding="utf-8")
    (described / "entry_points.txt").write_text(f"[{bad.group}]\n{bad.name} = bad_module\n", encoding="utf-8")
    (tmp_path / "site" / "bad_module.py").write_text(bad.code, encoding="utf-8")
    (tmp_path / "plain.csv").write_text("town,ward\nPune,n\nPune,n\n", encoding="utf-8")
    (tmp_path / "note.html").write_text("<p>Nothing</p>", encoding="utf-8")
    policy = (
        "shoal: 1\nname: p\nsource: plain.csv\nattributes: {town: {role: insensitive}, ward: {role: insensitive}}\n"
    )
    for name in ("policy.yaml", "p.yaml"):
        (tmp_path / name).write_text(policy, encoding="utf-8")
    found = Harbour(tmp_path, tmp_path, _with(tmp_path / "site")).call(*bad.command)
    assert found.returncode == 2, found.stderr
    assert f"the plug-in '{bad.name}' (bad_module)" in found.stderr
    assert bad.said in found.stderr
    assert "Traceback" not in found.stderr
    assert not (tmp_path / "o").exists()
