"""From a manifest and a plan to the facts that the report shows."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import NamedTuple

from shoal.assess.evidence.recount import RewriteResult
from shoal.assess.evidence.report_facts import evidence_facts
from shoal.measurement import Measurement
from shoal.measurement.risk.attacker_risks import attackers_of
from shoal.policy import Policy
from shoal.policy.checks import anatomised
from shoal.release.manifest_building import RunFindings
from shoal.report.facts import AttributeFacts, ModelFacts, ReportFacts, RiskFacts
from shoal.results.manifest import Manifest
from shoal.results.number_format import percent


class AppliedTechnique(NamedTuple):
    """Something that was done to an attribute."""

    attribute: str
    words: str
    clause: str


def report_facts(policy: Policy, manifest: Manifest, findings: RunFindings) -> ReportFacts:
    """What the report says besides what the manifest says."""
    done, read_back = findings.rewritten, findings.read_back
    return ReportFacts(
        manifest=manifest,
        before=_risk(done.before),
        after=_risk(findings.recounted.after),
        models=_models(policy, manifest),
        attributes=_attributes(policy, manifest, done),
        person=policy.person is not None,
        k_open=0 if read_back is None else read_back.k_open,
        nothing_left=findings.nothing_left,
        for_recipient=frozenset(file.told.path for file in findings.files if file.beside.for_recipient),
        **evidence_facts(findings.evidence),
    )


def _risk(measurement: Measurement) -> RiskFacts:
    risk = measurement.risk
    return RiskFacts(
        k=risk.k,
        people=measurement.people_in_classes,
        records=measurement.source_records,
        suppressed=measurement.suppressed_records,
        prosecutor_max=risk.prosecutor_max,
        prosecutor_average=risk.prosecutor_average,
        uniques=risk.uniques,
        class_sizes=measurement.classes.people,
        strict_average=attackers_of(measurement.classes).prosecutor.strict_average,
    )


def _models(policy: Policy, manifest: Manifest) -> tuple[ModelFacts, ...]:
    told = [(model.title, model.explain(), model.clause) for model in policy.models]
    if technique := anatomised(policy):
        told.append(("l-diverse classes", technique.explain(), technique.facts.clause))
    return tuple(
        ModelFacts(*words, finding.required, inf if finding.achieved is None else finding.achieved, finding.met)
        for words, finding in zip(told, manifest.models, strict=True)
    )


def _attributes(policy: Policy, manifest: Manifest, done: RewriteResult) -> tuple[AttributeFacts, ...]:
    by_attribute: dict[str, list[AppliedTechnique]] = {}
    for one in (*_planned(policy, done), *_recoded(done), *_starred(policy, done), *_pseudonyms(manifest)):
        by_attribute.setdefault(one.attribute, []).append(one)
    return tuple(
        AttributeFacts(
            name=name,
            role=attribute.role,
            done=tuple(one.words for one in by_attribute.get(name, [])),
            clause=tuple(dict.fromkeys(one.clause for one in by_attribute.get(name, []) if one.clause)),
            released=attribute.is_released,
        )
        for name, attribute in policy.attributes.items()
    )


def _planned(policy: Policy, done: RewriteResult) -> Iterator[AppliedTechnique]:
    technique = anatomised(policy)
    for planned in done.plan:
        if planned.attribute is not None:
            words = f"{planned.technique}, {planned.detail}" if planned.detail else planned.technique
            if planned.technique == "generalise" and planned.attribute in done.solution.levels:
                words += f": {_meaning(done, planned.attribute)}"
            yield AppliedTechnique(planned.attribute, words, planned.clause)
        if technique is not None and planned.technique == technique.key:
            for name in technique.sensitive:
                yield AppliedTechnique(
                    name, f"{planned.technique}, l {technique.l}, in {technique.file}", planned.clause
                )


def _meaning(done: RewriteResult, name: str) -> str:
    """What the level that was chosen for an attribute, or the highest of its cells, does to values."""
    return done.hierarchies[name].meaning(done.solution.levels[name])


def _recoded(done: RewriteResult) -> Iterator[AppliedTechnique]:
    """Where levels differ from cell to cell; an attribute of which no cell was raised was not recoded."""
    for name, share in done.altered.items():
        if share:
            planned = next(planned for planned in done.plan if planned.technique == "recode")
            level = f"up to level {done.solution.levels[name]} of {done.hierarchies[name].height}"
            words = f"{planned.technique}, {percent(share)} of records, {level}: {_meaning(done, name)}"
            yield AppliedTechnique(name, words, planned.clause)


def _starred(policy: Policy, done: RewriteResult) -> Iterator[AppliedTechnique]:
    """Suppressed records that stay in the file have a star in place of every quasi-identifying value."""
    if done.withheld and not policy.solve.drop_suppressed:
        for name in done.counts.attributes:
            yield AppliedTechnique(
                name, f"starred in suppressed records, {percent(done.withheld)}", "ISO/IEC 20889, 9.3.4"
            )


def _pseudonyms(manifest: Manifest) -> Iterator[AppliedTechnique]:
    for name, share in manifest.pseudonyms.items():
        yield AppliedTechnique(name, f"a pseudonym: still unique for {percent(share)}", "ISO/IEC 20889, 9.3.2, note 1")
