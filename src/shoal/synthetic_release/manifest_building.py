"""``release.json`` of a synthetic table: how it was made, what that guarantees, how alike it is, what attacks found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shoal import __version__
from shoal.policy.data_state import DataState, StateOfData
from shoal.policy.release_kind import ReleaseKind
from shoal.randomness import now
from shoal.release.manifest_building import peak_memory
from shoal.results.edit_rule_results import EditRuleResult, edit_rule_warnings
from shoal.results.lineage import versions
from shoal.results.manifest import (
    DataFile,
    FurtherFile,
    GuaranteeResult,
    Manifest,
    SourceIdentity,
    StateResult,
    Timing,
)
from shoal.results.number_format import count, number
from shoal.results.synthesis.synthesis_result import FEW, SynthesisResult
from shoal.synthetic_release.evidence import SyntheticEvidence
from shoal.synthetic_release.record_draws import RecordDraw
from shoal.synthetic_release.request import SynthesisRequest

TYPES_READ = (
    "whether columns of a text file hold numbers, dates or words was read off the data: a description that declares "
    "their kinds leaves no such exception"
)
PARTLY_REAL = "its rows are those of real people, of which only a part was drawn anew"
MUCH = 10.0
"""From this ε on, a guarantee hardly bounds anything by itself."""
_MADE_UP = ("identifier", "text")


@dataclass(frozen=True)
class SynthesisFindings:
    """What the phases of a synthesis leave behind for the manifest and the report."""

    draw: RecordDraw
    evidence: SyntheticEvidence
    data: DataFile
    files: tuple[FurtherFile, ...]
    timing: Timing
    types_read: bool = False
    """Whether a private method was told types of columns that nobody declared."""
    person: str | None = None
    """The column that tells people apart, where one is declared."""
    rules: tuple[EditRuleResult, ...] = ()

    @property
    def epsilon(self) -> float | None:
        return self.draw.guarantee.epsilon

    @property
    def needs_data(self) -> bool:
        return self.draw.needs_data


def build_manifest(request: SynthesisRequest, findings: SynthesisFindings, source: SourceIdentity | None) -> Manifest:
    evidence, judged = findings.evidence, findings.evidence.assessment
    return Manifest(
        shoal=__version__,
        kind=ReleaseKind.SYNTHETIC,
        created=now().replace(microsecond=0),
        name=request.name or _name(source, findings.draw),
        use_case=None if findings.needs_data else "test-data",
        state=StateResult.of(_state(findings)),
        versions={name: version for name, version in versions(1, "polars").items() if name != "policy"},
        source=source,
        withdrawn=None if request.withdrawn is None else len(request.withdrawn),
        data=findings.data,
        files=findings.files,
        method=findings.draw.method,
        synthesis=_synthesis(request, findings),
        differential_privacy=_guarantee(findings),
        models=() if judged is None else judged.gates,
        rules=findings.rules or None,
        fidelity=None if judged is None else judged.fidelity,
        attacks=None if judged is None or evidence.attacked is None else judged.attacks,
        attacks_skipped=_skipped(evidence) or None,
        attacks_unjudged=None if judged is None else judged.attacks_unjudged or None,
        timing=findings.timing,
        peak_rss_mb=peak_memory(),
        warnings=tuple(_warnings(findings)),
    )


def _name(source: SourceIdentity | None, draw: RecordDraw) -> str:
    return draw.method if source is None else source.name.partition(".")[0]


def _skipped(evidence: SyntheticEvidence) -> dict[str, str]:
    every = {} if evidence.why_not is None else {"all": evidence.why_not}
    return every | ({} if evidence.assessment is None else evidence.assessment.attacks_skipped)


def made_up(draw: RecordDraw) -> tuple[str, ...]:
    """Columns of which nothing was learnt: identifiers are numbered anew, texts are left empty."""
    shapes = draw.inspect().get("shapes", {})
    return tuple(name for name, shape in shapes.items() if shape.get("kind") in _MADE_UP)


def _synthesis(request: SynthesisRequest, findings: SynthesisFindings) -> SynthesisResult:
    told = findings.draw.inspect()
    return SynthesisResult(
        shapes=told.get("shapes", {}),
        constraints=told.get("constraints", {}),
        guaranteed=findings.draw.guarantee.guaranteed,
        not_guaranteed=(*findings.draw.guarantee.not_guaranteed, *((TYPES_READ,) if findings.types_read else ())),
        where=request.where,
        balance=request.balance,
        seeded=request.seed is not None,
        from_model=request.from_model is not None,
        attacked=findings.evidence.attacked,
        strangers=findings.evidence.strangers,
        columns_made_up=made_up(findings.draw),
        replaced=findings.draw.replaced(),
    )


def _guarantee(findings: SynthesisFindings) -> GuaranteeResult | None:
    stated = findings.draw.guarantee
    if stated.epsilon is None:
        return None
    unit = "record" if findings.person is None else "person"
    return GuaranteeResult(epsilon=stated.epsilon, delta=stated.delta or 0.0, unit=unit)


def _state(findings: SynthesisFindings) -> StateOfData:
    """Records of nobody (ISO/IEC 20889, 9.8). Without a formal guarantee, only what attacks did not find speaks for
    it, so without attacks it is taken for personal.
    """
    if not findings.needs_data:
        return StateOfData(DataState.ANONYMISED, still_personal=False, because="no data was read to make it")
    if findings.draw.replaced() is not None:
        return StateOfData(DataState.UNLINKED, still_personal=True, because=PARTLY_REAL)
    because, personal = _drawn_anew(findings)
    drawn = "its records are drawn anew from a model (ISO/IEC 20889, 9.8)"
    state = DataState.ANONYMISED.taken_for(personal=personal)
    return StateOfData(state, still_personal=personal, because=drawn + because)


def _drawn_anew(findings: SynthesisFindings) -> tuple[str, bool]:
    """What speaks for or against a table of nobody, and whether it is to be taken for personal all the same."""
    evidence, epsilon = findings.evidence, findings.epsilon
    if epsilon is not None:  # by nothing that the source had to be asked for
        lax = f", but ε = {number(epsilon)} hardly bounds what that tells" if epsilon > MUCH else ""
        return f" that is differentially private (10.3){lax}", bool(lax)
    if evidence.found:
        return ", but attacks find more of people in the source than of others", True
    if not evidence.was_attacked:
        return ", but nothing bounds what that tells of one person, and it was not attacked", True
    if (evidence.strangers or 0) < FEW:
        return ", but there are too few people to tell what attacks find", True
    return ", and attacks find no more of people in the source than of others", False


def _warnings(findings: SynthesisFindings) -> Iterator[str]:
    evidence, epsilon = findings.evidence, findings.epsilon
    if evidence.found:
        keys = ", ".join(dict.fromkeys(one.replace("_", " ") for one in evidence.found))
        yield f"attacks find more of people in the source than of strangers: {keys}"
    if epsilon is not None and epsilon > MUCH:
        yield f"ε = {number(epsilon)} hardly bounds what is told of a person: below 1 is strict, above {MUCH:g} is lax"
    if findings.draw.replaced() is not None:
        yield "every row is a real person's, partly drawn anew: treat it as personal data"
    elif findings.needs_data and epsilon is None and not evidence.was_attacked:
        yield "it was not attacked, and its method guarantees nothing by itself: look at it as at personal data"
    if findings.needs_data and epsilon is None and evidence.was_attacked and (evidence.strangers or 0) < FEW:
        yield f"attacks had {evidence.strangers:,} people to compare with: they find gross leaks, and may miss others"
    if findings.files and findings.needs_data and epsilon is None:
        yield "the model tells more than the data that was drawn from it: it is for who may see the source"
    emptied = [name for name, one in findings.draw.inspect().get("shapes", {}).items() if one.get("kind") == "text"]
    if emptied:
        yield f"{count(len(emptied), 'column')} of free text left empty: {', '.join(emptied)}"
    yield from edit_rule_warnings(findings.rules, "on_violation: suppress draws such records again")
