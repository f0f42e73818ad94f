"""A studio in which somebody has worked: one of everything that a page shows, and the addresses of all its pages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from fastapi import FastAPI
from tests.server.conftest import SETTINGS, Visitor, account

from shoal.crypto.passphrase import Effort
from shoal.examples import hospital
from shoal.pseudonyms.formats.base32 import Base32
from shoal.server import create_app
from shoal.server.web.permits import guarded_routes
from shoal.vault import Passphrase, Right, Vault

ROLES = {
    "devi": ("administrator",),
    "asha": ("chief-investigator",),
    "bela": ("manager",),
    "chan": ("data-manager",),
    "dina": ("auditor",),
    "tara": ("tester",),
    "kiri": ("caller-desk",),
    "stan": ("statistician",),
}
REGISTRY = ("asha", "bela", "chan", "dina", "tara")
WORDS = {"chan": "blue lantern over the reef", "asha": "seven slow turtles at dawn"}
LETTER = (
    "Dear Ms. Meera Iyer,\n\nDr. Asha Rao saw Ravi Lim, 34 years old, on 5 March 2024 in Pune.\n"
    "Write to ravi.lim@shop.in or call +91 98765 43210 about the blue lagoon.\n"
)
DESCRIPTION = """
shoal: 1
name: admissions
columns:
  sex: {type: category, categories: [F, M]}
  age: {type: integer, bounds: [0, 110]}
