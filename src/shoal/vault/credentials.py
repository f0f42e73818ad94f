"""Who may open the vault, how, and what for.

Everybody has a way in of their own: a passphrase, a key file, or a key service (KMS). Behind it is the master key,
closed in a box that only this way in opens; so people come and go, and the master key is changed, without anybody
telling another their passphrase.

Anybody can close such a box, with a master key of their own in it. So the box holds the vault's origin as well, a
secret that only people of the vault know, and each person's row a check of it that takes the person's own key.
"""

from __future__ import annotations

import base64
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from shoal.crypto import KEY_BYTES, Key
from shoal.crypto.hpke import close_box, open_box, public_of
from shoal.crypto.mac import mac, same
from shoal.crypto.passphrase import MIN_LENGTH, RFC_9106_SECOND, Effort, new_salt, stretch
from shoal.errors import AccessError, InputError, IntegrityError, TargetError
from shoal.io import new_file

NAME: Final = re.compile(r"[\w][\w .@-]{0,62}")
SERVICES: Final = "shoal.key_services"
_LABEL: Final = b"shoal vault master key"


class Right(StrEnum):
    """What a person may do."""

    USE = "use"
    """Have pseudonyms and keys used in a run."""
    REVEAL = "reveal"
    """Ask who is behind a pseudonym, and read the answer."""
    APPROVE = "approve"
    """Approve what another asks."""
    MANAGE = "manage"
    """Make domains, admit people, rotate, revoke, shred, back up."""


@dataclass(frozen=True)
class VaultKeys:
    """What is in every person's box."""

    master: Key
    origin: Key
    """Drawn when the vault was made, and never changed."""

    @classmethod
    def new(cls) -> VaultKeys:
        return cls(Key.new(), Key.new())

    @classmethod
    def read(cls, content: bytes) -> VaultKeys:
        try:
            return cls(Key(content[:KEY_BYTES]), Key(content[KEY_BYTES:]))
        except ValueError:
            raise IntegrityError("the vault's list of people was altered") from None

    @property
    def content(self) -> bytes:
        return self.master.material + self.origin.material


@dataclass(frozen=True)
class Person:
    name: str
    way: str
    details: Mapping[str, Any]
    box: bytes = field(repr=False)
    rights: frozenset[Right]

    @classmethod
    def read(cls, row: Any) -> Person:
        try:
            rights = frozenset(Right(word) for word in row.rights.split(",") if word)
            return cls(row.name, row.way, dict(json.loads(row.details)), b"" + row.box, rights)
        except (ValueError, TypeError, AttributeError):
            raise IntegrityError("the vault's list of people was altered") from None

    def row(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "way": self.way,
            "details": json.dumps(self.details, sort_keys=True),
            "box": self.box,
            "rights": ",".join(sorted(self.rights)),
        }


class KeyService(Protocol):
    """The plug-in point for a key management service: an entry point of the group ``shoal.key_services``."""

    def wrap(self, key: bytes) -> bytes:
        """Key material (64 bytes), encrypted by the service under a key that never leaves it."""

    def unwrap(self, wrapped: bytes) -> bytes:
        """What ``wrap`` was given."""


class Credential(ABC):
    """How a person opens the vault."""

    name: str
    way: str

    @abstractmethod
    def opened(self, person: Person) -> VaultKeys:
        """What is in the person's box, or an AccessError."""

    @abstractmethod
    def admitted(self, held: VaultKeys, rights: Iterable[Right]) -> Person:
        """The person's row, with what is held closed in a box for this way in."""


@dataclass(frozen=True)
class Passphrase(Credential):
    name: str
    passphrase: str = field(repr=False)
    effort: Effort = RFC_9106_SECOND
    way = "passphrase"

    def opened(self, person: Person) -> VaultKeys:
        try:
            effort = Effort(**person.details["effort"])
            key = stretch(self.passphrase, base64.b64decode(person.details["salt"]), effort.refuse_absurd())
        except (KeyError, TypeError, ValueError):
            raise IntegrityError("the vault's list of people was altered") from None
        return _unboxed(key, person)

    def admitted(self, held: VaultKeys, rights: Iterable[Right]) -> Person:
        if len(self.passphrase) < MIN_LENGTH:
            raise InputError(f"a passphrase has at least {MIN_LENGTH} characters; several words are good ones")
        salt = new_salt()
        key = stretch(self.passphrase, salt, self.effort)
        details = {"salt": base64.b64encode(salt).decode(), "effort": asdict(self.effort)}
        return _boxed(self, key, details, held, rights)


