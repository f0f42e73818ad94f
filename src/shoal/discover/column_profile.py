"""A profile: what is known of a table and of its columns. Nothing in it is a value of the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shoal.discover.column_roles import RecognisedType, RoleProposal, ValueSpread
from shoal.discover.inferences import ColumnInference
from shoal.discover.key_columns import KeyEvidence
from shoal.discover.text_mentions import TextMention
from shoal.discover.value_kinds import ValueKind
from shoal.discover.value_shapes import ValueShape
from shoal.errors import DataError
from shoal.schema import Column
from shoal.schema.notebook_html import card, grid, short
from shoal.schema.registry import did_you_mean

Json = str | int | float | bool | Sequence["Json"] | Mapping[str, "Json"] | None


@dataclass(frozen=True)
class ColumnProfile:
    """What is known of one column, and what is proposed for it."""

    column: Column
    spread: ValueSpread
    shapes: tuple[ValueShape, ...]
    identifier: RecognisedType | None
    proposal: RoleProposal
    kind: ValueKind = ValueKind.TEXT
    mentions: tuple[TextMention, ...] = ()
    """What its texts hold, where they were read."""
    key: KeyEvidence | None = None
    free_text: bool = False
    name_part: bool = False
    """Its name says that it holds a part of people's names."""
    rounding_base: int | float | None = field(default=None, repr=False)
    """A base in proportion to the spread of its numbers, that they can be rounded to."""

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def type(self) -> str | None:
        """What it was recognised as."""
        return self.identifier.recogniser.type if self.identifier else None

    @property
    def missing(self) -> float:
        """The share of all records that have no value."""
        return self.column.missing / self.column.rows if self.column.rows else 0.0

    def to_dict(self) -> dict[str, Json]:
        found = self.identifier
        return {
            "name": self.name,
            "type": str(self.column.type),
            "kind": str(self.kind),
            "date_format": self.column.date_format,
            "missing": _rounded(self.missing),
            "distinct": self.spread.distinct,
            "uniqueness": _rounded(self.spread.uniqueness),
            "shapes": [{"form": shape.form, "share": _rounded(shape.share)} for shape in self.shapes],
            "recognised": self.type,
            "recognised_share": _rounded(found.share) if found else None,
            "confidence": _rounded(found.confidence) if found else None,
            "mentions": [
                {"type": one.type, "share": _rounded(one.share), "confidence": _rounded(one.confidence)}
                for one in self.mentions
            ],
            "role": str(self.proposal.role),
            "technique": self.proposal.technique,
            "hierarchy": self.proposal.hierarchy,
            "reason": "; ".join(self.proposal.reasons),
        }


@dataclass(frozen=True)
class Profile:
    """What is known of a table."""

    rows: int
    rows_seen: int
    columns: tuple[ColumnProfile, ...]
    inferences: tuple[ColumnInference, ...] = ()
    nested: tuple[ColumnProfile, ...] = ()
    """What is inside records, lists and JSON, by path."""
    rows_compared: int = 0
    """Records that inferences and nested values were looked for in."""
    repeats: Mapping[str, str] = field(default_factory=dict)
    """By column, the direct identifier whose values it holds beside their own record."""

    @property
    def sampled(self) -> bool:
        return self.rows_seen < self.rows

    def __repr__(self) -> str:
        return short("Profile", "", self._figures())

    def _repr_html_(self) -> str:
        rows = [
            (one.name, one.column.type, one.proposal.role, "; ".join(one.proposal.reasons), f"{one.missing:.0%}")
            for one in (*self.columns, *self.nested)
        ]
        header = ("column", "type", "proposed role", "why", "missing")
        return card("Profile", self._figures(), grid(header, rows))

    def _figures(self) -> dict[str, str]:
        roles = Counter(str(one.proposal.role) for one in self.columns)
        figures = {"records": f"{self.rows:,}", "columns": str(len(self.columns))}
        return figures | {role: str(number) for role, number in sorted(roles.items())}

    def __getitem__(self, name: str) -> ColumnProfile:
        """The profile of one column."""
        names = tuple(column.name for column in self.columns)
        if name not in names:
            raise DataError(f"the table has no column '{name}'{did_you_mean(str(name), names)}")
        return self.columns[names.index(name)]

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON types."""
        return {
            "rows": self.rows,
            "rows_seen": self.rows_seen,
            "rows_compared": self.rows_compared,
            "sampled": self.sampled,
            "columns": [column.to_dict() for column in self.columns],
            "nested": [column.to_dict() for column in self.nested],
            "inferences": [one.to_dict() for one in self.inferences],
        }


def _rounded(share: float) -> float:
    return round(share, 3)
