"""Who gets in, who does not, and what they can tell from the difference."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from pyotp.totp import TOTP
from starlette.testclient import TestClient
from tests.server.conftest import PASSWORD, SETTINGS, Visitor, account, csrf_in, signed_in

from shoal.errors import AccessError, InputError
from shoal.randomness import now
from shoal.server import create_app
from shoal.server.access.accounts import REFUSED, new_secret
from shoal.server.access.passwords import PasswordKeeper, is_known_bad, refuse_weak
from shoal.server.store.database import MIGRATIONS, _add_sign_ins
from shoal.server.store.tables import SCHEMA, SIGN_INS

pytestmark = pytest.mark.requirement("G-08")

WRONG = "Wrong-word 12 x"


def browser(app: Any) -> TestClient:
    return TestClient(app, follow_redirects=False)


def attempt(client: TestClient, **fields: str) -> Any:
    token = csrf_in(client.get("/sign-in").text)
    return client.post("/sign-in", data={"csrf": token, "name": "meera", "password": PASSWORD, **fields})


def test_first_account_takes_the_token_of_the_terminal(app: Any):
    token, client = app.state.parts.accounts.make_setup_token(), browser(app)
    assert client.get("/").headers["location"] == "/setup"
    fields = {"csrf": csrf_in(client.get("/setup").text), "name": "meera", "password": PASSWORD, "again": PASSWORD}

    assert client.post("/setup", data={**fields, "token": "0" * 32}).status_code == 422
    assert not app.state.parts.accounts.exist
    assert client.post("/setup", data={**fields, "token": token}).status_code == 303
    assert client.get("/").status_code == 200
    assert not app.state.parts.home.setup_token.exists()

    other = browser(app)
    fields["csrf"] = csrf_in(other.get("/sign-in").text)
    assert other.post("/setup", data={**fields, "name": "ravi", "token": token}).status_code == 422
    assert [one.name for one in app.state.parts.accounts.all()] == ["meera"]


@pytest.mark.parametrize(
    "weak",
    [
        "Short-1a",
        "all small 12345",
        "NO SMALL 12345",
        "No digit at all",
        "NoSignAtAll12345",
        "P4ssw0rd!2026",
        "Meera-meera-99",
    ],
)
def test_weak_passwords_are_refused(weak: str):
    with pytest.raises(InputError, match="password"):
        refuse_weak(weak, "meera")


def test_good_password_passes():
    refuse_weak(PASSWORD, "meera")
    assert not is_known_bad(PASSWORD, "meera")


def test_hash_is_argon2id_and_unknown_people_cost_one_too(monkeypatch: pytest.MonkeyPatch):
    keeper = PasswordKeeper("cheapest")
    kept = keeper.hashed(PASSWORD)
    assert kept.startswith("$argon2id$")
    assert keeper.matches(kept, PASSWORD)
    verified: list[str] = []
    real = type(keeper._hasher).verify

    def noted(hasher: Any, kept: str, password: str) -> bool:
        verified.append(kept)
        return bool(real(hasher, kept, password))

    monkeypatch.setattr(type(keeper._hasher), "verify", noted)
    assert not keeper.matches(kept, "other")
    assert not keeper.matches(None, PASSWORD)
    assert [one.split("$")[1:4] for one in verified] == 2 * [kept.split("$")[1:4]]


def test_answers_do_not_tell_why(app: Any, manager: Visitor):
    client = browser(app)
    wrong, nobody = attempt(client, password=WRONG), attempt(client, name="nobody")
    assert wrong.status_code == nobody.status_code == 403
    assert REFUSED in wrong.text
    assert wrong.text.replace('value="meera"', "") == nobody.text.replace('value="nobody"', "")


def test_account_is_locked_after_some_failures_even_for_the_right_password(app: Any, manager: Visitor):
    client = browser(app)
    for _ in range(SETTINGS.failures_before_lock):
        assert attempt(client, password=WRONG).status_code == 403
    assert attempt(client).status_code == 403
    assert manager.client.get("/").status_code == 200


def test_address_is_slowed_down_whatever_names_it_tries(home: Path):
    app = create_app(home, SETTINGS.model_copy(update={"attempts_per_address": 3}))
    accounts = app.state.parts.accounts
    accounts.create("meera", PASSWORD, ["auditor"])
    for number in range(3):
        with pytest.raises(AccessError):
            accounts.sign_in(f"name{number}", PASSWORD, "", "10.0.0.1")
    with pytest.raises(AccessError):
        accounts.sign_in("meera", PASSWORD, "", "10.0.0.1")
    assert accounts.sign_in("meera", PASSWORD, "", "10.0.0.2").name == "meera"


def test_session_is_new_at_sign_in_and_the_old_one_ends(app: Any, manager: Visitor):
    """An identifier that somebody planted is worth nothing (session fixation)."""
    client, name = browser(app), app.state.parts.session_cookie
    client.cookies.set(name, "planted")
    answer = attempt(client)
    first = answer.cookies[name]
    assert first != "planted"
    assert app.state.parts.sessions.who("planted") is None
    again = attempt(client)
    assert again.cookies[name] != first
    assert app.state.parts.sessions.who(first) is None


def test_cookies_are_for_the_server_alone(app: Any, manager: Visitor, home: Path):
    kept = attempt(browser(app)).headers.get_list("set-cookie")[0]
    assert "HttpOnly" in kept
    assert "SameSite=strict" in kept
    assert "Secure" not in kept
    by_tls = create_app(home, SETTINGS.model_copy(update={"secure": True}))
    client = TestClient(by_tls, base_url="https://testserver", follow_redirects=False)
    kept = attempt(client).headers.get_list("set-cookie")[0]
    assert kept.startswith("__Host-")
    assert "Secure" in kept
    assert "max-age" in client.get("/healthz").headers["strict-transport-security"]


def test_database_holds_no_secret(app: Any, manager: Visitor, home: Path):
    token = manager.api("POST", "/tokens", json={"name": "script", "scopes": ["release.*"]}).json()["token"]
    session = manager.client.cookies[app.state.parts.session_cookie]
    kept = b"".join(path.read_bytes() for path in home.glob("studio.sqlite*"))
    for secret in (token, session, PASSWORD):
        assert secret.encode() not in kept


def test_sign_out_ends_the_session(app: Any, manager: Visitor):
    session = manager.client.cookies[app.state.parts.session_cookie]
    assert manager.post("/sign-out").status_code == 303
    assert app.state.parts.sessions.who(session) is None


def test_idle_sessions_end(app: Any, manager: Visitor, monkeypatch: pytest.MonkeyPatch):
    import datetime

    later = now() + datetime.timedelta(minutes=SETTINGS.idle_minutes + 1)
    monkeypatch.setattr("shoal.server.access.sessions.now", lambda: later)
    assert manager.client.get("/", follow_redirects=False).headers["location"] == "/sign-in"


def test_second_factor_is_asked_for_and_each_code_is_good_once(app: Any, manager: Visitor):
    secret = new_secret()
    assert manager.post("/account/second-factor", {"secret": secret, "code": "000000"}).status_code == 422
    assert manager.post("/account/second-factor", {"secret": "no base 32!", "code": "000000"}).status_code == 422
    code = TOTP(secret).now()
    assert manager.post("/account/second-factor", {"secret": secret, "code": code}).status_code == 303
    client = browser(app)
    assert attempt(client).status_code == 403
    assert attempt(client, code=code).status_code == 403, "the code was used when it was set up"
    later = TOTP(secret).at(int(now().timestamp()) + 30)
    assert attempt(client, code=later).status_code == 303
    assert attempt(client, code=later).status_code == 403


def test_second_factor_is_neither_replaced_nor_guessed_by_who_has_the_session(app: Any, manager: Visitor):
    mine, theirs = new_secret(), new_secret()
    assert manager.post("/account/second-factor", {"secret": mine, "code": TOTP(mine).now()}).status_code == 303
    replaced = manager.post("/account/second-factor", {"secret": theirs, "code": TOTP(theirs).now()})
    assert (replaced.status_code, "take it away first" in replaced.text) == (422, True)
    for _ in range(SETTINGS.failures_before_lock):
        assert manager.post("/account/second-factor", {"code": "000000"}).status_code == 422
    later = TOTP(mine).at(int(now().timestamp()) + 30)
    assert manager.post("/account/second-factor", {"code": later}).status_code == 422, "too many were tried"
    assert app.state.parts.accounts.all()[0].second_factor


def test_password_is_changed_with_the_old_one_and_others_are_out(app: Any, manager: Visitor):
    new = "Kelp-forest 73 tide"
    elsewhere = signed_in(app, "meera")
    for old, wanted in ((WRONG, new), (PASSWORD, "short"), (PASSWORD, "Password-2026!")):
        sent = {"old": old, "new": wanted, "again": wanted}
        assert manager.post("/account/password", sent).status_code == 422
    assert manager.post("/account/password", {"old": PASSWORD, "new": new, "again": "x"}).status_code == 422
    assert elsewhere.api("GET", "/me").status_code == 200
    assert (
        "The password is changed" in manager.post("/account/password", {"old": PASSWORD, "new": new, "again": new}).text
    )
    assert manager.api("GET", "/me").status_code == 200
    assert elsewhere.api("GET", "/me").status_code == 401
    assert attempt(browser(app)).status_code == 403
    assert manager.api("PUT", "/me/password", json={"old": new, "new": PASSWORD}).status_code == 204
    assert attempt(browser(app)).status_code == 303


def test_token_keeps_no_account(app: Any, manager: Visitor):
    """Whoever finds one can neither make another, nor change how its owner signs in."""
    token = manager.api("POST", "/tokens", json={"name": "script", "scopes": ["own.*"], "days": 1}).json()["token"]
    program = TestClient(app, headers={"Authorization": f"Bearer {token}"})
    assert program.get("/api/v1/me").status_code == 200
    asked = {"name": "more", "scopes": ["own.*"], "days": 300}
    assert program.post("/api/v1/tokens", json=asked).status_code == 403
    change = {"old": PASSWORD, "new": "Kelp-forest 73 tide"}
    assert program.put("/api/v1/me/password", json=change).status_code == 403
    assert program.post("/account/second-factor", data={"code": "000000"}).status_code == 403


def test_token_does_what_its_scope_says_until_it_ends(app: Any, manager: Visitor, monkeypatch: pytest.MonkeyPatch):
    asked = {"name": "script", "scopes": ["release.*"], "days": 1}
    made = manager.api("POST", "/tokens", json=asked).json()
    program = TestClient(app, headers={"Authorization": f"Bearer {made['token']}"})
    assert program.get("/api/v1/releases").status_code == 200
    assert program.get("/api/v1/sources").status_code == 403
    assert program.post("/api/v1/tokens", json=asked).status_code == 403
    assert manager.api("DELETE", f"/tokens/{made['id']}").status_code == 204
    assert program.get("/api/v1/releases").status_code == 401

    import datetime

    made = manager.api("POST", "/tokens", json=asked).json()
    program = TestClient(app, headers={"Authorization": f"Bearer {made['token']}"})
    assert program.get("/api/v1/releases").status_code == 200
    later = now() + datetime.timedelta(days=1, seconds=1)
    monkeypatch.setattr("shoal.server.access.sessions.now", lambda: later)
    assert program.get("/api/v1/releases").status_code == 401


def test_token_may_not_do_more_than_its_maker(app: Any, manager: Visitor):
    tester = account(app, "ravi", "tester")
    refused = tester.api("POST", "/tokens", json={"name": "x", "scopes": ["release.download"]})
    assert refused.status_code == 422
    assert tester.api("POST", "/tokens", json={"name": "x", "scopes": ["*"]}).status_code == 422


def test_disabled_account_is_out_at_once(app: Any, manager: Visitor):
    tester = account(app, "ravi", "tester")
    identifier = tester.api("GET", "/me").json()["id"]
    assert manager.api("POST", f"/accounts/{identifier}/disable").status_code == 204
    assert tester.api("GET", "/me").status_code == 401
    assert attempt(browser(app), name="ravi").status_code == 403
    own = manager.api("GET", "/me").json()["id"]
    assert manager.api("POST", f"/accounts/{own}/disable").status_code == 422
    manager.api("POST", f"/accounts/{identifier}/enable")
    assert signed_in(app, "ravi").api("GET", "/me").status_code == 200


def test_roles_are_changed_and_count_at_once(app: Any, manager: Visitor):
    """Of sessions and tokens that there are; nobody gives roles to themselves."""
    ravi = account(app, "ravi", "data-manager")
    identifier, own = ravi.api("GET", "/me").json()["id"], manager.api("GET", "/me").json()["id"]
    made = ravi.api("POST", "/tokens", json={"name": "script", "scopes": ["source.*"], "days": 1}).json()
    program = TestClient(app, headers={"Authorization": f"Bearer {made['token']}"})
    assert program.get("/api/v1/sources").status_code == 200
    assert manager.post(f"/accounts/{identifier}/roles", {"roles": ["validator", "auditor"]}).status_code == 303
    assert ravi.api("GET", "/me").json()["roles"] == ["auditor", "validator"]
    assert ravi.api("GET", "/sources").status_code == 403
    assert program.get("/api/v1/sources").status_code == 403
    page = manager.client.get("/accounts").text
    assert "Auditor, Validator" in page
    assert page.count("Keep these roles") == 1, "not for who looks at them"
    for wrong, status in (({"roles": ["king"]}, 422), ({}, 422)):
        assert manager.post(f"/accounts/{identifier}/roles", wrong).status_code == status
    assert ravi.api("GET", "/me").json()["roles"] == ["auditor", "validator"]
    assert manager.api("PUT", f"/accounts/{identifier}/roles", json={"roles": ["tester"]}).status_code == 204
    assert ravi.api("GET", "/me").json()["roles"] == ["tester"]
    assert manager.api("PUT", f"/accounts/{own}/roles", json={"roles": ["tester"]}).status_code == 422
    assert manager.post(f"/accounts/{own}/roles", {"roles": ["tester"]}).status_code == 422
    assert manager.api("PUT", f"/accounts/{'0' * 32}/roles", json={"roles": ["tester"]}).status_code == 404
    assert ravi.api("PUT", f"/accounts/{own}/roles", json={"roles": ["tester"]}).status_code == 403


def test_last_sign_in_is_told_when_the_session_is_gone(app: Any, manager: Visitor):
    """Whoever looks through the accounts sees who has not been here for months."""
    app.state.parts.accounts.create("never.came", PASSWORD, ["tester"])
    tester = account(app, "ravi", "tester")
    assert tester.post("/sign-out").status_code == 303
    last = app.state.parts.accounts.last_signed_in()
    assert len(last) == 2
    page = manager.client.get("/accounts").text
    assert page.count("never</span>") == 1
    assert "Last signed in" in page
    signed_in(app, "ravi")
    assert len(app.state.parts.accounts.last_signed_in()) == 2


def test_database_of_an_older_version_knows_who_came(app: Any, manager: Visitor):
    """By the sessions that are kept."""
    database = app.state.parts.home.database
    with database.transaction() as connection:
        SIGN_INS.drop(connection)
        connection.execute(SCHEMA.update().values(version=MIGRATIONS.index(_add_sign_ins) + 1))
    database.prepare()
    assert list(app.state.parts.accounts.last_signed_in()) == [manager.api("GET", "/me").json()["id"]]


def test_log_says_what_was_done_and_no_value(app: Any, manager: Visitor, caplog: pytest.LogCaptureFixture):
    from shoal.server.web.logs import JsonLines

    with caplog.at_level(logging.INFO, "shoal.server"):
        manager.upload("Asha Rao.csv", b"name,age\nAsha Rao,34\n")
        attempt(browser(app), name="asha.rao@example.org", password=WRONG)
    lines = [JsonLines().format(record) for record in caplog.records if record.name == "shoal.server"]
    told = [json.loads(line) for line in lines]
    assert {"request", "method", "route", "status", "ms"} <= told[0].keys()
    assert told[0]["route"] == "/api/v1/sources"
    assert not any("asha" in line.lower() or "Wrong-word" in line for line in lines)
