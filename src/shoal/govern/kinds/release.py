"""Releases: what was made of which data, by which policy, with which figures; who has it (G-04)."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from typing import Self

from pydantic import Field

from shoal.errors import FieldName, FieldText, InputError
from shoal.govern.record_kinds import (
    ActContext,
    ActInput,
    DueDate,
    RecordKind,
    RecordState,
    RegistryView,
    declared,
    refuse_own,
)
from shoal.govern.release_entry import composition_in, is_there, release_figures
from shoal.results.composition_result import CompositionBasis, CompositionOutcome
from shoal.schema.parameters import Parameters


class TestResult(Parameters):
    """What an independent tester found (MeitY table 3.a, 6)."""

    __test__ = False  # pytest would take it for tests

    by: str
    on: datetime.date
    passed: bool
    note: str = ""


class CompositionSeen(Parameters):
    """What a composition check found (R-08)."""

    by: str
    on: datetime.date
    outcome: CompositionOutcome
    basis: CompositionBasis
    exact: bool
    effective_k: int | None = None
    below: float = 0.0
    epsilon: float = 0.0
    earlier: tuple[str, ...] = ()
    """The releases that it was looked at with."""
    approved_by: str = ""
    """Who gave the second approval, where the rule asks for one."""


class ReleaseState(RecordState):
    kind: str = "records"
    population: str = ""
    """Whose data: releases of the same are looked at together."""
    out: bool = False
    """Whether it was with others already when it was entered."""
    recipients: tuple[str, ...] = ()
    """Who had it then."""
    channel: str = ""
    valid_until: datetime.date | None = None
    composition: CompositionSeen | None = None
    created: str = ""
    entered_by: str = ""
    source_sha256: str = ""
    policy_sha256: str = ""
    data_sha256: str = ""
    rows: int | None = None
    k: int | None = None
    epsilon: float | None = None
    attacked: bool = False
    """Whether the attacks were tried."""
    attacks_found: int = 0
    """How many found more than guessing does."""
    models_met: bool = True
    left_out: int | None = None
    """How many people had withdrawn when it was made; None where nobody looked."""
    place: str = ""
    """Where the folder lay when it was entered."""
    tests: tuple[TestResult, ...] = ()
    announced_for: str = ""
    """Where it was about to appear when it was announced."""
    announced_on: datetime.date = datetime.date.max
    reassess_on: datetime.date | None = None
    reassessed_on: datetime.date | None = None
    """When its risk was last assessed after it was entered."""
    retain_until: datetime.date | None = None
    """Before which it may not be purged."""
    hold: str = ""
    """Why it may not be purged at all, such as a court's order."""

    @property
    def tested(self) -> bool:
        """Whether the last word of a tester was that nothing was found."""
        return bool(self.tests) and self.tests[-1].passed

    def kept_because(self, today: datetime.date) -> str:
        if self.hold:
            return f"it is held: {self.hold}"
        return f"it has to be kept until {self.retain_until}" if self.retain_until and today < self.retain_until else ""

    def still_needed(self, identifier: str, view: RegistryView) -> str:
        with_others = self.out or bool(holders(view, {identifier: self})[identifier])
        return "others have it, and later releases are looked at together with it" if with_others else ""

    def due(self) -> Iterable[DueDate]:
        if self.status == "announced" and self.announced_for:
            yield DueDate(self.announced_on, "settle: it was announced, and nobody has said that it appeared")
        if self.status == "entered" and self.valid_until is not None:
            yield DueDate(self.valid_until, "it is not valid any longer: withdraw it")
        if self.status == "entered" and self.reassess_on is not None:
            yield DueDate(self.reassess_on, "assess the risk again (MeitY 3.3.3)")
        if self.status in {"entered", "withdrawn"} and self.retain_until is not None and not self.hold:
            yield DueDate(self.retain_until, "purge: the retention period ends")


RELEASE = declared(RecordKind("release", "Releases and their figures.", ReleaseState))
_FIGURES = (
    *("kind", "created", "source_sha256", "policy_sha256", "data_sha256", "rows", "k", "epsilon"),
    *("attacked", "attacks_found", "models_met", "left_out", "place", "recipients", "channel", "valid_until"),
)


class ReleaseEntry(ActInput):
    """Figures come from the release folder, where there is one."""

    project: str = Field(description="The project that it belongs to.")
    folder: str = Field(default="", description="The release folder, whose figures are taken.")
    title: str = Field(default="", description="In a few words.")
    kind: str = Field(
        default="records", description="What it holds, where there is no folder: records, aggregate, synthetic, answer."
    )
    population: str = Field(
        default="", description="Whose data; releases of the same are looked at together. The project without."
    )
    out: bool = Field(default=False, description="It is with others already.")
    recipients: tuple[str, ...] = Field(default=(), description="Who has it already.")
    channel: str = Field(default="", description="How it went to them.")
    valid_until: datetime.date | None = Field(default=None, description="Until when it may be used.")
    created: str = ""
    source_sha256: str = ""
    policy_sha256: str = ""
    data_sha256: str = ""
    rows: int | None = None
    k: int | None = Field(default=None, description="Its k, where there is no folder.")
    epsilon: float | None = Field(default=None, description="Its ε, where there is no folder.")
    attacked: bool = False
    attacks_found: int = 0
    models_met: bool = True
    left_out: int | None = None
    place: str = ""
    reassess_on: datetime.date | None = Field(default=None, description="When to assess the risk again; in a year.")
    retain_until: datetime.date | None = Field(default=None, description="Until when it has to be kept.")

    def gathered(self) -> Self:
        return self.model_copy(update={**release_figures(self.folder), "folder": ""}) if self.folder else self


