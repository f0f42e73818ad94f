"""Requests for data: asked, reviewed, approved, agreed, delivered, expunged, confirmed (MeitY 3.2.2; G-03)."""

from __future__ import annotations

import datetime
import unicodedata
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import Field

from shoal.errors import FieldName, FieldText, InputError, IntegrityError
from shoal.govern.evidence_files import file_evidence
from shoal.govern.kinds.opt_out import require_left_out
from shoal.govern.kinds.project import ProjectState, require_steps
from shoal.govern.kinds.release import ReleaseState, require_composed
from shoal.govern.procedure import procedure
from shoal.govern.record_kinds import ActContext, ActInput, DueDate, RecordKind, RecordState, declared, refuse_own
from shoal.govern.release_entry import is_there
from shoal.schema.parameters import Parameters

APPROVAL_LASTS = datetime.timedelta(days=180)
INSPECT_EVERY = datetime.timedelta(days=365)
CONFIRM_WITHIN = datetime.timedelta(days=30)
_RUNNING = ("delivered", "expunged")


class AgreementClause(StrEnum):
    """What an agreement settles (PDPC, legal controls; MeitY 3.2.2): the clauses of the templates in ``agreements``."""

    PURPOSE = "permitted-purposes"
    LIABILITY = "liability"
    NO_REIDENTIFICATION = "no-re-identification"
    PROTECTION = "protection"
    NO_THIRD_PARTY = "no-third-party"
    EXPUNGE = "expunge"
    DATA = "data"
    CHANNEL = "channel"
    PEOPLE = "people"
    NO_LINKING = "no-linking"
    PUBLICATION = "publication"
    INCIDENTS = "incidents"
    INSPECTION = "inspection"
    CONFIRMATION = "confirmation"
    EXTENSION = "extension"
    INSTRUCTIONS = "instructions"
    SYSTEM_ACCESS = "system-access"
    SUBCONTRACTORS = "subcontractors"
    RIGHTS_OF_PEOPLE = "rights-of-people"


class Approval(Parameters):
    by: str
    roles: tuple[str, ...]
    on: datetime.date


class AgreementDraft(Parameters):
    """What `shoal register draft-agreement` wrote."""

    template: str
    sha256: str
    clauses: tuple[AgreementClause, ...]
    blanks: tuple[str, ...] = ()
    """What the registry didn't know."""
    release: str = ""
    by: str
    on: datetime.date


class Agreement(Parameters):
    sha256: str
    signatories: tuple[str, ...]
    on: datetime.date
    clauses: tuple[AgreementClause, ...] = ()
    draft: str = ""
    """The checksum of the draft that it was signed from, where it was one of ours."""
    template: str = ""
    """Of that draft."""


class Inspection(Parameters):
    by: str
    on: datetime.date
    found: str


class RequestState(RecordState):
    seeker: str = ""
    """Who asks: a person or an organisation, with how to reach them."""
    asked_by: str = ""
    """Who entered it."""
    wanted: str = ""
    purpose: str = ""
    until: datetime.date | None = None
    reviewed_by: str = ""
    approvals: tuple[Approval, ...] = ()
    drafts: tuple[AgreementDraft, ...] = ()
    agreement: Agreement | None = None
    release: str = ""
    channel: str = ""
    inspections: tuple[Inspection, ...] = ()
    expunged_on: datetime.date | None = None
    delivered_on: datetime.date | None = None

    @property
    def approved_until(self) -> datetime.date | None:
        """Of several approvals, the first that ends."""
        return min(one.on for one in self.approvals) + APPROVAL_LASTS if self.approvals else None

    def kept_because(self, today: datetime.date) -> str:
        return "" if self.status in {"rejected", "confirmed"} else "it is not over"

    @property
    def inspect_on(self) -> datetime.date | None:
        """A year after they got it, or after the last visit."""
        last = self.inspections[-1].on if self.inspections else self.delivered_on
        return None if last is None else last + INSPECT_EVERY

    def due(self) -> Iterable[DueDate]:
        if self.status == "delivered" and self.until is not None:
            yield DueDate(self.until, "the recipient expunges the data")
            if self.inspect_on is not None and self.inspect_on < self.until:
                yield DueDate(self.inspect_on, "visit who has the data (MeitY 3.2.2.3)")
        if self.status == "expunged" and self.expunged_on is not None:
            yield DueDate(self.expunged_on + CONFIRM_WITHIN, "confirm that the data was expunged")
        if self.status in {"approved", "agreed"} and self.approved_until is not None:
            yield DueDate(self.approved_until, "the approval ends")


REQUEST = declared(RecordKind("request", "Requests for data, from the form to its end.", RequestState))


class RequestForm(ActInput):
    project: str = Field(description="Whose data.")
    seeker: str = Field(min_length=1, description="Who asks, and how to reach them.")
    wanted: str = Field(min_length=1, description="Which data is needed.")
    purpose: str = Field(min_length=1, description="What for.")
    until: datetime.date = Field(description="Until when it is needed.")


class Remarks(ActInput):
    note: str = Field(default="", description="What is to be remembered.")


class Rejection(ActInput):
    reason: str = Field(min_length=1, description="Why.")


