"""Documents as tables: read twice, once for what kinds of values there are, once into working copies of the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import polars as pl

from shoal.errors import SourceError
from shoal.io.databases.spool import Spool
from shoal.io.formats.detection import MAX_COLUMNS, check_names
from shoal.io.nested.document_files import DocumentFile
from shoal.io.nested.extended_json import Leaf, LeafKind
from shoal.io.nested.flattening import DocumentPaths, Flattener, Row
from shoal.io.nested.paths import table_name

_BATCH: Final = 20_000


@dataclass(frozen=True)
class NestedSource:
    """One table of the documents of a file: what the passes of a run read is a working copy, encrypted."""

    label: str
    files: tuple[Path, ...]
    table: str
    spool: Spool = field(repr=False)

    @property
    def format(self) -> str:
        """Of what is written like it: one that keeps the types of its columns."""
        return "parquet"

    def scan(self) -> pl.LazyFrame:
        return self.spool.scan()


@dataclass(frozen=True)
class ColumnKind:
    """What values a path has."""

    kind: LeafKind = LeafKind.TEXT
    wrapper: str = ""
    """What all of them were written in; empty where they weren't, or not all of them."""

    @classmethod
    def of(cls, kinds: set[LeafKind], wrappers: set[str]) -> ColumnKind:
        """Whole numbers are numbers; other values of several kinds are text."""
        wrapper = next(iter(wrappers)) if len(wrappers) == 1 else ""
        if len(kinds) == 1:
            return cls(next(iter(kinds)), wrapper)
        return cls(LeafKind.NUMBER if kinds == {LeafKind.WHOLE, LeafKind.NUMBER} else LeafKind.TEXT, wrapper)

    def values(self, leaves: Sequence[Leaf | None]) -> list[object]:
        if self.kind is LeafKind.TEXT:
            return [None if leaf is None else leaf.as_text() for leaf in leaves]
        if self.kind is LeafKind.NUMBER:
            return [None if leaf is None else float(leaf.value) for leaf in leaves]  # type: ignore[arg-type]  # numbers, by their kind
        return [None if leaf is None else leaf.value for leaf in leaves]


@dataclass(frozen=True)
class NestedTables:
    """The tables of a file of documents, and what is needed to put documents together again."""

    file: DocumentFile
    paths: DocumentPaths
    sources: Mapping[str, NestedSource]
    """By the path of their array; only those that have a row."""
    wrappers: Mapping[str, str]
    """Path → the object that its values were written in."""
    order: tuple[str, ...]
    """Paths of values and arrays as they first came, which is the order in which they are written."""
    always: frozenset[str]
    """Values and arrays that are there in every row, be it without anything in them."""

    @classmethod
    def open(cls, file: DocumentFile, paths: DocumentPaths) -> NestedTables:
        first = _FirstReading(paths, file)
        kinds = first.kinds()
        if not first.rows:
            raise SourceError(f"{file.label}: there are no documents")
        tables = [table for table in paths.columns if table in first.rows]
        spools = {table: Spool((), file.label, _schema(paths, table, kinds)) for table in tables}
        for table, frame in _frames(file, paths, kinds, {table: one.schema for table, one in spools.items()}):
            spools[table].add(frame)
        sources = {}
        for table, spool in spools.items():
            check_names(spool.schema.names(), file.label)
            sources[table] = NestedSource(file.label, (file.path,), table_name(table), spool)
        wrappers = {path: kind.wrapper for path, kind in kinds.items() if kind.wrapper}
        order = tuple(dict.fromkeys((*first.present, *paths.released)))
        return cls(file, paths, sources, wrappers, order, first.always())


class _FirstReading:
    """What there is in a file."""

    def __init__(self, paths: DocumentPaths, file: DocumentFile) -> None:
        self._flattener = Flattener(paths, file.label)
        self._found: dict[str, tuple[set[LeafKind], set[str]]] = {}
        self.rows: Counter[str] = Counter()
        for row in self._flattener.rows(file.documents()):
            self.rows[row.table] += 1
            for path, leaf in row.values.items():
                known, wrappers = self._found.setdefault(path, (set(), set()))
                known.add(leaf.kind)
                wrappers.add(leaf.wrapper)
            if len(self._flattener.unknown) > MAX_COLUMNS:
                break
        self._flattener.refuse_unknown()

    @property
    def present(self) -> Mapping[str, int]:
        """In how many rows a value or array is, in the order in which they came."""
        return self._flattener.present

    def kinds(self) -> Mapping[str, ColumnKind]:
        """Of each path."""
        return {path: ColumnKind.of(*told) for path, told in self._found.items()}

    def always(self) -> frozenset[str]:
        """An object around them may be missing, and its parts then are too."""
        rows, paths = self.rows, self._flattener.paths
        return frozenset(path for path, times in self.present.items() if times == rows[paths.table_of(path)])


def columns_of(paths: DocumentPaths, table: str) -> tuple[str, ...]:
    """Numbers of rows first; then the person, where a table above says it; then the paths of the table."""
    whose = paths.people.get(table)
    return tuple(dict.fromkeys((*paths.keys(table), *((whose,) if whose else ()), *paths.columns[table])))


def _schema(paths: DocumentPaths, table: str, kinds: Mapping[str, ColumnKind]) -> pl.Schema:
    keys = paths.keys(table)
    return pl.Schema(
        {
            name: pl.Int64() if name in keys else kinds.get(name, ColumnKind()).kind.dtype
            for name in columns_of(paths, table)
        }
    )


def _frames(
    file: DocumentFile, paths: DocumentPaths, kinds: Mapping[str, ColumnKind], schemas: Mapping[str, pl.Schema]
) -> Iterator[tuple[str, pl.DataFrame]]:
    held: dict[str, list[Row]] = {table: [] for table in schemas}
    for row in Flattener(paths, file.label).rows(file.documents()):
        rows = held[row.table]
        rows.append(row)
        if len(rows) >= _BATCH:
            yield row.table, _frame(rows, paths, kinds, schemas[row.table], file.label)
            held[row.table] = []
    for table, rows in held.items():
        yield table, _frame(rows, paths, kinds, schemas[table], file.label)


def _frame(
    rows: Sequence[Row], paths: DocumentPaths, kinds: Mapping[str, ColumnKind], schema: pl.Schema, label: str
) -> pl.DataFrame:
    columns = []
    numbers = frozenset(schema.names()[: len(paths.keys(rows[0].table))]) if rows else frozenset()
    for name, dtype in schema.items():
        given: Sequence[object]
        if name in numbers:
            given = [row.keys[name] for row in rows]
        else:
            given = kinds.get(name, ColumnKind()).values([row.values.get(name) for row in rows])
        try:
            columns.append(pl.Series(name, given, dtype=dtype))
        except (UnicodeEncodeError, OverflowError):
            raise SourceError(f"{label}: '{name}' holds halves of characters, which are no text") from None
    return pl.DataFrame(columns)
