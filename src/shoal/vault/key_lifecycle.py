"""What keeps a vault healthy over years: keys rotated, pseudonyms revoked and re-issued, domains shredded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from sqlalchemy import select, update

from shoal.crypto import Key
from shoal.crypto.aead import seal, unseal
from shoal.errors import AccessError, InputError, IntegrityError
from shoal.pseudonyms.issuance import serials_of
from shoal.vault import audit, domains
from shoal.vault.credentials import Person, Right, VaultKeys, with_master
from shoal.vault.domains import ISSUED
from shoal.vault.entries import DomainEntries, EntryLookup, chosen
from shoal.vault.entry_rows import REPLACED, REVOKED, by_serial, empty, fetch_outdated
from shoal.vault.issuance import refuse_full
from shoal.vault.session import Session
from shoal.vault.tables import approval, domain_key, person, request

BATCH = 20_000
"""Entries that are re-sealed in one transaction; others get their turn in between."""


def begin_rotation(session: Session, name: str) -> None:
    """A new data key: from now on what is new is sealed with it. A rotation that was cut short goes on instead."""
    session.need(Right.MANAGE)
    domain = domains.usable(session, name)
    held = domains.keys(session, domain)
    if len(held.data) == 1:
        domains.add_key(session, domain.id, held.newest + 1)
        audit.record(session, "rotate", name, version=held.newest + 1)


def rotate_some(session: Session, name: str, after: int = 0) -> int:
    """Some entries from old keys to the newest; the last of their serials, to go on from.

    0 when none was left: then the old keys are gone.
    """
    session.need(Right.MANAGE)
    domain = domains.usable(session, name)
    entries = DomainEntries(session, domain)
    old = sorted(set(entries.keys.data) - {entries.keys.newest})
    # Once more from the beginning before the old keys go: whatever is left under them would be lost.
    for start in dict.fromkeys((after, 0)) if old else ():
        rows = fetch_outdated(session.connection, domain.id, entries.keys.newest, start, BATCH)
        if len(rows):
            entries.exchange(rows, *entries.under_newest(rows))
            return int(rows.serial.max())
    if old:
        domains.drop_keys(session, domain, *old)
        audit.record(session, "rotated", name, version=entries.keys.newest, entries=domain.entries)
    return 0


def change_master(session: Session) -> VaultKeys:
    """A new master key for everybody who is admitted; who was dismissed before can't open what comes after."""
    session.need(Right.MANAGE)
    held = replace(session.held, master=Key.new())
    audit.record(session, "change master key")
    domains.rewrap(session, held.master)
    for row in session.connection.execute(select(person)).all():
        changed = with_master(Person.read(row), held)
        session.connection.execute(update(person).where(person.c.name == row.name).values(box=changed.box))
    _reseal_requests(session, held.master)
    audit.rewrap(session, held.master)
    return held


def revoke(session: Session, name: str, pseudonyms: Sequence[str], reason: str) -> int:
    """Pseudonyms that are no longer valid; whoever had one gets a new one at the next run."""
    session.need(Right.MANAGE)
    domain = domains.usable(session, name)
    form = domain.format
    if domain.kind != ISSUED or form is None:
        raise InputError(f"domain '{name}' issues no pseudonyms that could be revoked one by one")
    entries = DomainEntries(session, domain)
    entries.refuse_outdated()
    serials = set(serials_of(entries.keys.issue, form, pl.Series(pseudonyms, dtype=pl.String())).tolist())
    if min(serials, default=0) < 1 or len(entries.with_serials(list(serials))) < len(serials):
        raise InputError(f"some of the pseudonyms were never issued in domain '{name}'")
    revoked = entries.retire(list(serials), REVOKED)
    audit.record(session, "revoke", name, pseudonyms=list(pseudonyms), reason=reason, revoked=revoked)
    return revoked


def reissue(session: Session, name: str, reason: str) -> int:
    """After a loss: a new pseudonym for everybody in the domain; derived ones change by a new epoch."""
    session.need(Right.MANAGE)
    domain = domains.usable(session, name)
    entries = DomainEntries(session, domain)
    entries.refuse_incomplete()
    count, form = 0, domain.format
    if domain.kind == ISSUED and form is not None:
        refuse_full(domain, form, domain.entries - domain.retired)
        for given in by_serial(session.connection, domain.id, domain.next, BATCH):
            rows = chosen(given, np.flatnonzero(given.generation == 0))
            contents = rows.unsealed(domain.id, entries.keys)
            entries.retire(rows.serial.tolist(), REPLACED)
            entries.create(EntryLookup(pl.Series([content.decode() for content in contents], dtype=pl.String())))
            count += len(rows)
        if count != domain.entries - domain.retired:
            raise IntegrityError(f"domain '{name}': the index of its entries is damaged")
    epoch = entries.domain.epoch + 1
    domains.change(session, entries.domain, epoch=epoch)
    audit.record(session, "reissue", name, reason=reason, pseudonyms=count, epoch=epoch)
    return count