class Undertaking(ActInput):
    file: str = Field(default="", description="The signed agreement: its checksum is kept.")
    sha256: str = Field(default="", pattern="^([0-9a-f]{64})?$")
    signatories: tuple[str, ...] = Field(min_length=2, description="Who signed, of both sides.")
    clauses: tuple[AgreementClause, ...] = Field(
        default=(), description="What it settles; with a draft, all that the draft does."
    )
    draft: str = Field(
        default="", pattern="^([0-9a-f]{64})?$", description="The checksum of the draft that it was signed from."
    )

    def gathered(self) -> Self:
        return self.model_copy(update=file_evidence(self.file)) if self.file and not self.sha256 else self


class DraftedAgreement(ActInput):
    """Given by what writes the draft."""

    template: str = ""
    sha256: str = Field(default="", pattern="^([0-9a-f]{64})?$")
    clauses: tuple[AgreementClause, ...] = ()
    blanks: tuple[str, ...] = ()
    release: str = ""


class Delivery(ActInput):
    release: str = Field(description="Which release goes to them.")
    channel: str = Field(min_length=1, description="How: an approved medium, such as an encrypted package.")


class Extension(ActInput):
    until: datetime.date = Field(description="Until when they may keep it.")
    reason: str = Field(min_length=1, description="Why.")


class Visit(ActInput):
    found: str = Field(min_length=1, description="What was found.")


@REQUEST.act()
def submit(context: ActContext, _: None, given: RequestForm) -> RequestState:
    """Ask for data: who, which, what for, how long."""
    context.view.state("project", given.project)
    if given.until <= context.today:
        raise InputError("a day that is over", field="until")
    told = {name: getattr(given, name) for name in ("project", "seeker", "wanted", "purpose", "until")}
    return RequestState(status="submitted", asked_by=context.by, **told)


@REQUEST.act("submitted")
def review(context: ActContext, before: RequestState, given: Remarks) -> RequestState:
    """Say that the form is complete and can be decided on."""
    refuse_own(context, [before.asked_by], "review their own request")
    return before.model_copy(update={"status": "reviewed", "reviewed_by": context.by})


@REQUEST.act("reviewed")
def approve(context: ActContext, before: RequestState, given: Remarks) -> RequestState:
    """Approve it. Who asked can't; nobody approves twice; a public release takes two."""
    refuse_own(context, [before.asked_by], "approve their own request")
    refuse_own(context, [one.by for one in before.approvals], "approve a second time")
    rule = procedure().approvals[_project(context, before).release_model]
    if not context.roles & set(rule.roles):
        raise InputError(f"an approval of this takes one of these roles: {', '.join(rule.roles)}")
    approvals = (*before.approvals, Approval(by=context.by, roles=tuple(sorted(context.roles)), on=context.today))
    status = "approved" if len(approvals) >= rule.number else "reviewed"
    return before.model_copy(update={"status": status, "approvals": approvals})


@REQUEST.act("submitted", "reviewed", "approved")
def reject(context: ActContext, before: RequestState, given: Rejection) -> RequestState:
    """Refuse it."""
    refuse_own(context, [before.asked_by], "decide on their own request")
    return before.model_copy(update={"status": "rejected"})


@REQUEST.act("reviewed", "approved", "agreed", "delivered")
def draft(context: ActContext, before: RequestState, given: DraftedAgreement) -> RequestState:
    """Keep the checksum of a draft of the agreement. `shoal register draft-agreement` writes it and does this."""
    if not (given.sha256 and given.template and given.clauses):
        advice = f"shoal register draft-agreement {context.identifier} -o agreement.html"
        raise InputError("a draft is made from a template", advice=advice)
    told = {name: getattr(given, name) for name in type(given).model_fields}
    made = AgreementDraft(by=context.by, on=context.today, **told)
    return before.model_copy(update={"drafts": (*before.drafts, made)})


@REQUEST.act("approved")
def agree(context: ActContext, before: RequestState, given: Undertaking) -> RequestState:
    """Record the agreement that both sides signed."""
    _require_approval(context, before)
    return before.model_copy(update={"status": "agreed", "agreement": _signed(context, before, given)})


@REQUEST.act("agreed", "delivered")
def amend(context: ActContext, before: RequestState, given: Undertaking) -> RequestState:
    """Record another agreement that both sides signed, as for a feed; it takes the place of the first."""
    return before.model_copy(update={"agreement": _signed(context, before, given)})


def _signed(context: ActContext, request: RequestState, given: Undertaking) -> Agreement:
    if not given.sha256:
        raise InputError("which agreement was signed?", field="file")
    if len({_plain(name) for name in given.signatories} - {""}) < 2:
        raise InputError("one person can't sign for both sides", field="signatories")
    made = _draft_of(request, given.draft) if given.draft else None
    clauses = given.clauses or (made.clauses if made else ())
    if made and (beyond := [clause.value for clause in clauses if clause not in made.clauses]):
        raise InputError(f"{', '.join(beyond)}: not in that draft", field="clauses")
    return Agreement(
        sha256=given.sha256,
        signatories=given.signatories,
        on=context.today,
        clauses=tuple(dict.fromkeys(clauses)),
        draft=given.draft,
        template=made.template if made else "",
    )


