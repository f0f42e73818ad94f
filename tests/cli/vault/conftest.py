"""A vault, three people beside its owner, and a terminal that can be pretended."""

from __future__ import annotations

import datetime
import functools
import getpass
import io
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.servers import postgres, postgres_url

from shoal.crypto.passphrase import Effort
from shoal.pseudonyms.formats.base32 import Base32
from shoal.randomness import now
from shoal.vault import KeyFile, Passphrase, Vault

from ..conftest import Call, Ended

__all__ = ["postgres", "postgres_url"]

REASON = "a finding that needs treatment"
NAMES = ("Zyxwvut Anand", "Zyxwvut Bela", "Zyxwvut Chan")
"""Values that only an answer may show."""

Issue = Callable[..., list[str]]


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No vault of whoever runs the tests is touched, there is no terminal, and passphrases cost little."""
    for name in ("", "_PASSPHRASE", "_NEW_PASSPHRASE", "_SERVICE"):
        monkeypatch.delenv(f"SHOAL_VAULT{name}", raising=False)
    monkeypatch.setenv("SHOAL_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("SHOAL_VAULT_PERSON", "anita")
    monkeypatch.setenv("SHOAL_VAULT_KEY_FILE", "anita.key")
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setattr("shoal.vault.Passphrase", functools.partial(Passphrase, effort=Effort(1, 1, 64)))


@pytest.fixture
def made(call: Call) -> Call:
    """A vault of which anita is the first person, with a domain that needs nobody's approval."""
    assert call("vault", "init").code == 0
    assert call("vault", "add", "patients").code == 0
    return call


@pytest.fixture
def guarded(made: Call) -> Call:
    """A second domain that takes two approvals; meera and ravi may give them, tara may only use the vault."""
    assert made("vault", "add", "guarded", "--approvals", "2").code == 0
    for name, right in {"meera": "approve", "ravi": "approve", "tara": "use"}.items():
        assert made("vault", "admit", name, "--right", right, "--with-key-file", f"{name}.key").code == 0
    return made


@pytest.fixture
def issue(tmp_path: Path) -> Issue:
    def issued(domain: str = "patients", names: tuple[str, ...] = NAMES) -> list[str]:
        with Vault.open(tmp_path / "shoal.vault", KeyFile("anita", tmp_path / "anita.key")) as vault:
            return vault.issue(domain, pl.Series(names), Base32()).to_list()

    return issued


def acting(name: str) -> tuple[str, ...]:
    return "--person", name, "--key-file", f"{name}.key"


def at_terminal(monkeypatch: pytest.MonkeyPatch, *typed: str) -> list[str]:
    """Somebody who types these, one after the other; what they were asked."""
    terminal, answers, asked = io.StringIO("\n".join(typed) + "\n"), iter(typed), list[str]()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stdin", terminal)
    monkeypatch.setattr(getpass, "getpass", lambda prompt: asked.append(prompt) or next(answers))  # type: ignore[func-returns-value]
    return asked


def later(monkeypatch: pytest.MonkeyPatch, **time: int) -> None:
    monkeypatch.setattr("shoal.vault.vault.now", lambda: now() + datetime.timedelta(**time))


def refused(ended: Ended, *words: str) -> bool:
    """Exit code 2 and one line that has these words, on stderr alone."""
    one_line = ended.stderr.count("\n") == 1 and ended.stderr.startswith("error [SHOAL-") and not ended.stdout
    return ended.code == 2 and one_line and all(word in ended.stderr for word in words)
