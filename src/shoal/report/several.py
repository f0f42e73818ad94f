"""The page in front of the reports of several tables: what was released, how it belongs together, what to beware of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from shoal.report.figures import NONE, count, moment


@dataclass(frozen=True)
class TableFacts:
    name: str
    folder: str
    records: int
    k: int
    """0 where nothing was measured, as in a table without quasi-identifiers."""


@dataclass(frozen=True)
class ReferenceFacts:
    child: str
    parent: str
    kept: bool
    orphans: int | None
    found: str | None
    """Why it is taken for a reference, where nobody declared it."""


@dataclass(frozen=True)
class SeveralFacts:
    name: str
    created: datetime
    version: str
    policy_sha256: str
    tables: tuple[TableFacts, ...]
    references: tuple[ReferenceFacts, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class SeveralPage:
    name: str
    recipient: bool
    created: str
    created_iso: str
    version: str
    policy_sha256: str
    records: str
    report: str
    """The file that the tables' reports are in."""
    tables: tuple[tuple[str, str, str, str], ...]
    """Name, folder, records, k."""
    references: tuple[tuple[str, ...], ...]
    """From, to, what became of it; for the owner also how it is known."""
    warnings: tuple[str, ...]


def compose_several(facts: SeveralFacts, *, recipient: bool = False) -> SeveralPage:
    """The recipient is told what can be joined by what, and nothing of the tables before."""
    shown = [one for one in facts.references if one.kept or not recipient]
    return SeveralPage(
        name=facts.name,
        recipient=recipient,
        created=moment(facts.created),
        created_iso=facts.created.isoformat(timespec="seconds"),
        version=facts.version,
        policy_sha256=facts.policy_sha256,
        records=f"{count(len(facts.tables), 'table')}, {count(sum(one.records for one in facts.tables), 'record')}",
        report="recipient.html" if recipient else "report.html",
        tables=tuple((one.name, one.folder, f"{one.records:,}", str(one.k) if one.k else NONE) for one in facts.tables),
        references=tuple(
            (one.child, one.parent, _became(one), *(() if recipient else (one.found or "declared",))) for one in shown
        ),
        warnings=() if recipient else facts.warnings,
    )


def _became(reference: ReferenceFacts) -> str:
    if not reference.kept:
        return "not kept"
    return f"kept; {count(reference.orphans or 0, 'record')} without a counterpart" if reference.orphans else "kept"
