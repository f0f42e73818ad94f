"""From a manifest and a plan to the facts that the report shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from itertools import chain
from typing import NamedTuple

from shoal.assess.evidence.recount import RewriteResult
from shoal.assess.evidence.report_facts import evidence_facts
from shoal.measurement import Measurement
from shoal.measurement.risk.attacker_risks import attackers_of
from shoal.measurement.risk.equivalence_classes import Risk
from shoal.policy import Policy
from shoal.policy.checks import anatomised
from shoal.policy.default_attribute import EVERYTHING_ELSE
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
        attributes=_attributes(policy, manifest, findings),
        person=policy.person is not None,
        k_open=0 if read_back is None else read_back.k_open,
        nothing_left=findings.nothing_left,
        for_recipient=frozenset(file.told.path for file in findings.files if file.beside.for_recipient),
        **evidence_facts(findings.evidence),
    )


def _risk(measurement: Measurement) -> RiskFacts:
    risk = measurement.risk
    return RiskFacts(
        **{field.name: getattr(risk, field.name) for field in fields(Risk)},  # a kind of risk may have more
        people=measurement.people_in_classes,
        records=measurement.source_records,
        suppressed=measurement.suppressed_records,
        class_sizes=measurement.classes.people,
        strict_average=attackers_of(measurement.classes).prosecutor.strict_average,
    )


def _models(policy: Policy, manifest: Manifest) -> tuple[ModelFacts, ...]:
    told = [(model.title, model.explain(), model.clause) for model in policy.models]
    if technique := anatomised(policy):
        told.append(("l-diverse classes", technique.explain(), technique.facts.clause))
    return tuple(ModelFacts(*words, found) for words, found in zip(told, manifest.models, strict=True))


def _attributes(policy: Policy, manifest: Manifest, findings: RunFindings) -> tuple[AttributeFacts, ...]:
    by_attribute: dict[str, list[AppliedTechnique]] = {}
    done = findings.rewritten
    applied = (
        _planned(done),
        _recoded(done),
        _starred(policy, done),
        _told(findings),
        _of_the_table(policy),
        _pseudonyms(manifest),
    )
    for one in chain.from_iterable(applied):
        by_attribute.setdefault(one.attribute, []).append(one)
    return tuple(
        AttributeFacts(
            name="all others" if name == EVERYTHING_ELSE else name,
            role=attribute.role,
            done=tuple(one.words for one in by_attribute.get(name, [])),
            clause=tuple(dict.fromkeys(one.clause for one in by_attribute.get(name, []) if one.clause)),
            released=attribute.is_released and (manifest.kind.has_records or name in by_attribute),
        )
        for name, attribute in policy.attributes.items()
    )


def _planned(done: RewriteResult) -> Iterator[AppliedTechnique]:
    for planned in done.plan:
        if planned.attribute is not None:
            words = f"{planned.technique}, {planned.detail}" if planned.detail else planned.technique
            if planned.technique == "generalise" and planned.attribute in done.solution.levels:
                words += f": {_meaning(done, planned.attribute)}"
            yield AppliedTechnique(planned.attribute, words, planned.clause)


def _of_the_table(policy: Policy) -> Iterator[AppliedTechnique]:
    for technique in policy.table_steps.values():
        for name, words in technique.report_notes().items():
            yield AppliedTechnique(name, f"{technique.key}, {words}", technique.facts.clause)


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


def _told(findings: RunFindings) -> Iterator[AppliedTechnique]:
    """Cells that would have told a quasi-identifying value."""
    if findings.read_back is not None:
        for name, cells in findings.read_back.cells.items():
            share = percent(cells / max(1, findings.rewritten.records))
            words = f"starred where it would tell a quasi-identifying value, {share} of records"
            yield AppliedTechnique(name, words, "ISO/IEC 20889, 9.3.3")


def _pseudonyms(manifest: Manifest) -> Iterator[AppliedTechnique]:
    for name, share in manifest.pseudonyms.items():
        yield AppliedTechnique(name, f"a pseudonym: still unique for {percent(share)}", "ISO/IEC 20889, 9.3.2, note 1")
