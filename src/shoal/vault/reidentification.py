"""Controlled re-identification: who is behind a pseudonym, for a reason, with the approvals that the domain asks for.

The audit entry is committed before the answer is given: an answer that nobody knows of can't be had.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from sqlalchemy import func, insert, select

from shoal.crypto.aead import seal, unseal
from shoal.errors import AccessError, InputError
from shoal.pseudonyms.issuance import serials_of
from shoal.vault import audit, domains
from shoal.vault.credentials import Person, Right
from shoal.vault.domains import DERIVED, Domain
from shoal.vault.entries import DomainEntries, EntryLookup, unpacked
from shoal.vault.entry_rows import CURRENT, EXPIRED, STATES
from shoal.vault.session import Session
from shoal.vault.tables import approval, person, request

AT_MOST = 20
"""Pseudonyms in one request: one record or a listed few, never a table."""
REASON_LENGTH = 10
HOUR = 3600
MOST_HOURS = 30 * 24


@dataclass(frozen=True)
class RevealRequest:
    """Somebody asks who is behind a few pseudonyms."""

    id: int
    domain: str
    person: str
    reason: str
    pseudonyms: tuple[str, ...]
    until: int
    approved_by: tuple[str, ...]
    needed: int

    @property
    def granted(self) -> bool:
        return len(self.approved_by) >= self.needed


@dataclass(frozen=True)
class RevealedIdentity:
    pseudonym: str
    value: str = field(repr=False)
    state: str
    """valid, expired, revoked or replaced."""


def ask(session: Session, name: str, pseudonyms: Sequence[str], reason: str, hours: int) -> RevealRequest:
    session.need(Right.REVEAL)
    domain = domains.usable(session, name)
    pseudonyms = tuple(dict.fromkeys(pseudonyms))
    if not 1 <= len(pseudonyms) <= AT_MOST:
        raise InputError(f"name the pseudonyms to reveal, {AT_MOST} at most")
    need_reason(reason)
    _need_hours(hours)
    number = (session.connection.execute(select(func.max(request.c.id))).scalar() or 0) + 1
    told = json.dumps({"reason": reason, "pseudonyms": pseudonyms}, ensure_ascii=False).encode()
    session.connection.execute(
        insert(request).values(
            id=number,
            domain=domain.id,
            person=session.person.name,
            asked=session.seconds,
            until=session.seconds + hours * HOUR,
            sealed=seal(session.master.derive("request"), told, str(number).encode()),
        )
    )
    audit.record(session, "ask", name, request=number, reason=reason, pseudonyms=list(pseudonyms))
    return find(session, number)


def _need_hours(hours: int) -> None:
    if not 1 <= hours <= MOST_HOURS:
        raise InputError(f"requests and approvals are open for an hour at least and for {MOST_HOURS} at most")


def need_reason(reason: str) -> None:
    if len(reason.strip()) < REASON_LENGTH:
        raise InputError("give the reason in words: it is kept in the audit trail")


def find(session: Session, number: int) -> RevealRequest:
    """A request with the approvals that are valid now."""
    row = session.connection.execute(select(request).where(request.c.id == number)).one_or_none()
    if row is None:
        raise InputError(f"there is no request {number}")
    domain = next(found for found in domains.everyone(session) if found.id == row.domain)
    told = json.loads(unseal(session.master.derive("request"), row.sealed, str(number).encode()))
    given = select(approval.c.person).where(approval.c.request == number, approval.c.until > session.seconds)
    by = tuple(sorted(set(session.connection.execute(given).scalars()) & _approvers(session)))
    return RevealRequest(
        number, domain.name, row.person, told["reason"], tuple(told["pseudonyms"]), row.until, by, domain.approvals
    )


def _approvers(session: Session) -> set[str]:
    people = (Person.read(row) for row in session.connection.execute(select(person)))
    return {one.name for one in people if Right.APPROVE in one.rights}


def waiting(session: Session) -> tuple[RevealRequest, ...]:
    """Requests that are still open."""
    numbers = session.connection.execute(
        select(request.c.id).where(request.c.until > session.seconds).order_by(request.c.id)
    ).scalars()
    return tuple(find(session, number) for number in numbers.all())


def approve(session: Session, number: int, hours: int) -> RevealRequest:
    session.need(Right.APPROVE)
    asked = find(session, number)
    _need_open(session, asked)
    if asked.person == session.person.name:
        raise AccessError("nobody approves their own request")
    if session.person.name in asked.approved_by:
        raise InputError(f"{session.person.name} has approved request {number} already")
    _need_hours(hours)
    until = min(session.seconds + hours * HOUR, asked.until)
    where = (approval.c.request == number) & (approval.c.person == session.person.name)
    session.connection.execute(approval.delete().where(where))
    session.connection.execute(insert(approval).values(request=number, person=session.person.name, until=until))
    audit.record(session, "approve", asked.domain, request=number, until=until)
    return find(session, number)


def answer(session: Session, number: int) -> list[RevealedIdentity]:
    """To be handed out only after the transaction, and with it the audit entry, is committed."""
    session.need(Right.REVEAL)
    asked = find(session, number)
    _need_open(session, asked)
    if asked.person != session.person.name:
        raise AccessError(f"request {number} is another person's")
    if not asked.granted:
        raise AccessError(
            f"request {number} has {len(asked.approved_by)} of the {asked.needed} approvals that are needed",
            advice=f"shoal vault approve {number}, by somebody else",
        )
    found = opened(session, domains.usable(session, asked.domain), asked.pseudonyms)
    audit.record(
        session,
        "reveal",
        asked.domain,
        request=number,
        reason=asked.reason,
        approved_by=list(asked.approved_by),
        pseudonyms=[one.pseudonym for one in found],
    )
    return found


def opened(session: Session, domain: Domain, pseudonyms: Sequence[str]) -> list[RevealedIdentity]:
    entries = DomainEntries(session, domain)
    entries.refuse_outdated()
    found: dict[str, RevealedIdentity] = {}
    if domain.kind == DERIVED:
        for pseudonym in pseudonyms:
            held = entries.held(pseudonym.encode())
            if held is not None:
                found[pseudonym] = RevealedIdentity(pseudonym, unpacked(held)[0].decode(), STATES[CURRENT])
    elif domain.format is not None:
        serials = serials_of(entries.keys.issue, domain.format, pl.Series(pseudonyms, dtype=pl.String()))
        rows = entries.with_serials([serial for serial in set(serials.tolist()) if serial > 0])
        ended = (rows.until > 0) & (rows.until <= session.seconds) & (rows.state == CURRENT)
        states = np.where(ended, EXPIRED, rows.state).tolist()
        known = zip(rows.serial.tolist(), states, rows.unsealed(domain.id, entries.keys), strict=True)
        by_serial = {serial: (value.decode(), STATES[state]) for serial, state, value in known}
        for pseudonym, serial in zip(pseudonyms, serials.tolist(), strict=True):
            if serial in by_serial:
                found[pseudonym] = RevealedIdentity(pseudonym, *by_serial[serial])
    missing = len(pseudonyms) - len(found)
    if missing:
        if domain.kind == DERIVED:
            absent = [pseudonym for pseudonym in pseudonyms if pseudonym not in found]
            entries.refuse_incomplete(EntryLookup(pl.Series(absent, dtype=pl.String())))
        raise InputError(f"{missing} of the pseudonyms were never issued in domain '{domain.name}'")
    return [found[pseudonym] for pseudonym in pseudonyms]


def _need_open(session: Session, asked: RevealRequest) -> None:
    if asked.until <= session.seconds:
        raise AccessError(f"request {asked.id} has expired", advice="ask again")
