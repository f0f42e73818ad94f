"""What a column can do to the people in it, and what is proposed for it (PDPC guide, step 1; ISO/IEC 20889, clause 6).

Three questions decide: is a value *unique* to a person, does it *stay* with the person, can others *get at* it? What is
recognised brings its answers along; for the rest uniqueness and the value type speak. In doubt a column is taken for a
quasi-identifier: to protect too much costs usefulness, to protect too little costs people.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from shoal.discover.key_columns import KeyEvidence
from shoal.discover.recognisers import Recogniser, RecogniserSet, Setting, default_recognisers
from shoal.discover.text_mentions import TextMention
from shoal.schema import Column, Role, ValueType
from shoal.schema.type_detection import AmbiguousDate

BELIEVED = 0.3
"""The confidence from which a column counts as recognised."""
NEARLY_UNIQUE = 0.9
FEW_RECORDS = 10
"""In fewer records uniqueness says nothing."""
SENTENCE_WORDS = 4
OWN_WORDS = 0.1
"""The share of records with a text of their own from which sentences are free text; else they are labels."""
MENTIONED = 0.2
"""The share of texts that name somebody from which labels are taken for free text too."""
SURELY = 0.8
PERSON = "person"
BY_WORDS = frozenset({PERSON, "name", "username"})
"""Kinds that lists of words tell."""


@dataclass(frozen=True)
class ValueSpread:
    """How the values of a column are spread over the records seen."""

    values: int
    """Records that have a value."""
    distinct: int
    single: int
    """Values that only one record has."""
    words: float
    """Words in a value, on average over the distinct values."""

    @property
    def uniqueness(self) -> float:
        return self.single / self.values if self.values else 0.0


@dataclass(frozen=True)
class RecognisedType:
    """A kind of value that a column was recognised as."""

    recogniser: Recogniser
    share: float
    """Of the distinct values seen."""
    confidence: float
    hinted: bool
    """The column's name speaks for it."""


@dataclass(frozen=True)
class RoleProposal:
    """A role and what to do, as it can stand in a policy, with the reasons in words."""

    role: Role
    reasons: tuple[str, ...]
    technique: Setting | None = None
    hierarchy: Setting | None = None


def recognise(column: Column, distinct: pl.Series, recognisers: RecogniserSet | None = None) -> RecognisedType | None:
    """The kind that the distinct values, given as text, most probably are of.

    Digits that pass the check of a card by chance don't outweigh a name that says what direct identifier it is.
    """
    if distinct.is_empty():
        return None
    known = recognisers or default_recognisers()
    found = [_match(recogniser, column, distinct) for recogniser in known if _possible(recogniser, column)]
    best = max(found, key=lambda identifier: identifier.confidence, default=None)
    if best and best.share < SURELY and not best.hinted and known.direct_by_name(column.name):
        best = max((one for one in found if one.hinted), key=lambda one: one.confidence, default=None)
    return best if best and best.confidence >= BELIEVED else None


def _possible(recogniser: Recogniser, column: Column) -> bool:
    fits = recogniser.types is None or column.type in recogniser.types
    return fits and (recogniser.strength > 0 or recogniser.hinted(column.name))


def _match(recogniser: Recogniser, column: Column, distinct: pl.Series) -> RecognisedType:
    share = recogniser.count(distinct) / len(distinct)
    hinted = recogniser.hinted(column.name)
    return RecognisedType(recogniser, share, recogniser.confidence(share, hinted=hinted), hinted)


@dataclass(frozen=True)
class ColumnEvidence:
    """What was seen of a column besides its spread."""

    identifier: RecognisedType | None = None
    key: KeyEvidence | None = None
    part_of_name: bool = False
    mentions: tuple[TextMention, ...] = ()


def is_free_text(
    column: Column, spread: ValueSpread, mentions: tuple[TextMention, ...], recognisers: RecogniserSet
) -> bool:
    """Sentences that are each record's own. The same few sentences in all records are labels, unless they name people.

    With few records nobody can tell, and they are taken for free text.
    """
    if column.type is not ValueType.TEXT or spread.words < SENTENCE_WORDS:
        return False
    if spread.values < FEW_RECORDS or spread.uniqueness >= OWN_WORDS:
        return True
    return bool(_naming(mentions, recognisers))


