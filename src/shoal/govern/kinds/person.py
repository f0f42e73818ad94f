"""People of the registry: what they may do, what they were taught, whether they still belong here (G-07, G-08)."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from pydantic import Field, field_validator

from shoal.errors import AccessError, InputError
from shoal.govern.record_kinds import ActContext, ActInput, DueDate, RecordKind, RecordState, declared
from shoal.govern.rights import role_rights
from shoal.govern.training import training_topic
from shoal.schema.parameters import Parameters
from shoal.schema.registry import did_you_mean

ADMINISTRATOR: Final = "administrator"
TRAINING_LASTS: Final = datetime.timedelta(days=365)
"""MeitY 3.5: assessed every year."""
PASS_MARK: Final = 60
RESIT_WITHIN: Final = datetime.timedelta(days=30)
REVIEW_EVERY: Final = datetime.timedelta(days=365)
"""PDPC step 5: accounts are reviewed regularly."""


class TrainingResult(Parameters):
    topic: str
    on: datetime.date
    marks: int
    passed: bool

    @property
    def again_on(self) -> datetime.date:
        """When to be examined again: after a year, or soon where it was not passed."""
        return self.on + (TRAINING_LASTS if self.passed else RESIT_WITHIN)


class PersonState(RecordState):
    roles: tuple[str, ...] = ()
    number: str = ""
    """By which the organisation knows them (MeitY 3.5.2.5)."""
    trainings: tuple[TrainingResult, ...] = ()
    reviewed_on: datetime.date | None = None
    """When somebody last looked whether the account is still needed."""

    FACTS: ClassVar[tuple[str, ...]] = ("trained", "review_current")

    def facts(self, today: datetime.date) -> Mapping[str, bool]:
        trained, reviewed = self.trained_until, self.reviewed_on
        return {
            "trained": trained is not None and trained >= today,
            "review_current": reviewed is not None and reviewed + REVIEW_EVERY >= today,
        }

    @property
    def trained_until(self) -> datetime.date | None:
        passed = [one.on for one in self.trainings if one.passed]
        return max(passed) + TRAINING_LASTS if passed else None

    def due(self) -> Iterable[DueDate]:
        if self.status != "active":
            return
        needs = any(role_rights()[role].training for role in self.roles if role in role_rights())
        if needs and self.trained_until is not None:
            yield DueDate(self.trained_until, "training lapses", self.title)
        for topic, last in self.last_results.items():
            if not last.passed:
                yield DueDate(last.again_on, f"be examined again in {topic}", self.title)
        if self.reviewed_on is not None:
            yield DueDate(self.reviewed_on + REVIEW_EVERY, "review of the account")

    @property
    def last_results(self) -> dict[str, TrainingResult]:
        """By topic."""
        return {one.topic: one for one in self.trainings}


PERSON = declared(RecordKind("person", "People who may act in the registry.", PersonState))


class Roles(ActInput):
    roles: tuple[str, ...] = Field(min_length=1, description="What they may do.")

    @field_validator("roles")
    @classmethod
    def _known(cls, roles: tuple[str, ...]) -> tuple[str, ...]:
        known = tuple(role_rights())
        for role in roles:
            if role not in known:
                raise ValueError(f"there is no role '{role}'{did_you_mean(role, known)}")
        return tuple(dict.fromkeys(roles))


class Admission(Roles):
    number: str = Field(default="", max_length=40, description="By which the organisation knows them.")


class QuizAnswers(ActInput):
    topic: str = Field(description="Which of the eight.")
    answers: tuple[int, ...] = Field(description="The number of the chosen option, for each question in turn.")


class Training(ActInput):
    topic: str = Field(description="What it was about.")
    marks: int = Field(ge=0, le=100, description="Of a hundred.")
    on: datetime.date | None = Field(default=None, description="When it was; today without.")


class Nothing(ActInput):
    """An act that takes nothing more."""


def _at_least_one_administrator(context: ActContext, left: tuple[str, ...]) -> None:
    if ADMINISTRATOR in left:
        return
    others = [one for who, one in context.view.states("person").items() if who != context.identifier]
    if not any(
        isinstance(one, PersonState) and ADMINISTRATOR in one.roles and one.status == "active" for one in others
    ):
        raise InputError("somebody has to administer the registry: name another administrator first")


@PERSON.act()
def admit(context: ActContext, _: None, given: Admission) -> PersonState:
    """Let somebody act in the registry, under one name."""
    _refuse_second_account(context, given.number)
    return PersonState(
        status="active",
        title=context.identifier,
        roles=given.roles,
        number=given.number,
        reviewed_on=context.today,
    )


def _refuse_second_account(context: ActContext, number: str) -> None:
    """Who had two accounts would be four eyes alone."""
    for who, one in context.view.states("person").items():
        if who.casefold() == context.identifier.casefold():
            raise InputError(f"'{who}' would not be told from '{context.identifier}'")
        same = bool(number) and getattr(one, "number", "").casefold() == number.casefold()
        if same and one.status == "active":
            raise InputError(f"number {number} is {who}'s: nobody has two accounts", field="number")


@PERSON.act("active")
def change_roles(context: ActContext, before: PersonState, given: Roles) -> PersonState:
    """Change what somebody may do. Nobody changes their own rights."""
    if context.by == context.identifier:
        raise AccessError(f"{context.by} can't change their own roles: it takes somebody else")
    _at_least_one_administrator(context, given.roles)
    return before.model_copy(update={"roles": given.roles, "reviewed_on": context.today})


@PERSON.act("active")
def train(context: ActContext, before: PersonState, given: Training) -> PersonState:
    """Record a training and its marks; 60 of a hundred pass."""
    on = given.on or context.today
    if on > context.today:
        raise InputError("a training that was not yet held", field="on")
    result = TrainingResult(topic=given.topic, on=on, marks=given.marks, passed=given.marks >= PASS_MARK)
    return before.model_copy(update={"trainings": (*before.trainings, result)})


@PERSON.act("active")
def sit(context: ActContext, before: PersonState, given: QuizAnswers) -> PersonState:
    """Answer the quiz of a topic oneself; it is marked here. Who did not pass sits again on another day."""
    if context.by != context.identifier:
        raise InputError(f"{context.by} can't sit an examination for somebody else")
    last = before.last_results.get(given.topic)
    if last is not None and not last.passed and last.on == context.today:
        raise InputError("it was not passed today: it can be tried again tomorrow", field="topic")
    marks = training_topic(given.topic).marks(given.answers)
    result = TrainingResult(topic=given.topic, on=context.today, marks=marks, passed=marks >= PASS_MARK)
    return before.model_copy(update={"trainings": (*before.trainings, result)})


@PERSON.act("active")
def review(context: ActContext, before: PersonState, _: Nothing) -> PersonState:
    """Say that the account is still needed."""
    return before.model_copy(update={"reviewed_on": context.today})


@PERSON.act("active")
def dismiss(context: ActContext, before: PersonState, _: Nothing) -> PersonState:
    """Take all rights from somebody who left."""
    _at_least_one_administrator(context, ())
    return before.model_copy(update={"status": "dismissed", "roles": ()})