class TestWord(ActInput):
    __test__ = False  # pytest would take it for tests

    passed: bool = Field(default=False, description="Nothing was found.")
    note: str = Field(default="", description="What was tried, what was found.")


class Reason(ActInput):
    reason: str = Field(min_length=1, description="Why.")


class Reassessment(ActInput):
    k: int | None = Field(default=None, description="The k that was found.")
    next_on: datetime.date | None = Field(default=None, description="When to assess it again; in a year.")
    note: str = Field(default="", description="What was new: data, attacks.")


class Announcement(ReleaseEntry):
    """What a run says of itself before its output appears."""

    announced_for: str = ""


class Appearance(ActInput):
    folder: str = Field(default="", description="Where it lies, if that is elsewhere than it was announced for.")
    found: bool | None = None
    """Whether its folder is there, with the data that was announced."""
    epsilon: float | None = None
    """What it cost, where that is less than was announced."""
    place: str = ""

    def gathered(self) -> Self:
        return self.model_copy(update={"folder": "", "place": self.folder}) if self.folder else self


class CompositionRecord(ActInput):
    result: str = Field(default="", description="The file that `shoal register compose` wrote.")
    release_sha256: str = ""
    outcome: CompositionOutcome = CompositionOutcome.BLOCK
    basis: CompositionBasis = CompositionBasis.RELEASED
    exact: bool = False
    effective_k: int | None = None
    below: float = 0.0
    epsilon: float = 0.0
    earlier: tuple[str, ...] = ()

    def gathered(self) -> Self:
        return self.model_copy(update={**composition_in(self.result), "result": ""}) if self.result else self


@RELEASE.act()
def enter(context: ActContext, _: None, given: ReleaseEntry) -> ReleaseState:
    """Put a release into the registry, before it goes to anybody or afterwards."""
    return _entered(context, given, "entered")


@RELEASE.act()
def announce(context: ActContext, _: None, given: Announcement) -> ReleaseState:
    """Say what a run is about to release, before it appears: so nothing is out that the registry doesn't know."""
    made = _entered(context, given, "announced")
    return made.model_copy(update={"announced_for": given.announced_for, "announced_on": context.today})


@RELEASE.act("announced")
def settle(_: ActContext, before: ReleaseState, given: Appearance) -> ReleaseState:
    """Say whether what was announced has appeared: its folder is looked for, and its checksum compared."""
    place = given.place or before.announced_for
    found = is_there(place, before.data_sha256) if given.found is None else given.found
    epsilon = before.epsilon if given.epsilon is None else given.epsilon
    changes = {"status": "entered" if found else "void", "place": place, "announced_for": "", "epsilon": epsilon}
    return before.model_copy(update=changes)


def _entered(context: ActContext, given: ReleaseEntry, status: str) -> ReleaseState:
    project = context.view.state("project", given.project)
    if project.status != "open":
        raise InputError(f"project '{given.project}' is {project.status}", field="project")
    figures = {name: getattr(given, name) for name in _FIGURES}
    return ReleaseState(
        status=status,
        title=given.title,
        project=given.project,
        population=given.population or given.project,
        out=given.out or bool(given.recipients),
        entered_by=context.by,
        reassess_on=given.reassess_on or context.today + datetime.timedelta(days=365),
        retain_until=given.retain_until,
        **figures,
    )


@RELEASE.act("entered")
def test(context: ActContext, before: ReleaseState, given: TestWord) -> ReleaseState:
    """Say what an independent tester found. Nobody tests what they entered."""
    refuse_own(context, [before.entered_by], "test a release that they entered")
    word = TestResult(by=context.by, on=context.today, passed=given.passed, note=given.note)
    return before.model_copy(update={"tests": (*before.tests, word)})


@RELEASE.act("entered")
def reassess(context: ActContext, before: ReleaseState, given: Reassessment) -> ReleaseState:
    """Record that the risk was assessed again (R-09)."""
    after = given.next_on or context.today + datetime.timedelta(days=365)
    k = before.k if given.k is None else given.k
    if before.k is not None and k is not None and k > before.k:
        raise InputError(f"the same data had k {before.k}: new knowledge leaves no more than that", field="k")
    return before.model_copy(update={"reassess_on": after, "reassessed_on": context.today, "k": k})


