"""Projects: the fifteen steps from a dataset to a documented release (MeitY 3.2.1; G-01, G-02)."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from typing import Self

from pydantic import Field

from shoal.errors import InputError
from shoal.govern.evidence_files import file_evidence
from shoal.govern.procedure import ReleaseModel, procedure
from shoal.govern.record_kinds import ActContext, ActInput, DueDate, RecordKind, RecordState, declared
from shoal.policy.presets import PRESETS, UseCase
from shoal.schema.parameters import Parameters


class StepEvidence(Parameters):
    """What shows that a step was done: a file's checksum, a release, or somebody's word."""

    note: str = ""
    file: str = ""
    """Its name, without folders."""
    sha256: str = ""
    release: str = ""


class StepState(Parameters):
    done: bool = False
    owner: str = ""
    due: datetime.date | None = None
    by: str = ""
    """Who said that it is done."""
    on: datetime.date | None = None
    evidence: StepEvidence | None = None
    times_reopened: int = 0


class ProjectNote(Parameters):
    """Something to remember: why a decision was taken, who is qualified, what became of the raw data."""

    about: str
    text: str
    by: str
    on: datetime.date


class ProjectState(RecordState):
    use_case: UseCase
    release_model: ReleaseModel = ReleaseModel.LIMITED
    owner: str = ""
    k: int | None = None
    """The k that a release of it needs at least."""
    steps: Mapping[int, StepState] = Field(default_factory=dict)
    notes: tuple[ProjectNote, ...] = ()

    @property
    def needed(self) -> tuple[int, ...]:
        return procedure().needed(self.stricter_case)

    @property
    def stricter_case(self) -> UseCase:
        """What goes to the public is a public release, whatever else it is for."""
        return UseCase.PUBLIC if self.release_model is ReleaseModel.PUBLIC else self.use_case

    def step(self, number: int) -> StepState:
        return self.steps.get(number, StepState())

    @property
    def open_steps(self) -> tuple[int, ...]:
        """Those that are needed and not done."""
        return tuple(number for number in self.needed if not self.step(number).done)

    def due(self) -> Iterable[DueDate]:
        if self.status != "open":
            return
        for number, step in self.steps.items():
            if step.due is not None and not step.done:
                yield DueDate(step.due, f"step {number}: {procedure().steps[number].title}", step.owner or self.owner)

    def with_step(self, number: int, step: StepState) -> ProjectState:
        return self.model_copy(update={"steps": {**self.steps, number: step}})


PROJECT = declared(RecordKind("project", "Projects and the fifteen steps of each.", ProjectState))


class Opening(ActInput):
    use_case: UseCase = Field(description="What the data is for.")
    title: str = Field(default="", description="In a few words.")
    release_model: ReleaseModel = Field(default=ReleaseModel.LIMITED, description="To whom it goes.")
    k: int | None = Field(default=None, ge=2, description="The k that a release needs; the use case's without.")


class Assignment(ActInput):
    step: int = Field(ge=1, le=15, description="Which of the fifteen.")
    owner: str = Field(description="Who is to do it.")
    due: datetime.date | None = Field(default=None, description="By when.")


class Completion(ActInput):
    step: int = Field(ge=1, le=15, description="Which of the fifteen.")
    note: str = Field(default="", description="What was done and why.")
    file: str = Field(default="", description="A file that shows it: its checksum is kept.")
    sha256: str = Field(default="", pattern="^([0-9a-f]{64})?$")
    release: str = Field(default="", description="A release whose figures show it.")

    def gathered(self) -> Self:
        return self.model_copy(update=file_evidence(self.file)) if self.file and not self.sha256 else self


class Reopening(ActInput):
    step: int = Field(ge=1, le=15, description="Which of the fifteen.")
    reason: str = Field(min_length=1, description="Why it is to be done again.")


class Remark(ActInput):
    about: str = Field(min_length=1, description="Such as decision, qualification, raw data.")
    text: str = Field(min_length=1, description="What is to be remembered.")


class Closing(ActInput):
    """Nothing more."""


@PROJECT.act(name="open")
def begin(context: ActContext, _: None, given: Opening) -> ProjectState:
    """Begin a project; which steps and which k it needs follows from its use case."""
    case = UseCase.PUBLIC if given.release_model is ReleaseModel.PUBLIC else given.use_case
    k = given.k if given.k is not None else PRESETS[case].k
    least = PRESETS[case].k
    if least is not None and k is not None and k < least:
        raise InputError(f"a release of this kind needs a k of {least} at least", field="k")
    return ProjectState(
        status="open",
        title=given.title,
        project=context.identifier,
        use_case=given.use_case,
        release_model=given.release_model,
        owner=context.by,
        k=k,
    )


@PROJECT.act("open")
def assign(context: ActContext, before: ProjectState, given: Assignment) -> ProjectState:
    """Say who does a step, and by when."""
    context.view.state("person", given.owner)
    step = before.step(given.step).model_copy(update={"owner": given.owner, "due": given.due})
    return before.with_step(given.step, step)


@PROJECT.act("open")
def complete(context: ActContext, before: ProjectState, given: Completion) -> ProjectState:
    """Say that a step is done, and what shows it."""
    if not (given.note or given.sha256 or given.release):
        raise InputError("what shows that it is done? A note, a file or a release", field="note")
    if given.release:
        release = context.view.state("release", given.release)
        if release.project != context.identifier:
            raise InputError("it belongs to another project", field="release")
        figures_fit(before, given.step, release)
    evidence = StepEvidence(**{name: getattr(given, name) for name in ("note", "file", "sha256", "release")})
    known = before.step(given.step)
    done = known.model_copy(update={"done": True, "by": context.by, "on": context.today, "evidence": evidence})
    return before.with_step(given.step, done)


@PROJECT.act("open")
def reopen(_: ActContext, before: ProjectState, given: Reopening) -> ProjectState:
    """Do a step again, as when the risk is above the threshold: those that build on it are open again too."""
    if not before.step(given.step).done:
        raise InputError(f"step {given.step} is open as it is", field="step")
    after = before
    for number in range(given.step, 16):
        step = after.step(number)
        if step.done:
            after = after.with_step(
                number, step.model_copy(update={"done": False, "times_reopened": step.times_reopened + 1})
            )
    return after


@PROJECT.act("open", "closed")
def note(context: ActContext, before: ProjectState, given: Remark) -> ProjectState:
    """Keep why a decision was taken, who is qualified, what became of the raw data."""
    remark = ProjectNote(about=given.about, text=given.text, by=context.by, on=context.today)
    return before.model_copy(update={"notes": (*before.notes, remark)})


@PROJECT.act("open")
def close(_: ActContext, before: ProjectState, __: Closing) -> ProjectState:
    """End a project whose needed steps are all done."""
    require_steps(before)
    return before.model_copy(update={"status": "closed"})


def require_steps(project: ProjectState) -> None:
    """Nothing is released while a needed step is open (MeitY 3.2.1)."""
    if project.open_steps:
        first, *others = (f"{number} ({procedure().steps[number].title})" for number in project.open_steps)
        more = f" and {len(others)} more" if others else ""
        raise InputError(f"step {first}{more} of project '{project.project}' is open")


def figures_fit(project: ProjectState, step: int, release: RecordState) -> None:
    """The comparison with the threshold can't be called done by a release that is above it."""
    reached = getattr(release, "k", None)
    if step == 13 and project.k is not None and (reached is None or reached < project.k):
        raise InputError(
            f"that release has k {reached or 'unknown'}, and the project needs {project.k}", field="release"
        )
