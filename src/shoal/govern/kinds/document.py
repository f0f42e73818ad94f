"""Documents that an organisation has to have: policies and plans, who approved them, when to look at them again."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from enum import StrEnum
from typing import Self

from pydantic import Field

from shoal.errors import InputError
from shoal.govern.evidence_files import file_evidence
from shoal.govern.record_kinds import ActContext, ActInput, DueDate, RecordKind, RecordState, declared, refuse_own

REVIEW_EVERY = datetime.timedelta(days=365)


class DocumentTopic(StrEnum):
    """What MeitY 3.2.2.4 and 3.3.2 and PDPC's step 5 ask to have in writing."""

    ANONYMISATION = "anonymisation-policy"
    ACCESS = "access-control-policy"
    SECURITY = "security-policy"
    INCIDENTS = "incident-plan"
    SHARING = "sharing-policy"
    PROCESSING = "processing-agreement"
    """With who processes personal data on our behalf."""
    PASSWORDS = "password-rules"  # a topic
    OTHER = "other"


class DocumentState(RecordState):
    topic: DocumentTopic = DocumentTopic.OTHER
    file: str = ""
    """Its name, without folders."""
    sha256: str = ""
    added_by: str = ""
    approved_by: str = ""
    approved_on: datetime.date | None = None

    def due(self) -> Iterable[DueDate]:
        if self.status == "approved" and self.approved_on is not None:
            yield DueDate(self.approved_on + REVIEW_EVERY, f"look at the {self.topic} again")


DOCUMENT = declared(RecordKind("document", "Policies and plans that are in force.", DocumentState))


class DocumentVersion(ActInput):
    topic: DocumentTopic = Field(description="What it settles.")
    title: str = Field(default="", description="What it is called.")
    file: str = Field(default="", description="The file: its checksum is kept.")
    sha256: str = Field(default="", pattern="^([0-9a-f]{64})?$")

    def gathered(self) -> Self:
        return self.model_copy(update=file_evidence(self.file)) if self.file and not self.sha256 else self


class DocumentApproval(ActInput):
    """Nothing more."""


@DOCUMENT.act()
def add(context: ActContext, _: None, given: DocumentVersion) -> DocumentState:
    """Enter a document."""
    return _entered(context, given)


def _entered(context: ActContext, given: DocumentVersion) -> DocumentState:
    if not given.sha256:
        raise InputError("which file is it?", field="file")
    told = {name: getattr(given, name) for name in ("topic", "title", "file", "sha256")}
    return DocumentState(status="entered", added_by=context.by, **told)


@DOCUMENT.act("entered", "approved")
def revise(context: ActContext, _: DocumentState, given: DocumentVersion) -> DocumentState:
    """Enter a new version, which has to be approved again."""
    return _entered(context, given)


@DOCUMENT.act("entered", "approved")
def approve(context: ActContext, before: DocumentState, given: DocumentApproval) -> DocumentState:
    """Put it in force, or say that it still is. Nobody approves what they entered."""
    refuse_own(context, [before.added_by], "approve a document that they entered")
    return before.model_copy(update={"status": "approved", "approved_by": context.by, "approved_on": context.today})


@DOCUMENT.act("entered", "approved")
def retire(_: ActContext, before: DocumentState, given: DocumentApproval) -> DocumentState:
    """Say that it holds no more."""
    return before.model_copy(update={"status": "retired"})
