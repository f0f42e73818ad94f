"""Verification without looking: yes or no to what a caller says, to those who are named, so often and no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.server.conftest import Visitor, account

pytestmark = pytest.mark.requirement("L-06")

PATIENTS = (
    b"patient,name,born,phone\n"
    b"P-1,Asha Rao,1990-02-01,+91 98765 43210\nP-2,Ravi Lim,1985-07-30,\nP-1,Asha Rao-Iyer,1990-02-01,+91 98765 43210\n"
)
RIGHT = {"name": "asha RAO", "born": "1990-02-01"}


@pytest.fixture
def operator(app: Any) -> Visitor:
    return account(app, "ravi", "caller-desk")


@pytest.fixture
def desk(manager: Visitor, operator: Visitor) -> str:
    source = manager.upload("patients.csv", PATIENTS).json()["source"]
    manager.work()
    wanted = {"source": source, "name": "Helpline", "person": "patient", "columns": ["name", "born", "phone"]}
    made = manager.api("POST", "/desks", json={**wanted, "answered_by": ["ravi"], "per_hour": 8}).json()
    assert operator.api("POST", f"/desks/{made['desk']}/questions", json=question()).status_code == 409
    assert manager.finished(made["job"])["state"] == "done"
    return str(made["desk"])


def question(person: str = "p 1", **claims: str) -> dict[str, Any]:
    return {"person": person, "claims": claims or RIGHT}


def asked(visitor: Visitor, desk: str, **told: Any) -> Any:
    return visitor.api("POST", f"/desks/{desk}/questions", json=question(**told))


def test_yes_or_no_and_nothing_else(operator: Visitor, desk: str):
    assert asked(operator, desk).json() == {"matches": True}
    assert asked(operator, desk, name="Asha Rao-Iyer", phone="+919876543210").json() == {"matches": True}
    wrong = asked(operator, desk, name="Asha Rao", born="1991-02-01")
    nobody = asked(operator, desk, person="P-9", name="Asha Rao", born="1990-02-01")
    missing = asked(operator, desk, person="P-2", name="Ravi Lim", phone="0")
    assert wrong.json() == nobody.json() == missing.json() == {"matches": False}
    assert asked(operator, desk, name="Asha Rao").status_code == 422, "two things have to be said"
    assert asked(operator, desk, name="Asha Rao", age="34").status_code == 422


def test_who_tries_values_is_stopped(operator: Visitor, desk: str):
    for year in (1991, 1992, 1993):
        assert asked(operator, desk, name="Asha Rao", born=f"{year}-02-01").json() == {"matches": False}
    stopped = asked(operator, desk)
    assert (stopped.status_code, "retry-after" in stopped.headers) == (429, True)
    assert asked(operator, desk, person="P-2", name="Ravi Lim", born="1985-07-30").json() == {"matches": True}
    for _ in range(4):
        asked(operator, desk, person="P-2", name="Ravi Lim", born="1985-07-30")
    assert asked(operator, desk, person="P-2", name="Ravi Lim", born="1985-07-30").status_code == 429


def test_each_question_is_on_the_log_without_a_value(manager: Visitor, operator: Visitor, desk: str, home: Path):
    asked(operator, desk)
    asked(operator, desk, name="Asha Rao", born="2000-01-01")
    items = manager.api("GET", f"/desks/{desk}/questions").json()["items"]
    assert [(one["account"], one["columns"], one["matched"]) for one in items] == [
        ("ravi", ["born", "name"], False),
        ("ravi", ["born", "name"], True),
    ]
    manager.api("DELETE", f"/sources/{manager.api('GET', f'/desks/{desk}').json()['source']}")
    assert asked(operator, desk).json() == {"matches": True}, "the desk needs no table"
    kept = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    for value in (b"Asha", b"asha", b"1990-02-01", b"98765"):
        assert value not in kept


def test_a_desk_is_there_for_those_it_names(app: Any, manager: Visitor, operator: Visitor, desk: str):
    other = account(app, "other", "caller-desk", "data-manager")
    for method, path in (("GET", ""), ("POST", "/questions"), ("GET", "/questions"), ("DELETE", "")):
        sent = {"json": question()} if method == "POST" else {}
        assert other.api(method, f"/desks/{desk}{path}", **sent).status_code == 404
    assert other.api("GET", "/desks").json() == {"items": [], "next": None}
    assert operator.api("GET", f"/desks/{desk}/questions").status_code == 403
    assert "answered_by" not in operator.api("GET", f"/desks/{desk}").json()
    assert operator.api("GET", "/sources").status_code == 403
    assert manager.api("DELETE", f"/desks/{desk}").status_code == 204
    assert not list((manager.parts.home.root / "desks").iterdir())
    assert asked(operator, desk).status_code == 404


def test_pages_make_a_desk_ask_it_and_repeat_nothing(manager: Visitor, operator: Visitor):
    source = manager.upload("patients.csv", PATIENTS).json()["source"]
    manager.work()
    assert f"/callers/new/{source}" in manager.client.get(f"/sources/{source}").text
    assert 'name="columns" value="born"' in manager.client.get(f"/callers/new/{source}").text
    form = {"name": "Helpline", "person": "patient", "answered_by": "ravi", "columns": ["name", "born"]}
    wrong: dict[str, Any]
    for wrong in ({"columns": []}, {"answered_by": "nobody"}, {"person": "name"}, {"at_least": "3"}):
        assert manager.post(f"/callers/new/{source}", {**form, **wrong}).status_code == 422
    address = manager.post(f"/callers/new/{source}", form).headers["location"]
    manager.work()
    assert address in operator.client.get("/callers").text
    yes = operator.post(address, {"person": "P-1", "claim-0": "Asha Rao", "claim-1": "1990-02-01"})
    assert "Yes: all of it matches." in yes.text
    no = operator.post(address, {"person": "P-1", "claim-0": "Asha Rao", "claim-1": "1990-02-02"})
    assert "No: it does not all match." in no.text
    for answer in (yes, no):
        assert "Asha" not in answer.text
        assert "1990" not in answer.text
    assert "What was asked" not in no.text
    assert "What was asked" in manager.client.get(address).text
    assert manager.post(f"{address}/close").status_code == 303


def test_column_that_is_not_there_fails_the_job(manager: Visitor, operator: Visitor):
    source = manager.upload("patients.csv", PATIENTS).json()["source"]
    manager.work()
    wanted = {"source": source, "name": "x", "person": "nowhere", "columns": ["name", "born"], "answered_by": ["ravi"]}
    job = manager.api("POST", "/desks", json=wanted).json()["job"]
    assert "no column 'nowhere'" in manager.finished(job)["error"]["message"]
