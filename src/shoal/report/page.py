"""What the page says, in two editions.

The template sees only a ``ReportPage``. The recipient's page is never given what its edition leaves out — parameters,
levels, figures of the original, suppression, what was asked of a model — so no slip in the template can show it. What
is left could be worked out from the released file itself, or is needed to use it properly: the kinds of technique and
how much detail was kept. (What was asked of a model is left out because knowing how hard the solver tried helps to
undo its choices; the policy's checksum because a guessed policy could be confirmed by it; PDPC, step 5.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PureWindowsPath
from typing import Generic, TypeVar

from markupsafe import Markup

from shoal.report import wording
from shoal.report.column_sections import (
    ColumnLoss,
    ComparedFigures,
    SuppressedLine,
    column_losses,
    example_lines,
    hard_hit,
    relations,
    risk_drivers,
    suppressed_lines,
)
from shoal.report.evidence_section import FEW, EvidenceSection, evidence_section
from shoal.report.facts import AttributeFacts, ModelFacts, ReportFacts, RiskFacts
from shoal.report.limits import Limit, limits
from shoal.report.plots import ClassSizeBin, bar, class_bins
from shoal.report.responsibility import StatedFact, signed_facts, stated_facts
from shoal.report.sections import titles
from shoal.report.summary import HarmThreshold, KeyFigure, harms, key_figures, risk_gauge
from shoal.results.edit_rule_results import EditRuleResult
from shoal.results.evidence_facts import ExampleColumn
from shoal.results.manifest import SolutionResult
from shoal.results.number_format import NONE, count, moment, number, percent

Cell = TypeVar("Cell")

_ON_VIOLATION = {
    "report": "counted",
    "refuse": "nothing is released",
    "suppress": "the record is left out",
}


@dataclass(frozen=True)
class ClassCell:
    people: str
    share: str
    bar: Markup


@dataclass(frozen=True)
class LabelledRow(Generic[Cell]):
    """A line of a table: its header, its cells."""

    head: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class ModelRow:
    title: str
    explanation: str | None
    clause: str
    required: str | None
    achieved: str
    met: bool


@dataclass(frozen=True)
class UntouchedAttributes:
    """Attributes of one role that were released as they are."""

    role: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class SearchSummary:
    """How the levels were found; the owner's edition only."""

    levels: tuple[LabelledRow[str], ...]
    optimal: bool
    checked: str
    total: str
    one_level: bool
    """Whether all cells of an attribute have the level that is shown; otherwise it is the highest that occurs."""


@dataclass(frozen=True)
class ReportPage:
    recipient: bool
    name: str
    use_case: str
    created: str
    created_iso: str
    records: str
    unit: str
    measured: bool
    verdict: wording.ReportVerdict
    figures: tuple[KeyFigure, ...]
    gauge: Markup | None
    assessed: bool
    """Whether the gauge and the harms are of the assessed risk too."""
    harms: tuple[HarmThreshold, ...]
    tables: tuple[str, ...]
    """Which tables were measured: before and after, or the released one alone."""
    classes: tuple[LabelledRow[ClassCell], ...]
    risks: tuple[LabelledRow[str], ...]
    models: tuple[ModelRow, ...]
    attributes: tuple[AttributeFacts, ...]
    untouched: tuple[UntouchedAttributes, ...]
    """Where they are many, the attributes that were left as they are: by name only, and not among the others."""
    utility: tuple[tuple[str, str, str], ...]
    search: SearchSummary | None
    provenance: tuple[LabelledRow[str], ...]
    warnings: tuple[str, ...]
    limits: tuple[Limit, ...]
    purpose: str
    withstood: tuple[str, ...]
    """The kinds of attack, if none of them found anything; the recipient's edition only."""
    proof: EvidenceSection
    stated: tuple[StatedFact, ...]
    """Purpose, who answers for it, the source."""
    signed: tuple[StatedFact, ...]
    """What a signature is put under; the owner's edition only."""
    examples: tuple[ExampleColumn, ...]
    losses: tuple[ColumnLoss, ...]
    drivers: ComparedFigures | None
    relations: ComparedFigures | None
    rules: tuple[LabelledRow[str], ...]
    hit: tuple[SuppressedLine, ...]
    hit_hard: tuple[str, ...]
    """Sentences on groups that lost much more than others."""
    titles: Mapping[str, str]
    """The sections that the page has, in order, by their id."""


