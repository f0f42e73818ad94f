"""`solve.starred: wildcard`, from policy to manifest and back through `shoal measure`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal import solve
from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.table_measurement import measure_data
from shoal.errors import BugError, PolicyError
from shoal.solve import Problem, Solution, solve_cells

pytestmark = pytest.mark.requirement("T-03")

POLICY = """\
shoal: 1
name: stars
{person}attributes:
  who: {{role: direct, technique: suppress}}
  q: {{role: quasi}}
  r: {{role: quasi}}
  s: {{role: sensitive}}
privacy:
  - {model}
solve: {{recoding: {recoding}, starred: {starred}}}
"""
TABLE = pl.DataFrame({"who": range(6), "q": list("aaabcc"), "r": list("xxxxxx"), "s": list("121212")})


def policy_text(
    model: str = "k_anonymity: {k: 3}", recoding: str = "cells", starred: str = "wildcard", person: str = ""
) -> str:
    return POLICY.format(model=model, recoding=recoding, starred=starred, person=person)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    TABLE.write_csv(tmp_path / "table.csv")
    (tmp_path / "policy.yaml").write_text(policy_text())
    policy = shoal.Policy.load(tmp_path / "policy.yaml")
    shoal.anonymise(tmp_path / "table.csv", policy, output=tmp_path / "out", seed=1)
    return tmp_path


def test_the_manifest_says_what_k_it_is_and_what_it_would_be_by_value(folder: Path) -> None:
    manifest = json.loads((folder / "out" / "release.json").read_text())
    released = pl.read_csv(folder / "out" / "data.csv", infer_schema=False)
    assert manifest["suppressed"] == {"records": 0, "cells": (released.select("q", "r") == "*").to_numpy().sum()}
    assert manifest["models"] == [{"name": "k_anonymity", "required": 3, "achieved": 3, "met": True}]
    assert manifest["risk"]["k"] == 3
    assert manifest["risk"]["k_by_value"] == 1
    assert manifest["risk"]["uniques_by_value"] == 1
    assert "k_by_value" not in manifest["risk_before"]
    assert any("star as matching any value" in warning for warning in manifest["warnings"])


def test_measuring_by_the_policy_agrees_and_by_columns_alone_does_not(folder: Path) -> None:
    def measure(*by: str) -> tuple[int, dict[str, float]]:
        command = [sys.executable, "-m", "shoal", "measure", "out", *by, "--require", "k=3", "--json"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        return done.returncode, json.loads(done.stdout)["risk"]

    manifest = json.loads((folder / "out" / "release.json").read_text())
    assert measure("--policy", "policy.yaml") == (0, manifest["risk"])
    code, risk = measure("--qi", "q,r")
    assert code == 1
    assert risk["k"] == manifest["risk"]["k_by_value"]


def test_stars_as_values_stay_the_default(folder: Path) -> None:
    text = policy_text().replace(", starred: wildcard", "")
    release = shoal.anonymise(TABLE, shoal.Policy.from_text(text))
    assert release.risk.k == 3
    assert release.risk.k_by_value is None
    assert "k_by_value" not in release.manifest.to_dict()["risk"]
    (folder / "default.yaml").write_text(text)
    request = MeasureRequest.parse(
        policy=folder / "default.yaml", quasi=None, sensitive=None, person=None, require=["k=3"]
    )
    assert not measure_data(str(folder / "out"), request).met


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (policy_text(recoding="local"), "wildcard goes with recoding: cells, not with local"),
        (policy_text(recoding="global"), "wildcard goes with recoding: cells, not with global"),
        (policy_text("l_diversity: {attribute: s, l: 2, kind: distinct}"), "not for l_diversity"),
        (policy_text("maximum_risk: {maximum: 0.5}"), "not for maximum_risk"),
        (policy_text("k_anonymity: {k: 3, attributes: [q]}"), "not for k_anonymity"),
        (policy_text(person="person: who\n"), "doesn't go with `person`"),
        (policy_text(starred="anything"), "starred"),
    ],
)
def test_what_it_does_not_go_with_is_refused_where_it_stands(text: str, says: str) -> None:
    with pytest.raises(PolicyError, match=says):
        shoal.Policy.from_text(text)


def test_a_release_that_matches_too_few_never_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """The recount is not the solver's: a solver that stars nothing is found out."""

    def careless(problem: Problem, progress: object = None) -> Solution:
        solution = solve_cells(problem)
        assert solution.cells is not None
        solution.cells[:] = 0
        return solution

    monkeypatch.setattr(solve, "solve_wildcards", careless)
    with pytest.raises(BugError, match="does not meet"):
        shoal.anonymise(TABLE, shoal.Policy.from_text(policy_text()))
