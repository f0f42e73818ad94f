"""What a table holds, column by column, without showing a value (PDPC guide, step 1: know your data).

Types, rows and missing values come from all records, in a streamed pass. The rest is found on a systematic sample,
every n-th record, so that a sorted table is seen from end to end; ``sampled`` says so, and a value that is unique in a
sample need not be unique in the table. Forms and check digits are tested once per distinct value.

Free text is read by an ``annotate``, where one is given. What is inside records, lists and JSON is laid out by path.
Beyond the single columns, ``inferences`` says what columns give away of each other.

>>> people = pl.LazyFrame({"pan": ["ACUPA7085R", "AAPPV8261K"], "age": ["34", "41"]})
>>> [(column.name, str(column.proposal.role)) for column in profile(people).columns]
[('pan', 'direct'), ('age', 'quasi')]
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import polars as pl

from shoal.discover.column_profile import ColumnProfile, Json, Profile
from shoal.discover.column_roles import ColumnEvidence, ValueSpread, is_free_text, propose, recognise
from shoal.discover.inferences import LOOKED_AT, DescribedColumn, inferences
from shoal.discover.interval_origin import with_origin
from shoal.discover.key_columns import is_name_part, key_in
from shoal.discover.nested_values import from_json, is_nested, leaves
from shoal.discover.recognisers import RecogniserSet, Setting, default_recognisers, words
from shoal.discover.repeated_identifiers import repeated_identifiers
from shoal.discover.role_resolution import resolve_roles
from shoal.discover.rounding import rounding_base
from shoal.discover.text_mentions import Annotate, mentions_in
from shoal.discover.value_kinds import kind_of
from shoal.discover.value_shapes import common_shapes
from shoal.errors import DataError
from shoal.hierarchy.kinds.places import PlacesHierarchy
from shoal.hierarchy.proposals import ColumnValues
from shoal.schema import Column, Role, ValueType
from shoal.schema.progress import Progress
from shoal.schema.type_detection import detect

__all__ = ["ColumnProfile", "Json", "Profile", "profile"]

SAMPLE = 100_000
_AFTER_COLUMNS = 2
"""Steps: what columns give away of each other; roles that follow from it."""
READ_WORDS = 2.5
"""Words in a value, on average, from which a column of text is read for what it mentions."""


def profile(
    frame: pl.LazyFrame,
    *,
    sample: int | None = SAMPLE,
    annotate: Annotate | None = None,
    recognisers: RecogniserSet | None = None,
    progress: Progress | None = None,
) -> Profile:
    """The profile of a table from at most ``sample`` of its records, or from all of them (``None``).

    A sample is held in memory; without one, the distinct values of one column at a time. ``annotate`` reads free text.
    ``progress`` is told of each column.
    """
    if sample is not None and sample < 1:
        raise DataError(f"a sample of {sample} records shows nothing")
    columns = detect(frame, frame.collect_schema().names())
    rows = max((column.rows for column in columns.values()), default=0)
    step = 1 if sample is None else max(1, math.ceil(rows / sample))
    seen = frame if sample is None else _every(step, frame).lazy()
    reading = _ColumnReading(annotate, recognisers or default_recognisers())
    advance = progress or _unheard
    found = []
    for number, column in enumerate(columns.values()):
        advance(number, len(columns) + _AFTER_COLUMNS)
        found.append(reading.profile(column, seen))
    advance(len(columns), len(columns) + _AFTER_COLUMNS)
    looked_at = _every(max(1, math.ceil(rows / step / LOOKED_AT)), seen)
    told = inferences(looked_at, [_described(one) for one in found])
    nested = tuple(_inside(looked_at, columns, reading))
    advance(len(columns) + 1, len(columns) + _AFTER_COLUMNS)
    known = resolve_roles(found, looked_at, told)
    held = repeated_identifiers(looked_at, known)
    return Profile(rows, math.ceil(rows / step), known, told, nested, looked_at.height, held)


def _unheard(_done: int, _total: int | None) -> None:
    """Nobody listens."""


def _every(step: int, frame: pl.LazyFrame) -> pl.DataFrame:
    """Each text is copied: as a view it would keep alive the whole block of the file it was read from."""
    return frame.gather_every(step).with_columns(pl.col(pl.String) + "").collect(engine="streaming")


@dataclass(frozen=True)
class _ColumnReading:
    """By what a column is known."""

    annotate: Annotate | None
    recognisers: RecogniserSet

    def profile(self, column: Column, seen: pl.LazyFrame) -> ColumnProfile:
        opaque = column.storage.is_nested() or isinstance(column.storage, pl.Binary | pl.Duration | pl.Object)
        text = pl.lit(None, pl.String) if opaque else pl.col(column.name).cast(pl.String)
        values = seen.select(value=text).drop_nulls().group_by("value").len("records").sort("value")
        counted = values.collect(engine="streaming")
        distinct = counted["value"]
        spread = ValueSpread(
            values=int(counted["records"].sum()),
            distinct=counted.height,
            single=int((counted["records"] == 1).sum()),
            words=int(distinct.str.count_matches(r"\S+").sum()) / max(counted.height, 1),
        )
        identifier = recognise(column, distinct, self.recognisers)
        is_text = column.type is ValueType.TEXT and identifier is None and spread.words >= READ_WORDS
        mentions = mentions_in(distinct, self.annotate) if self.annotate is not None and is_text else ()
        free_text = identifier is None and is_free_text(column, spread, mentions, self.recognisers)
        evidence = ColumnEvidence(identifier, key_in(column, distinct), is_name_part(column, distinct), mentions)
        proposal = propose(column, spread, evidence, self.recognisers)
        if identifier is not None and identifier.recogniser.type == "place":
            proposal = replace(proposal, hierarchy=_of_places(column, counted))
        proposal = replace(proposal, hierarchy=with_origin(proposal.hierarchy, counted))
        return ColumnProfile(
            column,
            spread,
            common_shapes(distinct),
            identifier,
            proposal,
            kind_of(column, distinct, free_text=free_text or _is_own(spread)),
            mentions,
            evidence.key,
            free_text,
            evidence.part_of_name,
            rounding_base(column, distinct),
        )


def _of_places(column: Column, counted: pl.DataFrame) -> Setting | None:
    found = next(PlacesHierarchy.propose(ColumnValues(column, counted, frozenset(words(column.name).split()))), None)
    return None if found is None else {PlacesHierarchy.key: found.parameters}


def _is_own(spread: ValueSpread) -> bool:
    """Values that are no categories, because hardly two records share one."""
    return spread.values >= 10 and spread.uniqueness >= 0.5


def _described(found: ColumnProfile) -> DescribedColumn:
    kind = found.identifier.recogniser.type if found.identifier else None
    return DescribedColumn(found.column, found.kind, kind, found.proposal.role is Role.DIRECT, found.free_text)


def _inside(looked_at: pl.DataFrame, columns: Mapping[str, Column], reading: _ColumnReading) -> Iterator[ColumnProfile]:
    """What nested columns hold, from the records looked at."""
    for name in columns:
        values = looked_at[name] if is_nested(looked_at[name].dtype) else from_json(looked_at[name])
        for leaf in leaves(values) if values is not None else ():
            table = leaf.to_frame().lazy()
            yield reading.profile(detect(table, [leaf.name])[leaf.name], table)
