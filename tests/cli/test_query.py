"""``shoal query`` and ``shoal dp``: answers, refusals, budgets, as the contract has them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import polars as pl
import pytest
import yaml

from .conftest import Call

pytestmark = pytest.mark.requirement("C-01", "C-02")

ASK = "SELECT region, COUNT(*) AS n, AVG(income) AS pay FROM t GROUP BY region"


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    rows = [
        {
            "who": place % 900,
            "age": place % 90,
            "income": 1000.0 * (place % 50),
            "region": ("north", "south")[place % 2],
        }
        for place in range(2000)
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "people.csv")
    described = {
        "shoal": 1,
        "name": "people",
        "source": "people.csv",
        "person": "who",
        "rows_per_person": 3,
        "columns": {
            "age": {"type": "integer", "bounds": [0, 110]},
            "income": {"type": "number", "bounds": [0, 60000]},
            "region": {"type": "category", "categories": ["north", "south"]},
        },
        "budget": {"epsilon": 1.0, "delta": 1.0e-7},
        "analysts": {"asha": {"epsilon": 0.5}},
    }
    path = tmp_path / "people.yaml"
    path.write_text(yaml.safe_dump(described), encoding="utf-8")
    return path


def test_an_answer_has_the_keys_of_the_contract(call: Call, dataset: Path) -> None:
    done = call("query", str(dataset), ASK, "--epsilon", "0.5", "--analyst", "asha", "--json")
    assert done.code == 0
    told = json.loads(done.stdout)
    assert {"columns", "rows", "epsilon_spent", "epsilon_left", "delta_spent", "notes"} <= set(told)
    assert (told["epsilon_spent"], told["epsilon_left"], told["delta_spent"]) == (0.5, 0, 0)
    for row in told["rows"]:
        assert row["n_low"] < row["n"] < row["n_high"]
        assert row["pay_low"] < row["pay"] < row["pay_high"]


def test_exit_codes(call: Call, dataset: Path) -> None:
    assert call("query", str(dataset), "SELECT COUNT(*) FROM t", "--epsilon", "0.4", "--analyst", "asha").code == 0
    short = call("query", str(dataset), "SELECT SUM(age) FROM t", "--epsilon", "0.4", "--analyst", "asha")
    assert short.code == 1
    assert "SHOAL-190" in short.stderr
    for sql, epsilon in (("SELECT MAX(age) FROM t", "0.1"), ("SELECT COUNT(*) FROM t", "0"), ("SELEC", "0.1")):
        assert call("query", str(dataset), sql, "--epsilon", epsilon).code == 2
    for epsilon in ("25", "much", "nan", "-inf", "1e999", ""):
        assert call("query", str(dataset), ASK, "--epsilon", epsilon).code == 2
    assert call("query", str(dataset), ASK, "--epsilon", "0.1", "--delta", "much").code == 2
    assert call("query", str(dataset), ASK).code == 2
    assert call("query", str(dataset), ASK, "--epsilon", "0.1", "--analyst", "nobody").code == 2
    assert call("query", str(dataset.with_name("none.yaml")), ASK, "--epsilon", "0.1").code == 2


def test_a_dry_run_spends_nothing(call: Call, dataset: Path) -> None:
    done = call("query", str(dataset), ASK, "--epsilon", "0.5", "--dry-run", "--json")
    assert done.code == 0
    told = json.loads(done.stdout)
    assert told["sufficient"] and told["epsilon"] == 0.5 and told["groups"] == 2
    assert told["errors"]["pay"] is None and told["errors"]["n"] > 0
    assert not dataset.with_name("people.budget").exists()
    assert call("query", str(dataset), ASK, "--epsilon", "1.5", "--dry-run").code == 1


def test_the_auditor_sees_what_was_asked(call: Call, dataset: Path) -> None:
    call("query", str(dataset), "SELECT COUNT(*) FROM t", "--epsilon", "0.25", "--analyst", "asha")
    state = json.loads(call("dp", "budget", str(dataset), "--json").stdout)
    assert [(one["account"], one["spent"], one["left"]) for one in state["accounts"]] == [
        ("people", 0.25, 0.75),
        ("asha", 0.25, 0.25),
    ]
    assert state["family_epsilon"] == 1
    audit = json.loads(call("dp", "audit", str(dataset), "--json").stdout)
    assert (audit["asked"], audit["answered"], audit["verified"]) == (1, 1, 3)
    assert audit["entries"][1]["sql"] == "SELECT COUNT(*) FROM t"


def test_who_has_the_ledger_alone_can_verify_it(call: Call, dataset: Path) -> None:
    call("query", str(dataset), "SELECT COUNT(*) FROM t", "--epsilon", "0.25")
    budget = dataset.with_name("people.budget")
    intact = call("verify", str(budget), "--json")
    assert (intact.code, json.loads(intact.stdout)["budget of"]) == (0, "people")
    with sqlite3.connect(budget) as connection:
        connection.execute("UPDATE budget_account SET amount = '0'")
    changed = call("verify", str(budget), "--json")
    assert (changed.code, json.loads(changed.stdout)["intact"]) == (1, False)


def test_a_draft_has_no_bounds_from_the_data(call: Call, dataset: Path) -> None:
    place = dataset.with_name("draft.yaml")
    source = str(dataset.with_name("people.csv"))
    done = call("dp", "describe", source, "--person", "who", "-o", str(place), "--json")
    assert json.loads(done.stdout)["open"] == ["income"]
    drafted = yaml.safe_load(place.read_text(encoding="utf-8"))
    assert drafted["columns"]["age"] == {"type": "integer", "bounds": [0, 120]}
    assert drafted["columns"]["region"] == {"type": "category"}
    assert call("dp", "check", str(place)).code == 2
    assert call("dp", "describe", source, "-o", str(place)).code == 2, "it is there already"
    place.write_text(place.read_text(encoding="utf-8").replace("[FILL IN, FILL IN]", "[0, 60000]"), encoding="utf-8")
    assert call("dp", "check", str(place)).code == 0


def test_a_draft_that_could_not_be_used_is_none(call: Call, dataset: Path) -> None:
    source, place = str(dataset.with_name("people.csv")), dataset.with_name("draft.yaml")
    for wrong in (("--epsilon", "much"), ("--epsilon", "0"), ("--rows-per-person", "0"), ("--person", "whoo")):
        done = call("dp", "describe", source, "-o", str(place), *wrong)
        assert (done.code, done.stderr.count("\n"), place.exists()) == (2, 1, False), wrong
    assert "each row counts as a person" in call("dp", "describe", source, "-o", str(place)).stderr


def test_who_is_refused_reads_what_is_left(call: Call, dataset: Path) -> None:
    count = ("query", str(dataset), "SELECT COUNT(*) FROM t", "--epsilon", "0.4", "--analyst", "asha")
    assert call(*count).code == 0
    short = call(*count, "--fresh")
    assert (short.code, short.stderr.count("\n")) == (1, 1)
    assert "the budget of asha does not suffice for this question: ε 0.1 is left" in short.stderr


def test_a_lost_budget_is_begun_anew_on_purpose_only(call: Call, dataset: Path) -> None:
    count = ("query", str(dataset), "SELECT COUNT(*) AS n FROM t", "--epsilon", "0.5", "--non-negative", "--json")
    assert json.loads(call(*count).stdout)["rows"][0]["n"] >= 0
    assert json.loads(call(*count).stdout)["kept"]
    assert not json.loads(call(*count, "--fresh").stdout)["kept"]
    assert not json.loads(call("dp", "begin", str(dataset), "--json").stdout)["begun"]
    for end in ("", "-wal", "-shm"):
        dataset.with_name(f"people.budget{end}").unlink(missing_ok=True)
    lost = call(*count)
    assert lost.code == 2
    assert "the budget is gone" in lost.stderr
    assert "is begun" in call("dp", "begin", str(dataset), "--anew").stdout
    assert call(*count).code == 0
