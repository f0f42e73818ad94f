"""What every technique is (ISO/IEC 20889, clause 9): parameters, facts, and a step that rewrites a frame.

A *technique* is what the policy says. Bound to a column and to what it needs to know (counts, a hierarchy, a random
stream) it becomes a *step*: frozen, picklable, a pure function from a Polars frame to a Polars frame. Engines map
steps over batches; there is no second implementation anywhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, Protocol, Self

from shoal.hierarchy.base import BoundHierarchy
from shoal.pseudonyms.secrets import Secrets
from shoal.randomness import Stream
from shoal.schema.columns import Column, Columns
from shoal.schema.counts import Counts
from shoal.schema.parameters import Parameters
from shoal.schema.properties import Lowers, Properties
from shoal.schema.registry import RegistrationError, Registry
from shoal.schema.roles import Role
from shoal.schema.steps import AttributeStep, ColumnStep, Scope, Step
from shoal.schema.values import ValueType

__all__ = [
    "ANY_ROLE",
    "ANY_TYPE",
    "EACH_PARTIALLY",
    "LINKING_AND_INFERENCE",
    "LINKING_ONLY",
    "AttributeStep",
    "ColumnStep",
    "Context",
    "Facts",
    "Lowered",
    "Lowers",
    "Missing",
    "Scope",
    "ScrubRequest",
    "Stage",
    "Step",
    "TableTechnique",
    "Technique",
    "TextScrubber",
    "table_a1",
    "table_techniques",
    "techniques",
]


class Stage(StrEnum):
    """When a technique on the whole table has its turn."""

    BEFORE_ATTRIBUTES = "before attributes"
    """On the columns as they are, before the attributes' own techniques."""
    AFTER_SOLVING = "after solving"
    """On what would be released, after the quasi-identifiers have their levels."""


class Missing(StrEnum):
    """What a technique does with a missing value."""

    KEPT = "kept"
    REFUSED = "refused"
    REPLACED = "replaced"


class Lowered(NamedTuple):
    """How far each of the three risks is lowered."""

    singling_out: Lowers
    linking: Lowers
    inference: Lowers


EACH_PARTIALLY = Lowered(Lowers.PARTIALLY, Lowers.PARTIALLY, Lowers.PARTIALLY)
LINKING_AND_INFERENCE = Lowered(Lowers.NO, Lowers.PARTIALLY, Lowers.PARTIALLY)
LINKING_ONLY = Lowered(Lowers.NO, Lowers.PARTIALLY, Lowers.NO)
ANY_TYPE = frozenset(ValueType)
ANY_ROLE = frozenset(Role)


@dataclass(frozen=True)
class Facts:
    """What a technique says of itself: one line of ISO/IEC 20889, table A.1."""

    title: str
    clause: str
    truthful: bool
    """Truthful at record level: what a record says after is still true of the person."""
    types: frozenset[ValueType]
    roles: frozenset[Role]
    singling_out: Lowers
    linking: Lowers
    inference: Lowers
    random: bool = False
    missing: Missing = Missing.KEPT

    @property
    def properties(self) -> Properties:
        return Properties(self.truthful, self.singling_out, self.linking, self.inference)


def table_a1(  # noqa: PLR0913  # a column of the table each
    title: str,
    clause: str,
    lowered: Lowered,
    *,
    truthful: bool = True,
    types: frozenset[ValueType] = ANY_TYPE,
    roles: frozenset[Role] = ANY_ROLE,
    random: bool = False,
    missing: Missing = Missing.KEPT,
) -> Facts:
    """A line of ISO/IEC 20889, table A.1, by its clause; most are for every type and role."""
    return Facts(title, f"ISO/IEC 20889, {clause}", truthful, types, roles, *lowered, random=random, missing=missing)


@dataclass(frozen=True)
class ScrubRequest:
    """How free text is to be scrubbed; the room of texts has the means."""

    replace: Literal["label", "mask", "pseudonym"]
    domain: str
    types: frozenset[str] | None
    char: str
    keep_length: bool
    dates: Literal["shift", "label", "keep"] | None
    ages: Literal["generalise", "label", "keep"] | None
    allow: tuple[str, ...] = ()
    """Phrases that stay."""
    deny: tuple[str, ...] = ()
    """Phrases that go wherever they stand."""


class TextScrubber(Protocol):
    def scrub_text(self, text: str, person: str = "") -> tuple[str, Mapping[str, int]]:
        """The text without what it says of people, and how much of each type was found.

        ``person`` is whose text it is: the dates of one person are shifted alike.
        """