def _naming(mentions: tuple[TextMention, ...], recognisers: RecogniserSet) -> tuple[TextMention, ...]:
    """Those that name somebody. What is known by its form names them even where few texts hold it.

    Names go by words, and words by chance: they have to be in many texts.
    """
    return tuple(
        one
        for one in mentions
        if (one.type in recognisers.direct_types or one.type == PERSON)
        and one.confidence >= SURELY
        and (one.share >= MENTIONED or one.type not in BY_WORDS)
    )


def propose(column: Column, spread: ValueSpread, seen: ColumnEvidence, recognisers: RecogniserSet) -> RoleProposal:
    how_many, identifier = _shared(spread), seen.identifier
    if identifier:
        kind = identifier.recogniser
        return RoleProposal(kind.role, (_seen_as(identifier), kind.because, how_many), kind.technique, kind.hierarchy)
    if not spread.values and column.missing < column.rows:
        return RoleProposal(Role.DIRECT, ("it has values, but none that could be looked at",), "suppress")
    if column.missing == column.rows or (spread.distinct == 1 and spread.values == column.rows):
        return RoleProposal(Role.INSENSITIVE, ("no two records differ in it",))
    named = recognisers.direct_by_name(column.name)
    if named and not (seen.key and seen.key.numbering):
        reason = f"its name says that it holds {recognisers.title_of(named.type)}, though few values have that form"
        return RoleProposal(Role.DIRECT, (reason, named.because, how_many), "suppress")
    return _unrecognised(column, spread, seen, how_many, recognisers)


def _unrecognised(
    column: Column, spread: ValueSpread, seen: ColumnEvidence, how_many: str, recognisers: RecogniserSet
) -> RoleProposal:
    if seen.part_of_name:
        reason = "the column's name says that it holds a part of a person's name"
        return RoleProposal(
            Role.DIRECT, (reason, "it hardly ever changes, and everybody knows it", how_many), "suppress"
        )
    if seen.key is not None:
        told = (
            "it says where the record stood"
            if seen.key.numbering
            else "it joins the record with all others of its kind"
        )
        return RoleProposal(Role.DIRECT, (seen.key.why, told, how_many), "suppress")
    if is_free_text(column, spread, seen.mentions, recognisers):
        reason = "free text, which can name anybody and anything"
        return RoleProposal(Role.DIRECT, (reason, *_mentioned(seen.mentions), how_many), "suppress")
    if naming := _naming(seen.mentions, recognisers):
        kinds = ", ".join("people" if one.type == PERSON else recognisers.title_of(one.type) for one in naming)
        reason = f"its values hold {kinds}"
        return RoleProposal(Role.DIRECT, (reason, *_mentioned(naming), how_many), "suppress")
    return _by_type(column, spread, how_many)


def _mentioned(mentions: tuple[TextMention, ...]) -> tuple[str, ...]:
    if not mentions:
        return ()
    told = ", ".join(f"{one.type} in {one.share:.0%}" for one in mentions[:5])
    return (f"of the texts read: {told}",)


def _by_type(column: Column, spread: ValueSpread, how_many: str) -> RoleProposal:
    if isinstance(column, AmbiguousDate):
        reason = f"dates whose day and month can't be told apart: declare the format, {' or '.join(column.formats)}"
        return RoleProposal(Role.QUASI, (reason, how_many))
    if column.is_date:
        reason = "what happened on a day is known to those who were there"
        return RoleProposal(Role.QUASI, (reason, how_many), hierarchy="dates")
    if column.type is ValueType.DECIMAL:
        return RoleProposal(Role.SENSITIVE, ("a measured amount, which outsiders seldom know", how_many))
    if spread.uniqueness >= NEARLY_UNIQUE and spread.values >= FEW_RECORDS:
        return RoleProposal(Role.DIRECT, (how_many, "a value of one's own works like a name"), "suppress")
    return RoleProposal(Role.QUASI, ("nothing says that others can't know it", how_many))


def _seen_as(identifier: RecognisedType) -> str:
    kind = identifier.recogniser
    if not kind.strength and identifier.share == 1:
        return f"the column's name says that it holds {kind.title}, and all values fit"
    proof = f", {kind.proof} included" if kind.proof else ""
    named = ", and the column's name says so too" if identifier.hinted else ""
    return f"{identifier.share:.1%} of the distinct values have the form of {kind.title}{proof}{named}"


def _shared(spread: ValueSpread) -> str:
    if spread.values and spread.single == spread.values:
        return "every record seen has a value of its own"
    if spread.uniqueness >= 0.01:
        return f"{spread.uniqueness:.1%} of the records seen have a value of their own"
    return f"a value is shared by {spread.values / max(spread.distinct, 1):,.0f} of the records seen, on average"
