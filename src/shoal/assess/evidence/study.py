"""The evidence for a release beyond its classes: gathered here, told by the report.

Quick evidence comes with every release: three attackers, the assessment of the circumstances, how attributes were
spread before and after. The full evidence compares what can be learnt from both tables and attacks the release; that
takes seconds rather than milliseconds, so it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.assess.comparison.paired_tables import TablePair
from shoal.assess.evidence.distributions import distributions_of
from shoal.assess.measure.options import AssessmentOptions
from shoal.assess.measure.risk_assessment import assess_table
from shoal.errors import DataError
from shoal.measurement import Measurement
from shoal.plan.hidden_columns.record_origin import ORIGIN
from shoal.policy import Policy, UseCase
from shoal.results.edit_rule_results import EditRuleResult, check_edit_rules
from shoal.results.evidence_facts import DistributionFacts
from shoal.results.risk_assessment import RiskAssessment
from shoal.schema import Role
from shoal.schema.progress import Progress

if TYPE_CHECKING:
    from shoal.measurement.usefulness import Usefulness
    from shoal.results.attack_report import AttackReport

QUICK_ROWS = 1_000_000
"""Of larger tables the distributions come with the full evidence only: they need another pass over both."""


@dataclass(frozen=True)
class ReleaseEvidence:
    before: RiskAssessment
    after: RiskAssessment
    distributions: tuple[DistributionFacts, ...] = ()
    usefulness: Usefulness | None = None
    attacks: AttackReport | None = None
    rules: tuple[EditRuleResult, ...] = ()

    @property
    def against(self) -> tuple[str, ...]:
        """What speaks against calling the data anonymised."""
        assessed, attacks = self.after.assessment, self.attacks
        above = ("the assessed risk is above its limit",) if assessed is not None and not assessed.within else ()
        found = attacks is not None and any(one.found for one in attacks.done.attacks)
        return (*above, *(("attacks succeed",) if found else ()))

    def parts(self) -> dict[str, Any]:
        """What the manifest says of it, by key: figures only."""
        attacks = None if self.attacks is None else self.attacks.result()
        return {
            "rules": self.rules or None,
            **dict(self.after.result()),
            "usefulness": None if self.usefulness is None else self.usefulness.to_dict(),
            "attacks": None if attacks is None else attacks.attacks,
            "attacks_skipped": None if attacks is None else attacks.skipped,
            "attacks_unjudged": None if attacks is None else attacks.unjudged,
        }


@dataclass(frozen=True)
class EvidenceStudy:
    """What the full evidence needs besides the two tables."""

    control: pl.DataFrame | None = None
    """People who are not in the original."""
    progress: Progress | None = None
    origins: pl.Series | None = None
    """The row of the original that each released record was made from, where the run has kept it."""

    def tracing(self, aside: Path) -> EvidenceStudy:
        """With the origins that were put aside while the release was written."""
        if not aside.exists():
            return self
        kept = pl.scan_ipc(aside)
        told = ORIGIN in kept.collect_schema()
        return replace(self, origins=kept.select(ORIGIN).collect().to_series()) if told else self


def study_for(policy: Policy, study: EvidenceStudy | None) -> EvidenceStudy | None:
    """The study that was asked for; where the use case demands attacks, one in any case."""
    demanded = policy.preset is not None and policy.preset.attacks
    return EvidenceStudy() if study is None and demanded else study


@dataclass(frozen=True)
class MeasuredFrame:
    """One of the two tables, and the classes that were measured in it."""

    measured: Measurement
    frame: pl.LazyFrame


def gather_evidence(
    policy: Policy, before: MeasuredFrame, after: MeasuredFrame, study: EvidenceStudy | None
) -> ReleaseEvidence:
    rules = check_edit_rules(policy, before.frame, after.frame)
    return replace(_gathered(policy, before, after, study), rules=rules)


def _gathered(
    policy: Policy, before: MeasuredFrame, after: MeasuredFrame, study: EvidenceStudy | None
) -> ReleaseEvidence:
    said = AssessmentOptions(circumstances=policy.assess, public=policy.use_case is UseCase.PUBLIC)
    wanted = said.drawn_as(before.measured)
    quasi = policy.quasi_identifiers
    was, now = (assess_table(None, table.measured, quasi, wanted) for table in (before, after))
    large = max(before.measured.rows, after.measured.rows) > QUICK_ROWS
    if not policy.kind.has_traceable_rows or (large and study is None):
        return ReleaseEvidence(was, now)
    try:
        pair = TablePair.of(before.frame, after.frame)
    except DataError:
        return ReleaseEvidence(was, now)
    if study is None:
        return ReleaseEvidence(was, now, distributions_of(pair, policy))
    from shoal.assess.measure.usefulness import measure_pair

    useful = measure_pair(pair, policy.assess, policy) if _comparable(pair, policy) else None
    shown = distributions_of(pair, policy, () if useful is None else useful.distances)
    return ReleaseEvidence(was, now, shown, useful, _attacked(pair, before.frame, policy, study))


def _comparable(pair: TablePair, policy: Policy) -> bool:
    """Whether the release has any attribute of the original that identifies nobody directly."""
    direct = {name for name, attribute in policy.attributes.items() if attribute.role is Role.DIRECT}
    return bool({*pair.released.columns} & {*pair.original.columns} - direct)


def _attacked(pair: TablePair, original: pl.LazyFrame, policy: Policy, study: EvidenceStudy) -> AttackReport | None:
    """None where there is nothing to attack, or too much: people look rarer in a part of the rows than they are."""
    from shoal.assess.attack.table_attack import NothingToAttackError, attack_frames
    from shoal.results.attack_roles import AttackRoles

    if pair.sampled or not set(pair.released.columns) & set(pair.original.columns):
        return None
    present = {role: tuple(n for n in policy.with_role(role) if n in pair.released.columns) for role in Role}
    roles = AttackRoles(
        present[Role.QUASI],
        present[Role.SENSITIVE],
        present[Role.DIRECT],
        present[Role.INSENSITIVE],
        policy,
        policy.person,
    )
    before = pair.original
    if policy.person is not None and policy.person not in before.columns:
        before = before.with_columns(original.select(policy.person).collect(engine="streaming").to_series())
    try:
        return attack_frames(
            pair.released, before, roles, control=study.control, origins=study.origins, progress=study.progress
        )
    except NothingToAttackError:
        return None