def compose(facts: ReportFacts, *, recipient: bool) -> ReportPage:
    facts = facts.published() if recipient else facts
    measured = wording.measured(facts)
    shown = [facts.after] if recipient else [facts.before, facts.after]
    before = facts.before if not recipient and facts.before.k else None
    shown_attributes, untouched = _folded(facts.attributes)
    verdict = wording.give_verdict(facts, recipient=recipient)
    page = ReportPage(
        recipient=recipient,
        name=facts.manifest.name,
        use_case=wording.use_case(facts.manifest.use_case),
        created=moment(facts.created),
        created_iso=facts.created.isoformat(timespec="seconds"),
        records=count(facts.records, wording.rows(facts)),
        unit=wording.unit(facts)[1],
        measured=measured,
        verdict=verdict,
        figures=tuple(key_figures(facts, before, recipient=recipient)),
        gauge=risk_gauge(facts, before, recipient=recipient) if measured else None,
        assessed=facts.assessment is not None and not recipient,
        harms=harms(facts, recipient=recipient) if measured else (),
        tables=("Released file",) if recipient else ("Before", "After"),
        classes=_class_rows(shown) if measured else (),
        risks=tuple(_risk_rows(shown, facts, recipient=recipient)),
        models=tuple(_model_row(model, facts, recipient=recipient) for model in facts.models),
        attributes=tuple(_attribute_rows(shown_attributes, recipient=recipient)),
        untouched=_by_role(untouched),
        utility=() if recipient else tuple((*wording.measure(n), number(v)) for n, v in facts.manifest.utility.items()),
        search=None if recipient else _search(facts.solution),
        provenance=tuple(_provenance(facts, recipient=recipient)),
        warnings=() if recipient else facts.manifest.warnings,
        limits=limits(facts, recipient=recipient),
        purpose=facts.purpose or "",
        withstood=_withstood(facts) if recipient else (),
        proof=EvidenceSection() if recipient else evidence_section(facts),
        stated=stated_facts(facts, recipient=recipient),
        signed=() if recipient else signed_facts(facts, verdict.headline),
        examples=example_lines(facts, recipient=recipient),
        losses=() if recipient else column_losses(facts),
        drivers=None if recipient else risk_drivers(facts),
        relations=None if recipient else relations(facts),
        hit=() if recipient else suppressed_lines(facts),
        hit_hard=() if recipient else hard_hit(facts),
        rules=() if recipient else rule_rows(facts.manifest.rules),
        titles={},
    )
    return replace(page, titles=titles(page))


def _withstood(facts: ReportFacts) -> tuple[str, ...]:
    """All kinds of attack or none: what is missing from a list would be a hint at what to try."""
    if facts.unjudged or any(one.found for one in facts.attacks):
        return ()
    return tuple(dict.fromkeys(one.title for one in facts.attacks))


def _class_rows(shown: list[RiskFacts]) -> tuple[LabelledRow[ClassCell], ...]:
    binned = [class_bins(risk.class_sizes) for risk in shown]
    totals = [sum(one.people for one in bins) or 1 for bins in binned]
    longest = max((one.people / total for bins, total in zip(binned, totals, strict=True) for one in bins), default=0)
    kinds = ("before", "after")[-len(shown) :]

    def cell(one: ClassSizeBin, total: int, kind: str) -> ClassCell:
        share = one.people / total
        return ClassCell(f"{one.people:,}", percent(share), bar(share / longest if longest else 0.0, kind))

    return tuple(
        LabelledRow(row[0].label, tuple(cell(*each) for each in zip(row, totals, kinds, strict=True)))
        for row in zip(*binned, strict=True)
    )


def _risk_rows(shown: list[RiskFacts], facts: ReportFacts, *, recipient: bool) -> Iterable[LabelledRow[str]]:
    if not wording.measured(facts):
        return

    def row(head: str, clause: str, *cells: str) -> LabelledRow[str]:
        told = (cell if risk.k else NONE for cell, risk in zip(cells, shown, strict=True))
        return LabelledRow(head, (*told, clause))

    many = wording.unit(facts)[1]
    yield row("Smallest class, k", "ISO/IEC 20889, 10.2.1", *(f"{risk.k:,}" for risk in shown))
    if facts.manifest.read_back is not None:
        left = f"{facts.manifest.read_back.k:,}"
        yield row("k with what other columns tell", "", *((left,) if recipient else (NONE, left)))
    yield row(
        f"{many.capitalize()} alone in their class", "ISO/IEC 20889, 7.2", *(f"{risk.uniques:,}" for risk in shown)
    )
    yield row("Equivalence classes", "ISO/IEC 20889, 10.2.1", *(f"{_classes(risk):,}" for risk in shown))
    yield row("Highest prosecutor risk", "PDPC, annex D", *(number(risk.prosecutor_max) for risk in shown))
    yield row("Average prosecutor risk", "PDPC, annex D", *(number(risk.prosecutor_average) for risk in shown))
    strict = [risk.strict_average for risk in shown]
    if None not in strict:
        told = (number(one) for one in strict if one is not None)
        yield row("Strict average prosecutor risk", "PDPC, step 4, note 14", *told)
    yield row(f"{many.capitalize()} in classes", "", *(f"{risk.people:,}" for risk in shown))
    if not recipient:
        yield row("Records suppressed", "ISO/IEC 20889, 9.3.4", *(f"{risk.suppressed:,}" for risk in shown))


