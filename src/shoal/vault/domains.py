"""Domains: within one, a person has one pseudonym; between two, nothing tells that it is the same person.

A domain has a root key, from which its pseudonyms come and which stays, and data keys, under which its entries are
sealed and found and which are rotated. Both are wrapped by the master key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import delete, func, insert, select, update

from shoal.crypto import Key
from shoal.crypto.aead import seal, unseal
from shoal.errors import AccessError, InputError, IntegrityError
from shoal.pseudonyms import PseudonymFormat, pseudonym_formats
from shoal.schema.registry import did_you_mean
from shoal.vault.session import Session
from shoal.vault.tables import domain as domains
from shoal.vault.tables import domain_key

NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
ROOT: Final = 0
"""The version of the root key; data keys count from 1."""
MOST_APPROVALS: Final = 9
MOST_DAYS: Final = 36_525
ISSUED: Final = "issued"
DERIVED: Final = "derived"


@dataclass(frozen=True)
class Domain:
    id: int
    name: str
    kind: str | None
    """What its entries are: issued pseudonyms with their values, or values of pseudonyms that were derived."""
    form: str | None
    approvals: int
    validity_days: int | None
    next: int
    entries: int
    retired: int
    """So many of the entries are no longer current."""
    fingerprint: int
    epoch: int
    """Derived pseudonyms change with it."""
    made: str
    shredded: str | None

    @property
    def format(self) -> PseudonymFormat | None:
        if self.form is None:
            return None
        ((key, parameters),) = json.loads(self.form).items()
        found = pseudonym_formats.get(key)
        if found is None:
            raise IntegrityError(f"domain '{self.name}' has the format '{key}', which this version doesn't know")
        return found(**parameters)

    def until(self, seconds: int) -> int:
        """The moment at which a pseudonym that is issued now ends; 0 for never."""
        return 0 if self.validity_days is None else seconds + self.validity_days * 86_400


@dataclass(frozen=True)
class DomainKeys:
    root: Key
    data: Mapping[int, Key] = field(repr=False)

    @property
    def newest(self) -> int:
        return max(self.data)

    def place(self, version: int) -> Key:
        """For finding an entry by its value without storing the value."""
        return self._of(version).derive("place")

    def also(self, version: int) -> Key:
        return self._of(version).derive("also")

    def seal(self, version: int) -> Key:
        return self._of(version).derive("seal")

    def _of(self, version: int) -> Key:
        if version not in self.data:
            raise IntegrityError("entries are sealed with a key that the vault doesn't have")
        return self.data[version]

    @property
    def issue(self) -> Key:
        return self.root.derive("issue")

    @property
    def check(self) -> Key:
        return self.root.derive("check")


def described(form: PseudonymFormat) -> str:
    return json.dumps({form.key: form.model_dump(mode="json", exclude_defaults=True)}, sort_keys=True)


def add(session: Session, name: str, *, approvals: int, validity_days: int | None) -> Domain:
    if not NAME.fullmatch(name):
        raise InputError("a domain's name has small letters, digits, - and _, at most 63")
    if not 0 <= approvals <= MOST_APPROVALS:
        raise InputError(f"a domain asks for {MOST_APPROVALS} approvals at most")
    if validity_days is not None and not 1 <= validity_days <= MOST_DAYS:
        raise InputError(f"pseudonyms are valid for a day at least and for {MOST_DAYS:,} at most")
    if session.connection.execute(select(domains.c.id).where(domains.c.name == name)).first():
        raise InputError(f"there is a domain '{name}' already")
    number = (session.connection.execute(select(func.max(domains.c.id))).scalar() or 0) + 1
    row = {
        "id": number,
        "name": name,
        "kind": None,
        "form": None,
        "approvals": approvals,
        "validity_days": validity_days,
        "next": 1,
        "entries": 0,
        "retired": 0,
        "fingerprint": (0).to_bytes(16, "little"),
        "epoch": 0,
        "made": session.moment.isoformat(timespec="seconds"),
        "shredded": None,
    }
    session.connection.execute(insert(domains).values(row))
    add_key(session, number, ROOT)
    add_key(session, number, 1)
    return get(session, name)


def get(session: Session, name: str) -> Domain:
    row = session.connection.execute(select(domains).where(domains.c.name == name)).one_or_none()
    if row is None:
        known = tuple(session.connection.execute(select(domains.c.name)).scalars())
        raise InputError(
            f"the vault has no domain '{name}'{did_you_mean(name, known)}", advice=f"shoal vault add {name}"
        )
    return _read(row)


def usable(session: Session, name: str) -> Domain:
    found = get(session, name)
    if found.shredded:
        raise AccessError(f"domain '{name}' was shredded: its keys are gone for good")
    return found


def everyone(session: Session) -> tuple[Domain, ...]:
    return tuple(_read(row) for row in session.connection.execute(select(domains).order_by(domains.c.name)))


def change(session: Session, found: Domain, **values: Any) -> Domain:
    if "fingerprint" in values:
        values["fingerprint"] = values["fingerprint"].to_bytes(16, "little")
    session.connection.execute(update(domains).where(domains.c.id == found.id).values(**values))
    return get(session, found.name)


def keys(session: Session, found: Domain) -> DomainKeys:
    rows = session.connection.execute(select(domain_key).where(domain_key.c.domain == found.id)).all()
    opened = {
        row.version: Key(unseal(session.master.derive("wrap"), row.wrapped, _bound(found.id, row.version)))
        for row in rows
    }
    if ROOT not in opened or len(opened) < 2:
        raise IntegrityError(f"domain '{found.name}' lacks keys")
    return DomainKeys(opened.pop(ROOT), opened)


def add_key(session: Session, number: int, version: int, key: Key | None = None) -> None:
    wrapped = seal(session.master.derive("wrap"), (key or Key.new()).material, _bound(number, version))
    session.connection.execute(insert(domain_key).values(domain=number, version=version, wrapped=wrapped))


def drop_keys(session: Session, found: Domain, *versions: int) -> None:
    these = [domain_key.c.version.in_(versions)] if versions else []
    session.connection.execute(delete(domain_key).where(domain_key.c.domain == found.id, *these))


def rewrap(session: Session, master: Key) -> None:
    """Every domain's keys under another master key."""
    for row in session.connection.execute(select(domain_key)).all():
        bound = _bound(row.domain, row.version)
        wrapped = seal(master.derive("wrap"), unseal(session.master.derive("wrap"), row.wrapped, bound), bound)
        where = (domain_key.c.domain == row.domain) & (domain_key.c.version == row.version)
        session.connection.execute(update(domain_key).where(where).values(wrapped=wrapped))


def _bound(number: int, version: int) -> bytes:
    return f"domain {number} key {version}".encode()


def _read(row: Any) -> Domain:
    values = dict(row._mapping)
    return Domain(**{**values, "fingerprint": int.from_bytes(values["fingerprint"], "little")})
