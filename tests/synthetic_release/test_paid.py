"""Syntheses from a curator's budget, and one question of both tables: by the command."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.support.commands import Call

pytestmark = pytest.mark.requirement("T-25", "C-02")

DATASET = """\
shoal: 1
name: ward
source: ward.csv
person: who
rows_per_person: 1
columns:
  age: {type: integer, bounds: [0, 110]}
  sex: {type: category, categories: [F, M]}
budget: {epsilon: 3.0, delta: 1.0e-6}
analysts: {asha: {epsilon: 2.5}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = range(600)
    ward = pl.DataFrame(
        {"who": [f"p{at}" for at in rows], "age": [20 + at % 60 for at in rows], "sex": ["FM"[at % 2] for at in rows]}
    )
    ward.write_csv(tmp_path / "ward.csv")
    (tmp_path / "ward.yaml").write_text(DATASET)
    return tmp_path


def test_paid_asked_beside_and_refused_when_spent(folder: Path, call: Call) -> None:
    paid = ("synth", "--dataset", "ward.yaml", "--analyst", "asha", "--method", "network", "--epsilon", "2")
    assert call(*paid, "-o", "out").code == 0
    told = json.loads((folder / "out" / "release.json").read_text())
    assert told["differential_privacy"]["unit"] == "person"
    assert "fidelity" not in told
    drawn = pl.read_csv(folder / "out" / "data.csv")
    sql = "SELECT sex, COUNT(*) AS n FROM t GROUP BY sex"
    both = call("query", "ward.yaml", sql, "--epsilon", "0.4", "--analyst", "asha", "--beside", "out", "--json").found
    women = next(row for row in both["rows"] if row["sex"] == "F")
    assert women["n_synthetic"] == (drawn["sex"] == "F").sum()
    assert women["n_low"] <= women["n"] <= women["n_high"]
    assert both["epsilon_spent"] == 0.4
    ended = call(*paid, "-o", "again")
    assert (ended.code, "budget" in ended.stderr) == (1, True)
    assert not (folder / "again").exists()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["ward.csv", "--dataset", "ward.yaml", "--epsilon", "1"], "--dataset: names the data itself"),
        (["--dataset", "ward.yaml", "--method", "sequential"], "--dataset: pays for private methods only"),
        (["--dataset", "ward.yaml", "--epsilon", "1", "--require", "tv1=1"], "--require: asks for figures of the real"),
        (["ward.csv", "--analyst", "asha"], "--analyst: goes with a dataset's description"),
    ],
)
def test_figures_of_the_real_table_are_not_for_sale(folder: Path, call: Call, asked: list[str], said: str) -> None:
    ended = call("synth", *asked, "-o", "out")
    assert (ended.code, said in ended.stderr) == (2, True), ended.stderr
    assert not (folder / "out").exists()
