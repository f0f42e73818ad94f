"""Revealing in the browser: two persons, each with a passphrase of their own, and an answer that is shown once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.server.conftest import SETTINGS, Visitor, account

from shoal.crypto.passphrase import Effort
from shoal.pseudonyms.formats.base32 import Base32
from shoal.server import create_app
from shoal.vault import Passphrase, Right, Vault

pytestmark = pytest.mark.requirement("G-08")
QUICK = Effort(1, 1, 8)
WORDS = {"meera": "blue lantern over the reef", "ravi": "seven slow turtles at dawn"}
REASON = "a recall of a medicine"


@pytest.fixture
def vault(tmp_path: Path) -> tuple[Path, str]:
    """A domain that wants one approval, and the pseudonym of somebody in it."""
    place, state = tmp_path / "vault.db", tmp_path / "state"
    with Vault.create(place, Passphrase("meera", WORDS["meera"], QUICK), state=state) as made:
        made.admit(Passphrase("ravi", WORDS["ravi"], QUICK), [Right.APPROVE])
        made.add_domain("patients", approvals=1)
        return place, str(made.issue("patients", pl.Series(["Asha Rao"]), Base32())[0])


def opened(home: Path, vault: Path) -> tuple[Visitor, Visitor]:
    app = create_app(home, SETTINGS.model_copy(update={"vault": str(vault)}))
    return account(app, "meera", "data-manager"), account(app, "ravi", "privacy-officer")


def test_answer_takes_two_persons(home: Path, vault: tuple[Path, str], caplog: pytest.LogCaptureFixture):
    place, pseudonym = vault
    meera, ravi = opened(home, place)
    asked = {"domain": "patients", "pseudonyms": pseudonym, "reason": REASON, "passphrase": WORDS["meera"]}
    assert "1: 0 / 1" in meera.post("/vault/ask", asked).text
    own = {"number": "1", "passphrase": WORDS["meera"]}
    early = meera.post("/vault/reveal", own)
    assert early.status_code == 403
    assert "Asha" not in early.text
    assert meera.post("/vault/approve", own).status_code == 403
    seen = ravi.post("/vault/look", {"passphrase": WORDS["ravi"]}).text
    assert REASON in seen
    assert "Asha" not in seen
    assert "1: 1 / 1" in ravi.post("/vault/approve", {"number": "1", "passphrase": WORDS["ravi"]}).text
    assert ravi.post("/vault/reveal", {"number": "1", "passphrase": WORDS["ravi"]}).status_code == 403
    answer = meera.post("/vault/reveal", own)
    assert "Asha Rao" in answer.text
    assert answer.headers["cache-control"] == "no-store"
    assert "Asha Rao" not in meera.client.get("/vault").text
    with Vault.open(place, Passphrase("meera", WORDS["meera"]), state=home / "vault-state") as kept:
        assert [entry.action for entry in kept.audit()][-1] == "reveal"
    told = caplog.text + "".join(
        path.read_text(encoding="latin-1") for path in home.rglob("*") if path.is_file() and path.suffix != ".db"
    )
    assert "Asha Rao" not in told
    assert WORDS["meera"] not in told


def test_wrong_passphrase_opens_nothing_and_is_slowed_down(home: Path, vault: tuple[Path, str]):
    meera, _ = opened(home, vault[0])
    for _ in range(SETTINGS.attempts_per_address):
        assert meera.post("/vault/look", {"passphrase": "something else"}).status_code == 403
    refused = meera.post("/vault/look", {"passphrase": WORDS["meera"]})
    assert refused.status_code == 403
    assert "too many attempts" in refused.text


def test_who_is_not_admitted_or_has_no_role_is_out(home: Path, vault: tuple[Path, str]):
    meera, _ = opened(home, vault[0])
    app: Any = meera.client.app
    stranger, statistician = account(app, "dina", "data-manager"), account(app, "stan", "statistician")
    assert stranger.post("/vault/look", {"passphrase": WORDS["meera"]}).status_code == 403
    assert statistician.client.get("/vault").status_code == 403
    token = meera.api("POST", "/tokens", json={"name": "x", "scopes": ["vault.open"], "days": 1}).json()["token"]
    answer = stranger.client.get("/vault", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 403, "no token opens the vault"


def test_studio_without_a_vault_says_so(manager: Visitor):
    assert "has no vault" in manager.client.get("/vault").text
    assert manager.post("/vault/look", {"passphrase": "x"}).status_code == 404
