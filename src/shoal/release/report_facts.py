"""From a manifest and a plan to the facts that the report shows."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import NamedTuple

from shoal import __version__
from shoal.assess.evidence.recount import RewriteResult
from shoal.assess.evidence.report_facts import evidence_facts
from shoal.measurement import Measurement
from shoal.measurement.risk.attacker_risks import attackers_of
from shoal.policy import Policy, UseCase
from shoal.policy.anatomy_checks import anatomised
from shoal.randomness import now
from shoal.release.manifest_building import RunFindings
from shoal.report.facts import AttributeFacts, FileFacts, ModelFacts, ReadBackFacts, ReportFacts, RiskFacts
from shoal.results.manifest import Manifest, SolutionResult, StateResult
from shoal.results.number_format import percent
from shoal.results.read_back_outcome import ReadBackOutcome


class AppliedTechnique(NamedTuple):
    """Something that was done to an attribute."""

    attribute: str
    words: str
    clause: str


def report_facts(policy: Policy, manifest: Manifest, findings: RunFindings) -> ReportFacts:
    done = findings.rewritten
    solution = manifest.solution or SolutionResult()
    return ReportFacts(
        name=policy.name,
        use_case=policy.use_case,
        created=manifest.created or now(),
        version=__version__,
        policy_sha256=manifest.policy_sha256,
        data_path=manifest.data.path,
        data_sha256=manifest.data.sha256 or "",
        records=manifest.data.rows or 0,
        before=_risk(done.before),
        after=_risk(findings.recounted.after),
        models=_models(policy, manifest),
        attributes=_attributes(policy, manifest, done),
        utility=manifest.utility,
        levels=solution.levels,
        loss=solution.loss or 0.0,
        optimal=solution.optimal,
        nodes_checked=solution.nodes_checked,
        nodes_total=solution.nodes_total,
        warnings=manifest.warnings,
        person=policy.person is not None,
        read_back=_read_back(findings.read_back),
        recoding=solution.recoding or "global",
        state="" if manifest.state is None else manifest.state.words,
        state_in_brief="" if manifest.state is None else manifest.state.brief,
        still_personal=manifest.state is not None and manifest.state.still_personal,
        guidance=_guidance(manifest.state, manifest.use_case),
        nothing_left=findings.nothing_left,
        heights=solution.heights,
        files=tuple(
            FileFacts(one.told.path, one.told.rows, one.told.sha256, one.told.about, one.beside.for_recipient)
            for one in findings.files
        ),
        **evidence_facts(findings.evidence),
    )


def _read_back(outcome: ReadBackOutcome | None) -> ReadBackFacts | None:
    if outcome is None:
        return None
    found = outcome.found
    words = tuple(one.words for one in found.tellings)
    rule = found.rule
    accepted = tuple(
        f"{' with '.join(one.columns)} tells {one.tells}, because {one.because}" for one in outcome.accepted
    )
    return ReadBackFacts(
        found.k, outcome.k_open, accepted, words, outcome.cells, rule.records, rule.share, found.lower_bound
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


def _guidance(state: StateResult | None, use_case: str | None) -> str:
    """What the PDPC guide has the use case do beyond the file."""
    if state is None or state.controls_needed is None:
        return ""
    if use_case == UseCase.PUBLIC:
        return "Anybody may have the file, so no controls around it can be relied on."
    steps = ", ".join(map(str, state.steps))
    controls = "asks for further controls around the data" if state.controls_needed else "relies on no further controls"
    shredded = f"; what leads back to people is destroyed by {state.shred_on:%-d %B %Y}" if state.shred_on else ""
    return f"The use case takes steps {steps} of the PDPC guide and {controls}{shredded}."


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
            yield AppliedTechnique(planned.attribute, words, planned.clause)
        if technique is not None and planned.technique == technique.key:
            for name in technique.sensitive:
                yield AppliedTechnique(
                    name, f"{planned.technique}, l {technique.l}, in {technique.file}", planned.clause
                )


def _recoded(done: RewriteResult) -> Iterator[AppliedTechnique]:
    """Where levels differ from cell to cell; an attribute of which no cell was raised was not recoded."""
    for name, share in done.altered.items():
        if share:
            planned = next(planned for planned in done.plan if planned.technique == "recode")
            level = f"up to level {done.solution.levels[name]} of {done.hierarchies[name].height}"
            yield AppliedTechnique(name, f"{planned.technique}, {percent(share)} of records, {level}", planned.clause)


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