def _plain(name: str) -> str:
    """However a name is written.

    >>> _plain("Dr. A. Rao") == _plain("dr a  rao ")
    True
    """
    return "".join(char for char in unicodedata.normalize("NFKC", name).casefold() if char.isalnum())


def _draft_of(request: RequestState, sha256: str) -> AgreementDraft:
    for made in reversed(request.drafts):
        if made.sha256 == sha256:
            return made
    raise InputError("no draft of this request has that checksum", field="draft")


def _require_approval(context: ActContext, request: RequestState) -> None:
    if request.approved_until is None or context.today > request.approved_until:
        raise InputError("the approval has ended: it has to be asked for again")


def _require_agreed_release(request: RequestState, release: str) -> None:
    """Where the draft that was signed names a release, it is that one which is handed over."""
    if request.agreement is None or not request.agreement.draft:
        return
    named = _draft_of(request, request.agreement.draft).release
    if named not in {"", release}:
        advice = "shoal register draft-agreement …, then shoal register request amend …"
        raise InputError(f"the agreement that was signed is about release '{named}'", field="release", advice=advice)


@REQUEST.act("agreed")
def deliver(context: ActContext, before: RequestState, given: Delivery) -> RequestState:
    """Hand the data over. Refused while a needed step is open, an approval has ended, or the release falls short."""
    require_deliverable(context, before, given.release)
    told = {"release": given.release, "channel": given.channel, "delivered_on": context.today}
    return before.model_copy(update={"status": "delivered", **told})


@REQUEST.act("delivered")
def extend(context: ActContext, before: RequestState, given: Extension) -> RequestState:
    """Let them keep it longer (MeitY 3.2.2.2)."""
    refuse_own(context, [before.asked_by], "extend their own request")
    if before.until is not None and given.until <= before.until:
        raise InputError("it is allowed until then already", field="until")
    return before.model_copy(update={"until": given.until})


@REQUEST.act(*_RUNNING)
def inspect(context: ActContext, before: RequestState, given: Visit) -> RequestState:
    """Record a visit to who has the data (MeitY 3.2.2.3)."""
    seen = Inspection(by=context.by, on=context.today, found=given.found)
    return before.model_copy(update={"inspections": (*before.inspections, seen)})


@REQUEST.act("delivered")
def expunge(context: ActContext, before: RequestState, given: Remarks) -> RequestState:
    """Say that the recipient has deleted the data."""
    return before.model_copy(update={"status": "expunged", "expunged_on": context.today})


@REQUEST.act("expunged")
def confirm(context: ActContext, before: RequestState, given: Remarks) -> RequestState:
    """Confirm that the data is gone; this ends the request."""
    refuse_own(context, [before.asked_by], "confirm their own request")
    return before.model_copy(update={"status": "confirmed"})


def require_deliverable(context: ActContext, request: RequestState, identifier: str) -> ReleaseState:
    """Whether this release may go to who asked; what is packed for them has to meet the same."""
    project = _project(context, request)
    require_steps(project)
    _require_approval(context, request)
    if request.until is not None and context.today >= request.until:
        raise InputError("the time for which the data was asked for is over")
    release = _release(context, request, identifier)
    require_releasable(project, release)
    require_left_out(context.view, release)
    require_composed(context.view, identifier, release)
    _require_agreed_release(request, identifier)
    return release


def _project(context: ActContext, request: RequestState) -> ProjectState:
    found = context.view.state("project", request.project)
    if not isinstance(found, ProjectState):
        raise InputError(f"'{request.project}' is no project")
    return found


def _release(context: ActContext, request: RequestState, identifier: str) -> ReleaseState:
    found = context.view.state("release", identifier)
    if not isinstance(found, ReleaseState) or found.project != request.project:
        raise InputError("it belongs to another project", field="release")
    return found


def require_releasable(project: ProjectState, release: ReleaseState) -> None:
    """What a release model demands of a release (MeitY 3.2.1, step 2)."""
    rule = procedure().approvals[project.release_model]
    if release.status != "entered":
        raise InputError(f"that release is {release.status}", field="release")
    if release.kind != "answer" and not release.data_sha256:
        advice = FieldText("enter it in the register with ", FieldName("folder"))
        raise InputError(
            "nobody can say which data that release is: it has no checksum", field="release", advice=advice
        )
    if release.place and Path(release.place).is_dir() and not is_there(release.place, release.data_sha256):
        raise IntegrityError(f"{release.place}: the data is not what was entered")
    if not release.models_met:
        raise InputError("that release misses a privacy model that its policy asks for", field="release")
    if project.k is not None and release.kind == "records" and (release.k is None or release.k < project.k):
        raise InputError(f"that release has k {release.k}, and the project needs {project.k}", field="release")
    if release.attacks_found:
        raise InputError("attacks on that release found something", field="release")
    if rule.attacks and not release.attacked:
        raise InputError("a public release has to be attacked before", field="release")
    if rule.tester and not release.tested:
        raise InputError("a public release takes the word of an independent tester", field="release")