@RELEASE.act("entered", "withdrawn")
def hold(_: ActContext, before: ReleaseState, given: Reason) -> ReleaseState:
    """Forbid that it is purged, as by a court's order."""
    return before.model_copy(update={"hold": given.reason})


@RELEASE.act("entered", "withdrawn")
def lift_hold(_: ActContext, before: ReleaseState, given: Reason) -> ReleaseState:
    """Allow again that it is purged."""
    return before.model_copy(update={"hold": ""})


@RELEASE.act("entered")
def withdraw(_: ActContext, before: ReleaseState, given: Reason) -> ReleaseState:
    """Say that it is not to be used any more."""
    return before.model_copy(update={"status": "withdrawn"})


@RELEASE.act("entered")
def compose(context: ActContext, before: ReleaseState, given: CompositionRecord) -> ReleaseState:
    """Record what a composition check found; `shoal register compose` does it by itself."""
    if given.release_sha256 != before.data_sha256:
        raise InputError("that composition check is of other data", field="result")
    _refuse_weaker(before.composition, given)
    told = {name: getattr(given, name) for name in _COMPOSITION}
    return before.model_copy(update={"composition": CompositionSeen(by=context.by, on=context.today, **told)})


def _refuse_weaker(before: CompositionSeen | None, given: CompositionRecord) -> None:
    """What was counted is not outdone by what is only expected."""
    graver = tuple(CompositionOutcome).index
    if before is not None and before.exact and not given.exact and graver(given.outcome) < graver(before.outcome):
        raise InputError(
            f"counted with the tables it came out as {before.outcome}: the releases alone don't say more",
            advice=FieldText("look at it with ", FieldName("original", "…")),
        )


@RELEASE.act("entered")
def approve_composition(context: ActContext, before: ReleaseState, given: Reason) -> ReleaseState:
    """Give the second approval that a composition check asks for. Not by who entered or checked it."""
    seen = before.composition
    if seen is None or seen.outcome is not CompositionOutcome.SECOND_APPROVAL:
        raise InputError("its composition check asks for no second approval")
    refuse_own(context, [before.entered_by, seen.by], "approve what they entered or checked")
    return before.model_copy(update={"composition": seen.model_copy(update={"approved_by": context.by})})


_COMPOSITION = ("outcome", "basis", "exact", "effective_k", "below", "epsilon", "earlier")


def same_people(view: RegistryView, identifier: str, release: ReleaseState) -> dict[str, ReleaseState]:
    """The other releases that may hold the same people: of the same population, or made from the same file.

    One that was withdrawn is still told by whoever has it.
    """
    releases = {name: one for name, one in view.states("release").items() if isinstance(one, ReleaseState)}
    withdrawn = {name: one for name, one in releases.items() if one.status == "withdrawn"}
    held = holders(view, withdrawn)
    known = {name for name, one in releases.items() if one.status in {"entered", "announced"}}
    known |= {name for name, one in withdrawn.items() if one.out or held[name]}
    found = {}
    for name in sorted(known - {identifier}):
        other = releases[name]
        alike = other.population == release.population or other.project == release.project
        if alike or (other.source_sha256 and other.source_sha256 == release.source_sha256):
            found[name] = other
    return found


def holders(view: RegistryView, releases: Mapping[str, ReleaseState]) -> dict[str, tuple[str, ...]]:
    """By release, who has it: delivered and not confirmed to be gone, or known when it was entered."""
    found = {name: list(release.recipients) for name, release in releases.items()}
    seekers = {}
    for identifier, request in view.states("request").items():
        told = request.model_dump()
        if request.status in {"delivered", "expunged"}:
            seekers[identifier] = told.get("seeker", "")
            if told.get("release") in found:
                found[told["release"]].append(seekers[identifier])
    for feed in view.states("feed").values():
        told = feed.model_dump()
        for delivery in told.get("deliveries", ()):
            if told.get("request") in seekers and delivery["release"] in found:
                found[delivery["release"]].append(seekers[told["request"]])
    return {name: tuple(sorted(set(who))) for name, who in found.items()}


def require_composed(view: RegistryView, identifier: str, release: ReleaseState) -> None:
    """Nothing leaves before it was looked at together with everything of the same people that is out."""
    others = same_people(view, identifier, release)
    held = holders(view, others)
    out = {name for name, other in others.items() if other.out or held[name] or other.kind == "answer"}
    seen = release.composition
    how = f"shoal register compose {identifier}"
    if out and (seen is None or not out <= set(seen.earlier)):
        raise InputError("it was not looked at together with what is out of the same people", advice=how)
    if seen is None:
        return
    if seen.outcome is CompositionOutcome.BLOCK:
        raise InputError("together with earlier releases it tells too much", advice=how)
    if seen.outcome is CompositionOutcome.SECOND_APPROVAL and not seen.approved_by:
        raise InputError(
            "its composition check asks for a second approval",
            advice=f"shoal register release approve-composition {identifier}",
        )
