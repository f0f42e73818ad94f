"""``release.json`` from what the phases of a run found out, with the warnings that belong to it."""

from __future__ import annotations

import hashlib
import resource
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal import __version__
from shoal.assess.evidence.recount import RecountResult, RewriteResult, anatomy_finding, anatomy_warnings
from shoal.assess.evidence.study import ReleaseEvidence
from shoal.measurement.risk.anatomy import Anatomy
from shoal.measurement.risk.attribute_influence import attribute_influence
from shoal.measurement.risk.identifier_leaks import IdentifierLeaks
from shoal.plan.earlier_releases import EarlierCost
from shoal.plan.roll_up import RollUpStep
from shoal.policy import Policy, warnings_in
from shoal.policy.data_state import state_of
from shoal.policy.treatment import Treatment, treatments
from shoal.pseudonyms import Secrets
from shoal.randomness import now
from shoal.results.column_results import InfluenceResult
from shoal.results.edit_rule_results import edit_rule_warnings
from shoal.results.lineage import versions
from shoal.results.manifest import (
    AnatomyResult,
    DataFile,
    DecoysResult,
    EarlierReleasesResult,
    GuaranteeResult,
    LastLookResult,
    Manifest,
    PersonResult,
    SolutionResult,
    SourceIdentity,
    StateResult,
    SuppressedResult,
    WrittenFile,
)
from shoal.results.number_format import percent
from shoal.results.read_back.outcome import ReadBackOutcome
from shoal.results.record_counts import RecordCounts
from shoal.results.risk_results import ReleasedRisk, RiskResult

NOTHING_LEFT = (
    "NOTHING is left that tells records apart: every quasi-identifier is starred, or the same in all records. Such a k "
    "says nothing: ask for less, allow some records to be suppressed, or leave quasi-identifiers out"
)

SEEDED_DRAW = "the draw can be repeated by its seed: whoever knows that knows who was drawn, so nothing is guaranteed"


@dataclass(frozen=True)
class RunFindings:
    """What the phases of a run leave behind for the manifest and the report."""

    rewritten: RewriteResult
    recounted: RecountResult
    read_back: ReadBackOutcome | None
    files: Sequence[WrittenFile]
    leaks: IdentifierLeaks
    anatomy: Anatomy | None
    evidence: ReleaseEvidence
    engine: str = "polars"
    earlier: EarlierCost | None = None
    seeded: bool = False
    """Whether the run can be repeated."""
    withdrawn: int | None = None
    """How many people who withdrew were left out."""

    @property
    def heights(self) -> dict[str, int]:
        """Per quasi-identifier, the level on which its cells are starred."""
        return {name: bound.height for name, bound in self.rewritten.hierarchies.items()}

    @property
    def nothing_left(self) -> bool:
        """Whether k holds only because no quasi-identifying value tells records apart any more."""
        before, after = self.rewritten.before, self.recounted.after
        return bool(self.heights) and bool(self.recounted.utility) and len(before.classes) > 1 >= len(after.classes)


def build_manifest(
    policy: Policy,
    data: DataFile,
    findings: RunFindings,
    *,
    secrets: Secrets | None,
    source: SourceIdentity | None = None,
) -> Manifest:
    done, recounted, vaulted = findings.rewritten, findings.recounted, _lasting(secrets)
    after, anatomy = recounted.after, findings.anatomy
    risk = RiskResult.model_validate(after.risk)
    read_back = None if findings.read_back is None else findings.read_back.result()
    return Manifest(
        shoal=__version__,
        kind=policy.kind,
        created=now().replace(microsecond=0),
        name=policy.name,
        use_case=policy.use_case,
        purpose=policy.purpose,
        responsible=policy.responsible,
        versions=versions(policy.shoal, findings.engine),
        engine=findings.engine,
        state=StateResult.of(state_of(policy, lasting=vaulted, against=_against(policy, findings))),
        policy_sha256=hashlib.sha256(policy.text.encode()).hexdigest(),
        source=source,
        withdrawn=findings.withdrawn,
        data=data,
        files=tuple(sorted((file.told for file in findings.files), key=lambda file: file.path)),
        solution=_solution(findings),
        decoys=DecoysResult(records=done.solution.decoys, k_without=done.k_without_decoys),
        records=RecordCounts.measured(after) if recounted.utility else None,
        suppressed=SuppressedResult(
            records=after.suppressed_records or done.suppressed_by_rule, cells=done.suppressed_cells
        ),
        suppressed_by_group=done.suppressed_by_group(policy.required_k) or None,
        risk=ReleasedRisk(**dict(risk), k_effective=after.k if read_back is None else read_back.k),
        risk_before=done.before.risk,
        person=_person(policy, recounted),
        pseudonyms=dict(recounted.pseudonyms),
        models=(*recounted.models, *anatomy_finding(policy, anatomy)),
        differential_privacy=_guarantee(policy, findings),
        utility=recounted.utility,
        columns=dict(recounted.columns) or None,
        drivers=_drivers(findings) or None,
        timing=done.timing,
        peak_rss_mb=peak_memory(),
        warnings=tuple(_warnings(policy, findings, vaulted=vaulted)),
        read_back=read_back,
        anatomy=None if anatomy is None else _anatomy(anatomy),
        last_look=_last_look(findings.leaks),
        earlier=None if findings.earlier is None else EarlierReleasesResult.model_validate(findings.earlier),
        **_attributes(policy, findings),
        **findings.evidence.parts(),
    )


def _guarantee(policy: Policy, findings: RunFindings) -> GuaranteeResult | None:
    promised = policy.guarantee
    return None if promised is None else GuaranteeResult(**vars(promised), seeded=findings.seeded)


