"""A table as places: each column by what it was recognised as, each text column by what its texts mention."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from shoal.discover import ColumnProfile, Profile, profile
from shoal.discover.recognisers import RecogniserSet, default_recognisers
from shoal.discover.text_mentions import TextMention
from shoal.scan.annotators import Annotate
from shoal.scan.findings import ScanFinding, ScannedSource, Weight, weight_of
from shoal.schema import Role

BY_NAME = 0.6
"""How far a column's name alone is believed."""
PERSON_KEY, KEY = "person_key", "key"
OFTEN = 0.2
SURELY = 0.8


def scan_table(
    source: str, frame: pl.LazyFrame, annotate: Annotate, recognisers: RecogniserSet | None = None
) -> tuple[list[ScanFinding], ScannedSource]:
    found = profile(frame, annotate=annotate, recognisers=recognisers)
    return findings_of(source, found, recognisers), looked_at(source, found)


def findings_of(source: str, found: Profile, recognisers: RecogniserSet | None = None) -> list[ScanFinding]:
    columns, known = (*found.columns, *found.nested), recognisers or default_recognisers()
    return [one for column in columns for one in _of_column(source, column, known, estimated=found.sampled)]


def looked_at(source: str, found: Profile) -> ScannedSource:
    seen = f"{found.rows_seen:,} records, every {-(-found.rows // found.rows_seen)}th" if found.sampled else ""
    return ScannedSource(source, "table", f"{found.rows:,} records, {len(found.columns)} columns", seen)


def _of_column(
    source: str, one: ColumnProfile, recognisers: RecogniserSet, *, estimated: bool
) -> Iterator[ScanFinding]:
    place = f"column '{one.name}'"
    present = one.column.rows - one.column.missing
    forms = tuple(shape.form for shape in one.shapes)
    known = _known(one, recognisers)
    if known is not None:
        kind, share, sure = known
        heavy = one.proposal.role is Role.DIRECT and kind != KEY
        weight = Weight.IDENTIFYING if heavy else weight_of(kind, recognisers) if kind != KEY else Weight.INDIRECT
        yield ScanFinding(source, place, kind, round(share * present), sure, weight, forms, (), estimated)
    for mention in one.mentions:
        if one.free_text or mention.type not in default_recognisers().types or _is_sure(mention):
            number = max(1, round(mention.share * present))
            weight = weight_of(mention.type, recognisers)
            where = f"texts in {place}"
            yield ScanFinding(source, where, mention.type, number, mention.confidence, weight, estimated=True)


def _is_sure(mention: TextMention) -> bool:
    """Whether it is no accident of words, in a column whose values are labels."""
    return mention.share >= OFTEN and mention.confidence >= SURELY


def _known(one: ColumnProfile, recognisers: RecogniserSet) -> tuple[str, float, float] | None:
    """The kind of a column, the share of its values, and how sure that is."""
    if one.identifier:
        return one.identifier.recogniser.type, one.identifier.share, one.identifier.confidence
    if one.name_part:
        return "name", 1.0, BY_NAME
    if one.key is not None:
        return (PERSON_KEY, 1.0, BY_NAME) if one.key.person else (KEY, 1.0, BY_NAME)
    if one.proposal.role is not Role.DIRECT or one.free_text:
        return None
    named = recognisers.direct_by_name(one.name)
    return (named.type, 1.0, BY_NAME / 2) if named else (KEY, one.spread.uniqueness, BY_NAME / 2)
