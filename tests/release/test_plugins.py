"""What is registered from outside, by a distribution of its own, takes effect in a run; what is not bound stops it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.support.harbour import LOCKER_RULES, MODULES, TOWNS, policy

import shoal
from shoal.errors import BugError
from shoal.plan.binder import PlanBinder
from shoal.plan.completeness import BoundParts, need_all_bound
from shoal.plan.solver_problem import build_problem
from shoal.techniques import TableTechnique
from shoal.techniques.randomisation.shuffle_rows import ShuffleRows

pytestmark = pytest.mark.requirement("T-28")

PLUGIN = """
from dataclasses import dataclass
from pathlib import Path

import even_classes, first_records
import numpy as np
import polars as pl

from shoal.hierarchy.base import BoundHierarchy, Hierarchy
from shoal.privacy.base import Figure, SensitiveModel
from shoal.techniques.base import ANY_ROLE, ANY_TYPE, Facts, Lowers, Step, Technique

PACK = Path(__file__).with_name("pack.yaml")


def facts(title):
    return Facts(title, "none", True, ANY_TYPE, ANY_ROLE, Lowers.NO, Lowers.NO, Lowers.NO)


class Shout(Technique):
    key = "shout"
    facts = facts("Shouting")

    def bind(self, column, context):
        return ShoutStep(column.name)


@dataclass(frozen=True)
class ShoutStep(Step):
    name: str

    @property
    def reads(self):
        return (self.name,)

    def apply(self, frame):
        return frame.with_columns(pl.col(self.name).cast(pl.String).str.to_uppercase())


class Commonest(SensitiveModel):
    key = "commonest"
    title = "the commonest value"
    clause = "none"
    monotone_under_generalisation = True
    monotone_under_suppression = True
    more_is_safer = False

    most: float

    @property
    def required(self):
        return self.most

    def spread(self, block, histograms):
        return block.max(axis=1).astype(np.float64)

    def accepts(self, figures):
        return figures <= self.most

    def explain(self):
        return "No value is on many records of a class."

    @classmethod
    def measured_by(cls):
        return (Figure("commonest", "records of one value", lambda name, bound, k: cls(attribute=name, most=bound)),)


class FirstLetter(Hierarchy):
    key = "first_letter"

    def refuse(self, column):
        return None

    def bind(self, column, distinct):
        return BoundFirstLetter(column)


@dataclass(frozen=True)
class BoundFirstLetter(BoundHierarchy):
    @property
    def height(self):
        return 2

    def label(self, values, level):
        return values.cast(pl.String).str.head(1) if level == 1 else values.cast(pl.String)

    def share(self, values, level):
        return np.full(len(values), 0.5)