@dataclass(frozen=True)
class KeyFile(Credential):
    """A file of 32 random bytes as hexadecimal text: for runs that nobody attends."""

    name: str
    path: Path
    way = "key file"

    def opened(self, person: Person) -> VaultKeys:
        return _unboxed(read_key_file(self.path), person)

    def admitted(self, held: VaultKeys, rights: Iterable[Right]) -> Person:
        return _boxed(self, read_key_file(self.path), {}, held, rights)


@dataclass(frozen=True)
class Service(Credential):
    """A key service by the name of its entry point."""

    name: str
    service: str

    @property
    def way(self) -> str:  # type: ignore[override]  # the others' is a constant
        return f"service:{self.service}"

    def opened(self, person: Person) -> VaultKeys:
        return VaultKeys.read(_asked(self.service, "unwrap", person.box))

    def admitted(self, held: VaultKeys, rights: Iterable[Right]) -> Person:
        box = _asked(self.service, "wrap", held.content)
        return Person(named(self.name), self.way, {}, box, frozenset(rights))


def with_master(person: Person, held: VaultKeys) -> Person:
    """The same person with a new master key in their box; nobody needs their passphrase for that."""
    if person.way.startswith("service:"):
        box = _asked(person.way.removeprefix("service:"), "wrap", held.content)
    else:
        box = close_box(base64.b64decode(person.details["public"]), held.content, _LABEL)
    return Person(person.name, person.way, person.details, box, person.rights)


def make_key_file(path: Path) -> None:
    """A new key, for its owner's eyes only."""
    try:
        with new_file(path, private=True) as file:
            file.write(Key.new().material.hex() + "\n")
    except OSError as error:
        raise TargetError(f"{path}: the key file can't be made ({error.strerror})") from None


def read_key_file(path: Path) -> Key:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise AccessError(f"{path}: the key file can't be read ({error.strerror})") from None
    try:
        material = raw if len(raw) == KEY_BYTES else bytes.fromhex(raw.decode("ascii").strip())
        return Key(material)
    except ValueError:
        raise AccessError(f"{path}: is no key file: it holds {KEY_BYTES} bytes, or as many in hexadecimal") from None


def named(name: str) -> str:
    if not NAME.fullmatch(name):
        raise InputError("a person's name has letters, digits, spaces, dots, @ and dashes, at most 63")
    return name


def _boxed(way: Credential, key: Key, details: Mapping[str, Any], held: VaultKeys, rights: Iterable[Right]) -> Person:
    public = public_of(key)
    told = {**details, "public": base64.b64encode(public).decode(), "origin": _origin(key, held)}
    return Person(named(way.name), way.way, told, close_box(public, held.content, _LABEL), frozenset(rights))


def _unboxed(key: Key, person: Person) -> VaultKeys:
    held = VaultKeys.read(open_box(key, person.box, _LABEL))
    if not same(_origin(key, held).encode(), str(person.details.get("origin")).encode()):
        raise IntegrityError("this is not the vault that the person was admitted to: it was put in its place")
    return held


def _origin(key: Key, held: VaultKeys) -> str:
    return base64.b64encode(mac(key.derive("origin"), [held.origin.material])).decode()


def _asked(name: str, what: Literal["wrap", "unwrap"], content: bytes) -> bytes:
    """A plug-in's errors are its own affair, and may hold anything: they are not passed on."""
    service = _service(name)
    try:
        return bytes(getattr(service, what)(content))
    except Exception:  # noqa: BLE001 - whatever a plug-in raises
        raise AccessError(f"the key service '{name}' doesn't {what} the vault's key") from None


def _service(name: str) -> KeyService:
    for found in entry_points(group=SERVICES):
        if found.name == name:
            service: KeyService = found.load()()
            return service
    raise InputError(f"there is no key service '{name}': no installed package offers one of that name")
