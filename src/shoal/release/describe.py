"""From a manifest and a plan to the facts that the report shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from shoal import __version__
from shoal.measurement import Measurement
from shoal.policy import Policy
from shoal.policy.anatomised import anatomised
from shoal.randomness import now
from shoal.release.evidence import Evidence
from shoal.release.manifest import Manifest
from shoal.release.pipeline import Rewritten
from shoal.release.telling import facts_of
from shoal.report.facts import AttributeFacts, FileFacts, ModelFacts, ReportFacts, RiskFacts
from shoal.report.figures import percent
from shoal.techniques.anatomise import AnatomiseStep


class Done(NamedTuple):
    """Something that was done to an attribute."""

    attribute: str
    words: str
    clause: str


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
        attributes=_attributes(policy, manifest, done),
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


def _attributes(policy: Policy, manifest: Manifest, done: Rewritten) -> tuple[AttributeFacts, ...]:
    by_attribute: dict[str, list[Done]] = {}
    for one in (*_planned(done), *_recoded(done), *_starred(policy, done), *_pseudonyms(manifest)):
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


def _planned(done: Rewritten) -> Iterator[Done]:
    for planned in done.plan:
        if planned.attribute is not None:
            words = f"{planned.technique}, {planned.detail}" if planned.detail else planned.technique
            yield Done(planned.attribute, words, planned.clause)
        if isinstance(planned.step, AnatomiseStep):
            technique = planned.step.technique
            for name in technique.sensitive:
                yield Done(name, f"{planned.technique}, l {technique.l}, in {technique.file}", planned.clause)


def _recoded(done: Rewritten) -> Iterator[Done]:
    """Where levels differ from cell to cell; an attribute of which no cell was raised was not recoded."""
    for name, share in done.altered.items():
        if share:
            planned = next(planned for planned in done.plan if planned.technique == "recode")
            level = f"up to level {done.solution.levels[name]} of {done.hierarchies[name].height}"
            yield Done(name, f"{planned.technique}, {percent(share)} of records, {level}", planned.clause)


def _starred(policy: Policy, done: Rewritten) -> Iterator[Done]:
    """Suppressed records that stay in the file have a star in place of every quasi-identifying value."""
    if done.withheld and not policy.solve.drop_suppressed:
        for name in done.counts.attributes:
            yield Done(name, f"starred in suppressed records, {percent(done.withheld)}", "ISO/IEC 20889, 9.3.4")


def _pseudonyms(manifest: Manifest) -> Iterator[Done]:
    for name, share in manifest.pseudonyms.items():
        yield Done(name, f"a pseudonym: still unique for {percent(share)}", "ISO/IEC 20889, 9.3.2, note 1")
