"""What evidence tells the report beside what the manifest keeps of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.assess.evidence.study import ReleaseEvidence
from shoal.measurement.usefulness import USES
from shoal.results.attack_results import attack_in_words
from shoal.results.evidence_facts import FigureTable
from shoal.results.risk_results import AttackersResult

if TYPE_CHECKING:
    from shoal.results.attack_report import AttackReport

_ESTIMATES = {"dankar": "chosen by the sampling fraction", "pitman": "Pitman", "zayatz": "Zayatz", "snb": "SNB"}


def evidence_facts(evidence: ReleaseEvidence) -> dict[str, Any]:
    """The fields of the report's facts that evidence fills."""
    useful, attacks = evidence.usefulness, evidence.attacks
    return {
        "attackers_before": AttackersResult.model_validate(evidence.before.attackers),
        "attack_words": () if attacks is None else _words(attacks),
        "distributions": evidence.distributions,
        "purpose": None if useful is None or useful.purpose is None else USES[useful.purpose].title,
        "tables": _tables(evidence),
        "limits": (*(() if attacks is None else _untried(attacks)), *(() if useful is None else useful.notes)),
    }


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


def _words(attacks: AttackReport) -> tuple[str, ...]:
    from shoal.results.attack_report import in_words

    return tuple(in_words(one) for one in attacks.done.attacks)


def _untried(attacks: AttackReport) -> tuple[str, ...]:
    from shoal.results.attack_report import share_tried

    done = attacks.done
    shares = (
        f"{attack_in_words(one.key)} of {one.attribute}: {share}."
        for one in done.attacks
        if (share := share_tried(one))
    )
    return (
        *(
            f"Not {'judged' if name in done.unjudged else 'tried'}: {attack_in_words(name)}: {reason}."
            for name, reason in done.skipped.items()
        ),
        *shares,
    )
