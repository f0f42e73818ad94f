"""Released tables to documents: one after the other, each with the rows of its arrays.

What is written is what the tables say and nothing besides, since that is what was measured. So a key without a value
and one that isn't there are the same: neither is written, unless all documents had it. Keys have one order for all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import polars as pl

from shoal.errors import BugError, DataError
from shoal.io.atomic.file_replacement import atomic_text
from shoal.io.failures import writing
from shoal.io.nested.document_files import DocumentShape
from shoal.io.nested.extended_json import wrapped
from shoal.io.nested.paths import ROOT, array_of, key_of, parent_of, steps_below, tables_above
from shoal.io.nested.tables import NestedTables

_BATCH: Final = 20_000
_SUPPRESSED: Final = "*"
_DISORDER: Final = "the rows of a released table are not in the order of its source"


@dataclass(frozen=True)
class _Part:
    """What stands in the rows of a table: a value, or an array with the tables of its elements."""

    path: str
    steps: tuple[str | int, ...]
    always: bool
    tables: tuple[str, ...] = ()


@dataclass
class _Rows:
    """The rows of a released table in their order, taken by the row that they belong to."""

    table: str
    frames: Iterator[pl.DataFrame]
    keys: tuple[str, ...]
    _waiting: list[dict[str, Any]] = field(default_factory=list)
    _last: int = 0

    def of(self, parent: int) -> Iterator[dict[str, Any]]:
        """Rows whose parent is not in the release are passed by."""
        key = self.keys[0]
        while (row := self.peek()) is not None and row[key] <= parent:
            if row[key] < self._last:
                raise BugError(_DISORDER)
            self._last = row[key]
            self._waiting.pop()
            if row[key] == parent:
                yield row

    def each(self) -> Iterator[dict[str, Any]]:
        while (row := self.peek()) is not None:
            self._waiting.pop()
            yield row

    def peek(self) -> dict[str, Any] | None:
        while not self._waiting:
            frame = next(self.frames, None)
            if frame is None:
                return None
            self._waiting = frame.rows(named=True)[::-1]
        return self._waiting[-1]


@dataclass
class DocumentAssembly:
    """Documents from released tables, by the path of their array."""

    nested: NestedTables
    tables: Mapping[str, pl.LazyFrame]

    def write(self, path: Path) -> int:
        """How many documents were written, in the shape that they came in."""
        shape, number = self.nested.file.shape, 0
        with writing(path.name), atomic_text(path) as file:
            file.write("[\n" if shape is DocumentShape.ARRAY else "")
            for number, document in enumerate(self.documents(), start=1):
                file.write(",\n" if shape is DocumentShape.ARRAY and number > 1 else "")
                file.write(json.dumps(document, ensure_ascii=False, allow_nan=False))
                file.write("" if shape is DocumentShape.ARRAY else "\n")
            file.write("\n]\n" if shape is DocumentShape.ARRAY else "")
        return number

    def documents(self) -> Iterator[dict[str, Any]]:
        rows = {table: self._rows(table) for table in self.tables}
        last, number = -1, key_of(ROOT)
        for row in rows.pop(ROOT).each():
            if row.get(number, last + 1) <= last:
                raise BugError(_DISORDER)
            last = row.get(number, last + 1)
            yield self._filled(ROOT, row, rows)

    def _rows(self, table: str) -> _Rows:
        frame, keys = self.tables[table], self.nested.paths.keys(table)
        schema = frame.collect_schema()
        if any(name not in schema or not schema[name].is_integer() for name in keys):
            raise DataError(
                "documents can't be put together: cells of the numbers of their rows had to be suppressed, since they "
                "tell quasi-identifying values",
                advice="sort the documents by something else",
            )
        batches = frame.collect_batches(chunk_size=_BATCH, maintain_order=True, engine="streaming")
        return _Rows(table, iter(batches), keys)

    def _filled(self, table: str, row: Mapping[str, Any], rows: Mapping[str, _Rows]) -> Any:
        """The object, or the single value, of a row."""
        parts = self._parts[table]
        made = _Node()
        for one in parts:
            value = self._elements(one, table, row, rows) if one.tables else self._value(one.path, row[one.path])
            if not one.steps:  # an element that is no object
                return value
            if one.always or value not in (None, []):
                made.put(one.steps, value)
        return made.built()

    def _elements(self, part: _Part, above: str, row: Mapping[str, Any], rows: Mapping[str, _Rows]) -> list[Any]:
        found = []
        for table in part.tables:
            below = rows[table].of(row[key_of(above)]) if table in rows else ()
            for place, one in enumerate(below):
                found.append((one.get(key_of(table), place), self._filled(table, one, rows)))
        return [element for _, element in sorted(found, key=lambda one: int(one[0]))]

    @cached_property
    def _parts(self) -> Mapping[str, tuple[_Part, ...]]:
        """Table → its released values and the arrays in its rows, in the order of the file."""
        nested, paths = self.nested, self.nested.paths
        released = {table: set(frame.collect_schema().names()) for table, frame in self.tables.items()}
        found: dict[str, dict[str, _Part]] = {table: {} for table in paths.columns}
        for path in nested.order:
            own = paths.table_of(path)
            for table in (*tables_above(own)[1:], *(one for one in paths.columns if one and array_of(one) == path)):
                above, array = found[parent_of(table)], array_of(table)
                tables = above[array].tables if array in above else ()
                steps = steps_below(parent_of(table), array)
                above[array] = _Part(array, steps, array in nested.always, tuple(dict.fromkeys((*tables, table))))
            if paths.releases(path) and path in released.get(own, ()):
                found[own][path] = _Part(path, steps_below(own, path), path in nested.always)
        return {table: tuple(parts.values()) for table, parts in found.items()}

    def _value(self, path: str, value: object) -> object:
        beginning = self.nested.paths.beginnings.get(path)
        if beginning is not None and isinstance(value, str) and value != _SUPPRESSED:
            return beginning + value
        return wrapped(value, self.nested.wrappers.get(path, ""))


class _Node:
    """An object or array that is being put together."""

    def __init__(self) -> None:
        self._below: dict[str | int, Any] = {}

    def put(self, steps: tuple[str | int, ...], value: object) -> None:
        step, *further = steps
        if not further:
            self._below[step] = value
            return
        node = self._below.setdefault(step, _Node())
        node.put(tuple(further), value)

    def built(self) -> Any:
        built = {step: one.built() if isinstance(one, _Node) else one for step, one in self._below.items()}
        if built and all(isinstance(step, int) for step in built):
            return [built[step] for step in sorted(built, key=int)]
        return built