"""


@pytest.fixture
def outside(tmp_path: Path) -> dict[str, str]:
    """A distribution that is installed in a folder of its own; the variables with which Python finds it."""
    place = tmp_path / "site"
    (place / "harbour-1.0.dist-info").mkdir(parents=True)
    for name in ("even_classes.py", "first_records.py"):
        shutil.copy(MODULES / name, place / name)
    (place / "harbour.py").write_text(PLUGIN, encoding="utf-8")
    (place / "pack.yaml").write_text(LOCKER_RULES, encoding="utf-8")
    described = place / "harbour-1.0.dist-info"
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: harbour\nVersion: 1.0\n", encoding="utf-8")
    (described / "entry_points.txt").write_text(
        "[shoal.plugins]\nharbour = harbour\n\n[shoal.recognisers]\nharbour = harbour:PACK\n", encoding="utf-8"
    )
    rows = [f"LOCK-{number:03},{town},{ward}" for number, (town, ward) in enumerate(zip(TOWNS, WARDS, strict=True))]
    (tmp_path / "table.csv").write_text("\n".join(["locker,town,ward", *rows]) + "\n", encoding="utf-8")
    (tmp_path / "policy.yaml").write_text(policy("table.csv"), encoding="utf-8")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")])}


WARDS = ["north", "south"] * 5


def call(outside: dict[str, str], folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "shoal", *arguments],
        cwd=folder,
        env=outside,
        capture_output=True,
        text=True,
        check=False,
    )


def test_each_kind_from_outside_takes_effect(outside: dict[str, str], tmp_path: Path) -> None:
    done = call(outside, tmp_path, "run", "policy.yaml", "--output", "out", "--json")
    assert done.returncode == 0, done.stderr
    told, written = json.loads(done.stdout), pl.read_csv(tmp_path / "out" / "data.csv")
    assert written.height == 8, "the table technique"
    assert set(written["ward"]) == {"NORTH", "SOUTH"}, "the technique"
    assert set(written["town"]) == {"P", "G"}, "the hierarchy"
    assert [(one["name"], one["achieved"], one["met"]) for one in told["models"]] == [("even_classes", 4, True)]
    assert "even number of people" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8"), "in the report"
    measured = call(outside, tmp_path, "measure", "out/data.csv", "--policy", "policy.yaml", "--json")
    assert measured.returncode == 0, measured.stderr
    assert [one["name"] for one in json.loads(measured.stdout)["models"]] == ["even_classes"]


def test_a_model_from_outside_is_measured_on_tables_that_no_policy_asked_it_of(
    outside: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("age,ill\n30,flu\n30,flu\n40,flu\n40,gout\n40,gout\n40,gout\n", encoding="utf-8")
    asked = ("measure", "t.csv", "--qi", "age", "--sensitive", "ill", "--json")
    found = call(outside, tmp_path, *asked)
    assert found.returncode == 0, found.stderr
    formal = json.loads(found.stdout)["formal"]
    assert formal["even"] == 2
    assert formal["attributes"]["ill"]["commonest"] == 3
    assert call(outside, tmp_path, *asked, "--require", "even=2", "--require", "commonest=3").returncode == 0
    assert call(outside, tmp_path, *asked, "--require", "even=4").returncode == 1
    assert call(outside, tmp_path, *asked, "--require", "commonest.ill=2").returncode == 1


def test_a_recogniser_from_outside_is_looked_for(outside: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("The shoes are in LOCK-042 since Monday.", encoding="utf-8")
    found = call(outside, tmp_path, "scan", "note.txt", "--json")
    assert "locker" in found.stdout, found.stderr
    without = call(dict(os.environ), tmp_path, "scan", "note.txt", "--json")
    assert "locker" not in without.stdout
    profiled = call(outside, tmp_path, "profile", "table.csv", "--json")
    assert "locker" in json.dumps(json.loads(profiled.stdout)["columns"][0]), "as a column too"


def test_a_plugin_that_cannot_be_loaded_is_not_passed_over(outside: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "site" / "harbour.py").write_text("import nothing_of_the_kind\n", encoding="utf-8")
    done = call(outside, tmp_path, "check", "policy.yaml")
    assert done.returncode == 2
    assert "plug-in 'harbour'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_table_technique_has_to_say_when_it_has_its_turn() -> None:
    with pytest.raises(TypeError, match="stage"):
        type("Stageless", (TableTechnique,), {"key": "stageless", "__module__": __name__})


@pytest.mark.parametrize("kind", ["table technique", "technique", "hierarchy", "model"])
def test_what_is_not_bound_is_our_bug_and_nothing_leaves(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Known-bad plans: one part of the policy is passed over, as a list of names in the plan once did."""
    policy = shoal.Policy.from_text(
        "shoal: 1\nname: p\nattributes:\n  age: {role: quasi, hierarchy: {intervals: {widths: [10]}}}\n"
        "  pay: {role: insensitive, technique: {round: {base: 10}}}\n"
        "privacy: [{k_anonymity: {k: 2}}]\nshuffle_rows: true\n"
    )
    table = pl.DataFrame({"age": [31, 32, 33, 34], "pay": [101, 102, 103, 104]})
    assert shoal.anonymise(table, policy, seed=1).data.height == 4
    if kind == "table technique":
        monkeypatch.setattr(ShuffleRows, "stage", "no stage at all")
    elif kind == "technique":
        monkeypatch.setattr(PlanBinder, "_bind_attribute", lambda *_: None)
    else:
        forgotten = build_problem

        def forgetful(builder: PlanBinder[object]) -> object:
            question = forgotten(builder)
            builder.bound.hierarchies.clear()
            builder.bound.models = 0 if kind == "model" else 1
            return question

        monkeypatch.setattr("shoal.release.pipeline.build_problem", forgetful)
    with pytest.raises(BugError, match="not everything in the policy was bound"):
        shoal.anonymise(table, policy, seed=1)


def test_a_column_that_no_attribute_describes_is_not_written() -> None:
    policy = shoal.Policy.from_text("shoal: 1\nname: p\nattributes: {age: {role: insensitive}}\n")
    need_all_bound(policy, policy.attributes, BoundParts(), ("age",), ("age",))
    with pytest.raises(BugError, match="the column 'extra'"):
        need_all_bound(policy, policy.attributes, BoundParts(), ("age",), ("age", "extra"))
