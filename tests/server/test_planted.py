"""What somebody means harm with is planted wherever a value can stand: no page, report or header carries it out."""

from __future__ import annotations

import http.server
import io
import re
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from fastapi import FastAPI
from sqlalchemy import event
from starlette.testclient import TestClient
from tests.documents.made import MADE
from tests.hostile.files import DOCUMENTS, TABLES
from tests.server.conftest import PASSWORD, SETTINGS, Visitor, account
from tests.server.test_routes import routes

from shoal.errors import AccessError
from shoal.server import create_app
from shoal.server.access.single_sign_on import SingleSignOn
from shoal.server.home import StudioHome

pytestmark = pytest.mark.requirement("G-08")

SCRIPT = "\"'><img src=x onerror=alert(1)>"
RAW = re.compile(r"<img src=x", re.IGNORECASE)
FEW = ("swelling.xlsx", "laughing.xlsx", "endless.parquet")
SOME = ("stream.pdf", "laughing.xlsx", "swelling.docx")


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Visitor, dict[str, str]]:
    """A studio with one of everything, each with a name, a column, a value, a comment that is a script."""
    app = create_app(tmp_path_factory.mktemp("planted") / "home", SETTINGS)
    visitor = account(app, "meera", "administrator", "data-manager", "chief-investigator")
    rows = "".join(f"{20 + n % 3},{'FM'[n % 2]},{SCRIPT.replace(chr(34), '')} {n % 3}\n" for n in range(60))
    quoted = SCRIPT.replace('"', '""')
    made = visitor.upload(f"{SCRIPT}.csv", f'age,sex,"{quoted}"\n{rows}'.encode()).json()
    visitor.work()
    source = made["source"]
    roles = {"k": 3, "use_case": "internal-anonymised", "roles": {SCRIPT: "insensitive"}}
    assert visitor.api("PUT", f"/sources/{source}/choices", json=roles).status_code == 200
    run = visitor.api("POST", "/jobs", json={"kind": "run", "source": source, "seed": 7}).json()["job"]
    assert visitor.finished(run)["state"] == "done", visitor.finished(run)
    text = visitor.api("POST", "/texts", json={"name": SCRIPT, "text": f"Dear {SCRIPT}, call Asha Rao."}).json()["text"]
    visitor.work()
    wanted = {"source": source, "name": SCRIPT, "person": SCRIPT, "columns": ["age"], "at_least": 1}
    desk = visitor.api("POST", "/desks", json={**wanted, "answered_by": ["meera"]}).json()["desk"]
    visitor.work()
    told = "shoal: 1\nname: people\nbudget: {epsilon: 1}\nanalysts: {meera: {epsilon: 1}}\n"
    told += "columns:\n  sex: {type: category, categories: [F, M, '<img src=x onerror=alert(1)>']}\n"
    dataset = visitor.api("POST", "/datasets", json={"source": source, "description": told}).json()["dataset"]
    asked = {"sql": "SELECT sex, COUNT(*) AS people FROM t GROUP BY sex", "epsilon": "0.5"}
    visitor.api("POST", f"/datasets/{dataset}/questions", json=asked)
    visitor.work()
    token = visitor.api("POST", "/tokens", json={"name": SCRIPT, "scopes": ["release.*"], "days": 1}).json()["id"]
    registry(app, visitor)
    named = {"source": source, "job": run, "release": run, "policy": run, "text": text, "desk": desk}
    return visitor, named | {"dataset": dataset, "token": token}


def registry(app: Any, visitor: Visitor) -> None:
    visitor.api("POST", "/govern")
    asha = account(app, "asha", "chief-investigator")
    visitor.api("POST", "/govern/records/person/asha/admit", json={"roles": ["chief-investigator"]})
    opened = {"use_case": "external-sharing", "title": SCRIPT}
    assert asha.api("POST", "/govern/records/project/wards/open", json=opened).status_code == 200
    noted = asha.api("POST", "/govern/records/project/wards/complete", json={"step": 1, "note": SCRIPT})
    assert noted.status_code == 200, noted.text


