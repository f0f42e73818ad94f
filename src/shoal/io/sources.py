"""Sources: what data is read from, resolved once and read as often as needed.

``open_source`` finds out everything that can be known cheaply and raises a SourceError with one clear line otherwise;
no message ever holds a value from the data. A source is then frozen: each ``scan`` gives the same rows in the same
order, or raises because the file was changed in between (databases: see ``databases``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

import polars as pl
from polars.exceptions import PolarsError

from shoal.errors import SourceError
from shoal.io.failures import no_panic
from shoal.io.formats.base import format_named
from shoal.io.formats.detection import format_of, is_folder_of_parts, refuse_foreign_options, resolve
from shoal.io.formats.number_notation import NumberNotation
from shoal.io.options import DatabaseOptions, FileOptions, SourceOptions
from shoal.kernels.arrays import Integers

_OF_READING: Final = (
    "more fields than defined",
    "could not parse",
    "cannot parse",
    "malformed",
    "csv",
    "utf-8",
    "json",
    "parsing line",
    "syntax at character",
    "parquet",
    "file out of specification",
    "ipc",
    "eof",
)


@runtime_checkable
class Source(Protocol):
    """Something that can be read as a table, resolved: nothing about it is left to find out."""

    @property
    def label(self) -> str:
        """What may be shown of it: a path, or an address without its password."""

    def scan(self) -> pl.LazyFrame:
        """A lazy, streaming frame. Text formats: every column is text. Others: the types of the source."""


@runtime_checkable
class RecordPicker(Protocol):
    """A table that may hand out some records without all of them being read."""

    def pick(self, places: Integers) -> pl.DataFrame | None:
        """The records at these places, which rise, as ``scan`` has them; None where it can't."""

    def beginning(self, records: int) -> pl.DataFrame | None:
        """The first so many records, as ``scan`` has them; None where it can't."""


class ScannedTable(Protocol):
    def scan(self) -> pl.LazyFrame: ...


@runtime_checkable
class ErrorExplainer(Protocol):
    """A source that can say what is wrong with it when reading fails half-way."""

    def explain(self, error: PolarsError) -> SourceError: ...


@runtime_checkable
class FileSource(Protocol):
    """A source that lies in files."""

    @property
    def label(self) -> str: ...

    @property
    def files(self) -> tuple[Path, ...]:
        """Those that are read, in order."""


@runtime_checkable
class ReferenceSource(Protocol):
    """A source that knows which of its columns hold keys of another one."""

    def refers_to(self, other: object) -> list[tuple[str, str]]: ...


@runtime_checkable
class TextSource(Protocol):
    """A source whose cells are text, some of which may be numbers as a country writes them."""

    @property
    def label(self) -> str: ...

    def scan(self) -> pl.LazyFrame: ...

    @property
    def notation(self) -> NumberNotation | None: ...


def open_source(options: SourceOptions, *, base: Path | None = None) -> Source:
    """The source behind the options; relative paths are relative to ``base``, the folder of the policy."""
    if isinstance(options, DatabaseOptions):
        from shoal.io.databases.base import open_database

        return open_database(options, base)
    source = _open_file(options, base)
    if options.decimal is None or not isinstance(source, TextSource) or not is_dataclass(source):
        return source
    with explained(source):
        return replace(source, notation=NumberNotation.found(source.scan(), options.decimal))


def beginning(table: ScannedTable, records: int) -> pl.LazyFrame:
    """The first records. Of a text file Polars would read and hold hundreds of megabytes for them."""
    first = table.beginning(records) if isinstance(table, RecordPicker) else None
    return table.scan().head(records) if first is None else first.lazy()


def _open_file(options: FileOptions, base: Path | None) -> Source:
    folder = (base or Path()) / Path(options.path).expanduser()
    if is_folder_of_parts(folder):
        from shoal.io.formats.partitioned import open_parts

        return open_parts(folder, options)
    path = resolve(options, base)
    file_format = format_of(path, options)
    refuse_foreign_options(options, file_format)
    return format_named(file_format).open(path, options)


@contextmanager
def explained(source: Source) -> Iterator[None]:
    """Around every pass over a source: Polars' errors about the file become a SourceError without any value in it."""
    try:
        with no_panic(source.label):
            yield
    except PolarsError as error:
        about_file = any(sign in str(error).lower() for sign in _OF_READING)
        if not (about_file and isinstance(source, ErrorExplainer)):
            raise
        raise source.explain(error) from None