def _against(policy: Policy, findings: RunFindings) -> Sequence[str]:
    """What speaks against the data. What attacks found is computed from the source, and a guarantee covers them."""
    if policy.guarantee is None:
        return findings.evidence.against
    return (SEEDED_DRAW,) if findings.seeded else ()


def _solution(findings: RunFindings) -> SolutionResult:
    found = SolutionResult.model_validate(findings.rewritten.solution)
    return found.model_copy(update={"heights": findings.heights})


def _drivers(findings: RunFindings) -> tuple[InfluenceResult, ...]:
    """By what the release leaves; where nothing is left of it, by the original."""
    before, after = (
        {one.attribute: one for one in attribute_influence(measured.classes)}
        for measured in (findings.rewritten.before, findings.recounted.after)
    )
    names = [*before, *(name for name in after if name not in before)]
    adds = {name: after[name].adds if name in after else 0.0 for name in names}
    return tuple(
        InfluenceResult(
            attribute=name,
            before=before[name].without if name in before else None,
            after=after[name].without if name in after else None,
        )
        for name in sorted(names, key=lambda name: -adds[name])
    )


def _attributes(policy: Policy, findings: RunFindings) -> dict[str, dict[str, str]]:
    """Roles and treatment of what is in the data file: columns that were cut off are no longer in it."""
    cut = () if findings.anatomy is None else tuple(findings.anatomy.attributes)
    roles = {name: attribute.role for name, attribute in policy.attributes.items() if attribute.is_released}
    became = treatments(policy) | dict.fromkeys(findings.recounted.pseudonyms, Treatment.PSEUDONYMISED)
    return {
        "roles": {name: role for name, role in roles.items() if name not in cut},
        "treatment": {name: kind for name, kind in became.items() if name not in cut},
    }


def _anatomy(found: Anatomy) -> AnatomyResult:
    together = found.together
    return AnatomyResult(
        classes=found.classes,
        distinct=together.distinct,
        largest_share=together.largest_share,
        attributes=dict(found.attributes),
    )


def _last_look(leaks: IdentifierLeaks) -> LastLookResult:
    return LastLookResult(
        rows=leaks.rows,
        looked_at=leaks.looked_at,
        sampled=leaks.sampled,
        identifiers=leaks.identifiers,
        columns=len(leaks.columns),
        hits=len(leaks.hits),
    )


def _person(policy: Policy, recounted: RecountResult) -> PersonResult | None:
    """How people are behind the records; a row that is a group of people is nobody's."""
    if policy.person is None or not policy.kind.has_records:
        return None
    return PersonResult(attribute=policy.person, most_records=recounted.most_records)


def _lasting(secrets: Secrets | None) -> bool:
    return secrets is not None and secrets.lasting


def _warnings(policy: Policy, findings: RunFindings, *, vaulted: bool) -> Iterator[str]:
    """What makes all figures worthless first, then what other columns tell."""
    done, recounted = findings.rewritten, findings.recounted
    if findings.nothing_left:
        yield NOTHING_LEFT
    if policy.guarantee is not None and findings.seeded:
        yield SEEDED_DRAW
    if done.loss_causes is not None:
        yield done.loss_causes.words
    if findings.read_back is not None:
        yield from findings.read_back.warnings(recounted.after.k)
    yield from warnings_in(policy, vaulted=vaulted)
    yield from _pseudonym_warnings(recounted)
    yield from _decoy_warnings(done)
    yield from _mark_warnings(done)
    yield from _roll_up_warnings(done)
    yield from _population_warnings(findings.evidence)
    yield from anatomy_warnings(policy, findings.anatomy)
    yield from edit_rule_warnings(findings.evidence.rules)


def _pseudonym_warnings(recounted: RecountResult) -> Iterator[str]:
    for name, share in recounted.pseudonyms.items():
        yield (
            f"what is left of '{name}' still tells {percent(share)} of people apart: it is a pseudonym, not anonymous "
            "(ISO/IEC 20889, 9.3.2, note 1)"
        )


def _decoy_warnings(done: RewriteResult) -> Iterator[str]:
    if done.solution.decoys:
        yield (
            f"{done.solution.decoys:,} of the records are invented; whoever can tell them from real ones is left with "
            f"k = {done.k_without_decoys}"
        )


def _mark_warnings(done: RewriteResult) -> Iterator[str]:
    for name in done.counts.attributes:
        counted = done.counts.value_counts(name)
        told = done.hierarchies[name].generalise(counted["value"], 0)
        if records := int(counted.filter(told.ne_missing(counted["value"]))["records"].sum()):
            yield (
                f"'{name}' has {records:,} records with a value that reads like the mark of a suppressed cell, *; "
                "where it is released as it is, it is written as \\*"
            )


def _population_warnings(evidence: ReleaseEvidence) -> Iterator[str]:
    if beyond := evidence.before.attackers.beyond:
        yield (
            f"{beyond:,} combinations of quasi-identifying values have more people in the source than in the table of "
            "the population, so that is not a table of everybody; what compares with it is no better than it is"
        )


def _roll_up_warnings(done: RewriteResult) -> Iterator[str]:
    counted_on = {one.attribute: one.step.level for one in done.plan if isinstance(one.step, RollUpStep)}
    if counted_on:
        levels = ", ".join(f"'{name}' from level {level}" for name, level in counted_on.items())
        yield (
            f"there were too many combinations to be counted, so the solver chose {levels} on; what is said of the "
            "table before is said of these levels, and with finer ones the risk was higher"
        )


def peak_memory() -> float:
    """In MB. The kernel's own high-water mark, since what ``getrusage`` says begins with the parent's peak."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return next(float(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) / 1024
