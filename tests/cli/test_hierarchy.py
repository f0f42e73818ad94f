"""``shoal hierarchy``: what is proposed runs as it is and shows no value; trees are drawn."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.errors import InputError
from shoal.hierarchy import hierarchies

pytestmark = pytest.mark.requirement("T-08")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    draw = random.Random(1)
    pl.DataFrame(
        {
            "age": [draw.randint(18, 90) for _ in range(400)],
            "income": [round(draw.lognormvariate(10, 1), 2) for _ in range(400)],
            "visit": [f"2024-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}" for _ in range(400)],
            "icd_code": [draw.choice(["E11.9", "I10", "J45", "A90"]) for _ in range(400)],
            "pincode": [draw.choice([411005, 403001, 560001]) for _ in range(400)],
            "postal_code": [draw.choice(["018956", "238859", "560123"]) for _ in range(400)],
            "occupation": [draw.choice(["2221", "5120", "Managers"]) for _ in range(400)],
            "education": [draw.choice(["PhD", "Primary", "Bachelor"]) for _ in range(400)],
            "town": [draw.choice(["Pune", "Nagpur", "Chennai", "Kochi"]) for _ in range(400)],
            "country": [draw.choice(["India", "Nepal", "France"]) for _ in range(400)],
            "badge": [f"{draw.choice('AB')}{draw.randint(100, 199)}" for _ in range(400)],
            "hobby": [draw.choice(["chess", "kites", "tea", f"rare {draw.random()}"]) for _ in range(400)],
            "remark": [f"said {draw.random()} of it" for _ in range(400)],
        }
    ).write_csv("people.csv")
    return tmp_path


KINDS = {
    "age": "intervals", "income": "intervals", "visit": "dates", "icd_code": "classification",
    "pincode": "classification", "postal_code": "classification", "occupation": "classification",
    "education": "classification", "town": "places", "country": "places", "badge": "redact", "hobby": "rare",
    "remark": None,
}  # fmt: skip


def run(*words: str) -> str:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, done.output
    return done.stdout


def refusal(*words: str) -> str:
    error = CliRunner().invoke(app, list(words)).exception
    assert isinstance(error, InputError)
    return str(error)


def told(*words: str) -> Any:
    return json.loads(run(*words, "--json"))


@pytest.mark.parametrize("column", KINDS)
def test_the_kind_fits_the_values_and_runs_as_it_is(column: str, data: Path) -> None:
    found = told("hierarchy", "suggest", "people.csv", column)
    setting = found["hierarchy"]
    assert (None if setting is None else next(iter(setting))) == KINDS[column]
    assert found["levels"][0] == found["values"]
    assert found["levels"][-1] == 1
    assert sorted(found["levels"], reverse=True) == found["levels"]
    assert bool(found["source"]) == (KINDS[column] in {"classification", "places"})
    entry = {"role": "quasi"} | ({} if setting is None else {"hierarchy": setting})
    policy = {"shoal": 1, "name": "t", "attributes": {column: entry}, "privacy": [{"k_anonymity": {"k": 2}}]}
    table = pl.read_csv("people.csv", infer_schema=False).select(column)
    assert shoal.anonymise(table, policy, seed=1).risk.k >= 2


def test_what_is_printed_can_stand_in_a_policy(data: Path) -> None:
    said = run("hierarchy", "suggest", "people.csv", "age")
    written = yaml.safe_load(said[said.index("attributes:") :])
    assert written == {"attributes": {"age": {"role": "quasi", "hierarchy": {"intervals": {"widths": [5, 10, 20]}}}}}


def test_no_value_is_printed(data: Path) -> None:
    for column in ("icd_code", "town", "remark", "badge"):
        values = pl.read_csv("people.csv", infer_schema=False)[column].unique()
        said = run("hierarchy", "suggest", "people.csv", column)
        assert not any(value in said for value in values)


def test_the_file_is_one_that_a_policy_reads(data: Path) -> None:
    run("hierarchy", "suggest", "people.csv", "icd_code", "-o", "icd.csv")
    assert Path("icd.csv").read_text(encoding="utf-8").splitlines()[1] == (
        "E11.9;E11;E10-E14;IV Hormones, nutrition, metabolism;*"
    )
    assert Path("icd.csv").stat().st_mode & 0o077 == 0
    attribute = {"role": "quasi", "hierarchy": {"csv": "icd.csv"}}
    policy = {"shoal": 1, "name": "t", "attributes": {"icd_code": attribute}, "privacy": [{"k_anonymity": {"k": 2}}]}
    assert shoal.anonymise(pl.read_csv("people.csv").select("icd_code"), policy).risk.k >= 2
    assert "exists already" in refusal("hierarchy", "suggest", "people.csv", "age", "-o", "icd.csv")


def test_a_tree_is_drawn_of_a_file_a_name_and_a_policy(data: Path) -> None:
    Path("school.csv").write_text("11th;School;*\n12th;School;*\nBSc;Degree;*\n", encoding="utf-8")
    drawn = run("hierarchy", "show", "school.csv")
    assert drawn.index("School  (2)") < drawn.index("11th") < drawn.index("Degree")
    assert "District 09" in run("hierarchy", "show", "singapore-postal")
    Path("policy.yaml").write_text(
        "shoal: 1\nname: t\nsource: people.csv\nattributes:\n"
        "  age: {role: quasi, hierarchy: {intervals: [10, 50]}}\n"
        "  education: {role: quasi, hierarchy: {taxonomy: {tree: {Low: [Primary], High: [Bachelor, PhD]}}}}\n"
        "  '*': {role: direct}\n",
        encoding="utf-8",
    )
    assert told("hierarchy", "show", "policy.yaml", "education") == {
        "label": "*",
        "values": 3,
        "groups": [
            {"label": "Low", "values": 1, "groups": [{"label": "Primary", "values": 1}]},
            {"label": "High", "values": 2, "groups": [
                {"label": "Bachelor", "values": 1}, {"label": "PhD", "values": 1}]},
        ],
    }  # fmt: skip
    by_data = told("hierarchy", "show", "policy.yaml", "age")
    assert [group["label"] for group in by_data["groups"]] == ["0-49", "50-99"]
    assert {"label": "20-29", "values": 10} in by_data["groups"][0]["groups"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["suggest", "people.csv", "agee"], "did you mean 'age'"),
        (["suggest", "nobody.csv", "age"], "nobody.csv"),
        (["show", "icd10"], "did you mean 'icd-10'"),
        (["show", "policy.yaml"], "name a column"),
        (["show", "nobody.yaml", "age"], "there is no such policy file"),
    ],
)
def test_what_can_not_be_shown_is_said(words: list[str], said: str, data: Path) -> None:
    assert said in refusal("hierarchy", *words)


def test_a_known_kind_is_proposed_for_every_kind_that_can_be() -> None:
    assert {kind for kind in KINDS.values() if kind} <= set(hierarchies.names())
