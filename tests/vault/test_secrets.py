"""No key, original value or mapping in a log, an error, a repr, a temporary file, a path, a release or a report."""

from __future__ import annotations

import base64
import dataclasses
import logging
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from tests.vault.conftest import FORM, QUICK, REASON, Room

import shoal
from shoal.crypto import Key
from shoal.errors import ShoalError
from shoal.pseudonyms.formats.integer import Integer
from shoal.release.run import release_folder
from shoal.vault import KeyFile, Passphrase, Right, Vault, domains, make_key_file
from shoal.vault.credentials import VaultKeys
from shoal.vault.entries import DomainEntries, EntryLookup

pytestmark = pytest.mark.requirement("V-05")

MARK = "ZEBRA"
"""In every original value and every passphrase, and in no text of the product."""
OWNER = Passphrase("anita", f"{MARK} is a long passphrase", QUICK)
PEOPLE = pl.Series([f"{MARK} person {number}" for number in range(40)])


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The material of every key that is drawn or derived."""
    drawn: list[bytes] = []
    whole = Key.__post_init__

    def noted(key: Key) -> None:
        whole(key)
        drawn.append(key.material)

    monkeypatch.setattr(Key, "__post_init__", noted)
    return drawn


def shapes(secret: bytes) -> tuple[bytes, ...]:
    return secret, secret.hex().encode(), base64.b64encode(secret).rstrip(b"="), repr(secret).encode()[2:-1]


def leaks(text: bytes, keys: list[bytes]) -> list[bytes]:
    marks = [MARK.encode(), MARK.encode("utf-16-le"), MARK.encode().hex().encode()]
    known = [shape for key in {key for key in keys if any(key)} for shape in shapes(key)]
    return [secret for secret in (*marks, *known) if secret in text]


def life(room: Room, vault: Vault) -> Iterator[object]:
    """Everything that can be done, and much that can't."""
    vault.add_domain("patients")
    vault.add_domain("derived")
    yield (issued := vault.issue("patients", PEOPLE, FORM))
    vault.remember("derived", issued, PEOPLE, [value.encode() for value in PEOPLE])
    yield vault.key("patients", "encrypt")
    asked = vault.ask("patients", issued[:3].to_list(), REASON)
    yield asked
    yield vault.reveal(asked.id)
    yield vault.matching("derived", PEOPLE[0], REASON)
    yield vault.revoke("patients", [issued[0]], REASON)
    yield vault.lookup("patients", PEOPLE.to_list())
    vault.rotate("patients")
    vault.change_master()
    yield vault.people()
    yield vault.domains()
    yield vault.audit()
    yield vault.verify()
    yield vault.shred("derived", REASON)
    yield vault
    with vault._reading() as session:
        found = domains.get(session, "patients")
        yield from (session, session.held, domains.keys(session, found), found)
        yield (sought := EntryLookup(PEOPLE))
        yield (entries := DomainEntries(session, found))
        yield from (entries.find(sought), EntryLookup(issued, issued.cast(pl.Binary)))
    yield from (OWNER, VaultKeys.new(), vault._box, vault._store, vault._anchor, vault._anchor.seen())


def failures(room: Room, vault: Vault) -> Iterator[Callable[[], object]]:
    yield lambda: vault.issue("patients", PEOPLE, Integer(digits=9))
    yield lambda: vault.issue("absent", PEOPLE, FORM)
    yield lambda: vault.issue("patients", pl.Series([PEOPLE[0], None]), FORM)
    yield lambda: vault.remember("other", pl.Series(["p", "p"]), PEOPLE[:2])
    yield lambda: vault.revoke("patients", [PEOPLE[0]], REASON)
    yield lambda: vault.ask("patients", [PEOPLE[0]], "")
    yield lambda: vault.reveal(vault.ask("patients", [PEOPLE[0]], REASON).id)
    yield lambda: vault.admit(Passphrase("x", MARK, QUICK), [Right.USE])
    yield lambda: vault.admit(Passphrase(f"{MARK}\n", MARK * 3, QUICK), [Right.USE])
    yield lambda: Vault.open(room.place, Passphrase("anita", f"{MARK} is another passphrase"), state=room.state)
    yield lambda: Vault.create(room.place, OWNER, state=room.state)


