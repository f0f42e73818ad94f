"""Every route × every role, made from the router; another's objects; forgery; limits; what hostile requests get."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient
from tests.server.conftest import SETTINGS, Visitor, account
from tests.support.event_loops import in_own_loop

from shoal.errors import BugError, InputError
from shoal.server import create_app
from shoal.server.access.rights import allows, studio_roles
from shoal.server.studio.sign_in_pages import local
from shoal.server.studio_acts import file_name, take_in
from shoal.server.web.permits import guarded_routes

pytestmark = pytest.mark.requirement("G-08")

OPEN = {"/healthz", "/readyz", "/setup", "/sign-in", "/single-sign-on", "/single-sign-on/return"}
ACTS = {
    "/metrics": {"GET": "service.metrics"},
    "/api/v1/openapi.json": {"GET": "own.read"},
    "/api/v1/docs": {"GET": "own.read"},
    "/api/v1/me": {"GET": "own.read"},
    "/api/v1/sources": {"GET": "source.list", "POST": "source.upload"},
    "/api/v1/demo": {"POST": "source.upload"},
    "/api/v1/sources/{source}": {"GET": "source.read", "DELETE": "source.delete"},
    "/api/v1/sources/{source}/profile": {"GET": "source.read"},
    "/api/v1/sources/{source}/preview": {"GET": "source.preview"},
    "/api/v1/sources/{source}/choices": {"PUT": "source.choose"},
    "/api/v1/jobs": {"GET": "job.list", "POST": "job.start"},
    "/api/v1/jobs/{job}": {"GET": "job.read"},
    "/api/v1/jobs/{job}/cancel": {"POST": "job.cancel"},
    "/api/v1/jobs/{job}/events": {"GET": "job.read"},
    "/api/v1/policies": {"POST": "policy.draft"},
    "/api/v1/policies/{policy}": {"GET": "policy.read"},
    "/api/v1/policies/{policy}/file": {"GET": "policy.read"},
    "/api/v1/policies/{policy}/check": {"POST": "policy.check"},
    "/api/v1/releases": {"GET": "release.list"},
    "/api/v1/releases/{release}": {"GET": "release.read"},
    "/api/v1/releases/{release}/report": {"GET": "release.read"},
    "/api/v1/releases/{release}/files/{name:path}": {"GET": "release.download"},
    "/api/v1/releases/{release}/measure": {"POST": "release.measure"},
    "/api/v1/accounts": {"GET": "account.list", "POST": "account.create"},
    "/api/v1/accounts/{account}/disable": {"POST": "account.disable"},
    "/api/v1/accounts/{account}/enable": {"POST": "account.disable"},
    "/api/v1/accounts/{account}/roles": {"PUT": "account.roles"},
    "/api/v1/tokens": {"GET": "own.tokens", "POST": "own.tokens"},
    "/api/v1/tokens/{token}": {"DELETE": "own.tokens"},
    "/api/v1/me/password": {"PUT": "own.password"},
    "/api/v1/govern": {"GET": "govern.read", "POST": "govern.begin"},
    "/api/v1/govern/due": {"GET": "govern.read"},
    "/api/v1/govern/records/{kind}": {"GET": "govern.read"},
    "/api/v1/govern/records/{kind}/{identifier}": {"GET": "govern.read"},
    "/api/v1/govern/records/{kind}/{identifier}/{act}": {"POST": "govern.act"},
    "/api/v1/govern/projects/{identifier}/steps": {"GET": "govern.read"},
    "/api/v1/govern/projects/{identifier}/checklists": {"GET": "govern.read"},
    "/api/v1/govern/releases": {"POST": "govern.act"},
    "/api/v1/govern/compositions": {"POST": "govern.act"},
    "/api/v1/govern/verify": {"POST": "govern.read"},
    "/api/v1/texts": {"GET": "text.read", "POST": "text.add"},
    "/api/v1/texts/documents": {"POST": "text.add"},
    "/api/v1/texts/{text}": {"GET": "text.read", "DELETE": "text.delete"},
    "/api/v1/texts/{text}/choices": {"PUT": "text.decide"},
    "/api/v1/texts/{text}/files/{name}": {"GET": "text.read"},
    "/api/v1/desks": {"GET": "desk.ask", "POST": "desk.keep"},
    "/api/v1/desks/{desk}": {"GET": "desk.ask", "DELETE": "desk.keep"},
    "/api/v1/desks/{desk}/questions": {"GET": "desk.keep", "POST": "desk.ask"},
    "/api/v1/datasets": {"GET": "dataset.ask", "POST": "dataset.keep"},
    "/api/v1/datasets/{dataset}": {"GET": "dataset.ask"},
    "/api/v1/datasets/{dataset}/price": {"POST": "dataset.ask"},
    "/api/v1/datasets/{dataset}/questions": {"POST": "dataset.ask"},
    "/query": {"GET": "dataset.ask"},
    "/query/new/{source}": {"GET": "dataset.keep", "POST": "dataset.keep"},
    "/query/{dataset}": {"GET": "dataset.ask", "POST": "dataset.ask"},
    "/callers": {"GET": "desk.ask"},
    "/callers/new/{source}": {"GET": "desk.keep", "POST": "desk.keep"},
    "/callers/{desk}": {"GET": "desk.ask", "POST": "desk.ask"},
    "/callers/{desk}/close": {"POST": "desk.keep"},
    "/texts": {"GET": "text.read", "POST": "text.add"},
    "/texts/{text}": {"GET": "text.read"},
    "/texts/{text}/choices": {"POST": "text.decide"},
    "/texts/{text}/delete": {"POST": "text.delete"},
    "/": {"GET": "own.read"},
    "/sign-out": {"POST": "own.read"},
    "/vault": {"GET": "vault.open"},
    "/vault/look": {"POST": "vault.open"},
    "/vault/ask": {"POST": "vault.open"},
    "/vault/approve": {"POST": "vault.open"},
    "/vault/reveal": {"POST": "vault.open"},
    "/language": {"POST": "own.read"},
    "/demo": {"POST": "source.upload"},
    "/sources/{source}": {"GET": "source.read"},
    "/sources/from-folder": {"POST": "source.upload"},
    "/sources/from-database": {"POST": "source.upload"},
    "/sources/{source}/delete": {"POST": "source.delete"},
    "/sources/{source}/know": {"GET": "source.read"},
    "/sources/{source}/role": {"POST": "source.choose"},
    "/sources/{source}/levels/{number}": {"GET": "source.read", "POST": "source.choose"},
    "/sources/{source}/levels/{number}/preview": {"POST": "source.choose"},
    "/sources/{source}/choose": {"GET": "source.read", "POST": "job.start"},
    "/sources/{source}/synthetic": {"GET": "source.read", "POST": "job.start"},
    "/jobs/{job}": {"GET": "job.read"},
    "/jobs/{job}/progress": {"GET": "job.read"},
    "/jobs/{job}/cancel": {"POST": "job.cancel"},
    "/releases/{release}": {"GET": "release.read"},
    "/releases/{release}/certificate": {"POST": "release.certify"},
    "/releases/{release}/certificate/check": {"POST": "release.read"},
    "/releases/{release}/certificate/key": {"GET": "release.read"},
    "/releases/{release}/rows": {"GET": "source.preview", "POST": "source.preview"},
    "/account": {"GET": "own.read"},
    "/account/single-sign-on": {"POST": "own.password"},
    "/account/single-sign-on/forget": {"POST": "own.password"},
    "/account/second-factor": {"POST": "own.second-factor"},
    "/account/tokens": {"POST": "own.tokens"},
    "/account/tokens/{token}/revoke": {"POST": "own.tokens"},
    "/account/password": {"POST": "own.password"},
    "/govern": {"GET": "govern.read"},
    "/govern/begin": {"POST": "govern.begin"},
    "/govern/projects/{identifier}": {"GET": "govern.read"},
    "/govern/projects/{identifier}/checklists": {"GET": "govern.read"},
    "/govern/records/{kind}": {"GET": "govern.read"},
    "/govern/records/{kind}/{identifier}": {"GET": "govern.read"},
    "/govern/records/{kind}/{identifier}/{act}": {"POST": "govern.act"},
    "/govern/new/{kind}": {"GET": "govern.read"},
    "/govern/new/{kind}/{act}": {"POST": "govern.act"},
    "/govern/enter": {"POST": "govern.act"},
    "/govern/compositions": {"POST": "govern.act"},
    "/govern/chain": {"GET": "govern.read", "POST": "govern.read"},
    "/govern/training": {"GET": "govern.read"},
    "/govern/training/{topic}": {"GET": "govern.read", "POST": "govern.act"},
    "/accounts": {"GET": "account.list", "POST": "account.create"},
    "/accounts/{account}/roles": {"POST": "account.roles"},
    "/accounts/{account}/{change}": {"POST": "account.disable"},
}
"""Written by hand, as somebody who reads the rights would expect them: a route that is not here fails the test."""


def routes(app: FastAPI) -> Iterable[tuple[str, str, str]]:
    for route, permit in guarded_routes(app):
        for method in sorted(route.methods or ()):
            yield method, route.path, permit.act


def filled(path: str) -> str:
    """Identifiers of nothing."""
    return re.sub(r"\{[^}]+\}", "0" * 32, path)


def test_every_route_is_listed_with_its_act(app: FastAPI):
    found: dict[str, dict[str, str]] = {}
    for method, path, act in routes(app):
        found.setdefault(path, {})[method] = act
    assert {path for path in found if set(found[path].values()) == {"open"}} == OPEN
    assert {path: acts for path, acts in found.items() if path not in OPEN} == ACTS


def test_route_without_a_permit_stops_the_start(app: FastAPI):
    app.get("/forgotten")(lambda: "hello")
    with pytest.raises(BugError, match="forgotten"):
        guarded_routes(app)


def test_routes_without_anybody(app: FastAPI, manager: Visitor):
    client = TestClient(app, follow_redirects=False)
    for method, path, act in routes(app):
        if act == "open":
            continue
        answer = client.request(method, filled(path))
        refused = 401 if path.startswith("/api/") else 303
        assert answer.status_code == refused, (method, path)
        if refused == 303:
            assert answer.headers["location"].startswith("/sign-in"), path


@pytest.mark.parametrize("role", sorted(studio_roles()))
def test_routes_by_role(app: FastAPI, role: str):
    """Refused with 403 exactly where the role has no right; else it gets as far as its (missing) object or fields."""
    visitor = account(app, "ravi", role)
    for method, path, act in routes(app):
        if act == "open" or path == "/sign-out":
            continue
        answer = visitor.client.request(
            method, filled(path), headers={"X-CSRF-Token": visitor.csrf}, follow_redirects=False
        )
        assert (answer.status_code == 403) == (not allows([role], act)), (method, path, answer.status_code)
        assert answer.status_code < 500, (method, path)


def test_what_changes_something_needs_the_token_of_the_page(app: FastAPI, manager: Visitor):
    for method, path, act in routes(app):
        if method == "GET" or act == "open":
            continue
        plain = manager.client.request(method, filled(path), follow_redirects=False)
        assert plain.status_code == 403, (method, path)
        forged = {"X-CSRF-Token": manager.csrf, "Sec-Fetch-Site": "cross-site"}
        assert manager.client.request(method, filled(path), headers=forged).status_code == 403, (method, path)


def test_sign_in_form_is_bound_to_the_browser_that_got_it(app: FastAPI, manager: Visitor):
    client = TestClient(app, follow_redirects=False)
    assert client.post("/sign-in", data={"name": "meera", "password": "x"}).status_code == 403
    client.get("/sign-in")
    assert client.post("/sign-in", data={"csrf": "other", "name": "meera", "password": "x"}).status_code == 403


def test_another_persons_objects_are_not_there(released: tuple[Visitor, dict[str, Any]]):
    owner, job = released
    other = account(owner.client.app, "other", "data-manager", "administrator")
    objects = {"source": job["source"], "job": job["id"], "release": job["id"], "policy": job["result"]["policy"]}
    looked = 0
    for method, path, _ in routes(owner.client.app):  # type: ignore[arg-type]
        named = re.findall(r"\{(source|job|release|policy)\}", path)
        if not named:
            continue
        address = path.replace("{name:path}", "data.csv").replace("{number}", "0")
        for name in named:
            address = address.replace(f"{{{name}}}", objects[name])
        form = {"use_case": "public", "k": "5", "limit": "5", "column": "age", "role": "quasi", "method": "network"}
        form |= {"name": "desk", "person": "age", "answered_by": "meera", "columns": "sex", "number": "1"}
        told = {"json": {"k": 5}} if method == "PUT" else {"data": form} if method == "POST" else {}
        answer = other.client.request(
            method, address, headers={"X-CSRF-Token": other.csrf}, follow_redirects=False, **told
        )
        assert answer.status_code == 404, (method, path)
        looked += 1
    assert looked > 20
    for wanted in ({"kind": "run", "source": job["source"]}, {"kind": "run", "source": "", "policy": job["id"]}):
        assert other.api("POST", "/jobs", json=wanted).status_code == 404
    assert owner.api("GET", f"/releases/{job['id']}").status_code == 200


@pytest.mark.parametrize("name", ["../release.json", "..%2f..%2fstudio.sqlite", "/etc/passwd", "%2e%2e/x", "."])
def test_download_stays_in_its_folder(released: tuple[Visitor, dict[str, Any]], name: str):
    visitor, job = released
    answer = visitor.client.get(f"/api/v1/releases/{job['id']}/files/{name}")
    assert answer.status_code in (404, 200)
    assert answer.status_code == 404 or "SQLite" not in answer.text
    assert "root:" not in answer.text


@pytest.mark.parametrize(
    "name", ["../../x.csv", "/etc/cron.d/x.csv", "..\\..\\x.csv", "x\x00.csv", "a\r\nSet-Cookie: b.csv"]
)
def test_upload_names_become_names(manager: Visitor, home: Path, name: str):
    answer = manager.upload(name, b"a,b\n1,2\n")
    assert answer.status_code == 201
    kept = manager.api("GET", f"/sources/{answer.json()['source']}").json()["name"]
    assert re.fullmatch(r"[\w .()+-]+\.csv", kept)
    assert [path.name for path in home.rglob("*.csv")] == [kept]
    assert not list(home.parent.glob("*.csv"))


@pytest.mark.parametrize("name", ["x.exe", "x.csv.html", ".csv", "x", "x.sqlite", "x.zip"])
def test_other_kinds_of_file_are_refused(manager: Visitor, name: str):
    assert manager.upload(name, b"a,b\n1,2\n").status_code == 422
    assert file_name("x.csv") == "x.csv"


@pytest.mark.parametrize(
    "target",
    ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/x?y=//e", "", "/\t/evil"],
)
def test_nobody_is_sent_elsewhere_after_signing_in(target: str):
    assert local(target) == "/"


def test_uploads_and_bodies_have_limits(home: Path):
    settings = SETTINGS.model_copy(update={"upload_bytes": 1000, "body_bytes": 500})
    visitor = account(create_app(home, settings), "meera", "data-manager")
    assert visitor.upload("x.csv", b"a\n" * 600).status_code == 413
    streamed = (b"a\n" * 100 for _ in range(10))
    assert visitor.upload("x.csv", streamed).status_code == 413  # type: ignore[arg-type]
    assert visitor.post("/account/tokens", {"name": "x" * 600, "scope": "own.*", "days": "1"}).status_code == 413
    assert visitor.upload("x.csv", b"").status_code == 422
    assert list((home / "uploads").iterdir()) == []


def test_room_of_an_account_is_limited(home: Path):
    settings = SETTINGS.model_copy(update={"stored_bytes": 20})
    visitor = account(create_app(home, settings), "meera", "data-manager")
    assert visitor.upload("x.csv", b"a,b\n1,2\n3,4\n").status_code == 201
    refused = visitor.upload("y.csv", b"a,b\n1,2\n3,4\n")
    assert (refused.status_code, "more room than you have" in refused.text) == (422, True)
    assert len(list((home / "uploads").iterdir())) == 1


def test_uploads_that_come_side_by_side_share_the_room(home: Path):
    """Each would fit alone: what is counted as one comes in is counted again when it is whole."""
    settings = SETTINGS.model_copy(update={"stored_bytes": 19})
    visitor = account(create_app(home, settings), "meera", "data-manager")
    who = visitor.parts.sessions.who(str(visitor.client.cookies["shoal-session"]))
    assert who is not None

    async def small() -> AsyncIterator[bytes]:
        yield b"a,b\n1,2\n"

    async def meanwhile() -> AsyncIterator[bytes]:
        yield b"a,b\n1,2\n3"
        await take_in(visitor.parts, who, "y.csv", small())
        yield b",4\n"

    with pytest.raises(InputError, match="more room than you have"):
        in_own_loop(take_in(visitor.parts, who, "x.csv", meanwhile()))
    assert [path.name for path in home.rglob("*.csv")] == ["y.csv"]


def test_texts_and_documents_take_of_the_same_room(home: Path):
    settings = SETTINGS.model_copy(update={"stored_bytes": 20})
    visitor = account(create_app(home, settings), "meera", "data-manager")
    assert visitor.api("POST", "/texts", json={"name": "t", "text": "Dear Asha,"}).status_code == 201
    visitor.work()
    for refused in (
        visitor.upload("x.csv", b"a,b\n1,2\n3,4\n"),
        visitor.api("POST", "/texts", json={"name": "t", "text": "Dear Asha Rao,"}),
        visitor.api("POST", "/texts/documents", params={"name": "a.txt"}, content=b"Dear Asha Rao,"),
    ):
        assert (refused.status_code, "more room than you have" in refused.text) == (422, True)
    assert len(list((home / "texts").iterdir())) == 1
    assert list((home / "uploads").iterdir()) == []


def test_long_names_of_other_scripts_fit_a_disk(manager: Visitor):
    assert manager.upload("रोगी" * 60 + ".csv", b"a,b\n1,2\n").status_code == 201


def test_our_mistakes_have_the_headers_and_say_nothing(
    app: FastAPI, manager: Visitor, caplog: pytest.LogCaptureFixture
):
    def broken(*_: object) -> None:
        raise ValueError("Asha Rao, 34")

    app.state.parts.own = broken
    with caplog.at_level("INFO"):
        for path in ("/jobs/none", "/api/v1/jobs/none"):
            answer = manager.client.get(path)
            assert answer.status_code == 500
            assert "default-src 'none'" in answer.headers["content-security-policy"]
            assert "Asha" not in answer.text
    told = [record for record in caplog.records if record.getMessage() == "our mistake"]
    assert [record.error for record in told] == ["ValueError"] * 2  # type: ignore[attr-defined]
    assert not any("Asha" in str(vars(record)) for record in caplog.records)


def test_made_up_methods_and_lengths(app: FastAPI, manager: Visitor):
    for number in range(5):
        manager.client.request(f"MADE{number}", "/")
    figures = manager.client.get("/metrics").text
    assert "MADE" not in figures
    assert 'method="other"' in figures
    assert manager.client.get("/healthz", headers={b"Content-Length": "²".encode("latin-1")}).status_code == 413


def test_seed_beyond_64_bits_is_refused(manager: Visitor, small: bytes):
    source = manager.upload("people.csv", small).json()["source"]
    manager.work()
    asked = {"use_case": "internal-anonymised", "k": "3", "limit": "5", "act": "run", "seed": "9" * 20}
    assert manager.post(f"/sources/{source}/choose", asked).status_code == 422


def test_every_answer_has_the_headers(app: FastAPI, manager: Visitor):
    for path in ("/", "/healthz", "/nowhere", "/static/studio.css", "/api/v1/me"):
        headers = manager.client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "server" not in headers
    assert manager.client.get("/", headers={"Host": "evil.example"}).status_code == 400


def test_pages_have_no_script_or_style_inside():
    folder = Path(__file__).parents[2] / "src" / "shoal" / "server" / "templates"
    pages = sorted(folder.rglob("*.html"))
    assert len(pages) > 10
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.search(
            r"<script(?![^>]*\bsrc=\"/static/)|<style|\son\w+=|\bstyle=|https?://|\|\s*safe\b", text
        ), page


def test_health_readiness_and_figures(app: FastAPI, manager: Visitor):
    client = TestClient(app)
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").text == "ready"
    told = manager.client.get("/metrics").text
    assert 'shoal_jobs{state="queued"} 0.0' in told or 'shoal_jobs{state="queued"} 0' in told
    assert 'route="/healthz"' in told
    app.state.parts.home.database.path.unlink()
    assert client.get("/readyz").status_code == 503


def test_description_of_the_api_is_openapi_3_1(manager: Visitor):
    told = manager.client.get("/api/v1/openapi.json").json()
    assert told["openapi"].startswith("3.1")
    assert "/api/v1/releases/{release}" in told["paths"]
    assert manager.client.get("/api/v1/docs").text.count('class="route"') == sum(map(len, told["paths"].values()))
