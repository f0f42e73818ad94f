"""Sign-in by a provider of OpenID Connect, which runs as a process of its own (oidc-provider-mock)."""

from __future__ import annotations

import datetime
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from starlette.testclient import TestClient
from tests.server.conftest import PASSWORD, SETTINGS, Visitor, csrf_in, signed_in

from shoal.errors import AccessError
from shoal.randomness import now
from shoal.server import create_app
from shoal.server.access.single_sign_on import NOT_LINKED, NOT_PROVED, SingleSignOn

pytestmark = pytest.mark.requirement("G-08")


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), "--require-nonce", "true"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        address = f"http://127.0.0.1:{port}"
        for _ in range(600):
            try:
                httpx2.get(f"{address}/.well-known/openid-configuration", trust_env=False)
                break
            except httpx2.HTTPError:
                time.sleep(0.05)
        yield address
        process.terminate()


@pytest.fixture
def app(home: Path, issuer: str, tmp_path: Path) -> Any:
    secret = tmp_path / "secret"
    secret.write_text("a secret of the studio\n")
    more = {"oidc_issuer": issuer, "oidc_client": "studio", "oidc_secret_file": secret}
    return create_app(home, SETTINGS.model_copy(update=more))


def agreed(address: str, subject: str) -> str:
    """Where the provider sends a browser whose person said yes."""
    answer = httpx2.post(address, data={"sub": subject}, follow_redirects=False, trust_env=False)
    assert answer.status_code == 302, answer.text
    back = urlsplit(answer.headers["location"])
    assert back.path == "/single-sign-on/return"
    return f"{back.path}?{back.query}"


def leads_to(page: str) -> str:
    found = re.search(r'http-equiv="refresh" content="0;url=([^"]+)"', page)
    assert found is not None
    return found.group(1).replace("&amp;", "&")


def link(visitor: Visitor, subject: str) -> Any:
    """With the session that begins with it."""
    answer = visitor.client.get(agreed(leads_to(visitor.post("/account/single-sign-on").text), subject))
    visitor.csrf = csrf_in(visitor.client.get("/account").text)
    return answer


def come_in(app: Any, subject: str) -> tuple[TestClient, Any]:
    client = TestClient(app, follow_redirects=False)
    assert "Or sign in with your organisation" in client.get("/sign-in").text
    return client, client.get(agreed(client.get("/single-sign-on").headers["location"], subject))


def test_linked_account_comes_in_and_nobody_else(app: Any, manager: Visitor):
    _, refused = come_in(app, "asha@example.org")
    assert (refused.status_code, NOT_LINKED in refused.text) == (403, True)
    assert leads_to(link(manager, "asha@example.org").text) == "/account"
    assert "is linked to your organisation" in manager.client.get("/account").text

    client, answer = come_in(app, "asha@example.org")
    assert leads_to(answer.text) == "/"
    assert "SameSite=strict" in next(one for one in answer.headers.get_list("set-cookie") if "shoal-session" in one)
    assert client.get("/api/v1/me").json()["name"] == "meera"
    _, other = come_in(app, "ravi@example.org")
    assert other.status_code == 403

    identifier = manager.api("GET", "/me").json()["id"]
    app.state.parts.accounts.set_disabled(identifier, disabled=True)
    _, out = come_in(app, "asha@example.org")
    assert (out.status_code, NOT_LINKED in out.text) == (403, True)
    kept = b"".join(path.read_bytes() for path in app.state.parts.home.root.glob("studio.sqlite*"))
    assert b"asha@example.org" not in kept


def test_link_is_taken_away_and_belongs_to_one_account(app: Any, manager: Visitor):
    app.state.parts.accounts.create("ravi", PASSWORD, ["tester"])
    other = signed_in(app, "ravi")
    link(manager, "asha")
    assert "another account is linked" in link(other, "asha").text
    assert manager.post("/account/single-sign-on/forget").status_code == 303
    assert come_in(app, "asha")[1].status_code == 403
    assert leads_to(link(other, "asha").text) == "/account"
    assert come_in(app, "asha")[0].get("/api/v1/me").json()["name"] == "ravi"


