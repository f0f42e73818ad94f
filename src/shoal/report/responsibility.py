"""What the release is for, who answers for it, what it was made from, and what is signed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from shoal.report.facts import ReportFacts
from shoal.results.manifest import SourceIdentity
from shoal.results.number_format import moment


@dataclass(frozen=True)
class StatedFact:
    """A fact about the release; ``code`` where it is a checksum or a name of a file."""

    head: str
    text: str
    code: bool = False
    stated: bool = True
    """False where the policy leaves it open."""


def stated_facts(facts: ReportFacts, *, recipient: bool) -> tuple[StatedFact, ...]:
    """A recipient is told the purpose and who answers for it; the source is the owner's."""
    return tuple(_recipients(facts) if recipient else (*_owners(facts), *_source(facts.manifest.source)))


def _recipients(facts: ReportFacts) -> Iterable[StatedFact]:
    manifest = facts.manifest
    if manifest.purpose:
        yield StatedFact("Purpose", manifest.purpose)
    if manifest.responsible:
        yield StatedFact("Responsible", manifest.responsible)


def _owners(facts: ReportFacts) -> Iterable[StatedFact]:
    manifest = facts.manifest
    for head, key, said in (
        ("Purpose", "purpose", manifest.purpose or facts.purpose),
        ("Responsible", "responsible", manifest.responsible),
    ):
        if said:
            yield StatedFact(head, said)
        else:
            yield StatedFact(head, f"not stated ({key}: in the policy)", stated=False)


def _source(source: SourceIdentity | None) -> Iterable[StatedFact]:
    if source is None:
        yield StatedFact("Source", "a database or a table in memory, which has no checksum", stated=False)
        return
    yield StatedFact("Source", source.name, code=True)
    if source.modified is not None:
        yield StatedFact("Date of the source", moment(source.modified))
    yield StatedFact("SHA-256 of the source", source.sha256, code=True)


def signed_facts(facts: ReportFacts, headline: str) -> tuple[StatedFact, ...]:
    """What a signature is put under: this data, by this policy, with this verdict."""
    manifest = facts.manifest
    told = (
        StatedFact("Release", f"{manifest.name}, {moment(facts.created)}"),
        StatedFact("Verdict", headline),
        StatedFact("SHA-256 of the file", manifest.data.sha256 or "", code=True),
        StatedFact("SHA-256 of the policy", manifest.policy_sha256, code=True),
    )
    return tuple(one for one in told if one.text)


SIGNATORIES = ("Prepared by", "Reviewed by", "Released by")