@dataclass(frozen=True)
class Context:
    """What a technique is given when it is bound: the table's columns, the counts it asked for, its random stream."""

    columns: Columns
    stream: Stream
    counts: Mapping[tuple[str, ...], Counts] = field(default_factory=dict)
    hierarchy: BoundHierarchy | None = None
    person: str | None = None
    secrets: Secrets | None = None
    """Keys and pseudonyms; None only where no technique that needs them is bound."""
    scrubber: Callable[[ScrubRequest], TextScrubber] | None = None
    """Makes scrubbers of free text; None only where no technique that needs one is bound."""


class Technique(Parameters, ABC):
    """Parameters of a technique on one attribute (policy key under ``technique:``)."""

    key: ClassVar[str]
    facts: ClassVar[Facts]
    counts_people: ClassVar[bool] = False
    """Whether the counts that it asks for are to count people too, where the policy names them."""
    reads_originals: ClassVar[bool] = False
    """Whether the other columns that it reads have to be as they came: it is bound before their own techniques."""
    searches_text: ClassVar[bool] = False
    """Whether it replaces what it finds inside texts, so that the rest of a text stays as it was."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "key" in cls.__dict__:
            techniques.add(cls.key, cls)

    def resolve(self, base: Path) -> Self:
        """The same technique with relative paths taken from ``base``, the folder of the policy."""
        return self

    def also_reads(self) -> tuple[str, ...]:
        """Further columns that the technique reads beside its own."""
        return ()

    def also_alters(self) -> tuple[str, ...]:
        """Those of them that are no longer as they were afterwards."""
        return ()

    def creates(self) -> tuple[str, ...]:
        """New columns that it computes from its own and those that it also reads; bound before all other techniques."""
        return ()

    def wants(self, attribute: str) -> tuple[tuple[str, ...], ...]:
        """Sets of columns whose counts it needs before it can be bound."""
        return ()

    def refuse(self, column: Column) -> str | None:
        """Why the technique makes no sense on this column (T-29), or None. Extend with super().refuse(column) first."""
        if column.type not in self.facts.types:
            kinds = ", ".join(sorted(self.facts.types))
            return f"{self.key} works on {kinds}; column '{column.name}' is {column.type}"
        if column.missing and self.facts.missing is Missing.REFUSED:
            return f"{self.key} has no rule for missing values; column '{column.name}' has {column.missing}"
        return None

    @abstractmethod
    def bind(self, column: Column, context: Context) -> Step:
        """The step for one column."""

    @property
    def truthful(self) -> bool:
        """Whether what it writes, with these parameters, is true of the person."""
        return self.facts.truthful

    @property
    def moves_by(self) -> float | None:
        """By how much a number, or a date in days, is typically moved; None where that can't be told."""
        return None

    @property
    def removes(self) -> bool:
        """Whether the column is no longer in the table afterwards."""
        return False

    def leaves(self, column: Column) -> Column:
        """The column as it is after the step, so that the next technique in a list knows what it gets."""
        return column


class TableTechnique(Parameters, ABC):
    """Parameters of a technique on the whole table (policy key beside ``attributes:``)."""

    key: ClassVar[str]
    facts: ClassVar[Facts]
    stage: ClassVar[Stage]
    turn: ClassVar[int] = 50
    """Within the stage, lower ones come first; equal ones by key."""
    leaves_records: ClassVar[bool] = True
    """Whether a row of its output still speaks of one person."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "key" in cls.__dict__:
            if not isinstance(getattr(cls, "stage", None), Stage):
                raise RegistrationError(f"the table technique {cls.key!r} has to declare its stage")
            table_techniques.add(cls.key, cls)

    def creates(self) -> tuple[str, ...]:
        """Columns of the output that it makes and that are no attributes of the policy."""
        return ()

    def report_notes(self) -> Mapping[str, str]:
        """What becomes of the columns that it changes, in a few words each. Of those that it leaves out, nothing."""
        return {}

    def wants(self) -> tuple[tuple[str, ...], ...]:
        return ()

    @abstractmethod
    def columns(self, person: str | None) -> tuple[str, ...]:
        """The columns it names, so that the policy can be checked against the data."""

    def refuse(self, columns: Columns) -> str | None:
        return None

    @abstractmethod
    def bind(self, context: Context) -> Step: ...


techniques: Registry[type[Technique]] = Registry("shoal.techniques", "technique", "shoal.techniques")
table_techniques: Registry[type[TableTechnique]] = Registry(
    "shoal.techniques", "table technique", "shoal.table_techniques"
)
