"""Questions with a budget: who may ask, what is left, and that nobody names a place of the server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.server.conftest import SETTINGS, Visitor, account, signed_in

from shoal.server import create_app
from shoal.server.backup import back_up, restore

pytestmark = pytest.mark.requirement("C-01", "G-08")

TABLE = ("age,region\n" + "".join(f"{20 + n % 60},{('north', 'south')[n % 2]}\n" for n in range(2000))).encode()
DESCRIPTION = """
shoal: 1
name: people
columns:
  age: {type: integer, bounds: [0, 110]}
  region: {type: category, categories: [north, south]}
budget: {epsilon: 1.0}
analysts: {ravi: {epsilon: 0.6}, meera: {epsilon: 0.5}}
"""
COUNT = "SELECT region, COUNT(*) AS n FROM t GROUP BY region"


@pytest.fixture
def analyst(app: Any) -> Visitor:
    return account(app, "ravi", "statistician")


@pytest.fixture
def dataset(manager: Visitor, analyst: Visitor) -> str:
    source = manager.upload("people.csv", TABLE).json()["source"]
    manager.work()
    made = manager.api("POST", "/datasets", json={"source": source, "description": DESCRIPTION})
    assert made.status_code == 201, made.text
    return str(made.json()["dataset"])


def left(visitor: Visitor, dataset: str) -> dict[str, float]:
    told = visitor.api("GET", f"/datasets/{dataset}").json()
    return {one["whose"]: round(one["left"], 6) for one in told["budgets"]}


def ask(visitor: Visitor, dataset: str, epsilon: str, sql: str = COUNT) -> Any:
    return visitor.api("POST", f"/datasets/{dataset}/questions", json={"sql": sql, "epsilon": epsilon})


def test_answers_are_paid_until_nothing_is_left(manager: Visitor, analyst: Visitor, dataset: str):
    price = analyst.api("POST", f"/datasets/{dataset}/price", json={"sql": COUNT, "epsilon": "0.5"}).json()
    assert price["sufficient"]
    assert left(analyst, dataset) == {"people": 1.0, "ravi": 0.6}
    told = analyst.finished(ask(analyst, dataset, "0.5").json()["job"])
    assert told["state"] == "done", told
    rows = {row["region"]: row for row in told["result"]["rows"]}
    for row in rows.values():
        assert abs(row["n"] - 1000) < 60
        assert row["n_low"] < row["n"] < row["n_high"]
    assert left(analyst, dataset) == {"people": 0.5, "ravi": 0.1}
    assert left(manager, dataset) == {"people": 0.5, "ravi": 0.1, "meera": 0.5}
    again = analyst.finished(ask(analyst, dataset, "0.1").json()["job"])
    assert again["state"] == "done"
    refused = ask(analyst, dataset, "0.1", "SELECT COUNT(*) AS n FROM t WHERE age > 30")
    assert (refused.status_code, "more than is left" in refused.text) == (422, True)
    assert ask(analyst, dataset, "0.1", "SELECT * FROM t").status_code == 422


def test_only_who_is_named_asks_and_sees_it(app: Any, analyst: Visitor, dataset: str):
    other = account(app, "other", "statistician", "data-manager")
    for method, path in (("GET", ""), ("POST", "/price"), ("POST", "/questions")):
        told = {"json": {"sql": COUNT, "epsilon": "0.1"}} if method == "POST" else {}
        assert other.api(method, f"/datasets/{dataset}{path}", **told).status_code == 404
    assert other.api("GET", "/datasets").json() == {"items": [], "next": None}
    seen = analyst.api("GET", f"/datasets/{dataset}").json()
    assert "source" not in seen
    assert "analysts" not in seen


@pytest.mark.parametrize(
    "wrong",
    [
        "source: /etc/passwd",
        "ledger: /tmp/x.budget",
        "ledger: postgresql://evil/x",
        "tables: {}",
        "analysts_only: false",
    ],
)
def test_description_names_no_place(manager: Visitor, analyst: Visitor, wrong: str):
    source = manager.upload("people.csv", TABLE).json()["source"]
    manager.work()
    for text in (f"{DESCRIPTION}{wrong}\n", DESCRIPTION.replace("ravi", "nobody"), "[", "- x", "shoal: 1"):
        refused = manager.api("POST", "/datasets", json={"source": source, "description": text})
        assert refused.status_code == 422, text
    assert not list((manager.parts.home.root / "datasets").iterdir())


def test_pages_draft_ask_and_show_the_gauge(manager: Visitor, analyst: Visitor):
    source = manager.upload("people.csv", TABLE).json()["source"]
    manager.work()
    drafted = manager.client.get(f"/query/new/{source}").text
    assert "bounds: [FILL IN, FILL IN]" in drafted
    assert "has something open" in manager.post(f"/query/new/{source}", {"description": "a: FILL IN"}).text
    address = manager.post(f"/query/new/{source}", {"description": DESCRIPTION}).headers["location"]
    assert address in analyst.client.get("/query").text
    priced = analyst.post(address, {"sql": COUNT, "epsilon": "0.2", "act": "price"}).text
    assert "Nothing was read or spent" in priced
    for wrong in ({"sql": "", "epsilon": "1"}, {"sql": COUNT, "epsilon": "x"}, {"sql": "DROP TABLE t", "epsilon": "1"}):
        assert analyst.post(address, {**wrong, "act": "ask"}).status_code == 422
    assert analyst.post(address, {"sql": COUNT, "epsilon": "0.2", "act": "ask"}).status_code == 303
    analyst.work()
    page = analyst.client.get(address).text
    assert page.count('<circle class="best"') == 2
    assert "ε 0.4 of 0.6" in page


def test_backup_keeps_what_was_spent(manager: Visitor, analyst: Visitor, dataset: str, home: Path, tmp_path: Path):
    analyst.finished(ask(analyst, dataset, "0.5").json()["job"])
    back_up(home, tmp_path / "backup.tar")
    restore(tmp_path / "backup.tar", tmp_path / "again")
    again = signed_in(create_app(tmp_path / "again", SETTINGS), "ravi")
    assert left(again, dataset) == {"people": 0.5, "ravi": 0.1}
