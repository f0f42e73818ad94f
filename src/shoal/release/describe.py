"""From a manifest and a plan to the facts that the report shows."""

from __future__ import annotations

from dataclasses import replace

from shoal import __version__
from shoal.measurement import Measurement
from shoal.plan import PlannedStep
from shoal.policy import Policy
from shoal.policy.anatomised import anatomised
from shoal.randomness import now
from shoal.release.evidence import Evidence
from shoal.release.manifest import Manifest
from shoal.release.pipeline import Rewritten
from shoal.release.telling import facts_of
from shoal.report.facts import AttributeFacts, FileFacts, ModelFacts, ReportFacts, RiskFacts
from shoal.techniques.anatomise import AnatomiseStep


def report_facts(policy: Policy, manifest: Manifest, done: Rewritten, evidence: Evidence | None = None) -> ReportFacts:
    return ReportFacts(
        name=policy.name,
        use_case=policy.use_case,
        created=now(),
        version=__version__,
        policy_sha256=manifest.policy_sha256,
        data_path=manifest.data.path,
        data_sha256=manifest.data.sha256,
        records=manifest.data.rows,
        before=_risk(manifest.before),
        after=_risk(manifest.after),
        models=_models(policy, manifest),
        attributes=_attributes(policy, done),
        utility=manifest.utility,
        levels=manifest.solution.levels,
        loss=manifest.solution.loss,
        optimal=manifest.solution.optimal,
        nodes_checked=manifest.solution.nodes_checked,
        nodes_total=manifest.solution.nodes_total,
        warnings=manifest.warnings,
        person=policy.person is not None,
        recoding=manifest.solution.recoding,
        files=tuple(FileFacts(one.path, one.rows, one.sha256, one.about, one.for_recipient) for one in manifest.files),
        **facts_of(evidence),
    )


def _risk(measurement: Measurement) -> RiskFacts:
    risk = measurement.risk
    return RiskFacts(
        k=risk.k,
        people=int(measurement.classes.people.sum()),
        records=measurement.rows,
        suppressed=measurement.suppressed,
        prosecutor_max=risk.prosecutor_max,
        prosecutor_average=risk.prosecutor_average,
        uniques=risk.uniques,
        class_sizes=measurement.classes.people,
    )


def _models(policy: Policy, manifest: Manifest) -> tuple[ModelFacts, ...]:
    told = [(model.title, model.explain(), model.clause) for model in policy.models]
    if technique := anatomised(policy):
        told.append(("l-diverse classes", technique.explain(), technique.facts.clause))
    return tuple(
        ModelFacts(*words, finding.required, finding.achieved, finding.met)
        for words, finding in zip(told, manifest.models, strict=True)
    )


def _attributes(policy: Policy, done: Rewritten) -> tuple[AttributeFacts, ...]:
    by_attribute: dict[str, list[PlannedStep]] = {}
    for planned in done.plan:
        if planned.attribute is not None:
            by_attribute.setdefault(planned.attribute, []).append(planned)
        if isinstance(planned.step, AnatomiseStep):
            for name in planned.step.technique.sensitive:
                detail = f"l {planned.step.technique.l}, in {planned.step.technique.file}"
                by_attribute.setdefault(name, []).append(replace(planned, attribute=name, detail=detail))
    for name, share in done.altered.items():
        level = f"up to level {done.solution.levels[name]} of {done.hierarchies[name].height}"
        recoded = replace(_recoding(done), attribute=name, detail=f"{share:.0%} of records, {level}")
        by_attribute.setdefault(name, []).append(recoded)
    return tuple(
        AttributeFacts(
            name=name,
            role=attribute.role,
            done=tuple(_words(planned) for planned in by_attribute.get(name, [])),
            clause=tuple(dict.fromkeys(planned.clause for planned in by_attribute.get(name, []) if planned.clause)),
            released=attribute.is_released,
        )
        for name, attribute in policy.attributes.items()
    )


def _recoding(done: Rewritten) -> PlannedStep:
    return next(planned for planned in done.plan if planned.technique == "recode")


def _words(planned: PlannedStep) -> str:
    return f"{planned.technique}, {planned.detail}" if planned.detail else planned.technique