MORE = {"kind": "project", "identifier": "wards", "number": "2", "topic": "techniques", "name:path": "report.html",
        "name": "recognisers.yaml", "account": "0" * 32, "act": "open", "change": "enable"}  # fmt: skip


def test_every_parameter_of_a_path_is_known(planted: tuple[Visitor, dict[str, str]]):
    """A new kind of object is tried here too, or this fails."""
    visitor, named = planted
    app: Any = visitor.client.app
    for _, path, _ in routes(app):
        for one in re.findall(r"\{([^}]+)\}", path):
            assert one in named or one in MORE, path


def filled(path: str, named: dict[str, str]) -> str:
    return re.sub(r"\{([^}]+)\}", lambda one: (named | MORE)[one.group(1)], path)


def test_no_page_carries_a_planted_script(planted: tuple[Visitor, dict[str, str]]):
    """In names of files, columns and things, in values, in comments: it is shown as the text that it is."""
    visitor, named = planted
    app: Any = visitor.client.app
    shown = 0
    for method, path, act in routes(app):
        if method != "GET" or act == "open":
            continue
        answer = visitor.client.get(filled(path, named), follow_redirects=False)
        assert answer.status_code < 500, path
        if answer.headers.get("content-type", "").startswith("text/html"):
            assert not RAW.search(answer.text), path
            shown += "&lt;img src=x" in answer.text
        assert "\n" not in str(dict(answer.headers))
    assert shown >= 6, "the script was there to be shown"
    for path in (f"/jobs/{named['job']}", f"/sources/{named['source']}/know", "/govern/projects/wards"):
        assert "&lt;img src=x" in visitor.client.get(path).text or path.startswith("/jobs"), path


def test_planted_script_in_a_message_is_text_too(planted: tuple[Visitor, dict[str, str]]):
    visitor, named = planted
    for path, form in (
        ("/accounts", {"name": SCRIPT, "password": PASSWORD, "roles": "tester"}),
        (f"/callers/new/{named['source']}", {"name": "d", "person": "age", "columns": "sex", "answered_by": SCRIPT}),
        (f"/query/new/{named['source']}", {"description": f"{SCRIPT}: [" + "x"}),
        (f"/query/{named['dataset']}", {"sql": f"SELECT {SCRIPT}", "epsilon": SCRIPT}),
        ("/account/tokens", {"name": "x", "scope": SCRIPT, "days": "1"}),
        ("/govern/new/project/open", {"identifier": SCRIPT, "use_case": "external-sharing"}),
    ):
        answer = visitor.post(path, form)
        assert 400 <= answer.status_code < 500, path
        assert not RAW.search(answer.text), path


def test_things_of_another_are_not_there(planted: tuple[Visitor, dict[str, str]]):
    """Whatever another may do with their own: desks, datasets, texts and tokens too."""
    owner, named = planted
    app: Any = owner.client.app
    other = account(app, "other", "administrator", "data-manager", "chief-investigator", "statistician")
    valid: dict[str, Any] = {"person": "1", "claims": {"age": "20"}, "sql": "SELECT 1", "epsilon": "0.1"}
    form = valid | {"use_case": "public", "k": "5", "limit": "5", "column": "age", "role": "quasi", "number": "1"}
    form |= {"name": "d", "answered_by": "meera", "columns": "sex", "method": "network"}
    looked = 0
    for method, path, _ in routes(app):
        if not set(re.findall(r"\{([^}]+)\}", path)) & set(named):
            continue
        fields = ("person", "claims") if "{desk}" in path else ("sql", "epsilon")
        body = {name: valid[name] for name in fields} if path.endswith(("/questions", "/price")) else {}
        sent = form | {"act": "price" if path.startswith("/query") else "run", "csrf": other.csrf}
        told: dict[str, Any] = {"json": body} if path.startswith("/api") else {"data": sent}
        told = told if method in ("POST", "PUT") else {}
        answer = other.client.request(
            method, filled(path, named), headers={"X-CSRF-Token": other.csrf}, follow_redirects=False, **told
        )
        assert answer.status_code == 404, (method, path, answer.text[:200])
        looked += 1
    assert looked > 40
    for path in ("/texts", "/desks", "/datasets", "/tokens", "/sources", "/jobs", "/releases"):
        assert other.api("GET", path).json()["items"] == [], path


