"""Requests that nobody means well with, sent to every route: none is our mistake, none comes back as it was."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from fastapi import FastAPI
from tests.server.conftest import Visitor, account
from tests.server.test_routes import routes

pytestmark = pytest.mark.requirement("G-08")

IDENTIFIERS = ("0" * 32, "..%2f..%2fetc%2fpasswd", "%00", "' OR 1=1 --", "<script>alert(1)</script>", "a" * 3000)
BODIES: tuple[Any, ...] = (
    None, [], "text", 0, {"kind": "run", "source": {"$gt": ""}}, {"text": "\x00\ud800", "name": "\r\nSet-Cookie: a=b"},
    {"source": "http://169.254.169.254/", "kind": "synth", "synthesis": {"method": "__class__"}},
    {"release": "../..", "project": "{{7*7}}", "entry": "a\r\nb"},
    {"roles": {"a": "quasi"}, "k": 1e308}, {"days": -1, "scopes": ["*"]},
)  # fmt: skip
FORMS = (
    {
        "identifier": "../x",
        "entry": "\r\nX: y",
        "release": "' OR 1=1",
        "project": "{{7*7}}",
        "step": "1e9",
        "note": "<b>",
    },
    {
        "use_case": "public",
        "k": "9" * 30,
        "limit": "nan",
        "seed": "--",
        "method": "network",
        "epsilon": "inf",
        "goes": "\x00",
    },
    {
        "column": "\ud7ff<script>",
        "role": "quasi",
        "next": "//evil.example",
        "back": "//evil.example",
        "text": "=cmd|'x'!A0",
    },
)


def addresses(path: str) -> list[str]:
    if "{" not in path:
        return [path]
    return [re.sub(r"\{[^}]+\}", lambda _, odd=odd: odd, path) for odd in IDENTIFIERS]  # type: ignore[misc]


def test_no_hostile_request_is_our_mistake(app: FastAPI):
    """Of somebody who may do everything, in a studio with a registry."""
    visitor = account(app, "meera", "administrator", "data-manager")
    visitor.post("/govern/begin")
    sent = 0
    for method, path, act in routes(app):
        if act == "open" or path in ("/sign-out", "/demo", "/api/v1/demo"):
            continue
        for address in addresses(path):
            for told in _contents(method, path):
                headers = {"X-CSRF-Token": visitor.csrf} | (
                    {"Content-Type": "application/json"} if "content" in told else {}
                )
                answer = visitor.client.request(method, address, headers=headers, follow_redirects=False, **told)
                assert answer.status_code < 500, (method, address[:80], told)
                assert "<script>alert(1)" not in answer.text, (method, path)
                assert not answer.headers.get("location", "/").startswith(("//", "http")), (method, path)
                assert "x: y" not in str(answer.headers).lower()
                sent += 1
    assert sent > 500
    assert visitor.api("GET", "/me").status_code == 200


def _contents(method: str, path: str) -> list[dict[str, Any]]:
    if method in ("GET", "DELETE"):
        return [
            {"params": {"limit": "-1", "before": "nan", "k": "x", "first": "9" * 40, "days": "1e9", "project": "'"}}
        ]
    if path.startswith("/api/"):
        return [{"content": json.dumps(body)} for body in BODIES]
    return [{"data": form} for form in FORMS]


@pytest.mark.parametrize(
    "name", ["postgresql://169.254.169.254/x", "http://127.0.0.1/x.csv", "file:///etc/passwd.csv", "s3://bucket/x.csv"]
)
def test_no_address_is_ever_fetched(manager: Visitor, name: str):
    """A source is what was sent: a name that looks like an address is the name of a file."""
    made = manager.upload(name, b"a,b\n1,2\n")
    if made.status_code == 201:
        kept = manager.api("GET", f"/sources/{made.json()['source']}").json()["name"]
        assert re.fullmatch(r"[\w .()+-]+\.csv", kept)
    else:
        assert made.status_code == 422
    for wanted in ({"kind": "run", "source": name}, {"kind": "explore", "source": f"/etc/{name}"}):
        assert manager.api("POST", "/jobs", json=wanted).status_code == 404