def test_flow_is_good_once_in_its_own_browser(app: Any, manager: Visitor):
    link(manager, "asha")
    client, other = TestClient(app, follow_redirects=False), TestClient(app, follow_redirects=False)
    begun = client.get("/single-sign-on").headers["location"]
    asked = parse_qs(urlsplit(begun).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["nonce"] != asked["state"]
    back = agreed(begun, "asha")
    assert NOT_PROVED in other.get(back).text, "a browser that began nothing"
    other.get("/single-sign-on")
    assert NOT_PROVED in other.get(back).text, "a browser that began something else"
    for wrong in ("/single-sign-on/return", re.sub("state=[^&]+", "state=x", back)):
        assert client.get(wrong).status_code == 403
    assert client.get(back).status_code == 403, "what came with a wrong state was the end of it"
    client.get("/single-sign-on")
    again, answer = come_in(app, "asha")
    assert answer.status_code == 200
    assert again.get(back).status_code == 403


def test_token_is_checked_for_whom_when_and_what_it_answers(
    app: Any, manager: Visitor, monkeypatch: pytest.MonkeyPatch
):
    """A true token of a true provider, but of another flow, of another time, from a provider of another name."""
    link(manager, "asha")
    provider, callback = app.state.parts.single_sign_on, "http://testserver/single-sign-on/return"

    def proved(**wrong: str) -> str:
        flow = provider.begin(callback)
        kept = provider._take_flow(flow.secret)
        told = {"verifier": kept.verifier, "nonce": kept.nonce} | wrong
        code = parse_qs(urlsplit(agreed(flow.address, "asha")).query)["code"][0]
        return str(provider._identity(callback, code, told["verifier"], told["nonce"]))

    assert len(proved()) == 64
    with pytest.raises(AccessError, match=NOT_PROVED):
        proved(nonce="another")
    told = provider._provider()
    for change in ({"jwks_uri": told["token_endpoint"]}, {"token_endpoint": told["jwks_uri"]}):
        monkeypatch.setattr(provider, "_metadata", told | change)
        with pytest.raises(AccessError, match=NOT_PROVED):
            proved()
    monkeypatch.setattr(provider, "_metadata", told)
    later = now() + datetime.timedelta(days=1)
    monkeypatch.setattr("shoal.server.access.single_sign_on.now", lambda: later)
    with pytest.raises(AccessError, match=NOT_PROVED):
        proved()


def test_token_of_a_name_that_was_not_asked_for_is_refused(app: Any, manager: Visitor, issuer: str):
    """The same provider by another name: what it signs is from somebody else."""
    provider = app.state.parts.single_sign_on
    other = SingleSignOn(
        replace(provider.home, settings=provider.home.settings.model_copy(update={"oidc_issuer": f"{issuer}/"}))
    )
    with pytest.raises(AccessError, match="not the one that was named"):
        other.begin("http://testserver/single-sign-on/return")


def test_studio_without_a_provider_has_no_such_door(home: Path):
    client = TestClient(create_app(home, SETTINGS), follow_redirects=False)
    for path in ("/single-sign-on", "/single-sign-on/return?state=a&code=b"):
        assert client.get(path).status_code == 404
    assert csrf_in(client.get("/setup").text)


@pytest.mark.parametrize("wrong", ["http://127.0.0.1:9", "http://169.254.169.254", "file:///etc/passwd"])
def test_provider_that_is_none_keeps_the_password_door_open(home: Path, wrong: str):
    app = create_app(home, SETTINGS.model_copy(update={"oidc_issuer": wrong}))
    app.state.parts.accounts.create("meera", PASSWORD, ["auditor"])
    client = TestClient(app, follow_redirects=False)
    assert client.get("/single-sign-on").status_code == 403
    assert signed_in(app, "meera").client.get("/").status_code == 200