@pytest.mark.parametrize(
    "name", [one if one in FEW else pytest.param(one, marks=pytest.mark.slow) for one in TABLES], ids=str
)
def test_hostile_table_fails_its_job_and_nothing_else(manager: Visitor, small: bytes, name: str, monkeypatch: Any):
    monkeypatch.setenv("SHOAL_READER_SECONDS", "3")
    made = manager.upload(name, TABLES[name]())
    if made.status_code == 201:
        told = manager.finished(made.json()["job"])
        assert told["state"] == "failed", told
        assert told["error"]["code"] != "SHOAL-900", told
        assert "Asha" not in str(told["error"])
        assert manager.client.get(f"/sources/{made.json()['source']}").status_code == 200
    else:
        assert made.status_code == 422, "another kind of file"
    after = manager.upload("people.csv", small).json()
    assert manager.finished(after["job"])["state"] == "done"


def pixel_pdf() -> bytes:
    """A kilobyte: a page with a picture of 131,072 times 131,072 dots, two gigabytes of them, that holds one."""
    made = pikepdf.new()
    made.add_blank_page(page_size=(3, 3))
    picture = pikepdf.Stream(made, b"\xff")
    picture.stream_dict = pikepdf.Dictionary(
        Type=pikepdf.Name.XObject,
        Subtype=pikepdf.Name.Image,
        Width=131_072,
        Height=131_072,
        ColorSpace=pikepdf.Name.DeviceGray,
        BitsPerComponent=1,
    )
    made.pages[0].Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(I=made.make_indirect(picture)))
    made.pages[0].Contents = made.make_stream(b"q 1 0 0 1 0 0 cm /I Do Q")
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def asking_letter(address: str) -> bytes:
    """A letter whose entities are a file of the server and a page of the network."""
    out = io.BytesIO()
    doctype = f'<!DOCTYPE d [<!ENTITY f SYSTEM "file:///etc/passwd"><!ENTITY n SYSTEM "{address}">]>'
    with zipfile.ZipFile(io.BytesIO(MADE["a.docx"]())) as old, zipfile.ZipFile(out, "w") as new:
        for part in old.namelist():
            content = old.read(part)
            if part == "word/document.xml":
                start = content.index(b"?>") + 2 if content.startswith(b"<?xml") else 0
                content = content[:start] + doctype.encode() + content[start:]
                content = re.sub(rb"(<w:t[^>]*>)", rb"\1&f;&n;", content, count=1)
            new.writestr(part, content)
    return out.getvalue()


@contextmanager
def listening(location: str | None = None) -> Iterator[tuple[str, list[str]]]:
    """A server of the inner network, and who asked it; with a location it sends everybody there."""
    asked: list[str] = []

    class Noting(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200 if location is None else 302)
            if location is not None:
                self.send_header("Location", location)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Noting)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


TRIED = [one if one in SOME else pytest.param(one, marks=pytest.mark.slow) for one in DOCUMENTS]


