"""``release.json`` from what the phases of a run found out, with the warnings that belong to it."""

from __future__ import annotations

import hashlib
import resource
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from shoal.assess.evidence.anatomy import anatomy_finding, anatomy_warnings
from shoal.assess.evidence.recount import RecountResult, RewriteResult
from shoal.assess.evidence.study import ReleaseEvidence
from shoal.measurement.risk.anatomy import Anatomy
from shoal.measurement.risk.identifier_leaks import IdentifierLeaks
from shoal.plan.roll_up import RollUpStep
from shoal.policy import Policy, warnings_in
from shoal.policy.data_state import state_of
from shoal.policy.treatment import Treatment, treatments
from shoal.pseudonyms import Secrets
from shoal.results.manifest import DataFile, Manifest, WrittenFile
from shoal.results.number_format import percent
from shoal.results.read_back_outcome import ReadBackOutcome

NOTHING_LEFT = (
    "NOTHING is left that tells records apart: every quasi-identifier is starred, or the same in all records. Such a k "
    "says nothing: ask for less, allow some records to be suppressed, or leave quasi-identifiers out"
)


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


def build_manifest(policy: Policy, data: DataFile, findings: RunFindings, *, secrets: Secrets | None) -> Manifest:
    manifest = _manifest(
        policy, data, findings.rewritten, findings.recounted, findings.evidence, vaulted=_lasting(secrets)
    )
    manifest = _with_read_back(manifest, findings.read_back)
    return replace(_beside(manifest, policy, findings.files, findings.anatomy), last_look=findings.leaks)


def _manifest(  # noqa: PLR0913  # one argument per part of a run
    policy: Policy,
    data: DataFile,
    done: RewriteResult,
    recounted: RecountResult,
    evidence: ReleaseEvidence,
    *,
    vaulted: bool,
) -> Manifest:
    return Manifest(
        name=policy.name,
        policy_sha256=hashlib.sha256(policy.text.encode()).hexdigest(),
        data=data,
        solution=done.solution,
        before=done.before,
        after=recounted.after,
        models=recounted.models,
        utility=recounted.utility,
        timing=done.timing,
        peak_rss_mb=_peak_memory(),
        use_case=policy.use_case,
        roles={name: str(attribute.role) for name, attribute in policy.attributes.items() if attribute.is_released},
        treatment={name: str(kind) for name, kind in treatments(policy).items()}
        | dict.fromkeys(recounted.pseudonyms, str(Treatment.PSEUDONYMISED)),
        pseudonyms=recounted.pseudonyms,
        person=_person(policy, recounted),
        suppressed_by_rule=done.suppressed_by_rule,
        suppressed_cells=done.suppressed_cells,
        k_without_decoys=done.k_without_decoys,
        warnings=(
            *warnings_in(policy, vaulted=vaulted),
            *_pseudonym_warnings(recounted),
            *_decoy_warnings(done),
            *_mark_warnings(done),
            *_roll_up_warnings(done),
            *_population_warnings(evidence),
        ),
        evidence=evidence.to_dict(),
        heights={name: bound.height for name, bound in done.hierarchies.items()},
        state=state_of(policy, lasting=vaulted, against=evidence.against),
    )


def _with_read_back(manifest: Manifest, found: ReadBackOutcome | None) -> Manifest:
    """What other columns tell comes first among the warnings."""
    if found is None:
        return manifest
    return replace(manifest, read_back=found, warnings=(*found.warnings(manifest.after.k), *manifest.warnings))


def _person(policy: Policy, recounted: RecountResult) -> dict[str, str | int] | None:
    """How people are behind the records; a record of an aggregated table is nobody's."""
    if policy.person is None or "aggregate" in policy.table_steps:
        return None
    return {"attribute": policy.person, "most_records": recounted.most_records}


def _lasting(secrets: Secrets | None) -> bool:
    return secrets is not None and secrets.lasting


def _beside(manifest: Manifest, policy: Policy, files: Sequence[WrittenFile], anatomy: Anatomy | None) -> Manifest:
    """With what the release has beside the data; columns that were cut off are no longer in it."""
    cut = () if anatomy is None else tuple(anatomy.attributes)
    bare = (NOTHING_LEFT,) if manifest.nothing_left else ()
    return replace(
        manifest,
        files=tuple(file.told for file in files),
        anatomy=anatomy,
        models=(*manifest.models, *anatomy_finding(policy, anatomy)),
        warnings=(*bare, *manifest.warnings, *anatomy_warnings(policy, anatomy)),
        roles={name: role for name, role in manifest.roles.items() if name not in cut},
        treatment={name: kind for name, kind in manifest.treatment.items() if name not in cut},
    )


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


def _peak_memory() -> float:
    """In MB. The kernel's own high-water mark, since what ``getrusage`` says begins with the parent's peak."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return next(float(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) / 1024
