"""Every way into the vault: a passphrase, a key file, a key service."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import create_engine, text
from tests.vault.conftest import ANITA, QUICK, Room

from shoal.crypto import Key
from shoal.crypto.hpke import close_box
from shoal.crypto.passphrase import RFC_9106_SECOND
from shoal.errors import AccessError, InputError, IntegrityError, ShoalError, TargetError
from shoal.vault import Credential, KeyFile, Passphrase, Right, Service, Vault, make_key_file
from shoal.vault.credentials import VaultKeys

pytestmark = pytest.mark.requirement("V-01")


class Toy:
    """A key service whose key never leaves it: it turns every bit."""

    def wrap(self, key: bytes) -> bytes:
        return b"toy" + bytes(byte ^ 255 for byte in key)

    def unwrap(self, wrapped: bytes) -> bytes:
        if not wrapped.startswith(b"toy"):
            raise RuntimeError(f"what is {wrapped!r}?")
        return bytes(byte ^ 255 for byte in wrapped[3:])


def offered(group: str) -> list[SimpleNamespace]:
    return [SimpleNamespace(name="toy", load=lambda: Toy)] if group == "shoal.key_services" else []


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.vault.credentials.entry_points", offered)


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    make_key_file(tmp_path / "key")
    return tmp_path / "key"


def sql(room: Room, statement: str, **values: object) -> None:
    engine = create_engine(f"sqlite:///{room.place}")
    with engine.begin() as connection:
        connection.execute(text(statement), values)
    engine.dispose()


def test_a_passphrase_costs_what_rfc_9106_recommends(file_room: Room) -> None:
    way = Passphrase("anita", "correct horse battery")
    vault = Vault.create(file_room.place, way, state=file_room.state)
    assert vault.people()[0].details["effort"] == vars(RFC_9106_SECOND)
    again = Vault.open(file_room.place, way, state=file_room.state)
    assert again.people()[0].name == "anita"


def test_a_passphrase_typed_on_another_keyboard(file_room: Room) -> None:
    Vault.create(file_room.place, Passphrase("zoe", "Zo\u00eb's passphrase", QUICK), state=file_room.state)
    Vault.open(file_room.place, Passphrase("zoe", "Zoe\u0308's passphrase"), state=file_room.state)


@pytest.mark.usefixtures("service")
def test_every_way_in_opens_and_survives_a_new_master_key(file_room: Room, key_file: Path) -> None:
    vault = file_room.create()
    ways: list[Credential] = [KeyFile("robot", key_file), Service("cloud", "toy")]
    for way in ways:
        vault.admit(way, [Right.USE, Right.MANAGE])
    for way in ways:
        opened = Vault.open(file_room.place, way, state=file_room.state)
        opened.change_master()
        assert [one.name for one in opened.people()] == ["anita", "cloud", "robot"]
    assert vault.verify().audit_entries == 5


@pytest.mark.usefixtures("service")
@pytest.mark.parametrize("kind", ["key file", "service"])
def test_a_vault_is_made_by_every_way_in(file_room: Room, key_file: Path, kind: str) -> None:
    way = KeyFile("me", key_file) if kind == "key file" else Service("me", "toy")
    Vault.create(file_room.place, way, state=file_room.state)
    assert Vault.open(file_room.place, way, state=file_room.state).verify().audit_entries == 1


def test_the_wrong_one_opens_nothing(file_room: Room, key_file: Path, tmp_path: Path) -> None:
    vault = file_room.create()
    vault.admit(KeyFile("robot", key_file), [Right.USE])
    make_key_file(tmp_path / "another")
    (tmp_path / "no key").write_text("hello")
    wrong: list[tuple[Credential, str]] = [
        (Passphrase("anita", "anita's long passphras"), "not the right one"),
        (Passphrase("anita", ""), "not the right one"),
        (Passphrase("nobody", "anita's long passphrase"), "nobody called"),
        (KeyFile("robot", tmp_path / "another"), "not the right one"),
        (KeyFile("robot", tmp_path / "no key"), "is no key file"),
        (KeyFile("robot", tmp_path / "absent"), "can't be read"),
        (Passphrase("robot", "anita's long passphrase"), "opens the vault by a key file, not by a passphrase"),
        (Service("robot", "toy"), "not by a service:toy"),
    ]
    for way, said in wrong:
        with pytest.raises(AccessError, match=said):
            Vault.open(file_room.place, way, state=file_room.state)


def test_a_key_file_is_for_its_owner_and_is_not_overwritten(key_file: Path) -> None:
    assert key_file.stat().st_mode & 0o777 == 0o600
    before = key_file.read_text()
    with pytest.raises(TargetError, match="can't be made"):
        make_key_file(key_file)
    assert key_file.read_text() == before


def test_raw_bytes_are_a_key_file_too(file_room: Room, tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(bytes(range(32)))
    (tmp_path / "hex").write_text(bytes(range(32)).hex().upper() + "\n")
    Vault.create(file_room.place, KeyFile("robot", tmp_path / "raw"), state=file_room.state)
    Vault.open(file_room.place, KeyFile("robot", tmp_path / "hex"), state=file_room.state)


def test_a_key_service_that_is_absent_or_fails(file_room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = file_room.create()
    with pytest.raises(InputError, match="no key service 'toy'"):
        vault.admit(Service("cloud", "toy"), [Right.USE])
    monkeypatch.setattr("shoal.vault.credentials.entry_points", offered)
    vault.admit(Service("cloud", "toy"), [Right.USE])
    sql(file_room, "UPDATE shoal_person SET box = X'00' WHERE name = 'cloud'")
    with pytest.raises(AccessError, match="doesn't unwrap") as told:
        Vault.open(file_room.place, Service("cloud", "toy"), state=file_room.state)
    assert "what is" not in str(told.value)


def test_a_box_with_somebody_elses_master_key_is_no_way_in(file_room: Room, tmp_path: Path) -> None:
    """Anybody can close a box for a person: who puts a vault of their own in its place would be told every name."""
    vault = file_room.create()
    real = vault.people()[0]
    forged = Room(str(tmp_path / "forged"), tmp_path / "elsewhere")
    forged.create().add_domain("patients")
    details = {**forged.open().people()[0].details, **{name: real.details[name] for name in ("salt", "public")}}
    for origin in (real.details["origin"], details["origin"], None):
        told = json.dumps({**details, "origin": origin}, sort_keys=True)
        box = _box_for(real.details["public"])
        sql(forged, "UPDATE shoal_person SET details = :told, box = :box", told=told, box=box)
        with pytest.raises(IntegrityError, match="not the vault that the person was admitted to"):
            Vault.open(forged.place, ANITA, state=tmp_path / "any")


def _box_for(public: str) -> bytes:
    return close_box(base64.b64decode(public), VaultKeys(Key.new(), Key.new()).content, b"shoal vault master key")


@pytest.mark.parametrize(
    "effort",
    [
        {"iterations": 10**9, "lanes": 1, "memory_kib": 8},
        {"iterations": 1, "lanes": 1, "memory_kib": 10**9},
        {"iterations": 1, "lanes": 0, "memory_kib": 8},
        {"iterations": "1", "lanes": 1, "memory_kib": 8},
        {"rounds": 1},
        None,
    ],
)
def test_an_altered_effort_neither_hangs_nor_breaks(file_room: Room, effort: object) -> None:
    vault = file_room.create()
    details = {**vault.people()[0].details, "effort": effort}
    sql(file_room, "UPDATE shoal_person SET details = :details", details=json.dumps(details))
    with pytest.raises(IntegrityError, match="list of people was altered"):
        file_room.open()


@pytest.mark.parametrize("details", ["", "null", "[]", "{", "{}", '{"salt": "?", "effort": {}}'])
def test_altered_details_are_an_error_of_ours(file_room: Room, details: str) -> None:
    file_room.create()
    sql(file_room, "UPDATE shoal_person SET details = :details", details=details)
    with pytest.raises(ShoalError):
        file_room.open()
