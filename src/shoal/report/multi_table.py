"""The page in front of the reports of several tables: what was released, how it belongs together, what to beware of."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from shoal.report.wording import ReportVerdict
from shoal.results.number_format import NONE, count, moment


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
class JoinedKeyFacts:
    """What one kind of key leaves of k."""

    columns: tuple[str, ...]
    tables: tuple[str, ...]
    k: int
    people: int
    alone: int


@dataclass(frozen=True)
class JoinedFacts:
    """What is left of k when the tables are joined, and what is asked of that."""

    k: int | None = None
    """None where nothing joins, or where it could not be counted."""
    required: int | None = None
    met: bool | None = None
    """None where nothing is asked of the joined tables."""
    accepted: str | None = None
    """Why it need not be met."""
    words: str = ""
    tables_met: bool | None = None
    """Whether each table by itself meets its models; None where there are none."""
    models: tuple[tuple[str, str, str, bool], ...] = ()
    """Of sensitive attributes: name, required, achieved, met."""
    keys: tuple[JoinedKeyFacts, ...] = ()


@dataclass(frozen=True)
class MultiTableFacts:
    name: str
    created: datetime
    version: str
    policy_sha256: str
    tables: tuple[TableFacts, ...]
    references: tuple[ReferenceFacts, ...] = ()
    warnings: tuple[str, ...] = ()
    joined: JoinedFacts = field(default_factory=JoinedFacts)


@dataclass(frozen=True)
class MultiTablePage:
    name: str
    verdict: ReportVerdict
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
    joined_k: str
    """Of all tables together, in the owner's edition; empty where nothing joins."""
    keys: tuple[tuple[str, ...], ...]
    """Joined by, tables, k, people, people alone; the owner's edition only."""
    warnings: tuple[str, ...]


def compose_multi_table(facts: MultiTableFacts, *, recipient: bool = False) -> MultiTablePage:
    """The recipient is told what can be joined by what, and nothing of the tables before."""
    shown = [one for one in facts.references if one.kept or not recipient]
    return MultiTablePage(
        name=facts.name,
        verdict=joined_verdict(facts.joined, recipient=recipient),
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
        joined_k="" if recipient or facts.joined.k is None else f"{facts.joined.k:,}",
        keys=()
        if recipient
        else tuple(
            (", ".join(one.columns), ", ".join(one.tables), f"{one.k:,}", f"{one.people:,}", f"{one.alone:,}")
            for one in facts.joined.keys
        ),
        warnings=() if recipient else facts.warnings,
    )


def joined_verdict(joined: JoinedFacts, *, recipient: bool) -> ReportVerdict:
    """Of the tables together: a recipient holds all of them. It is good only if the joined tables are."""
    told = f"{joined.words[:1].upper()}{joined.words[1:]}."
    models = (f"{name}: {required} required, {achieved} found." for name, required, achieved, _ in joined.models)
    if joined.models:
        told = " ".join((told, *(f"{model[:1].upper()}{model[1:]}" for model in models)))
    if recipient:
        kind = "none" if joined.met is not True else "met"
        good = "The joined tables meet what is asked of them" if joined.met else "Tables of one release"
        return ReportVerdict(kind, good, ("Joined, they say more about a person than each of them alone.",))
    if joined.met is False:
        headline = f"The joined tables do not have the k = {joined.required} that is required"
        if joined.required is None or (joined.k is not None and joined.k >= joined.required):
            headline = "The joined tables do not meet what is asked of them"
        reason = () if joined.accepted is None else (f"Accepted, for this reason: {joined.accepted}",)
        return ReportVerdict("unmet", headline, (told, *reason))
    if joined.met is None and joined.k is not None:
        return ReportVerdict("none", f"Joined, the tables leave k = {joined.k}; nothing is asked of that", (told,))
    if joined.tables_met is False:
        return ReportVerdict("unmet", "A table does not meet what is asked of it: see its report", (told,))
    if joined.met is None:
        kind = "none" if joined.tables_met is None or joined.k is not None else "met"
        return ReportVerdict(kind, "Nothing is asked of the joined tables", (told,))
    figure = "nothing joins" if joined.k is None else f"k = {joined.k}"
    return ReportVerdict("met", f"The joined tables meet what is asked of them: {figure}", (told,))


def _became(reference: ReferenceFacts) -> str:
    if not reference.kept:
        return "not kept"
    return f"kept; {count(reference.orphans or 0, 'record')} without a counterpart" if reference.orphans else "kept"
