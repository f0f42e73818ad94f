"""The first screen: the figures that matter most, and the risk against what potential harm allows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from shoal.report import wording
from shoal.report.facts import ReportFacts, RiskFacts
from shoal.report.plots import THRESHOLDS, RiskMarker, gauge
from shoal.results.number_format import NONE, count, one_in, percent
from shoal.schema.circumstances import Procedure


@dataclass(frozen=True)
class KeyFigure:
    label: str
    value: str
    note: str
    before: str | None = None


@dataclass(frozen=True)
class HarmThreshold:
    potential: str
    threshold: float
    words: str
    within: bool
    declared: bool
    """Whether it is the harm that the owner declared."""


def key_figures(facts: ReportFacts, before: RiskFacts | None, *, recipient: bool) -> Iterable[KeyFigure]:
    after = facts.after
    if wording.measured(facts):
        alike = "people who look alike" if facts.person else "records that look alike"
        yield KeyFigure("Smallest class, k", f"{after.k:,}", alike, before=f"{before.k:,}" if before else None)
        yield KeyFigure(
            "Highest risk", percent(after.prosecutor_max), f"{one_in(after.prosecutor_max)}, prosecutor risk"
        )
        if facts.manifest.utility or facts.solution.loss is not None:
            yield _detail(facts)
    else:
        released = sum(one.released for one in facts.attributes)
        yield KeyFigure("Highest risk", NONE, "not measured")
        yield KeyFigure("Attributes", f"{released:,}", "in the file")
    if recipient or not after.records or not facts.manifest.kind.has_records:
        yield KeyFigure(f"{wording.rows(facts).capitalize()}s", f"{facts.records:,}", "in the file")
    else:
        share = after.suppressed / after.records
        yield KeyFigure("Suppressed", f"{after.suppressed:,}", f"of {count(after.records, 'record')}, {percent(share)}")


def _detail(facts: ReportFacts) -> KeyFigure:
    """Two figures, since they may differ much: how narrow the labels are, and how much they still tell."""
    utility = facts.manifest.utility
    kept, lost = utility.get("detail_kept", 1 - (facts.solution.loss or 0.0)), utility.get("entropy_lost")
    entropy = "" if lost is None else f"; {percent(1 - lost)} of their information"
    return KeyFigure("Detail kept", percent(kept), f"of the quasi-identifiers (1 − loss){entropy}")


def risk_gauge(facts: ReportFacts, before: RiskFacts | None, *, recipient: bool) -> Markup:
    after = facts.after.prosecutor_max
    if recipient:
        return gauge([RiskMarker(after, "after", "this file")])
    pins = [RiskMarker(after, "after", "after" if before else "this file")]
    if before:
        pins.insert(0, RiskMarker(before.prosecutor_max, "before", "before"))
    assessment = facts.assessment
    if assessment is None:
        return gauge(pins)
    pins.append(RiskMarker(assessment.probability, "assessed", "assessed"))
    return gauge(pins, (f"limit for {wording.harm_in_words(assessment.harm)}", assessment.threshold))


def harms(facts: ReportFacts, *, recipient: bool) -> tuple[HarmThreshold, ...]:
    """What each potential harm allows; the owner's own threshold in place of the example for the harm declared.

    Where the risk was assessed, that is what the limits are for. A recipient, who is not given it, sees no limits then:
    the highest risk held against them would belie the verdict.
    """
    assessment = facts.assessment
    if facts.manifest.not_assessed or (recipient and assessment is not None):
        return ()
    if assessment is None:
        risk = facts.after.prosecutor_max
        return tuple(HarmThreshold(*one, one_in(one[1]), risk <= one[1], declared=False) for one in THRESHOLDS.items())
    risk, own = assessment.probability, assessment.harm.capitalize()
    limits = {**THRESHOLDS, own: assessment.threshold}

    def _allows(limit: float) -> bool:
        return risk < limit if assessment.procedure == Procedure.MEITY else risk <= limit

    return tuple(
        HarmThreshold(
            harm, limit, one_in(limit), assessment.within if harm == own else _allows(limit), declared=harm == own
        )
        for harm, limit in limits.items()
    )
