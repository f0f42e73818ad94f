"""The whole vault, looked through: every entry opened, every serial counted, the audit trail followed to its end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.errors import IntegrityError
from shoal.vault import audit, domains
from shoal.vault.domains import Domain
from shoal.vault.entries import DomainEntries
from shoal.vault.entry_rows import every
from shoal.vault.session import Session


@dataclass(frozen=True)
class VerificationResult:
    """Nothing was found wrong in so much."""

    domains: int
    entries: int
    audit_entries: int


def verify(session: Session) -> VerificationResult:
    """An IntegrityError at the first thing that is not as the vault left it."""
    trail = sum(1 for _ in audit.entries(session))
    found = domains.everyone(session)
    total = sum(_verify_domain(session, domain) for domain in found if not domain.shredded)
    return VerificationResult(len(found), total, trail)


def _verify_domain(session: Session, domain: Domain) -> int:
    entries = DomainEntries(session, domain)
    entries.refuse_incomplete()
    highest, count, current = 0, 0, 0
    for rows in every(session.connection, domain.id):
        contents = rows.unsealed(domain.id, entries.keys)
        for version in np.unique(rows.version):
            here = np.flatnonzero(rows.version == version).tolist()
            texts = [entries.kept_under(contents[at]) for at in here]
            if [bytes(rows.place[at]) for at in here] != entries.places(texts, int(version)):
                raise IntegrityError(f"domain '{domain.name}': an entry is not in its place")
        count += len(rows)
        current += int((rows.generation == 0).sum())
        highest = max(highest, int(rows.serial.max(initial=0)))
    if count != domain.entries or highest >= domain.next or current > count:
        raise IntegrityError(f"domain '{domain.name}': the entries don't fit its account of them")
    return count