@dataclass(frozen=True)
class ShredCertificate:
    """What is left of a domain: the proof that it is gone."""

    vault: str
    domain: str
    entries: int
    keys: tuple[str, ...]
    """Fingerprints of the keys that were destroyed."""
    at: str
    by: str
    reason: str
    audit: int
    wrapped: tuple[bytes, ...] = field(default=(), repr=False)
    """The destroyed keys as they stood in the database, to look for in what is left of it."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "vault": self.vault,
            "domain": self.domain,
            "entries": self.entries,
            "keys": list(self.keys),
            "at": self.at,
            "by": self.by,
            "reason": self.reason,
            "audit_entry": self.audit,
        }


def shred(session: Session, name: str, reason: str) -> ShredCertificate:
    """The domain's keys and entries go for good. Its name and its serials stay taken."""
    session.need(Right.MANAGE)
    domain = domains.usable(session, name)
    held = domains.keys(session, domain)
    prints = tuple(key.fingerprint() for key in (held.root, *held.data.values()))
    where = domain_key.c.domain == domain.id
    wrapped = tuple(
        bytes(row) for row in session.connection.execute(select(domain_key.c.wrapped).where(where)).scalars()
    )
    domains.drop_keys(session, domain)
    empty(session.connection, domain.id)
    at = session.moment.isoformat(timespec="seconds")
    domains.change(session, domain, shredded=at, entries=0, retired=0, fingerprint=0)
    entry = audit.record(session, "shred", name, reason=reason, entries=domain.entries, keys=list(prints))
    return ShredCertificate(
        session.vault, name, domain.entries, prints, at, session.person.name, reason, entry.number, wrapped
    )


def shred_again(session: Session, destroyed: frozenset[str]) -> int:
    """Domains whose keys were destroyed before, and which a backup has brought back."""
    back = [
        found
        for found in domains.everyone(session)
        if not found.shredded and domains.keys(session, found).root.fingerprint() in destroyed
    ]
    for found in back:
        shred(session, found.name, "it was shredded before the backup was restored")
    return len(back)


def shredded_before(session: Session, name: str) -> ShredCertificate | None:
    """The proof of a domain that is shredded already, out of the audit trail: its wiping may have been cut short."""
    session.need(Right.MANAGE)
    domain = domains.get(session, name)
    if not domain.shredded:
        return None
    trail = audit.entries(session)
    done = next(entry for entry in trail if entry.action == "shred" and entry.domain == name)
    told = done.details
    return ShredCertificate(
        session.vault, name, told["entries"], tuple(told["keys"]), done.at, done.person, told["reason"], done.number
    )


def dismiss(session: Session, name: str) -> None:
    """A person who may no longer open the vault. The master key is changed after that.

    What they asked for is closed and what they approved no longer counts, whoever bears the name next. Who kept a copy
    of the vault from before still has the domains' keys of that time: rotate the domains that matter.
    """
    session.need(Right.MANAGE)
    rows = [Person.read(row) for row in session.connection.execute(select(person)).all()]
    if name not in {row.name for row in rows}:
        raise InputError(f"nobody called '{name}' is admitted")
    if not any(Right.MANAGE in row.rights for row in rows if row.name != name):
        raise AccessError("the last person who may manage the vault can't be dismissed")
    session.connection.execute(person.delete().where(person.c.name == name))
    session.connection.execute(approval.delete().where(approval.c.person == name))
    session.connection.execute(update(request).where(request.c.person == name).values(until=0))
    audit.record(session, "dismiss", person=name)


def _reseal_requests(session: Session, master: Key) -> None:
    for row in session.connection.execute(select(request)).all():
        bound = str(row.id).encode()
        told = unseal(session.master.derive("request"), row.sealed, bound)
        sealed = seal(master.derive("request"), told, bound)
        session.connection.execute(update(request).where(request.c.id == row.id).values(sealed=sealed))
