"""The page in front of several synthetic tables: what is promised, how children hang on parents, the single reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shoal.errors import BugError
from shoal.report.sections import environment
from shoal.report.small_multiples import DistributionChart, distribution
from shoal.report.synthetic.wording import synthetic_verdict
from shoal.report.wording import ReportVerdict
from shoal.results.evidence_facts import DistributionFacts
from shoal.results.manifest import Manifest
from shoal.results.multi_table_manifest import MultiTableManifest
from shoal.results.number_format import NONE, count, moment, number, percent
from shoal.results.synthesis import KeyStatisticsResult, SequenceResult
from shoal.results.synthesis.fidelity_result import BarResult
from shoal.results.synthesis.synthesis_result import AttackedTable
from shoal.results.synthesis.tables_result import SyntheticTablesResult


@dataclass(frozen=True)
class SyntheticTableRow:
    name: str
    records: str
    columns_alike: str
    pairs_alike: str
    attacks: str
    met: bool | None
    """None where nothing was attacked."""


@dataclass(frozen=True)
class ChildrenRow:
    """How many records hang on one, in both."""

    words: str
    original: str
    synthetic: str
    none: str
    most: str
    moved: str


@dataclass(frozen=True)
class SyntheticTablesPage:
    recipient: bool
    name: str
    created: str
    created_iso: str
    records: str
    report: str
    """The file that the tables' own reports are in."""
    verdict: ReportVerdict
    guaranteed: tuple[str, ...]
    not_guaranteed: tuple[str, ...]
    tables: tuple[SyntheticTableRow, ...]
    references: tuple[tuple[str, str, str], ...]
    orders: tuple[tuple[str, str], ...]
    children: tuple[ChildrenRow, ...]
    sequences: tuple[tuple[str, str, str, str], ...]
    charts: tuple[DistributionChart, ...]
    attacked: str
    warnings: tuple[str, ...]
    version: str


def synthetic_tables_pages(manifest: MultiTableManifest, tables: Mapping[str, Manifest]) -> dict[str, str]:
    """Both editions, by the names of their files."""
    template = environment().get_template("synthetic_tables.html.j2")
    return {
        name: template.render(page=compose_synthetic_tables(manifest, tables, recipient=recipient))
        for name, recipient in (("report.html", False), ("recipient.html", True))
    }


def compose_synthetic_tables(
    manifest: MultiTableManifest, tables: Mapping[str, Manifest], *, recipient: bool
) -> SyntheticTablesPage:
    made = manifest.synthesis
    if manifest.created is None or made is None:
        raise BugError("a report of tables that do not say how and when they were made")
    return SyntheticTablesPage(
        recipient=recipient,
        name=manifest.name,
        created=moment(manifest.created),
        created_iso=manifest.created.isoformat(timespec="seconds"),
        records=f"{count(len(tables), 'table')}, "
        f"{count(sum(one.data.rows or 0 for one in tables.values()), 'synthetic record')}",
        report="recipient.html" if recipient else "report.html",
        verdict=_verdict(manifest, made, tables, recipient=recipient),
        guaranteed=made.guaranteed,
        not_guaranteed=made.not_guaranteed,
        tables=tuple(_row(name, one) for name, one in tables.items()),
        references=tuple((one.child, one.parent, one.found or "declared") for one in manifest.references),
        orders=tuple(made.orders.items()),
        children=() if recipient else tuple(_children(made.keys)),
        sequences=() if recipient else tuple(_sequences(made.sequences)),
        charts=() if recipient else tuple(one for one in _charts(made) if len(one.bars) > 1),
        attacked="" if recipient else _attacked(made),
        warnings=() if recipient else manifest.warnings,
        version=manifest.shoal,
    )


