"""From evidence to the facts that the report shows."""

from __future__ import annotations

from typing import Any

from shoal.assess.evidence.study import ReleaseEvidence
from shoal.attack import Attack
from shoal.measurement.risk.attacker_risks import AttackerRisk, Attackers
from shoal.measurement.risk.reidentification import Reidentification
from shoal.measurement.usefulness import USES, Usefulness, readings
from shoal.results.attack_report import AttackReport, in_words, share_tried
from shoal.results.evidence_facts import (
    AssessmentFacts,
    AttackerFacts,
    AttackerFigures,
    AttackFacts,
    FigureTable,
    UsefulnessFacts,
)
from shoal.schema.circumstances import Procedure

_PARTS = {
    "insider": "an insider tries, by motive and controls",
    "acquaintance": "a recipient recognises somebody",
    "breach": "the data gets out at the recipient",
}
_COUNTED = "counted in the file; nothing needs to be known of the population"
_ESTIMATES = {"dankar": "chosen by the sampling fraction", "pitman": "Pitman", "zayatz": "Zayatz", "snb": "SNB"}


def evidence_facts(evidence: ReleaseEvidence | None) -> dict[str, Any]:
    """The fields of the report's facts that evidence fills."""
    if evidence is None:
        return {}
    useful, attacks = evidence.usefulness, evidence.attacks
    return {
        "assessment": _assessment(evidence.after.assessment),
        "attackers": _attackers(evidence.before.attackers, evidence.after.attackers),
        "attacks": () if attacks is None else tuple(_attack(one) for one in attacks.done.attacks),
        "unjudged": () if attacks is None else tuple(_named(name) for name in attacks.done.unjudged),
        "distributions": evidence.distributions,
        "usefulness": () if useful is None else _usefulness(useful),
        "purpose": None if useful is None or useful.purpose is None else USES[useful.purpose].title,
        "tables": _tables(evidence),
        "limits": (*(() if attacks is None else _untried(attacks)), *(() if useful is None else useful.notes)),
    }


def _assessment(found: Reidentification | None) -> AssessmentFacts | None:
    if found is None:
        return None
    parts = [(name, chance, _PARTS[name]) for name, chance in found.parts.items() if chance is not None]
    parts.append(("success", found.success, "an attempt succeeds: 1 ÷ k"))
    less = found.procedure is Procedure.MEITY
    return AssessmentFacts(
        found.probability, found.threshold, str(found.harm), tuple(parts), found.within, found.words, less
    )


def _attackers(before: Attackers, after: Attackers) -> tuple[AttackerFacts, ...]:
    def facts(name: str, was: AttackerFigures, now: AttackerFigures, basis: str) -> AttackerFacts:
        return AttackerFacts(name, now, after.threshold, basis, was)

    basis = after.basis.words
    return (
        facts("Prosecutor", _figures(before.prosecutor), _figures(after.prosecutor), _COUNTED),
        facts("Journalist", _figures(before.journalist), _figures(after.journalist), basis),
        facts("Marketer", _average(before.marketer), _average(after.marketer), basis),
    )


def _figures(risk: AttackerRisk) -> AttackerFigures:
    return AttackerFigures(risk.max, risk.average, risk.above)


def _average(marketer: float) -> AttackerFigures:
    """A marketer is judged by the average alone."""
    return AttackerFigures(None, marketer, None)


def _attack(attack: Attack) -> AttackFacts:
    low, high = attack.success.interval
    return AttackFacts(
        attack.title,
        attack.knows,
        attack.success.share,
        low,
        high,
        attack.baseline.share,
        attack.risk,
        attack.found,
        None if attack.control is None else attack.control.share,
        attack.attribute,
        in_words(attack),
        attack.allowed,
    )


def _usefulness(useful: Usefulness) -> tuple[UsefulnessFacts, ...]:
    matter = useful.for_purpose if useful.purpose is not None else ()
    known = [(name, value) for name, value in useful.figures.items() if value is not None]
    read = readings()
    return tuple(UsefulnessFacts(read[name].title, value, read[name].meaning, name in matter) for name, value in known)


def _tables(evidence: ReleaseEvidence) -> tuple[FigureTable, ...]:
    before, after = evidence.before.population_uniques, evidence.after.population_uniques
    if before is None or after is None:
        return ()
    rows = tuple((title, _number(before[name]), _number(after[name])) for name, title in _ESTIMATES.items())
    return (
        FigureTable(
            "People unique in the population",
            "Estimated from the sizes of the classes: how many people of the population have a combination of "
            "quasi-identifying values that nobody else has.",
            "Dankar et al. 2012",
            ("Model", "Before", "After"),
            rows,
        ),
    )


def _number(figure: float | None) -> str:
    return "no estimate" if figure is None else f"{figure:,.0f}"


def _untried(attacks: AttackReport) -> tuple[str, ...]:
    done = attacks.done
    shares = (f"{_named(one.key)} of {one.attribute}: {share}." for one in done.attacks if (share := share_tried(one)))
    return (
        *(
            f"Not {'judged' if name in done.unjudged else 'tried'}: {_named(name)}: {reason}."
            for name, reason in done.skipped.items()
        ),
        *shares,
    )


def _named(attack: str) -> str:
    return attack.replace("_", " ")
