"""Example rows of a release, before and after, that are nobody's.

What stands under *after* is a label of the release that many records have and that is no value of the original, or made
up to look like the column; *before* is made up to fit it. No two cells of an example come from one record. Where
nothing can be made up that tells no value, words stand instead. A recipient gets only what the released label itself
tells; what identifiers and numbers look like in the original is the owner's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

import numpy as np
import polars as pl

from shoal.assess.comparison.paired_tables import MEASURING
from shoal.hierarchy.base import TOP
from shoal.hierarchy.labels.spans import Spans, date_spans, number_spans
from shoal.io import ScannedTable, beginning
from shoal.kernels.look_alikes import is_prose, pattern_of, unknown_to
from shoal.measurement.usefulness.distribution_bins import LEAST_RECORDS
from shoal.policy import EVERYTHING_ELSE, Policy
from shoal.policy.treatment import Treatment, treatments
from shoal.results.evidence_facts import ExampleCell, ExampleColumn
from shoal.schema import Role

EXAMPLES: Final = 3
MOST_COLUMNS: Final = 60
LOOKED_AT: Final = 10_000
"""Records at the beginning of a table that tell what its columns look like."""
MOST_RECORDS: Final = 1_000_000
"""Of larger tables nothing is made up that would have to be looked for in all of them."""
_EPOCH: Final = date(1970, 1, 1)
_AS_IT_IS: Final = ExampleCell("a value", "the same", "a value")
_LEFT_OUT: Final = "left out"
BEFORE: Final = "\nbefore"
AFTER: Final = "\nafter"


@dataclass(frozen=True)
class _TableBeginnings:
    """The beginning of both tables, and what is known of their columns."""

    policy: Policy
    original: pl.DataFrame
    released: pl.DataFrame
    values: Mapping[str, pl.Series]
    """Of each quasi-identifier that was generalised, all values of the original."""

    @property
    def treated(self) -> dict[str, Treatment]:
        return {name: became for name, became in treatments(self.policy).items() if name in self.released.columns}

    def patterns(self) -> Iterator[tuple[str, str, str]]:
        """Key, column and pattern of what is made up by what a column looks like."""
        treated, kept = self.treated, (Treatment.KEPT, Treatment.GENERALISED)
        for name in self.original.columns:
            if treated.get(name) in kept:
                continue
            for side, frame in ((BEFORE, self.original), (AFTER, self.released)):
                pattern = pattern_of(frame[name]) if name in frame.columns else None
                if pattern is not None:
                    yield name + side, name, pattern


def example_rows(
    policy: Policy,
    original: ScannedTable,
    released: ScannedTable,
    records: int,
    values: Mapping[str, pl.Series],
) -> tuple[ExampleColumn, ...]:
    """Some examples of each attribute, in the order of the policy; none where records of the release are not people's
    own. ``values`` has those of the original, by quasi-identifier that was generalised.
    """
    if not policy.kind.has_traceable_rows or not records:
        return ()
    before, after = beginning(original, LOOKED_AT), beginning(released, LOOKED_AT)
    shown = set(after.collect_schema().names())
    present = [name for name in before.collect_schema().names() if name in policy.attributes][:MOST_COLUMNS]
    tables = _TableBeginnings(
        policy,
        before.select(present).collect(),
        after.select(name for name in present if name in shown).collect(),
        values,
    )
    patterns = {key: (column, pattern) for key, column, pattern in tables.patterns()}
    texts = unknown_to(original.scan(), patterns, MEASURING, EXAMPLES) if records <= MOST_RECORDS else {}
    treated = tables.treated
    names = (name for name in policy.attributes if name != EVERYTHING_ELSE and name in present)
    return tuple(ExampleColumn(name, name in shown, _cells(tables, name, treated.get(name), texts)) for name in names)


def _cells(
    tables: _TableBeginnings, name: str, treated: Treatment | None, texts: Mapping[str, tuple[str, ...]]
) -> tuple[ExampleCell, ...]:
    if treated is Treatment.KEPT:
        return (_AS_IT_IS,) * EXAMPLES
    if treated is Treatment.GENERALISED:
        return _generalised(tables, name)
    words = "an identifier" if tables.policy.attributes[name].role is Role.DIRECT else "a value"
    words = "free text" if is_prose(tables.original[name]) else words
    before = texts.get(name + BEFORE, ())
    after = texts.get(name + AFTER, ()) if treated is not None else (_LEFT_OUT,) * EXAMPLES
    return tuple(
        ExampleCell(
            before[place] if place < len(before) else words,
            after[place] if place < len(after) else "another text" if words == "free text" else "another value",
            words,
        )
        for place in range(EXAMPLES)
    )


def _generalised(tables: _TableBeginnings, name: str) -> tuple[ExampleCell, ...]:
    """The labels that most records have, of those that are no value of the original."""
    counted = tables.released[name].drop_nulls().cast(pl.String).alias("label").value_counts(sort=True, name="records")
    counted = counted.sort("records", "label", descending=[True, False])
    starred = bool((counted["label"] == TOP).any())
    common = counted.filter((pl.col("records") >= LEAST_RECORDS) & (pl.col("label") != TOP))["label"]
    own = tables.values.get(name, common)
    labels = common.filter(~common.is_in(own.cast(pl.String).implode())).head(EXAMPLES)
    spread = MEASURING.stream("example rows", name).uniform(np.arange(len(labels), dtype=np.uint64))
    cells = _fitting(tables, name, labels, spread.tolist())
    if len(cells) < EXAMPLES and starred:
        cells.append(ExampleCell("a value", TOP, "a value"))
    return tuple((*cells, *(_AS_IT_IS,) * EXAMPLES)[:EXAMPLES])


def _fitting(tables: _TableBeginnings, name: str, labels: pl.Series, spread: Sequence[float]) -> list[ExampleCell]:
    """For each label something that it could have been made of, told by the label alone.

    Of codes with covered characters there are few, and any that is made up may be somebody's: words stand instead.
    """
    if labels.is_empty():
        return []
    written = tables.policy.attributes[name].format or "%Y-%m-%d"
    is_date, numbers = _is_date(tables.original[name]), number_spans(labels, -math.inf, math.inf)
    cells = []
    for place, (label, at) in enumerate(zip(labels, spread, strict=True)):
        # Each by itself: several would be read in the format that most of them have.
        dates = date_spans(pl.Series([label])) if is_date else None
        if dates is not None and dates.known[0]:
            before = (_EPOCH + timedelta(days=round(_between(dates, 0, at)))).strftime(written)
        elif numbers.known[place]:
            value = _between(numbers, place, at)
            before = f"{value:.2f}" if "." in label else f"{round(value)}"
        else:
            before = f"a value of {label}"
        cells.append(ExampleCell(before, label, before))
    return cells


def _is_date(values: pl.Series) -> bool:
    if isinstance(values.dtype, pl.Date | pl.Datetime):
        return True
    some = values.drop_nulls().head(100).cast(pl.String)
    return len(some) > 0 and bool(some.str.contains(r"^[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}").all())


def _between(spans: Spans, place: int, at: float) -> float:
    """A point of one of the spans; one without an end is cut off not far from the other."""
    low, high = float(spans.low[place]), float(spans.high[place])
    if math.isinf(low):
        low = high - max(1.0, abs(high) / 5)
    if math.isinf(high):
        high = low + max(1.0, abs(low) / 5)
    return low + (high - low) * at
