"""A document to rows of tables: one for the document, one for each element of its arrays, by the paths that are known.

A path that isn't known is not read: it is left out where that is wished, else it is an error. So is what lies below a
path that is left out as a whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from shoal.errors import InputError, SourceError
from shoal.io.nested.extended_json import Leaf, LeafKind, UnreadableLeafError, is_wrapped, leaf_of, unwrapped
from shoal.io.nested.paths import (
    ROOT,
    is_key,
    is_kind,
    key_of,
    parent_of,
    placed_arrays,
    prefixes_of,
    steps_below,
    table_of,
    tables_above,
)
from shoal.schema.registry import did_you_mean

_DEEPEST: Final = 100
_SHOWN: Final = 20
_SOMETHING: Final = Leaf(LeafKind.TEXT, "…")
"""Stands for an object or array that is left out as a whole."""


@dataclass(frozen=True)
class DocumentPaths:
    """What is known of documents before any is read."""

    released: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    """Values, objects and arrays of which nothing is released."""
    others: bool = False
    """Whether paths that are not known are left out; else they are an error."""
    people: Mapping[str, str] = field(default_factory=dict)
    """Table → the path in it, or in a table above, that says whose a row is."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Array → the path below its elements that says of which kind they are."""
    beginnings: Mapping[str, str] = field(default_factory=dict)
    """Path → what its values begin with, and no technique sees."""

    @cached_property
    def columns(self) -> Mapping[str, tuple[str, ...]]:
        """Table → the paths in it; a table for each array on the way to one, in the order of depth."""
        found: dict[str, list[str]] = {ROOT: []}
        for path in (*self.released, *self.left_out):
            own = self.table_of(path)
            for table in tables_above(own):
                found.setdefault(table, [])
            found[own].append(path)
        return {table: tuple(found[table]) for table in sorted(found, key=lambda one: len(tables_above(one)))}

    @cached_property
    def numbered(self) -> frozenset[str]:
        """Tables whose rows have a number: those that others refer to, and those whose order with others counts."""
        parents = {parent_of(table) for table in self.columns if table}
        return frozenset(parents | {table for table in self.columns if not table.endswith("[]") and table})

    @cached_property
    def prefixes(self) -> frozenset[str]:
        return frozenset(prefix for path in (*self.released, *self.left_out) for prefix in prefixes_of(path))

    @cached_property
    def placed(self) -> frozenset[str]:
        return placed_arrays((*self.released, *self.left_out))

    def table_of(self, path: str) -> str:
        """What is left out as a whole is a column of the table that the array is in."""
        whole = path in self._left_out and path.endswith("]") and table_of(path) == path
        return parent_of(path) if whole else table_of(path)

    def keys(self, table: str) -> tuple[str, ...]:
        """The columns of a table that number rows: those of the table above, and its own."""
        above = (key_of(parent_of(table)),) if table else ()
        return (*above, key_of(table)) if table in self.numbered else above

    @cached_property
    def _released(self) -> frozenset[str]:
        return frozenset(self.released)

    @cached_property
    def _left_out(self) -> frozenset[str]:
        return frozenset(self.left_out)

    def releases(self, path: str) -> bool:
        return path in self._released

    def leaves_out(self, path: str) -> bool:
        return path in self._left_out


@dataclass(frozen=True)
class NestedDocuments:
    """Where documents are, and the paths in them."""

    path: str
    paths: DocumentPaths


@dataclass(slots=True)
class Row:
    table: str
    keys: dict[str, int]
    values: dict[str, Leaf]


