"""A POST that comes again with its key is answered as it was, and done once; every list comes in pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.testclient import TestClient
from tests.server.conftest import PASSWORD, Visitor, account

from shoal.server.store.tables import ANSWERS
from shoal.server.web.once import HEADER, LONGEST, OnceRoute

pytestmark = pytest.mark.requirement("G-08")

NEW = {"name": "ravi", "password": PASSWORD, "roles": ["tester"]}
OPEN_PROJECT = "/govern/records/project/wards/open"


def keyed(visitor: Visitor, path: str, key: str = "one", **told: Any) -> Any:
    return visitor.api("POST", path, headers={HEADER: key}, **told)


def test_every_post_of_the_api_takes_a_key(app: FastAPI, manager: Visitor):
    described = manager.client.get("/api/v1/openapi.json").json()["paths"]
    posts = [route for route in app.routes if isinstance(route, APIRoute) and route.path.startswith("/api/")]
    looked = 0
    for route in posts:
        if "POST" in route.methods:
            assert isinstance(route, OnceRoute), route.path
            named = [one["name"].lower() for one in described[route.path]["post"].get("parameters", ())]
            assert HEADER.lower() in named, route.path
            looked += 1
    assert looked > 20


def test_same_key_does_it_once(app: FastAPI, manager: Visitor):
    first, again = keyed(manager, "/accounts", json=NEW), keyed(manager, "/accounts", json=NEW)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert len(app.state.parts.accounts.all()) == 2
    assert keyed(manager, "/accounts", json={**NEW, "name": "asha"}).status_code == 422, "used for something else"
    assert keyed(manager, "/accounts", "two", json={**NEW, "name": "asha"}).status_code == 201
    ravi = first.json()["id"]
    for _ in range(2):
        assert keyed(manager, f"/accounts/{ravi}/disable", "three").status_code == 204


def test_keys_belong_to_who_sent_them(app: FastAPI, manager: Visitor):
    other = account(app, "devi", "administrator")
    assert keyed(manager, "/accounts", json=NEW).status_code == 201
    assert keyed(other, "/accounts", json={**NEW, "name": "asha"}).status_code == 201


def test_what_was_refused_may_be_asked_again(manager: Visitor):
    assert keyed(manager, "/accounts", json={**NEW, "password": "short"}).status_code == 422
    assert keyed(manager, "/accounts", json={**NEW, "roles": 1}).status_code == 422
    assert keyed(manager, "/accounts", json=NEW).status_code == 201
    assert keyed(manager, OPEN_PROJECT, "two", json={}).status_code == 409, "there is no registry yet"
    manager.api("POST", "/govern")
    assert keyed(manager, OPEN_PROJECT, "two", json={}).status_code == 422, "asked anew, and it lacks a use case"


def test_answer_is_for_those_who_still_may(app: FastAPI, manager: Visitor):
    other = account(app, "devi", "administrator")
    made = keyed(other, "/accounts", json=NEW)
    plain = {HEADER: "one"}
    assert other.client.post("/api/v1/accounts", json=NEW, headers=plain).status_code == 403, "no token of the page"
    assert TestClient(app).post("/api/v1/accounts", json=NEW, headers=plain).status_code == 401
    manager.api("POST", f"/accounts/{other.api('GET', '/me').json()['id']}/disable")
    assert made.status_code == 201
    assert keyed(other, "/accounts", json=NEW).status_code == 401


def test_token_is_not_kept_for_a_second_answer(manager: Visitor, home: Path):
    asked = {"name": "script", "scopes": ["release.*"], "days": 1}
    token = keyed(manager, "/tokens", json=asked).json()["token"]
    again = keyed(manager, "/tokens", json=asked)
    assert (again.status_code, "nobody twice" in again.text) == (409, True)
    assert len(manager.api("GET", "/tokens").json()["items"]) == 1
    assert not any(token.encode() in path.read_bytes() for path in home.glob("studio.sqlite*"))


def test_what_a_server_left_half_done_is_said_to_be_unknown(
    app: FastAPI, manager: Visitor, monkeypatch: pytest.MonkeyPatch
):
    def dying(*_: object) -> None:
        raise ValueError

    with monkeypatch.context() as patch:
        patch.setattr(app.state.parts.accounts, "create", dying)
        assert keyed(manager, "/accounts", json=NEW).status_code == 500
    again = keyed(manager, "/accounts", json=NEW)
    assert (again.status_code, "not known" in again.text) == (409, True)


def test_nothing_of_what_was_asked_is_kept(app: FastAPI, manager: Visitor, home: Path):
    keyed(manager, "/accounts", json=NEW)
    with app.state.parts.home.database.reading() as connection:
        rows = connection.execute(ANSWERS.select()).all()
    assert len(rows) == 1
    assert PASSWORD not in str(rows)
    assert not any(PASSWORD.encode() in path.read_bytes() for path in home.glob("studio.sqlite*"))


@pytest.mark.parametrize("key", ["", "x" * (LONGEST + 1)])
def test_keys_have_a_length(manager: Visitor, key: str):
    assert keyed(manager, "/accounts", key, json=NEW).status_code == 422


def test_documents_and_texts_come_in_once(manager: Visitor, home: Path):
    for path, told in (
        ("/texts", {"json": {"name": "a letter", "text": "Dear Asha,"}}),
        ("/texts/documents", {"params": {"name": "a.txt"}, "content": b"Dear Asha,"}),
    ):
        made = [keyed(manager, path, path, **told).json() for _ in range(2)]
        assert made[0] == made[1]
    assert len(list((home / "texts").iterdir())) == 2
    assert (
        keyed(manager, "/texts/documents", "/texts/documents", params={"name": "a.txt"}, content=b"x").status_code
        == 422
    )
    assert len(list((home / "texts").iterdir())) == 2


def pages(visitor: Visitor, path: str, name: str, asked: str) -> list[str]:
    """Every name of a list, by pages of two."""
    found: list[str] = []
    following: Any = ""
    while following is not None:
        told = {"limit": 2} | ({asked: following} if following != "" else {})
        answer = visitor.api("GET", path, params=told).json()
        assert len(answer["items"]) <= 2
        found += [one[name] for one in answer["items"]]
        following = answer["next"]
    return found


def test_lists_by_time_and_by_name_come_whole_in_pages(app: FastAPI, manager: Visitor, small: bytes):
    source = manager.upload("people.csv", small).json()["source"]
    manager.work()
    texts = []
    desk = {"source": source, "person": "age", "columns": ["sex"], "at_least": 1, "answered_by": ["meera"]}
    desks = []
    for number in range(3):
        app.state.parts.accounts.create(f"name{number}", PASSWORD, ["tester"])
        texts.append(manager.api("POST", "/texts", json={"name": "t", "text": "Dear Asha,"}).json()["text"])
        manager.work()
        desks.append(manager.api("POST", "/desks", json={**desk, "name": f"desk {number}"}).json()["desk"])
        manager.work()
        manager.api("POST", "/tokens", json={"name": f"t{number}", "scopes": ["release.*"], "days": 1})
    assert pages(manager, "/texts", "id", "before") == texts[::-1]
    assert pages(manager, "/desks", "id", "before") == desks[::-1]
    assert pages(manager, "/accounts", "name", "after") == ["meera", "name0", "name1", "name2"]
    assert len(set(pages(manager, "/tokens", "id", "after"))) == 3
    for number in range(3):
        asked = {"person": str(20 + number), "claims": {"sex": "F"}}
        assert manager.api("POST", f"/desks/{desks[0]}/questions", json=asked).status_code == 200
    assert len(set(pages(manager, f"/desks/{desks[0]}/questions", "number", "before"))) == 3
    with pytest.MonkeyPatch.context() as patch:
        for where in ("web.paging", "studio.caller_pages"):
            patch.setattr(f"shoal.server.{where}.SHOWN", 2)
        page = manager.client.get("/callers").text
        assert ("desk 2" in page, "desk 0" in page) == (True, False)
        link = page.split('href="/callers?before=')[1].split('"')[0]
        assert "desk 0" in manager.client.get(f"/callers?before={link}").text


def test_desk_that_is_refused_leaves_nothing(manager: Visitor, home: Path, small: bytes):
    source = manager.upload("people.csv", small).json()["source"]
    wanted = {"source": source, "name": "d", "person": "age", "columns": ["sex"], "at_least": 1}
    assert manager.api("POST", "/desks", json={**wanted, "answered_by": ["nobody"]}).status_code == 422
    assert not list((home / "desks").iterdir())


def test_start_leads_to_earlier_sources_and_releases(manager: Visitor, small: bytes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("shoal.server.studio.source_pages.SHOWN", 2)
    sources = []
    for number in range(3):
        sources.append(manager.upload(f"people{number}.csv", small).json()["source"])
        manager.work()
        manager.api("POST", "/jobs", json={"kind": "run", "source": sources[-1]})
        manager.work()
    for kind in ("sources", "jobs"):
        page = manager.client.get("/").text
        shown: list[str] = []
        while (link := re.search(rf'href="(/\?{kind}=[\d.]+)"', page)) is not None:
            shown += named(page, kind)
            page = manager.client.get(link.group(1)).text
        shown += named(page, kind)
        assert shown == ["people2.csv", "people1.csv", "people0.csv"], kind


def named(page: str, kind: str) -> list[str]:
    """Those in the list of sources, or in that of releases, which stand last on the page."""
    part = page.split("<h2>")[-2 if kind == "sources" else -1]
    return re.findall(r'<a href="/(?:sources|releases|jobs)/\w{32}">(people\d\.csv)<', part)


def test_start_of_those_who_upload_nothing_speaks_of_no_table(app: FastAPI):
    page = account(app, "kiri", "caller-desk").client.get("/").text
    assert "Your work" in page
    assert "Nothing, as it stands." in page
    assert "Nothing was uploaded" not in page
