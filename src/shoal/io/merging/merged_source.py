"""Several sources as one: their records one after the other, in the order of the mapping, then of the files' names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from glob import glob
from pathlib import Path

import polars as pl
from polars.exceptions import PolarsError

from shoal.errors import DataError, SourceError
from shoal.io.formats import parquet
from shoal.io.formats.base import DEFAULT_FORMAT, format_named
from shoal.io.merging.conversion import Conversion
from shoal.io.merging.mapping import MappedSource, MappingFinding, SourceMapping, TargetColumn
from shoal.io.options import FileOptions, SourceOptions
from shoal.io.reader_options import Format
from shoal.io.sources import FileSource, Source, explained
from shoal.schema.registry import did_you_mean

_WILD = frozenset("*?[")


Failures = Counter[str]
"""How many values of which column can't be converted, and why."""


def expanded(options: SourceOptions, base: Path) -> tuple[SourceOptions, ...]:
    """A pattern as the files that fit it, by their names; what is no pattern as it is."""
    if not isinstance(options, FileOptions) or _WILD.isdisjoint(options.path):
        return (options,)
    pattern = str(Path(options.path).expanduser())
    if (base / pattern).exists():
        return (options,)
    found = sorted(glob(pattern, root_dir=base, recursive=True))  # noqa: PTH207  # Path.glob takes no absolute pattern
    if not found:
        raise SourceError(f"{options.label}: no file fits this pattern")
    return tuple(options.model_copy(update={"path": path}) for path in found)


@dataclass(frozen=True)
class MappedTable:
    """One opened source, or one of the files that are one source, beside what the mapping says of it."""

    source: Source
    place: int
    """Which source of the mapping it is of."""
    mapped: MappedSource
    mapping: SourceMapping
    records: int = 0
    """Known once it was ``counted``."""

    @cached_property
    def schema(self) -> pl.Schema:
        with explained(self.source):
            return self.source.scan().collect_schema()

    def findings(self) -> Iterator[MappingFinding]:
        """Columns that the mapping names and that are not there, and those that it says nothing of."""
        names, label, at = tuple(self.schema), self.source.label, ("sources", self.place)
        for target, origin in self.mapped.origins.items():
            if origin.column is not None and origin.column not in names:
                said = f"{label} has no column '{origin.column}'{did_you_mean(origin.column, names)}"
                yield (*at, *(("columns", target) if target in self.mapped.columns else ("keep",))), said
        for name in self.mapped.drop:
            if name not in names:
                yield (*at, "drop"), f"{label} has no column '{name}'{did_you_mean(name, names)}"
        unsaid = [name for name in names if name not in self.mapped.used and name not in self.mapped.drop]
        if unsaid:
            named = ", ".join(f"'{name}'" for name in unsaid)
            yield at, f"{label} has {len(unsaid)} column(s) that are neither used nor in `drop`: {named}"
        yield from self._wrong_constants()

    def _wrong_constants(self) -> Iterator[MappingFinding]:
        for one in self.conversions():
            if one.origin.constant is not None:
                wrong = [why for why, count in one.failures().items() if pl.select(count).item()]
                yield from ((("sources", self.place, "columns", one.name), f"constant: is {why}") for why in wrong)

    def conversions(self) -> tuple[Conversion, ...]:
        origins = self.mapped.origins
        stored = {name: self.schema.get(origin.column or "") for name, origin in origins.items()}
        return tuple(
            Conversion(name, origins[name], column, stored[name]) for name, column in self.mapping.columns.items()
        )

    def scan(self) -> pl.LazyFrame:
        values = [conversion.values() for conversion in self.conversions()]
        return self.source.scan().with_columns(values).select(list(self.mapping.columns))

    def counted(self) -> tuple[MappedTable, Failures]:
        """With the number of its records, and what of them can't be converted, in one streamed pass."""
        read = [one for one in self.conversions() if one.origin.column is not None]
        failures = [(one, why, count) for one in read for why, count in one.failures().items()]
        wanted = [pl.len().alias("records"), *(count for _, _, count in failures)]
        with explained(self.source):
            found = self.source.scan().select(wanted).collect(engine="streaming").row(0)
        told = Counter[str]()
        for (one, why, _), number in zip(failures, found[1:], strict=True):
            told[f"{self.mapped.source.label}: column '{one.origin.column}': {why}"] += number
        return replace(self, records=found[0]), told


@dataclass(frozen=True)
class MergedSource:
    """One table made of several. It is opened only where every value can be converted."""

    label: str
    tables: tuple[MappedTable, ...]

    @property
    def rows(self) -> int:
        return sum(table.records for table in self.tables)

    @property
    def columns(self) -> dict[str, TargetColumn]:
        return self.tables[0].mapping.columns

    def scan(self) -> pl.LazyFrame:
        return pl.concat([table.scan() for table in self.tables], how="vertical")

    @property
    def format(self) -> Format:
        """What keeps all that the sources hold: their own if they share one, Parquet where one of them has types."""
        formats = {getattr(table.source, "format", parquet.KEY) for table in self.tables}
        if len(formats) == 1:
            return formats.pop()
        return parquet.KEY if any(format_named(one).says_rows for one in formats) else DEFAULT_FORMAT

    def explain(self, error: PolarsError) -> SourceError:
        """An error that arose half-way; its text is never shown, it may quote a value."""
        return SourceError(f"{self.label}: one of its sources can't be read any more")


@dataclass(frozen=True)
class MergedFiles(MergedSource):
    """The same where all of it lies in files."""

    mapping_file: Path

    @property
    def files(self) -> tuple[Path, ...]:
        """The mapping's own first: another mapping is another table."""
        sources = (table.source for table in self.tables)
        return (self.mapping_file, *(path for one in sources if isinstance(one, FileSource) for path in one.files))


def findings_of(tables: Sequence[MappedTable]) -> Iterator[MappingFinding]:
    """What the columns of the sources have that the mapping hasn't, and the other way round.

    Of several files that are one source, the first is held against the mapping, and the others against the first.
    """
    firsts: dict[int, MappedTable] = {}
    for table in tables:
        first = firsts.setdefault(table.place, table)
        if first is table:
            yield from table.findings()
        elif set(table.schema) != set(first.schema):
            said = f"{table.source.label} has other columns than {first.source.label}, and both are one source"
            yield ("sources", table.place, "source"), said


def merged(label: str, mapping_file: Path, tables: Sequence[MappedTable]) -> MergedSource:
    """Of tables without findings; a DataError counts what of their values can't be converted."""
    counted = [table.counted() for table in tables]
    failed = sum((told for _, told in counted), Counter[str]())
    if failed:
        listed = "; ".join(f"{about} ({number:,} value(s))" for about, number in failed.items())
        raise DataError(f"{label}: {listed}", advice="nothing was merged")
    whole = tuple(table for table, _ in counted)
    if all(isinstance(table.source, FileSource) for table in whole):
        return MergedFiles(label, whole, mapping_file)
    return MergedSource(label, whole)
