"""What a table holds, column by column, without showing a value (PDPC guide, step 1: know your data).

Types, rows and missing values come from all records, in a streamed pass. The rest is found on a systematic sample,
every n-th record, so that a sorted table is seen from end to end; ``sampled`` says so, and a value that is unique in a
sample need not be unique in the table. Forms and check digits are tested once per distinct value.

>>> people = pl.LazyFrame({"pan": ["ACUPA7085R", "AAPPV8261K"], "age": ["34", "41"]})
>>> [(column.name, str(column.proposal.role)) for column in profile(people).columns]
[('pan', 'direct'), ('age', 'quasi')]
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from shoal.discover.classify import Identifier, Proposal, Spread, propose, recognise
from shoal.discover.shapes import Shape, common_shapes
from shoal.errors import DataError
from shoal.schema import Column
from shoal.schema.detect import detect

SAMPLE = 100_000
Json = str | int | float | bool | Sequence["Json"] | Mapping[str, "Json"] | None


@dataclass(frozen=True)
class ColumnProfile:
    """What is known of one column, and what is proposed for it."""

    column: Column
    spread: Spread
    shapes: tuple[Shape, ...]
    identifier: Identifier | None
    proposal: Proposal

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def missing(self) -> float:
        """The share of all records that have no value."""
        return self.column.missing / self.column.rows if self.column.rows else 0.0

    def to_dict(self) -> dict[str, Json]:
        found = self.identifier
        return {
            "name": self.name,
            "type": str(self.column.type),
            "date_format": self.column.date_format,
            "missing": _rounded(self.missing),
            "distinct": self.spread.distinct,
            "uniqueness": _rounded(self.spread.uniqueness),
            "shapes": [{"form": shape.form, "share": _rounded(shape.share)} for shape in self.shapes],
            "recognised": found.recogniser.key if found else None,
            "recognised_share": _rounded(found.share) if found else None,
            "confidence": _rounded(found.confidence) if found else None,
            "role": str(self.proposal.role),
            "technique": self.proposal.technique,
            "hierarchy": self.proposal.hierarchy,
            "reason": "; ".join(self.proposal.reasons),
        }


@dataclass(frozen=True)
class Profile:
    """What is known of a table. Nothing in it is a value of the table."""

    rows: int
    rows_seen: int
    columns: tuple[ColumnProfile, ...]

    @property
    def sampled(self) -> bool:
        return self.rows_seen < self.rows

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON types."""
        return {
            "rows": self.rows,
            "rows_seen": self.rows_seen,
            "sampled": self.sampled,
            "columns": [column.to_dict() for column in self.columns],
        }


def profile(frame: pl.LazyFrame, *, sample: int | None = SAMPLE) -> Profile:
    """The profile of a table from at most ``sample`` of its records, or from all of them (``None``).

    A sample is held in memory; without one, the distinct values of one column at a time.
    """
    if sample is not None and sample < 1:
        raise DataError(f"a sample of {sample} records shows nothing")
    columns = detect(frame, frame.collect_schema().names())
    rows = max((column.rows for column in columns.values()), default=0)
    step = 1 if sample is None else max(1, math.ceil(rows / sample))
    seen = frame if sample is None else _every(step, frame).lazy()
    profiles = tuple(_profile(column, seen) for column in columns.values())
    return Profile(rows, math.ceil(rows / step), profiles)


def _every(step: int, frame: pl.LazyFrame) -> pl.DataFrame:
    """Each text is copied: as a view it would keep alive the whole block of the file it was read from."""
    return frame.gather_every(step).with_columns(pl.col(pl.String) + "").collect(engine="streaming")


def _profile(column: Column, seen: pl.LazyFrame) -> ColumnProfile:
    opaque = column.storage.is_nested() or isinstance(column.storage, pl.Binary | pl.Duration | pl.Object)
    text = pl.lit(None, pl.String) if opaque else pl.col(column.name).cast(pl.String)
    values = seen.select(value=text).drop_nulls().group_by("value").len("records").sort("value")
    counted = values.collect(engine="streaming")
    distinct = counted["value"]
    spread = Spread(
        values=int(counted["records"].sum()),
        distinct=counted.height,
        single=int((counted["records"] == 1).sum()),
        words=int(distinct.str.count_matches(r"\S+").sum()) / max(counted.height, 1),
    )
    identifier = recognise(column, distinct)
    return ColumnProfile(column, spread, common_shapes(distinct), identifier, propose(column, spread, identifier))


def _rounded(share: float) -> float:
    return round(share, 3)
