"""A policy bound to a stream: nothing can be counted before it begins, so all has to follow from the policy alone.

Techniques work on each record by itself; a technique that needs the whole table, or counts of it, is refused, as is a
hierarchy whose labels depend on the data, a model that compares a class with the table, and whatever else of a policy
has no meaning without an end. What is refused is said all at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from shoal.errors import DataError, PolicyError, PolicyProblem, ShoalError
from shoal.hierarchy import FlatHierarchy, Hierarchy
from shoal.hierarchy.kinds.redact import RedactionHierarchy
from shoal.plan.hidden_columns.person_tag import TagPerson
from shoal.plan.text_scrubbers import ScrubberFactory
from shoal.policy import EVERYTHING_ELSE, Attribute, Policy
from shoal.policy.role_propagation import refuse_weaker_roles
from shoal.privacy import PrivacyModel
from shoal.pseudonyms import Secrets
from shoal.pseudonyms.run_secrets import RunSecrets
from shoal.randomness import Randomness
from shoal.schema import Column, Counts, Role, Scope, Step, ValueType
from shoal.streaming.label_book import LabelBook
from shoal.streaming.ladder import AttributeSpan, LatticeLevels, ladder
from shoal.streaming.record_shape import STORAGES, RecordShape
from shoal.techniques import Context, Technique
from shoal.techniques.generalisation.generalise import HierarchyTechnique
from shoal.techniques.randomisation.shuffle_rows import ShuffleRows, ShuffleRowsStep
from shoal.techniques.suppression.suppress_records import SuppressRecords

DIGITS: Final = 6
"""After the decimal point, where a technique writes decimals: how many the data has is not known."""
_DATE_FORMATS: Final = {ValueType.DATE: "%Y-%m-%d", ValueType.DATETIME: "%Y-%m-%dT%H:%M:%S"}


@dataclass(frozen=True)
class StreamPlan:
    shape: RecordShape
    tag: TagPerson | None
    steps: tuple[Step, ...]
    """On each record as it comes, in the order of the policy."""
    quasi: tuple[str, ...]
    books: tuple[LabelBook, ...]
    nodes: tuple[LatticeLevels, ...]
    models: tuple[PrivacyModel, ...]
    sensitive: tuple[str, ...]
    """What the models look at."""
    released: tuple[str, ...]
    """The columns of the output, in the order of the policy."""
    identifiers: tuple[str, ...]
    """Direct identifiers that go out in another form."""
    shuffle: ShuffleRowsStep
    drop_suppressed: bool


def bind_stream(
    policy: Policy, randomness: Randomness, secrets: Secrets | None = None, event_time: str | None = None
) -> StreamPlan:
    refuse_weaker_roles(policy)
    problems = list(_problems(policy, event_time))
    binder = _StreamBinder(policy, randomness, secrets or RunSecrets(randomness))
    problems += binder.bind_attributes()
    if problems:
        raise PolicyError([PolicyProblem(0, 0, path, message) for path, message in problems], source="stream")
    return binder.plan(event_time)


def _problems(policy: Policy, event_time: str | None) -> Iterator[tuple[str, str]]:
    for key in policy.table_steps:
        technique = policy.table_steps[key]
        by_rule = isinstance(technique, SuppressRecords) and technique.outliers is None
        if not (by_rule or isinstance(technique, ShuffleRows)):
            yield key, "needs the whole table, and a stream has no end"
    for model in policy.models:
        if not model.judges_class_alone:
            yield f"privacy.{model.key}", "compares a class with the whole table, and a stream has no end"
    if policy.solve.decoys is not None:
        yield "solve.decoys", "goes with tables only"
    if policy.rules:
        yield "rules", "are counted in whole tables; `suppress_records: {where: …}` leaves records out"
    named = policy.attributes.keys()
    if policy.person is not None and policy.person not in named:
        yield "person", f"'{policy.person}' is not among the attributes"
    if event_time is not None and event_time not in named:
        yield "attributes", f"'{event_time}', the time of the records, is not among them"
    yield from _linked_classes(policy)


def _linked_classes(policy: Policy) -> Iterator[tuple[str, str]]:
    """By a name that stays, the classes in which a person appears one after another could be laid over each other."""
    if not (policy.models and policy.quasi_identifiers):
        return
    for name, attribute in policy.attributes.items():
        searched = any(step.searches_text for step in attribute.steps)
        if attribute.role is Role.DIRECT and attribute.is_released and not searched and name != EVERYTHING_ELSE:
            yield (
                f"attributes.{name}",
                "would be released, if in another form: whoever joins a person's records by it learns what all their "
                "classes have in common, and that may be one person; suppress it",
            )


class _StreamBinder:
    def __init__(self, policy: Policy, randomness: Randomness, secrets: Secrets) -> None:
        self.policy, self.randomness, self.secrets = policy, randomness, secrets
        self.attributes = {name: one for name, one in policy.attributes.items() if name != EVERYTHING_ELSE}
        self.source = {name: _declared(name, attribute) for name, attribute in self.attributes.items()}
        self.columns = dict(self.source)
        self.steps: list[Step] = []
        self.books: list[LabelBook] = []

    def bind_attributes(self) -> list[tuple[str, str]]:
        problems = list(self._suppressed_records())
        for name, attribute in self.attributes.items():
            try:
                problems += self._bind(name, attribute)
            except PolicyError:
                raise
            except ShoalError as error:
                problems.append((f"attributes.{name}", error.message + (f" ({error.advice})" if error.advice else "")))
        return problems

    def _suppressed_records(self) -> Iterator[tuple[str, str]]:
        technique = self.policy.table_steps.get(SuppressRecords.key)
        if not isinstance(technique, SuppressRecords) or technique.outliers is not None:
            return
        missing = [name for name in technique.columns(None) if name not in self.columns]
        if missing:
            yield SuppressRecords.key, f"there is no attribute '{missing[0]}'"
            return
        self.steps.append(technique.bind(self._context((SuppressRecords.key,))))

    def _bind(self, name: str, attribute: Attribute) -> Iterator[tuple[str, str]]:
        if not attribute.is_released:
            return
        for place, technique in enumerate(attribute.steps):
            reason = self._refusal(technique, self.columns[name])
            if reason:
                yield f"attributes.{name}", reason
                return
            self._bind_step(name, technique.resolve(self.policy.folder), place)
        if attribute.role is Role.QUASI:
            hierarchy = (attribute.hierarchy or FlatHierarchy()).resolve(self.policy.folder)
            reason = _not_fixed(hierarchy) or _typed(hierarchy.refuse(self.columns[name]), self.columns[name])
            if reason:
                yield f"attributes.{name}.hierarchy", reason
                return
            self.books.append(LabelBook(self.columns[name], hierarchy))

    def _refusal(self, technique: Technique, column: Column) -> str | None:
        hierarchy = technique.hierarchy if isinstance(technique, HierarchyTechnique) else None
        if technique.creates():
            return f"{technique.key} makes new columns, which goes with tables only"
        if hierarchy is not None and (reason := _not_fixed(hierarchy)):
            return reason
        if isinstance(technique, HierarchyTechnique) and hierarchy is None:
            return f"{technique.key} needs a hierarchy of its own here: the column's is for classes"
        if technique.wants(column.name) and hierarchy is None:
            return f"{technique.key} has to count the whole table first, and a stream has no end"
        unknown = [read for read in technique.also_reads() if read not in self.columns]
        if unknown:
            return f"there is no attribute '{unknown[0]}'"
        return _typed(technique.refuse(column), column)

    def _bind_step(self, name: str, technique: Technique, place: int) -> None:
        column = self.columns[name]
        nothing = pl.DataFrame(schema={name: column.storage, "records": pl.Int64()})
        counts = {want: Counts.from_frame(nothing, want, "records") for want in technique.wants(name)}
        context = replace(self._context(("attribute", name, technique.key, str(place))), counts=counts)
        step = technique.bind(column, context)
        if step.scope is not Scope.ROW:
            raise DataError(f"{technique.key} needs the whole table, and a stream has no end")
        self.steps.append(step)
        self.columns[name] = technique.leaves(column)

    def _context(self, purpose: tuple[str, ...]) -> Context:
        return Context(
            columns=self.columns,
            stream=self.randomness.stream(*purpose),
            secrets=self.secrets,
            scrubber=ScrubberFactory(self.secrets, self.policy.recogniser_files),
        )

    def plan(self, event_time: str | None) -> StreamPlan:
        policy = self.policy
        tag = None if policy.person is None else TagPerson(policy.person, self.randomness.stream("person").key)
        released = tuple(name for name, attribute in self.attributes.items() if attribute.is_released)
        read = {*released, *(name for step in self.steps for name in step.reads)}
        read |= {name for name in (policy.person, event_time) if name is not None}
        quasi = tuple(book.column.name for book in self.books)
        return StreamPlan(
            shape=RecordShape(
                {name: column for name, column in self.source.items() if name in read},
                frozenset(self.attributes.keys() - read),
                EVERYTHING_ELSE in policy.attributes,
            ),
            tag=tag,
            steps=tuple(self.steps),
            quasi=quasi,
            books=tuple(self.books),
            nodes=tuple(ladder([self._span(book) for book in self.books])) if quasi else (),
            models=policy.models if quasi else (),
            sensitive=policy.modelled if quasi else (),
            released=released,
            identifiers=tuple(name for name in released if self._is_identifier(self.attributes[name])),
            shuffle=ShuffleRowsStep(self.randomness.stream("shuffle")),
            drop_suppressed=policy.solve.drop_suppressed,
        )

    def _span(self, book: LabelBook) -> AttributeSpan:
        name = book.column.name
        low, high = self.policy.solve.levels.get(name, (0, book.height))
        return AttributeSpan(name, book.height, low, high, self.attributes[name].weight)

    @staticmethod
    def _is_identifier(attribute: Attribute) -> bool:
        return attribute.role is Role.DIRECT and not any(step.searches_text for step in attribute.steps)


def _declared(name: str, attribute: Attribute) -> Column:
    """As the policy says; what it says nothing of is text."""
    declared = attribute.declared(name) or Column(name)
    scale = DIGITS if declared.type is ValueType.DECIMAL else 0
    form = declared.date_format or _DATE_FORMATS.get(declared.type)
    return replace(declared, storage=STORAGES.get(declared.type, pl.String()), scale=scale, date_format=form, rows=1)


def _not_fixed(hierarchy: Hierarchy) -> str | None:
    if hierarchy.data_independent:
        return None
    if isinstance(hierarchy, RedactionHierarchy):
        if hierarchy.steps and not hierarchy.align:
            return None
        return "redact goes with a stream if it has `steps`, and no `align`: how long values will be is not known"
    return f"the labels of {hierarchy.key} depend on the data that are not there yet"


def _typed(reason: str | None, column: Column) -> str | None:
    if reason and column.type is ValueType.TEXT:
        return f"{reason}; a stream is not looked at beforehand, so declare it, e.g. `type: integer`"
    return reason
