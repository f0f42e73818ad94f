"""What the release is for, who answers for it, what it was made from, and what is signed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    manifest = facts.manifest
    purpose = manifest.purpose or ("" if recipient else facts.purpose)
    source = () if recipient else _source(manifest.source)
    return (*answered_for(purpose, manifest.responsible, recipient=recipient), *source)


def answered_for(purpose: str | None, responsible: str | None, *, recipient: bool) -> Iterator[StatedFact]:
    """An owner is told what the policy leaves open, too."""
    for head, said in (("Purpose", purpose), ("Responsible", responsible)):
        if said:
            yield StatedFact(head, said)
        elif not recipient:
            yield StatedFact(head, f"not stated ({head.lower()}: in the policy)", stated=False)


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