@dataclass
class Flattener:
    """Numbers rows as they come, so that it serves one reading of a file."""

    paths: DocumentPaths
    label: str
    unknown: dict[str, None] = field(default_factory=dict)
    present: Counter[str] = field(default_factory=Counter)
    """In how many rows a value or array is there, be it without anything in it."""
    _counted: Counter[str] = field(default_factory=Counter)

    def rows(self, documents: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
        for number, document in enumerate(documents):
            row = Row(ROOT, {key_of(ROOT): number}, {})
            rows = [row]
            try:
                self._object(document, ROOT, row, rows, 0)
            except UnreadableLeafError as error:
                raise SourceError(
                    f"{self.label}: document {number + 1:,}: {error}", advice="leave the path out"
                ) from None
            self._add_people(rows)
            yield from rows

    def refuse_unknown(self) -> None:
        """What a policy doesn't know doesn't pass."""
        if not self.unknown:
            return
        known = (*self.paths.released, *self.paths.left_out)
        told = [f"'{path}'{did_you_mean(path, known)}" for path in list(self.unknown)[:_SHOWN]]
        more = len(self.unknown) - len(told)
        raise InputError(
            f"{self.label}: the policy doesn't name {', '.join(told)}{f' and {more:,} more' if more else ''}",
            advice='`"*": suppress` leaves out what isn\'t named',
        )

    def _object(self, given: Mapping[str, Any], path: str, row: Row, rows: list[Row], depth: int) -> None:
        for key, value in given.items():
            if not is_key(key):
                self._odd_key(path)
                continue
            self._value(value, f"{path}.{key}" if path else key, row, rows, depth + 1)

    def _value(self, value: object, path: str, row: Row, rows: list[Row], depth: int) -> None:
        paths = self.paths
        if depth > _DEEPEST:
            raise UnreadableLeafError("is nested too deeply")
        if paths.leaves_out(path):
            if value is not None:
                row.values[path] = _SOMETHING
            return
        if paths.releases(path):
            self.present[path] += 1
        if isinstance(value, list):
            self._array(value, path, row, rows, depth)
        elif isinstance(value, dict) and not is_wrapped(value):
            if path in paths.prefixes:
                self._object(value, path, row, rows, depth)
            elif value or not paths.releases(path):
                self._not_known(path)
        else:
            self._single(value, path, row)

    def _single(self, value: object, path: str, row: Row) -> None:
        if self.paths.releases(path):
            leaf = self._leaf(value, path)
            if leaf is not None:
                row.values[path] = leaf
        elif value is not None or path not in self.paths.prefixes:
            self._not_known(path)

    def _array(self, value: list[Any], path: str, row: Row, rows: list[Row], depth: int) -> None:
        if path in self.paths.placed:
            for place, element in enumerate(value):
                self._value(element, f"{path}[{place}]", row, rows, depth + 1)
            return
        if self.paths.leaves_out(f"{path}[]"):
            row.values[f"{path}[]"] = _SOMETHING
            return
        kind_path = self.paths.kinds.get(path)
        if kind_path is None and f"{path}[]" not in self.paths.columns:
            self._not_known(f"{path}[]")
            return
        self.present[path] += 1
        for element in value:
            table = f"{path}[]" if kind_path is None else f"{path}[{self._kind(element, path, kind_path)}]"
            if self.paths.leaves_out(table):
                row.values[table] = _SOMETHING
            elif table not in self.paths.columns:
                self._not_known(table)
            else:
                self._element(element, table, row, rows, depth)

    def _element(self, element: object, table: str, row: Row, rows: list[Row], depth: int) -> None:
        keys = {key_of(row.table): row.keys[key_of(row.table)]}
        if table in self.paths.numbered:
            own = key_of(table)
            keys[own] = self._counted[own]
            self._counted[own] += 1
        below = Row(table, keys, {})
        rows.append(below)
        self._value(element, table, below, rows, depth + 1)

    def _kind(self, element: object, path: str, kind_path: str) -> str:
        found: Any = element
        for step in steps_below(ROOT, kind_path):
            found = found.get(step) if isinstance(found, dict) and isinstance(step, str) else None
        if not is_kind(found):
            raise UnreadableLeafError(f"an element of '{path}' doesn't say by '{kind_path}' of which kind it is")
        return str(found)

    def _leaf(self, value: object, path: str) -> Leaf | None:
        if value is None or value == {}:
            return None
        try:
            leaf = unwrapped(value) if isinstance(value, dict) else leaf_of(value)
        except UnreadableLeafError:
            raise UnreadableLeafError(f"'{path}' holds what is no text, number, date or truth value") from None
        beginning = self.paths.beginnings.get(path)
        if beginning is None or leaf is None:
            return leaf
        if not isinstance(leaf.value, str) or not leaf.value.startswith(beginning):
            raise UnreadableLeafError(f"a value of '{path}' doesn't begin as the policy says")
        return Leaf(LeafKind.TEXT, leaf.value.removeprefix(beginning))

    def _add_people(self, rows: list[Row]) -> None:
        """Rows of a document come with those above them before them, so each finds whose it is."""
        people = self.paths.people
        latest: dict[str, Row] = {}
        for row in rows:
            latest[row.table] = row
            path = people.get(row.table)
            if path is None or self.paths.table_of(path) == row.table:
                continue
            whose = latest[self.paths.table_of(path)].values.get(path)
            if whose is not None:
                row.values[path] = whose

    def _odd_key(self, path: str) -> None:
        """Such a key is not shown: it is data more often than a name."""
        if not self.paths.others:
            raise UnreadableLeafError(f"a key below '{path or 'the document'}' holds . [ ] or begins with #")

    def _not_known(self, path: str) -> None:
        if not self.paths.others:
            self.unknown.setdefault(path)
