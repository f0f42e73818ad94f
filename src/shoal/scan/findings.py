"""What a scan finds: kinds, places, counts, how sure. No value, only the form of values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from shoal.discover.recognisers import RecogniserSet, default_recognisers
from shoal.schema.notebook_html import card, grid, listing, short


class Weight(StrEnum):
    """What a kind of data can do to a person."""

    IDENTIFYING = "identifying"
    """It leads to a person by itself."""
    INDIRECT = "indirect"
    """Together with others it may lead to a person, or it is about one."""


IN_TEXT_INDIRECT = frozenset({"url", "domain", "date", "time", "title", "age", "organisation", "username", "number"})
"""Kinds that are in most texts about nobody in particular: in text they are counted, and no gate is shut by them."""
IDENTIFYING = frozenset({"person", "name", "ip", "ipv4", "ipv6", "mac", "address", "unchecked", "secret", "person_key"})
"""Kinds that lead to a person, whatever role a column of the kind has."""


def weight_of(kind: str, recognisers: RecogniserSet | None = None) -> Weight:
    """
    >>> str(weight_of("email")), str(weight_of("date")), str(weight_of("ipv4"))
    ('identifying', 'indirect', 'identifying')
    """
    if kind in IDENTIFYING:
        return Weight.IDENTIFYING
    if kind in IN_TEXT_INDIRECT or kind not in (recognisers or default_recognisers()).direct_types:
        return Weight.INDIRECT
    return Weight.IDENTIFYING


@dataclass(frozen=True)
class ScanFinding:
    """One kind of data in one place."""

    source: str
    """A file, or a table of a database."""
    place: str
    """Where in it: a column, a line, a header, a page."""
    type: str
    count: int
    confidence: float
    weight: Weight
    forms: tuple[str, ...] = ()
    """The commonest forms, as ``Aaaa 999``."""
    lines: tuple[int, ...] = ()
    """The first lines of a text that hold it."""
    estimated: bool = False
    """Whether the count was put together from a sample."""

    def to_dict(self) -> dict[str, object]:
        return {
            "source": self.source,
            "place": self.place,
            "type": self.type,
            "count": self.count,
            "confidence": round(self.confidence, 3),
            "weight": str(self.weight),
            "forms": list(self.forms),
            "lines": list(self.lines),
            "estimated": self.estimated,
        }


@dataclass(frozen=True)
class ScannedSource:
    """A file or table that was looked at, and how far."""

    source: str
    kind: str
    amount: str
    """How much there is, in words."""
    sampled: str = ""
    """How much of it was looked at, where that is not all."""

    def to_dict(self) -> dict[str, object]:
        return {"source": self.source, "kind": self.kind, "amount": self.amount, "sampled": self.sampled}


@dataclass(frozen=True)
class UnreadSource:
    """What could not be looked at, and why."""

    source: str
    why: str

    def to_dict(self) -> dict[str, object]:
        return {"source": self.source, "why": self.why}


@dataclass(frozen=True)
class TypeTotal:
    """One kind over all places."""

    type: str
    weight: Weight
    count: int
    sources: int
    places: int
    confidence: float
    """The mean over the places, by count."""

    def to_dict(self) -> dict[str, object]:
        return {
            "type": self.type,
            "weight": str(self.weight),
            "count": self.count,
            "sources": self.sources,
            "places": self.places,
            "confidence": round(self.confidence, 3),
        }


@dataclass(frozen=True)
class Scan:
    findings: tuple[ScanFinding, ...]
    looked: tuple[ScannedSource, ...]
    unread: tuple[UnreadSource, ...]
    skipped: tuple[str, ...] = ()
    """Folders and links that were passed by."""

    def __repr__(self) -> str:
        return short("Scan", "", self._figures())

    def _repr_html_(self) -> str:
        rows = [
            (one.type.replace("_", " "), one.weight, f"{one.count:,}", f"{one.places} in {one.sources}")
            for one in self.by_type
        ]
        kinds = grid(("kind", "weight", "found", "places in sources"), rows)
        unread = listing("Not read", (f"{one.source}: {one.why}" for one in self.unread))
        return card("Personal data", self._figures(), kinds, unread)

    def _figures(self) -> dict[str, str]:
        return {
            "looked at": f"{len(self.looked):,}",
            "identifying values": f"{self.identifying:,}",
            "not readable": f"{len(self.unread):,}",
        }

    @property
    def by_type(self) -> tuple[TypeTotal, ...]:
        grouped: dict[str, list[ScanFinding]] = defaultdict(list)
        for one in self.findings:
            grouped[one.type].append(one)
        return tuple(sorted((_of_type(kind, found) for kind, found in grouped.items()), key=_heaviest))

    @property
    def identifying(self) -> int:
        return sum(one.count for one in self.findings if one.weight is Weight.IDENTIFYING)

    @property
    def sources_with_findings(self) -> int:
        return len({one.source for one in self.findings if one.weight is Weight.IDENTIFYING})

    @property
    def sampled(self) -> bool:
        return any(one.sampled for one in self.looked)

    def to_dict(self) -> dict[str, object]:
        """Plain JSON types, and no value."""
        return {
            "types": [one.to_dict() for one in self.by_type],
            "findings": [one.to_dict() for one in self.findings],
            "looked": [one.to_dict() for one in self.looked],
            "unread": [one.to_dict() for one in self.unread],
            "skipped": list(self.skipped),
            "sampled": self.sampled,
            "identifying": self.identifying,
        }


def _of_type(kind: str, found: Iterable[ScanFinding]) -> TypeTotal:
    several = list(found)
    count = sum(one.count for one in several)
    sure = sum(one.confidence * one.count for one in several) / max(count, 1)
    places = len({(one.source, one.place) for one in several})
    return TypeTotal(kind, several[0].weight, count, len({one.source for one in several}), places, sure)


def _heaviest(one: TypeTotal) -> tuple[bool, int, str]:
    return one.weight is not Weight.IDENTIFYING, -one.count, one.type
