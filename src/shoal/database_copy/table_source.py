"""One table of the schema as a source of a plan: read anew for each pass, only the columns that the pass needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from shoal.database_copy.subset import ChosenRows
from shoal.io.database_schemas.catalogue import TableFacts
from shoal.io.database_schemas.schema_source import SchemaSource
from shoal.kernels.batch_streams import streamed_columns


@dataclass(frozen=True)
class TableSource:
    label: str
    schema_source: SchemaSource = field(repr=False)
    facts: TableFacts = field(repr=False)
    unchanged: frozenset[str] = frozenset()
    """Columns that are read as text, since nothing is done to them."""
    chosen: ChosenRows | None = field(default=None, repr=False)
    """The records that are copied; all if None."""

    def scan(self) -> pl.LazyFrame:
        return streamed_columns(self.batches, self._schema)

    def batches(self, columns: list[str] | None = None) -> Iterator[pl.DataFrame]:
        wanted = [one.name for one in self.facts.columns if columns is None or one.name in columns]
        keys = self.chosen.columns if self.chosen is not None else ()
        for batch in self.schema_source.read(self.facts, wanted, self.unchanged, keys):
            kept = batch if self.chosen is None else self.chosen.of(batch)
            yield kept if columns is None else kept.select(columns)

    @cached_property
    def _schema(self) -> pl.Schema:
        return self.schema_source.schema(self.facts, self.unchanged)