@pytest.mark.parametrize("name", ["pixel.pdf", "asking.docx", *TRIED], ids=str)
def test_hostile_document_harms_nobody(manager: Visitor, home: Path, name: str, monkeypatch: Any):
    monkeypatch.setenv("SHOAL_READER_SECONDS", "3")
    with listening() as (address, asked):
        content = {"pixel.pdf": pixel_pdf, "asking.docx": lambda: asking_letter(address)}.get(name) or DOCUMENTS[name]
        made = manager.api("POST", "/texts/documents", params={"name": name}, content=content())
        assert made.status_code == 201, made.text
        told = manager.finished(made.json()["job"])
        assert told["state"] in ("done", "failed")
        assert told["state"] == "done" or told["error"]["code"] != "SHOAL-900", told
        assert asked == []
    folder = home / "texts" / made.json()["text"]
    kept = b"".join(path.read_bytes() for path in folder.iterdir() if not path.name.startswith("document"))
    assert b"root:" not in kept
    assert sum(path.stat().st_size for path in folder.iterdir()) < 64 * 1024 * 1024
    assert manager.client.get(f"/texts/{made.json()['text']}").status_code == 200


def test_provider_that_sends_elsewhere_is_not_followed(home: Path):
    """Whoever has the provider's name can't make the studio ask the inner network."""
    with listening() as (inner, asked), listening(f"{inner}/metadata") as (issuer, _):
        studio = StudioHome.at(home, SETTINGS.model_copy(update={"oidc_issuer": issuer}))
        with pytest.raises(AccessError):
            SingleSignOn(studio).begin("http://testserver/single-sign-on/return")
        assert asked == []


@pytest.mark.parametrize("who", ["nobody", "known", "disabled", "locked", "without the code"])
def test_sign_in_that_fails_does_the_same_work_for_everybody(app: FastAPI, who: str, monkeypatch: pytest.MonkeyPatch):
    """As many hashes, as many statements: no clock tells whether there is such an account."""
    accounts = app.state.parts.accounts
    made = accounts.create("meera", PASSWORD, ["auditor"])
    if who == "disabled":
        accounts.set_disabled(made.id, disabled=True)
    if who == "locked":
        for _ in range(SETTINGS.failures_before_lock):
            with pytest.raises(AccessError):
                accounts.sign_in("meera", "wrong", "", "10.0.0.9")
    hashes: list[str] = []
    real = type(accounts._keeper._hasher).verify

    def noted(hasher: Any, kept: str, password: str) -> bool:
        hashes.append(kept)
        return bool(real(hasher, kept, password))

    monkeypatch.setattr(type(accounts._keeper._hasher), "verify", noted)
    if who == "without the code":
        monkeypatch.setattr("shoal.server.access.accounts._second_factor_step", lambda *_: None)
    statements: list[str] = []
    engine = app.state.parts.home.database._engine

    def heard(_c: Any, _k: Any, statement: str, *_: Any) -> None:
        statements.append(" ".join(statement.split()[:3]))

    event.listen(engine, "before_cursor_execute", heard)
    try:
        name, password = ("nobody", PASSWORD) if who == "nobody" else ("meera", "wrong")
        with pytest.raises(AccessError):
            accounts.sign_in(name, PASSWORD if who == "without the code" else password, "", "10.0.0.1")
    finally:
        event.remove(engine, "before_cursor_execute", heard)
    assert len(hashes) == 1
    wanted = ["SELECT attempts.origin, attempts.since,", "SELECT accounts.id, accounts.name,"]
    again = ["SELECT accounts.id, accounts.name,", "DELETE FROM attempts", "SELECT attempts.origin, attempts.since,"]
    told = [one for one in statements if not one.startswith(("PRAGMA", "BEGIN", "COMMIT"))]
    assert told == [*wanted, *again, "INSERT INTO attempts", "UPDATE accounts SET"]


@pytest.mark.parametrize("path", ["%2e%2e/home.py", "..%2fhome.py", "/etc/passwd", "..%5chome.py", "%00"])
def test_folder_of_styles_is_left_by_no_path(app: FastAPI, path: str):
    client = TestClient(app)
    assert client.get("/static/studio.css").status_code == 200
    assert client.get(f"/static/{path}").status_code == 404
