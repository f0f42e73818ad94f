"""The page in front of the reports of several tables: what was released, how it belongs together, what to beware of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from shoal.report.responsibility import StatedFact, answered_for
from shoal.report.wording import ReportVerdict
from shoal.results.manifest import Manifest
from shoal.results.number_format import NONE, count, moment, percent


@dataclass(frozen=True)
class TableFacts:
    name: str
    folder: str
    manifest: Manifest

    @property
    def records(self) -> int:
        return self.manifest.data.rows or 0

    @property
    def met(self) -> bool | None:
        """By models, the declared harm and attacks: what its own report is not green for. None where there are none."""
        one = self.manifest
        found = [model.met for model in one.models]
        found += [] if one.assessment is None else [one.assessment.within]
        found += [not attack.found for attack in one.attacks or ()]
        return all(found) if found else None


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
class TableRow:
    """A table in the list of all; what only the owner may know is None for a recipient."""

    name: str
    folder: str
    records: str
    k: str
    risk: str
    before: str | None = None
    suppressed: str | None = None
    detail: str | None = None
    met: bool | None = None


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
    tables: tuple[TableRow, ...]
    stated: tuple[StatedFact, ...]
    files: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    """By table its files with their checksums; the owner's edition only, as what is signed."""
    signed: tuple[StatedFact, ...]
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
    verdict = joined_verdict(facts.joined, recipient=recipient)
    return MultiTablePage(
        name=facts.name,
        verdict=verdict,
        recipient=recipient,
        created=moment(facts.created),
        created_iso=facts.created.isoformat(timespec="seconds"),
        version=facts.version,
        policy_sha256=facts.policy_sha256,
        records=f"{count(len(facts.tables), 'table')}, {count(sum(one.records for one in facts.tables), 'record')}",
        report="recipient.html" if recipient else "report.html",
        tables=tuple(_row(one, recipient=recipient) for one in facts.tables),
        stated=_stated(facts, recipient=recipient),
        files=() if recipient else tuple((one.name, tuple(_files(one))) for one in facts.tables),
        signed=() if recipient else _signed(facts, verdict.headline),
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


def _row(table: TableFacts, *, recipient: bool) -> TableRow:
    """k is 0 where nothing was measured, as in a table without quasi-identifiers."""
    one = table.manifest
    k, risk = (NONE, NONE) if not one.risk or not one.risk.k else (str(one.risk.k), percent(one.risk.prosecutor_max))
    row = TableRow(table.name, table.folder, f"{table.records:,}", k, risk)
    if recipient:
        return row
    before = "" if one.risk_before is None or not one.risk_before.k else str(one.risk_before.k)
    kept = one.utility.get("detail_kept")
    detail = NONE if kept is None else percent(kept)
    return replace(row, before=before, suppressed=f"{one.suppressed.records:,}", detail=detail, met=table.met)


def _stated(facts: MultiTableFacts, *, recipient: bool) -> tuple[StatedFact, ...]:
    manifests = [one.manifest for one in facts.tables]
    purposes = dict.fromkeys(one.purpose for one in manifests if one.purpose)
    people = dict.fromkeys(one.responsible for one in manifests if one.responsible)
    return tuple(answered_for("; ".join(purposes), "; ".join(people), recipient=recipient))


def _files(table: TableFacts) -> Iterator[tuple[str, str]]:
    source, data = table.manifest.source, table.manifest.data
    if source is not None:
        when = "" if source.modified is None else f", of {moment(source.modified)}"
        yield f"made from {source.name}{when}", source.sha256
    yield f"released as {table.folder}/{data.path}", data.sha256 or NONE


def _signed(facts: MultiTableFacts, headline: str) -> tuple[StatedFact, ...]:
    return (
        StatedFact("Release", f"{facts.name}, {moment(facts.created)}"),
        StatedFact("Verdict", headline),
        StatedFact("SHA-256 of the policy", facts.policy_sha256, code=True),
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
    each = "Every table meets what is asked of it, and nothing" if joined.tables_met else "Nothing"
    whole = f"The joined tables meet what is asked of them: k = {joined.k}"
    return ReportVerdict("met", f"{each} joins them" if joined.k is None else whole, (told,))


def _became(reference: ReferenceFacts) -> str:
    if not reference.kept:
        return "not kept"
    return f"kept; {count(reference.orphans or 0, 'record')} without a counterpart" if reference.orphans else "kept"
