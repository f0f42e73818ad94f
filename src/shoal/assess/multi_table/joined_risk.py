"""What is left of a release's models when its tables are joined by the keys that stay joinable.

Which columns join is found in what was written: pseudonyms and ciphertexts of one key, and other columns by whether
the released values of one stand in the other. That a policy says ``keep: false`` of a reference does not part tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from shoal.errors import InfeasibleError
from shoal.hierarchy.value_order import ValueOrder
from shoal.io import Source, explained
from shoal.kernels.group_counts import are_clustered
from shoal.measurement import SensitiveKnowledge, measure_classes
from shoal.measurement.risk.joined_tables import (
    CLASS,
    KEY,
    ROW,
    STAR,
    JoinableTable,
    JoinedPeople,
    JoinedTables,
    KeyGroup,
)
from shoal.policy.linkage import connected, keys_by_policy
from shoal.policy.model import Policy
from shoal.policy.multi_table import MultiTablePolicy
from shoal.policy.references import Reference, ReferenceEnd
from shoal.privacy import ModelFinding
from shoal.privacy.base import SensitiveModel
from shoal.results.multi_table_manifest import JoinedGroupResult, JoinedRiskResult, KeyGroupResult
from shoal.schema import Role
from shoal.schema.type_detection import detect

JOINED_RECORDS = 20_000_000
"""Beyond so many records in all tables together, what joining them gives away is not counted."""
MOSTLY = 0.5
"""Of the keys at one end of a reference, the share that has to stand at the other for it to join."""
ALMOST_ALL = 0.95
"""Of a column that nobody calls a key, the share of values that have to be single and to stand in the other table."""
FEWEST = 10
"""Fewer values than that are no keys."""
SERIAL = 2
"""So many times as far as there are numbers they may reach to count as numbered through."""
JOINED_K = "joined_k"
JOINED_ALONE = "joined_alone"
ADVICE = (
    "`joined: {unlink: true}` takes away what they are joined by; or suppress the keys, make quasi-identifiers "
    'coarser, release fewer tables; `joined: {accept: "why"}` releases them all the same'
)


@dataclass(frozen=True)
class JoinedRisk:
    """The figure of the joined tables, and what was asked of them."""

    groups: tuple[JoinedPeople, ...] = ()
    """By each kind of key that people go by."""
    keys: tuple[KeyGroup, ...] = ()
    required: int | None = None
    models: tuple[ModelFinding, ...] = ()
    """Of sensitive attributes, over the classes of joined people."""
    accepted: str | None = None
    lowest: int | None = None
    """Where it is accepted that it is not met: the least that k has to be."""
    counted: bool = True
    """Whether the tables were small enough to be joined."""

    @property
    def worst(self) -> JoinedPeople | None:
        return min(self.groups, key=lambda one: (one.k, -one.alone), default=None)

    @property
    def met(self) -> bool | None:
        """None where nothing is asked of the joined tables."""
        if self.required is None and not self.models:
            return None
        if not self.counted:
            return False
        enough = self.worst is None or self.required is None or self.worst.k >= self.required
        return enough and all(model.met for model in self.models)

    @property
    def acceptable(self) -> bool:
        if self.met is not False:
            return True
        if self.accepted is None:
            return False
        return self.lowest is None or (self.worst is not None and self.worst.k >= self.lowest)

    def findings(self) -> tuple[ModelFinding, ...]:
        """As a model like others; where less is accepted, that is what is held against it."""
        if self.required is None:
            return self.models
        required = self.required if self.accepted is None else self.lowest or 1
        return (self.k_finding(required), *(() if self.accepted is not None else self.models))

    def k_finding(self, required: float) -> ModelFinding:
        """Where nothing joins nobody stands out by joining; where it could not be counted, nothing is known."""
        if not self.counted:
            return ModelFinding(JOINED_K, required, float("nan"), met=False)
        k = float("inf") if self.worst is None else float(self.worst.k)
        return ModelFinding(JOINED_K, required, k, met=k >= required)

    @property
    def alone(self) -> int:
        return max((one.alone for one in self.groups), default=0)

    def result(self) -> JoinedRiskResult:
        worst = self.worst
        return JoinedRiskResult(
            k=None if worst is None else worst.k,
            people=None if worst is None else worst.people,
            alone=None if worst is None else worst.alone,
            tables=() if worst is None else worst.tables,
            required=self.required,
            met=self.met,
            accepted=self.accepted,
            counted=self.counted,
            keys=tuple(KeyGroupResult(columns=_ends(one), names_people=one.names_people) for one in self.keys),
            by_key=tuple(
                JoinedGroupResult(
                    columns=_ends(one.group),
                    tables=one.tables,
                    k=one.k,
                    people=one.people,
                    alone=one.alone,
                    exact=one.exact,
                )
                for one in self.groups
            ),
            models=self.models,
        )


def _ends(group: KeyGroup) -> tuple[str, ...]:
    return tuple(f"{table}.{column}" for table, column in group.columns)


def groups_from_manifest(keys: Sequence[KeyGroupResult]) -> tuple[KeyGroup, ...]:
    """The keys as a manifest has them."""
    ends = [([ReferenceEnd.parse(text) for text in one.columns], one.names_people) for one in keys]
    return tuple(KeyGroup(tuple((end.table, end.column) for end in group), people) for group, people in ends)


def require_joined_models(risk: JoinedRisk) -> None:
    """Nothing leaves where joined tables break what is asked of them, unless the policy accepts it."""
    if risk.acceptable:
        return
    if not risk.counted:
        raise InfeasibleError(
            "the tables are too large to count what joining them gives away, and it has to be known", advice=ADVICE
        )
    lowest = risk.required if risk.accepted is None else risk.lowest
    worst = risk.worst
    if worst is not None and lowest is not None and worst.k < lowest:
        whose = "" if worst.group.names_people else "; `person` says which column of a table names people"
        raise InfeasibleError(f"{in_words(risk)}; {lowest} is required, so nothing was written", advice=ADVICE + whose)
    missed = ", ".join(
        f"{model.name} ({model.achieved:.4g} instead of {model.required:g})" for model in risk.models if not model.met
    )
    raise InfeasibleError(f"the joined tables don't meet {missed}, so nothing was written", advice=ADVICE)


def in_words(risk: JoinedRisk) -> str:
    """The figure in one sentence, for terminals and reports."""
    worst = risk.worst
    if not risk.counted:
        return "the tables are too large to count what joining them gives away; k holds for each of them alone"
    if worst is None:
        if not risk.keys:
            return "no records can be joined by a key, so each table's k is all there is"
        return "what can be joined says no more of a person than one table does, so each table's k is all there is"
    keys = ", ".join(f"{table}.{column}" for table, column in worst.group.columns)
    if all(column == ROW for _, column in worst.group.columns):
        keys = f"the order of their rows ({', '.join(worst.group.tables)})"
    fewest = "" if worst.exact else " at least"
    people = "people" if worst.exact else "of them"
    stand = f"{worst.alone:,} of {worst.people:,} {people} stand alone for whoever knows all that is told of them"
    return f"joined by {keys}, the tables leave{fewest} k = {worst.k}: {stand}"


# ——— which columns join


def key_groups(
    tables: Mapping[str, Policy], references: Iterable[Reference], frames: Mapping[str, pl.LazyFrame]
) -> tuple[KeyGroup, ...]:
    """The keys by which the records of the frames, released by these policies, can be joined."""
    found = _Keys(tables, frames)
    ends: list[tuple[ReferenceEnd, ...]] = []
    for alike in keys_by_policy(tables).values():
        there = [end for end in alike if found.has(end)]
        ends += [(end,) for end in there]
        ends += [pair for pair in combinations(there, 2) if found.shared(*pair)]
    for reference in references:
        pair = (reference.child, reference.parent)
        if all(found.has(end) and not found.is_quasi(end) for end in pair) and found.follows(*pair):
            ends.append(pair)
    ends += found.untouched_alike()
    persons = [ReferenceEnd(name, policy.person) for name, policy in tables.items() if policy.person is not None]
    ends += [(end,) for end in persons if found.has(end) and not found.is_quasi(end)]
    order = list(tables)
    return tuple(
        KeyGroup(
            tuple(sorted(((end.table, end.column) for end in group), key=lambda one: order.index(one[0]))),
            any(end in persons for end in group),
        )
        for group in connected(ends)
    )


class _Keys:
    """Released columns as keys."""

    def __init__(self, tables: Mapping[str, Policy], frames: Mapping[str, pl.LazyFrame]) -> None:
        self.tables = tables
        self.frames = frames
        self.present = {name: frame.collect_schema().names() for name, frame in frames.items()}
        self._values: dict[ReferenceEnd, pl.DataFrame] = {}

    def has(self, end: ReferenceEnd) -> bool:
        return end.column in self.present.get(end.table, ()) and self.tables[end.table].kind.has_records

    def is_quasi(self, end: ReferenceEnd) -> bool:
        return end.column in self.tables[end.table].quasi_identifiers

    def values(self, end: ReferenceEnd) -> pl.DataFrame:
        """Each value once, with its number of records."""
        if end not in self._values:
            column = pl.col(end.column).cast(pl.String).alias(KEY)
            held = self.frames[end.table].select(column).filter(pl.col(KEY).is_not_null() & (pl.col(KEY) != STAR))
            self._values[end] = held.group_by(KEY).len("records").collect(engine="streaming")
        return self._values[end]

    def within(self, one: ReferenceEnd, other: ReferenceEnd) -> float:
        """The share of the values of one that the other has too."""
        own = self.values(one)
        return own.join(self.values(other), on=KEY, how="semi").height / own.height if own.height else 0.0

    def shared(self, one: ReferenceEnd, other: ReferenceEnd) -> bool:
        return self.within(one, other) > 0

    def follows(self, child: ReferenceEnd, parent: ReferenceEnd) -> bool:
        """Whether a record of the child still leads to few of the parent."""
        return self.within(child, parent) >= MOSTLY and self.single(parent) >= MOSTLY

    def single(self, end: ReferenceEnd) -> float:
        """How nearly each record has a value of its own."""
        records = int(self.values(end)["records"].sum())
        return self.values(end).height / records if records else 0.0

    def is_serial(self, end: ReferenceEnd) -> bool:
        """Whether the values are numbers without gaps, which any two tables have in common."""
        numbers = self.values(end)[KEY].cast(pl.Int64, strict=False)
        if numbers.null_count() or not len(numbers):
            return False
        low, high = int(numbers.min()), int(numbers.max())  # type: ignore[arg-type]  # whole numbers
        return high - low < SERIAL * len(numbers)

    def untouched_alike(self) -> Iterator[tuple[ReferenceEnd, ReferenceEnd]]:
        """Columns of one name that nothing was done to, and that tell records apart: an exact sum, a serial number."""
        kept = [
            ReferenceEnd(name, column)
            for name, policy in self.tables.items()
            for column in self.present[name]
            if column in policy.attributes and self._untouched(policy, column) and self.has(ReferenceEnd(name, column))
        ]
        for one, other in combinations(kept, 2):
            if one.table == other.table or one.column.lower() != other.column.lower():
                continue
            if min(self.values(one).height, self.values(other).height) < FEWEST or self.is_serial(one):
                continue
            most = max(self.within(one, other), self.within(other, one))
            if most >= ALMOST_ALL and max(self.single(one), self.single(other)) >= ALMOST_ALL:
                yield one, other

    @staticmethod
    def _untouched(policy: Policy, column: str) -> bool:
        attribute = policy.attributes[column]
        return attribute.role in (Role.INSENSITIVE, Role.SENSITIVE) and not attribute.steps


def in_same_order(
    tables: Mapping[str, Policy],
    references: Iterable[Reference],
    sources: Mapping[str, Source],
    rows: Mapping[str, int],
) -> tuple[KeyGroup, ...]:
    """Tables with a record for the same person in the same row, as the sources show; ``rows`` are the released ones.

    Whoever sees them lays them side by side, whatever became of the keys.
    """
    persons = [ReferenceEnd(name, policy.person) for name, policy in tables.items() if policy.person is not None]
    pairs = [(one.child, one.parent) for one in references] + list(combinations(persons, 2))
    found: dict[tuple[str, str], bool] = {}
    for one, other in pairs:
        between = (one.table, other.table)
        if one.table == other.table or "shuffle_rows" in {
            *tables[one.table].table_steps,
            *tables[other.table].table_steps,
        }:
            continue
        if rows[one.table] == rows[other.table] and _side_by_side(sources, one, other, rows[one.table]):
            found[between] = found.get(between, False) or one in persons or other in persons
    return tuple(KeyGroup(((one, ROW), (other, ROW)), people) for (one, other), people in found.items())


def kept_together(
    several: MultiTablePolicy, references: Iterable[Reference], sources: Mapping[str, Source]
) -> tuple[str, ...]:
    """Tables from which a key was taken that have the records of one person one after the other, as in the source."""
    ends = {one.child for one in references}
    ends |= {ReferenceEnd(name, policy.person) for name, policy in several.tables.items() if policy.person is not None}
    found: dict[str, None] = {}
    for end in sorted(ends, key=str):
        policy = several.tables[end.table]
        attribute = policy.attributes.get(end.column)
        released = attribute is not None and attribute.is_released
        if released or "shuffle_rows" in policy.table_steps or not policy.kind.has_records:
            continue
        with explained(sources[end.table]):
            column = pl.col(end.column).cast(pl.String).alias(KEY)
            keys = sources[end.table].scan().select(column).collect(engine="streaming")[KEY]
        if are_clustered(keys):
            found[end.table] = None
    return tuple(found)


def _side_by_side(sources: Mapping[str, Source], one: ReferenceEnd, other: ReferenceEnd, rows: int) -> bool:
    keys = []
    for end, name in ((one, KEY), (other, STAR)):
        with explained(sources[end.table]):
            column = pl.col(end.column).cast(pl.String).alias(name)
            keys.append(sources[end.table].scan().select(column).collect(engine="streaming")[name])
    if any(len(held) != rows for held in keys) or not rows:
        return False
    same = keys[0] == keys[1]
    return float(same.sum()) / rows >= MOSTLY


# ——— counting


def joined_risk(  # noqa: PLR0913  # the tables, how they join, what is asked
    frames: Mapping[str, pl.LazyFrame],
    quasi: Mapping[str, Sequence[str]],
    groups: tuple[KeyGroup, ...],
    *,
    several: MultiTablePolicy | None = None,
    rows: int = 0,
    most_records: Mapping[str, int] | None = None,
) -> JoinedRisk:
    """``several`` says what is asked of the joined tables; ``most_records`` how many records one person has."""
    models = () if several is None else several.joined_models
    asked = JoinedRisk(
        required=None if several is None else several.joined_k,
        accepted=None if several is None else several.joined.accept,
        lowest=None if several is None else several.joined.k,
    )
    if not groups:
        return asked
    if rows > JOINED_RECORDS:
        return JoinedRisk((), groups, asked.required, (), asked.accepted, asked.lowest, counted=False)
    tables = {}
    for name, frame in frames.items():
        present = frame.collect_schema().names()
        sensitive = tuple(dict.fromkeys(end.column for end, _ in models if end.table == name))
        own = tuple(column for column in quasi.get(name, ()) if column in present)
        tables[name] = JoinableTable(frame, own, sensitive, (most_records or {}).get(name, 1))
    joined = JoinedTables(tables, groups)
    people = joined.people()
    joining = tuple(group for group in groups if joined.joins(group))
    found = tuple(_find(joined, one, end, model, len(people)) for end, model in models for one in people)
    told = tuple(finding for finding in found if finding is not None)
    return JoinedRisk(people, joining, asked.required, told, asked.accepted, asked.lowest)


def _find(
    joined: JoinedTables, people: JoinedPeople, end: ReferenceEnd, model: SensitiveModel, kinds: int
) -> ModelFinding | None:
    """None where the keys of these people don't lead to the attribute's records."""
    values = joined.values(people, end.table, end.column)
    if values is None or not values.height:
        return None
    column = detect(values.lazy(), (end.column,))[end.column]
    known = {end.column: SensitiveKnowledge(ValueOrder(column, None))}
    measured = measure_classes(values.lazy(), (CLASS,), KEY, (end.column,), known)
    (found,) = measured.find((model.model_copy(update={"attribute": end.column}),))
    by = f" by {'.'.join(people.group.columns[0])}" if kinds > 1 else ""
    return ModelFinding(f"joined {model.key} of {end}{by}", found.required, found.achieved, found.met)
