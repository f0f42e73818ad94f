"""Requests that are made up from the description of the API, right ones and wrong ones, as each of the roles."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from tests.server.conftest import SETTINGS, Visitor, account

from shoal.errors import ShoalError
from shoal.server import create_app
from shoal.server.access.rights import studio_roles

pytestmark = pytest.mark.requirement("G-08")

ROLES = sorted(studio_roles())
SHORT, LONG = 36, int(os.environ.get("SHOAL_CALLS", "10000")) // len(ROLES) + 1
"""Calls as each role."""
LEFT_OUT = re.compile("/api/v1/(me/password|demo|openapi.json|docs)$")
"""Those that end the session of who calls, or take in a table each time."""


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory, small: bytes) -> Any:
    """With a registry, so that calls come further than to its absence."""
    app = create_app(tmp_path_factory.mktemp("fuzz") / "home", SETTINGS.model_copy(update={"jobs_per_account": 30}))
    assert account(app, "meera", "administrator").api("POST", "/govern").status_code == 201
    return app


def admitted(app: Any, name: str, role: str) -> None:
    """To the registry, where it knows the role."""
    with app.state.parts.desk.visit("meera") as visit, suppress(ShoalError):
        visit.perform("person", "admit", name, {"roles": [role]})


def things(visitor: Visitor, small: bytes) -> dict[str, str]:
    """Identifiers by the name that paths call them; of what the role may not make, made-up ones."""
    made = visitor.upload("people.csv", small).json()
    known = {"source": made.get("source"), "job": made.get("job"), "kind": "project", "identifier": "wards"}
    visitor.work()
    text = visitor.api("POST", "/texts", json={"name": "a letter", "text": "Dear Asha Rao,"}).json()
    release = visitor.api("POST", "/jobs", json={"kind": "run", "source": str(known["source"])}).json()
    visitor.work()
    desk = {"source": known["source"], "name": "d", "person": "age", "columns": ["sex"], "at_least": 1}
    opened = visitor.api("POST", "/desks", json={**desk, "answered_by": [visitor.api("GET", "/me").json()["name"]]})
    visitor.work()
    known |= {"text": text.get("text"), "release": release.get("job"), "policy": release.get("job")}
    known |= {"desk": opened.json().get("desk"), "name": "data.csv"}
    return {name: str(one or "0" * 32) for name, one in known.items()}


def fuzzed(app: Any, role: str, small: bytes, calls: int) -> dict[int, int]:
    """How many of the calls had which answer; one that is our mistake fails the test."""
    name = f"fuzz-{role}-{calls}"
    visitor = account(app, name, role)
    admitted(app, name, role)
    visitor.api("POST", "/govern/records/project/wards/open", json={"use_case": "external-sharing", "title": "wards"})
    known, seen = things(visitor, small), dict[int, int]()
    described = schemathesis.openapi.from_dict(app.openapi())
    found = (result.ok() for result in described.get_all_operations())
    operations = {one.label: one for one in found if not LEFT_OUT.search(one.path)}
    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    strategies = {(name, mode): one.as_strategy(mode) for name, one in operations.items() for mode in modes}

    @seed(int(os.environ.get("SHOAL_SEED", "20")))
    @settings(
        max_examples=calls,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def call(data: st.DataObject) -> None:
        wanted = data.draw(st.sampled_from(sorted(operations)))
        case = data.draw(strategies[wanted, data.draw(st.sampled_from(modes))])
        if data.draw(st.booleans()):
            case.path_parameters = {name: known.get(name, value) for name, value in case.path_parameters.items()}
        if isinstance(case.body, dict) and "source" in case.body and data.draw(st.booleans()):
            case.body = case.body | {"source": known["source"]}
        told = case.as_transport_kwargs(base_url="http://testserver")
        headers = {**(told.pop("headers", None) or {}), "X-CSRF-Token": visitor.csrf}
        headers = {name: one for name, one in headers.items() if name.lower() not in ("cookie", "authorization")}
        parts = {name: told[name] for name in ("params", "json", "data") if told.get(name) is not None}
        if isinstance(parts.get("data"), bytes | str):
            parts["content"] = parts.pop("data")
        answer = visitor.client.request(told["method"], told["url"], headers=headers, follow_redirects=False, **parts)
        seen[answer.status_code] = seen.get(answer.status_code, 0) + 1
        assert answer.status_code < 500, (wanted, case.as_curl_command(), answer.text)

    call()
    return seen


@pytest.mark.parametrize("role", ROLES)
def test_no_call_as_a_role_is_our_mistake(studio: Any, small: bytes, role: str):
    seen = fuzzed(studio, role, small, SHORT)
    assert sum(seen.values()) >= SHORT


@pytest.mark.slow
@pytest.mark.parametrize("role", ROLES)
def test_no_call_of_ten_thousand_is_our_mistake(studio: Any, small: bytes, role: str):
    seen = fuzzed(studio, role, small, LONG)
    assert sum(seen.values()) >= LONG