def _verdict(
    manifest: MultiTableManifest, made: SyntheticTablesResult, tables: Mapping[str, Manifest], *, recipient: bool
) -> ReportVerdict:
    """Good only where every table that was attacked is, and all that was required is met."""
    each = [synthetic_verdict(one, recipient=recipient) for one in tables.values() if one.attacks]
    missed = [f"{name}: {model.name}" for name, one in tables.items() for model in one.models if not model.met]
    missed += [model.name for model in manifest.models if not model.met]
    joined = "Each record was attacked together with the records of other tables that it hangs on."
    if missed and not recipient:
        return ReportVerdict(
            "unmet", "Synthetic tables; what was required is not met", (f"Not met: {', '.join(missed)}.",)
        )
    if made.attacked is None or not each:
        why = (f"Nothing was attacked: {made.why_not}.",) if made.why_not and not recipient else ()
        return ReportVerdict("none", "Synthetic tables without a formal guarantee, and not attacked", why)
    if any(one.kind == "unmet" for one in each):
        return ReportVerdict("unmet", "Synthetic tables, but attacks find people of the source in them", (joined,))
    if any(one.kind == "none" for one in each):
        few = "Synthetic tables without a formal guarantee; there are too few people to tell what attacks find"
        return ReportVerdict("none", few, (joined,))
    return ReportVerdict("met", "Synthetic tables without a formal guarantee; attacks found nobody", (joined,))


def _row(name: str, one: Manifest) -> SyntheticTableRow:
    figures = {} if one.fidelity is None else one.fidelity.figures
    alike = [NONE if (value := figures.get(key)) is None else percent(1 - value) for key in ("tv1_mean", "tv2_mean")]
    attacks = one.attacks or ()
    found = sum(each.found for each in attacks)
    words = f"{found} of {count(len(attacks), 'attack')} found something" if attacks else "not attacked"
    return SyntheticTableRow(
        name, f"{one.data.rows or 0:,}", alike[0], alike[1], words, None if not attacks else found == 0
    )


def _children(keys: Sequence[KeyStatisticsResult]) -> Iterator[ChildrenRow]:
    for one in keys:
        before, after = one.original, one.synthetic
        yield ChildrenRow(
            f"{one.child} per record of {one.parent} ({one.reference})",
            f"{before.mean:.2f}",
            f"{after.mean:.2f}",
            f"{percent(before.none)} → {percent(after.none)}",
            f"{before.most:,} → {after.most:,}",
            f"{one.total_variation:.3f}",
        )


def _sequences(sequences: Sequence[SequenceResult]) -> Iterator[tuple[str, str, str, str]]:
    for one in sequences:
        before, after = (NONE if each is None else number(each) for each in (one.original, one.synthetic))
        moved = NONE if one.total_variation is None else f"{one.total_variation:.3f}"
        yield f"{one.table}, by {one.order}", before, after, moved


def _charts(made: SyntheticTablesResult) -> Iterator[DistributionChart]:
    for key in made.keys:
        yield _chart(f"{key.child} per {key.parent}", f"records of {key.child} with one {key.reference}", key.bars)
    for one in made.sequences:
        yield _chart(f"{one.table}: gaps", f"days, or steps of {one.order}, from one to the next", one.bars)


def _chart(name: str, about: str, bars: Sequence[BarResult]) -> DistributionChart:
    drawn = tuple((bar.label, bar.original, bar.synthetic) for bar in bars)
    return distribution(DistributionFacts(name=name, kind=about, suppressed=0.0, bars=drawn, distances=()))


def _attacked(made: SyntheticTablesResult) -> str:
    if made.attacked is AttackedTable.RELEASE:
        return "The released tables were attacked. The control group are people who are not in the source."
    if made.attacked is AttackedTable.REHEARSAL:
        return (
            f"The same method learnt once more from a random half of the records of {made.main} and all that hangs on "
            "them. What was drawn from that was attacked, with the other half as control group, one record of each."
        )
    return f"Nothing was attacked: {made.why_not}." if made.why_not else "Nothing was attacked."