budget: {epsilon: 2}
analysts: {chan: {epsilon: 1}}
"""
QUESTION = "SELECT sex, COUNT(*) AS people FROM t GROUP BY sex"
TRAINED = {"techniques": [3, 2, 1, 1]}
AGREED: dict[str, Any] = {"file": "agreement.txt", "sha256": "cd" * 32, "signatories": "Director\nDean"}
CLAUSES = ["no-re-identification", "protection", "permitted-purposes", "liability"]
NO_PAGE = {"/api/v1/openapi.json", "/healthz", "/readyz", "/metrics", "/single-sign-on", "/single-sign-on/return",
           "/releases/{release}/certificate/key"}  # fmt: skip
"""Answers to GET that are for programs, or lead elsewhere."""
ELSEWHERE = {"/setup", "/jobs/{job}/progress", "/sign-in"}
"""Pages of a studio without accounts, of a visitor, and a part of a page."""


@dataclass
class Furnished:
    home: Path
    app: FastAPI
    people: dict[str, Visitor]
    addresses: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """By route: who looks, and where."""

    @property
    def pages(self) -> list[tuple[str, str]]:
        return [one for places in self.addresses.values() for one in places]

    def cookie(self, name: str) -> str:
        return str(self.people[name].client.cookies["shoal-session"])


def furnish(place: Path, *, people: int = 400) -> Furnished:
    """All of it by the same requests as browsers send, and the same work as workers do."""
    home = place / "home"
    words = _vault(place)
    tables = place / "tables"
    tables.mkdir()
    (tables / "wards.csv").write_text("ward,beds\n1,20\n2,30\n", encoding="utf-8")
    settings = {"vault": str(words[0]), "tables_folder": tables, "table_servers": ("postgresql://db.example.org:5432",)}
    app = create_app(home, SETTINGS.model_copy(update=settings))
    told = Furnished(home, app, {name: account(app, name, *roles) for name, roles in ROLES.items()})
    table = place / "hospital.csv"
    hospital.write(table, people=people)
    objects = _table(told, table.read_bytes())
    objects |= _texts_and_questions(told, objects["source"])
    _reveal(told, words[1])
    _registry(told, objects)
    told.addresses = _addresses(objects)
    return told


def _vault(place: Path) -> tuple[Path, str]:
    quick, path = Effort(1, 1, 8), place / "vault.db"
    with Vault.create(path, Passphrase("chan", WORDS["chan"], quick), state=place / "state") as made:
        made.admit(Passphrase("asha", WORDS["asha"], quick), [Right.APPROVE])
        made.add_domain("patients", approvals=1)
        return path, str(made.issue("patients", pl.Series(["Asha Rao"]), Base32())[0])


def _done(visitor: Visitor, answer: Any) -> str:
    assert answer.status_code in (200, 201, 202), answer.text
    job = str(answer.json()["job"])
    told = visitor.finished(job)
    assert told["state"] == "done", told
    return job


def _table(told: Furnished, table: bytes) -> dict[str, str]:
    chan = told.people["chan"]
    source = str(chan.upload("hospital.csv", table).json()["source"])
    chan.work()
    chan.api("PUT", f"/sources/{source}/choices", json={"k": 5, "use_case": "external-sharing"})
    columns = [one["name"] for one in chan.api("GET", f"/sources/{source}/profile").json()["columns"]]
    number = columns.index("age")
    kept = chan.post(f"/sources/{source}/levels/{number}", {"kind": "intervals", "intervals.widths": "5, 10, 20"})
    chan.work()
    made = {"source": source, "age": str(number), "levels": str(kept.headers["location"])}
    for kind, more in (
        ("explore", {}),
        ("run", {"evidence": True}),
        ("synth", {"synthesis": {"method": "sequential"}}),
    ):
        wanted = {"kind": kind, "source": source, **more}
        made[kind] = _done(chan, chan.api("POST", "/jobs", json=wanted))
    asked = chan.post(f"/releases/{made['run']}/rows", {"number": "1"})
    assert asked.status_code == 303, asked.text
    chan.work()
    assert chan.post(f"/releases/{made['run']}/certificate").status_code == 303
    waiting = chan.api("POST", "/jobs", json={"kind": "run", "source": source}).json()["job"]
    lost = chan.upload("nothing.csv", b"\x00\x01\n").json()["source"]
    chan.api("POST", f"/jobs/{waiting}/cancel")
    return made | {"cancelled": waiting, "lost": lost}


def _texts_and_questions(told: Furnished, source: str) -> dict[str, str]:
    chan = told.people["chan"]
    text = chan.api("POST", "/texts", json={"name": "A letter", "text": LETTER}).json()
    columns = {"source": source, "name": "Helpline", "person": "patient_id", "columns": ["age", "sex"]}
    desk = chan.api("POST", "/desks", json={**columns, "answered_by": ["kiri", "chan"], "per_hour": 8}).json()
    made = chan.api("POST", "/datasets", json={"source": source, "description": DESCRIPTION})
    assert made.status_code == 201, made.text
    dataset = str(made.json()["dataset"])
    _done(chan, chan.api("POST", f"/datasets/{dataset}/questions", json={"sql": QUESTION, "epsilon": "0.5"}))
    chan.work()
    claim = {"person": "nobody", "claims": {"age": "34", "sex": "F"}}
    assert told.people["kiri"].api("POST", f"/desks/{desk['desk']}/questions", json=claim).status_code == 200
    return {"text": text["text"], "desk": desk["desk"], "dataset": dataset}


def _reveal(told: Furnished, pseudonym: str) -> None:
    asked = {"domain": "patients", "pseudonyms": pseudonym, "reason": "a recall of a medicine"}
    assert told.people["chan"].post("/vault/ask", {**asked, "passphrase": WORDS["chan"]}).status_code == 200


def _registry(told: Furnished, objects: dict[str, str]) -> None:
    """A project on its way, two requests, two releases looked at together, an incident whose clock runs."""
    devi, asha, bela, chan, tara = (told.people[name] for name in ("devi", "asha", "bela", "chan", "tara"))
    assert devi.post("/govern/begin").status_code == 303
    for name in REGISTRY:
        _act(devi, "/new/person/admit", identifier=name, roles=ROLES[name][0])
    title = {"title": "Admissions of 2025", "use_case": "external-sharing", "identifier": "admissions"}
    _act(asha, "/new/project/open", **title)
    for name in ("R-1", "R-2"):
        form = {"project": "admissions", "seeker": "Institute of Public Health", "wanted": "ages and diagnoses"}
        _act(bela, "/new/request/submit", identifier=name, **form, purpose="a study of stays", until="2099-12-31")
    for act in ("review", "approve"):
        _act(asha, f"/records/request/R-1/{act}")
    _act(bela, "/records/request/R-1/agree", **AGREED, clauses=CLAUSES)
    for visitor in (chan, tara):
        answers = {f"question-{number}": str(one) for number, one in enumerate(TRAINED["techniques"])}
        assert visitor.post("/govern/training/techniques", answers).status_code == 303
    again = _done(chan, chan.api("POST", "/jobs", json={"kind": "run", "source": objects["source"]}))
    for release, entry in ((objects["run"], "2026-q1"), (again, "2026-q2")):
        sent = chan.post("/govern/enter", {"release": release, "project": "admissions", "entry": entry})
        assert sent.status_code == 303, sent.text
    asked = chan.post("/govern/compositions", {"entry": "2026-q2"})
    assert asked.status_code == 303, asked.text
    chan.work()
    for step in (1, 2, 3):
        _act(asha, "/records/project/admissions/complete", step=str(step), note="as the minutes say")
    _act(asha, "/records/project/admissions/assign", step="4", owner="chan", due="2026-01-01")
    _act(asha, "/records/project/admissions/note", about="decision", text="as the minutes say")
    lost = {"title": "A lost stick", "lost": ["raw"], "jurisdiction": "singapore"}
    told_of = asha.api("POST", "/govern/records/incident/stick/report", json=lost)
    assert told_of.status_code == 200, told_of.text


def _act(visitor: Visitor, path: str, **told: Any) -> None:
    answer = visitor.post(f"/govern{path}", told)
    assert answer.status_code == 303, answer.text


def _addresses(made: dict[str, str]) -> dict[str, list[tuple[str, str]]]:
    source, release = f"/sources/{made['source']}", f"/releases/{made['run']}"
    kinds = ("project", "request", "incident", "person")
    return {
        "/": [("chan", "/"), ("asha", "/"), ("kiri", "/")],
        "/account": [("chan", "/account")],
        "/accounts": [("devi", "/accounts")],
        "/api/v1/docs": [("chan", "/api/v1/docs")],
        "/sources/{source}": [("chan", source), ("chan", f"/sources/{made['lost']}")],
        "/sources/{source}/know": [("chan", f"{source}/know")],
        "/sources/{source}/levels/{number}": [("chan", made["levels"])],
        "/sources/{source}/choose": [("chan", f"{source}/choose")],
        "/sources/{source}/synthetic": [("chan", f"{source}/synthetic")],
        "/jobs/{job}": [("chan", f"/jobs/{made['explore']}?first=0&second=3"), ("chan", f"/jobs/{made['cancelled']}")],
        "/releases/{release}": [("chan", release), ("chan", f"/releases/{made['synth']}")],
        "/releases/{release}/rows": [("chan", f"{release}/rows?row=1")],
        "/texts": [("chan", "/texts")],
        "/texts/{text}": [("chan", f"/texts/{made['text']}")],
        "/query": [("chan", "/query")],
        "/query/new/{source}": [("chan", f"/query/new/{made['source']}")],
        "/query/{dataset}": [("chan", f"/query/{made['dataset']}")],
        "/callers": [("kiri", "/callers")],
        "/callers/new/{source}": [("chan", f"/callers/new/{made['source']}")],
        "/callers/{desk}": [("chan", f"/callers/{made['desk']}")],
        "/vault": [("chan", "/vault")],
        "/govern": [("asha", "/govern"), ("kiri", "/govern")],
        "/govern/projects/{identifier}": [("asha", "/govern/projects/admissions")],
        "/govern/projects/{identifier}/checklists": [("asha", "/govern/projects/admissions/checklists")],
        "/govern/records/{kind}": [("asha", f"/govern/records/{kind}") for kind in (*kinds, "release")],
        "/govern/records/{kind}/{identifier}": [
            ("asha", "/govern/records/request/R-1"),
            ("asha", "/govern/records/incident/stick"),
            ("chan", "/govern/records/release/2026-q2"),
            ("devi", "/govern/records/person/chan"),
        ],
        "/govern/new/{kind}": [
            ("asha", "/govern/new/project"),
            ("bela", "/govern/new/request"),
            ("asha", "/govern/new/incident"),
            ("devi", "/govern/new/person"),
        ],
        "/govern/chain": [("dina", "/govern/chain")],
        "/govern/training": [("chan", "/govern/training")],
        "/govern/training/{topic}": [("chan", "/govern/training/techniques")],
    }


def routes_of_pages(app: FastAPI) -> set[str]:
    """Every route that answers GET with a page, from the router."""
    found = {route.path for route, _ in guarded_routes(app) if "GET" in (route.methods or ())}
    return {path for path in found if not path.startswith("/api/") or path == "/api/v1/docs"} - NO_PAGE


def name_of(address: str) -> str:
    """For a picture: without identifiers."""
    return re.sub(r"[0-9a-f]{32}", "X", address.partition("?")[0]).strip("/").replace("/", "-") or "start"