def test_nothing_is_logged_written_aside_or_shown(
    room: Room, keys: list[bytes], caplog: pytest.LogCaptureFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aside = tmp_path / "temporary"
    aside.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(aside))
    for name in ("", "sqlalchemy", "sqlalchemy.engine", "sqlalchemy.pool", "shoal"):
        caplog.set_level(logging.DEBUG, logger=name)
    vault = Vault.create(room.place, OWNER, state=room.state)
    shown = [repr(one) for one in life(room, vault) if not isinstance(one, pl.Series)]
    vault.add_domain("other")
    for deed in failures(room, vault):
        with pytest.raises(ShoalError) as told:
            deed()
        shown += [str(told.value), repr(told.value), "".join(traceback.format_exception(told.value))]
    assert leaks("\n".join(shown).encode(), keys) == []
    logged = "\n".join(f"{record.getMessage()} {record.args!r}" for record in caplog.records)
    assert "shoal_entry" in logged
    assert leaks(logged.encode(), keys) == []
    for path in tmp_path.rglob("*"):
        assert leaks(str(path).encode(), keys) == []
        assert not path.is_file() or leaks(path.read_bytes(), keys) == [], path
    assert list(aside.iterdir()) == []


def test_a_key_file_holds_its_key_and_nothing_else_does(file_room: Room, keys: list[bytes], tmp_path: Path) -> None:
    make_key_file(tmp_path / "key")
    way = KeyFile("robot", tmp_path / "key")
    vault = Vault.create(file_room.place, way, state=file_room.state)
    vault.add_domain("patients")
    vault.backup(tmp_path / "backup")
    assert leaks((tmp_path / "key").read_bytes(), keys) != []
    for path in tmp_path.rglob("*"):
        assert path.name == "key" or not path.is_file() or leaks(path.read_bytes(), keys) == []
    assert leaks(repr(way).encode(), keys) == []


def test_the_search_would_find_a_leak(keys: list[bytes]) -> None:
    key = Key.new()
    for shape in shapes(key.material):
        assert leaks(b"before " + shape + b" after", keys)
    assert leaks(f"... {MARK}-7 ...".encode(), keys)
    assert not leaks(b"nothing", keys)
    assert leaks(repr(dataclasses.asdict(OWNER)).encode(), keys)


POLICY = """
shoal: 1
name: clinic
attributes:
  name: {role: direct, technique: {pseudonymise: {domain: patients, METHOD}}}
  age: {role: quasi, hierarchy: {intervals: {widths: [10], origin: 0}}}
  result: {role: insensitive}
privacy: [{k_anonymity: {k: 3}}]
solve: {suppression_limit: 0.5}
"""
METHODS = ("method: random", "method: keyed", "method: keyed, reversible: true", "double_coding: true")


@pytest.mark.parametrize("method", METHODS)
def test_a_release_shows_pseudonyms_and_its_report_not_even_those(
    method: str, file_room: Room, keys: list[bytes], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    vault = Vault.create(file_room.place, OWNER, state=file_room.state)
    vault.add_domain("patients")
    data = pl.DataFrame(
        {"name": PEOPLE, "age": [20 + at % 15 for at in range(40)], "result": [f"r{at % 2}" for at in range(40)]}
    )
    data.write_csv(tmp_path / "people.csv")
    folder = tmp_path / "release"
    policy = shoal.Policy.from_text(POLICY.replace("METHOD", method))
    release = release_folder(policy, folder, data=str(tmp_path / "people.csv"), secrets=vault)
    pseudonyms = pl.read_csv(folder / release.data.name)["name"].to_list()
    assert len(set(pseudonyms)) > 20
    for path in folder.rglob("*"):
        assert leaks(str(path).encode(), keys) == []
        if path.is_file():
            assert leaks(path.read_bytes(), keys) == [], path
            if path.suffix in {".html", ".json"}:
                assert not [code for code in pseudonyms if code in path.read_text(encoding="utf-8")], path
    assert leaks("\n".join(record.getMessage() for record in caplog.records).encode(), keys) == []
    assert leaks(release.html.encode(), keys) == []