def _classes(risk: RiskFacts) -> int:
    return sum(one.classes for one in class_bins(risk.class_sizes))


def _achieved(model: ModelFacts) -> str:
    return NONE if model.found.achieved is None else number(model.found.achieved)


def _model_row(model: ModelFacts, facts: ReportFacts, *, recipient: bool) -> ModelRow:
    return ModelRow(
        title=model.title,
        explanation=None if recipient else wording.whole(model.explanation),
        clause=model.clause,
        required=None if recipient else number(model.found.required),
        achieved=_achieved(model) if facts.manifest.kind.has_classes else NONE,
        met=model.found.met,
    )


def _attribute_rows(attributes: tuple[AttributeFacts, ...], *, recipient: bool) -> Iterable[AttributeFacts]:
    for one in attributes:
        shown = replace(one, role=wording.role(one.role), clause=one.clause or (NONE,))
        if not recipient:
            yield replace(shown, done=one.done or (("left as it is",) if one.released else ("left out",)))
        elif one.released:
            yield replace(shown, done=wording.families(one))


def _folded(attributes: tuple[AttributeFacts, ...]) -> tuple[tuple[AttributeFacts, ...], tuple[AttributeFacts, ...]]:
    """Those with a row of their own, and those that have nothing to tell but their name."""
    untouched = tuple(one for one in attributes if one.untouched)
    if len(untouched) <= FEW:
        return attributes, ()
    return tuple(one for one in attributes if not one.untouched), untouched


def _by_role(attributes: tuple[AttributeFacts, ...]) -> tuple[UntouchedAttributes, ...]:
    by_role: dict[str, list[str]] = {}
    for one in attributes:
        by_role.setdefault(one.role, []).append(one.name)
    return tuple(UntouchedAttributes(wording.role(role), tuple(names)) for role, names in by_role.items())


def rule_rows(rules: Sequence[EditRuleResult] | None) -> tuple[LabelledRow[str], ...]:
    return tuple(_rule_row(rule) for rule in rules or ())


def _rule_row(rule: EditRuleResult) -> LabelledRow[str]:
    before, after = (None if one is None else f"{one.violations:,}" for one in (rule.before, rule.after))
    untold = NONE if rule.after is None else f"{rule.after.undecided:,}"
    done = _ON_VIOLATION[rule.on_violation] if rule.untold is None else rule.untold
    return LabelledRow(rule.name, (", ".join(rule.columns), before or NONE, after or NONE, untold, done))


def _search(found: SolutionResult) -> SearchSummary | None:
    if not found.levels:
        return None
    levels = tuple(
        LabelledRow(name, (wording.level(level, found.heights.get(name)),)) for name, level in found.levels.items()
    )
    return SearchSummary(
        levels, found.optimal, f"{found.nodes_checked:,}", f"{found.nodes_total:,}", found.recoding == "global"
    )


def _provenance(facts: ReportFacts, *, recipient: bool) -> Iterable[LabelledRow[str]]:
    # A Windows path knows both separators; a recipient is told the file, not the folders it lay in.
    manifest = facts.manifest
    path = manifest.data.path
    yield LabelledRow("Released file", (PureWindowsPath(path).name if recipient else path,))
    yield LabelledRow("SHA-256 of the file", (manifest.data.sha256 or "",))
    for one in manifest.files:
        if not recipient:
            told = (f"{count(one.rows, 'row')}", one.sha256 and f"SHA-256 {one.sha256}", one.about)
            yield LabelledRow(f"Beside it, {one.path}", (", ".join(filter(None, told)),))
        elif one.path in facts.for_recipient:
            yield LabelledRow("Beside it", (one.path,))
    if recipient:
        yield LabelledRow("Made by", (f"shoal {manifest.shoal}",))
        return
    yield LabelledRow("SHA-256 of the policy", (manifest.policy_sha256,))
    versions = manifest.versions or {}
    others = (f"{name} {version}" for name, version in versions.items() if name not in {"shoal", "policy"})
    made_by = (f"shoal {manifest.shoal}", *(() if manifest.engine is None else (f"engine {manifest.engine}",)), *others)
    yield LabelledRow("Made by", (", ".join(made_by),))
    if "policy" in versions:
        yield LabelledRow("Format of the policy", (versions["policy"],))
