"""Targets: what a table is written to, in a stream. A target is written whole or not at all.

A file is written under a hidden name beside its own and renamed at the end. Its dialect is the source's (separator,
quotation mark, line ends, byte-order mark); the encoding is always UTF-8, which can hold every value. Row groups and
batches have a fixed size, so that equal data gives equal bytes whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol

import polars as pl

from shoal.errors import TargetError
from shoal.io.atomic.file_replacement import atomic_path
from shoal.io.formats import parquet
from shoal.io.formats.base import format_named, format_of_suffix
from shoal.io.formats.delimited.dialect import Dialect
from shoal.io.formats.delimited.formula_escapes import escaped, texts_in, without_escapes
from shoal.io.formats.delimited.reader import (
    DelimitedSource,
    begin_delimited,
    header_of,
    pick_delimited,
    scan_delimited,
)
from shoal.io.options import DatabaseTargetOptions, TargetOptions
from shoal.io.reader_options import Format
from shoal.kernels.arrays import Integers
from shoal.kernels.pass_listener import told

if TYPE_CHECKING:
    from shoal.io.sources import Source

_TEXT_BATCH: Final = 100_000


class Target(Protocol):
    """Something that a table can be written to."""

    @property
    def label(self) -> str:
        """What may be shown of it."""

    def write(self, frame: pl.LazyFrame) -> None:
        """Write the whole table; after an error nothing of it is there."""


@dataclass(frozen=True)
class FileTarget:
    path: Path
    format: Format
    dialect: Dialect
    label: str
    plain: bool = False
    """Whether the source is a text file in which no quotation mark stands."""
    private: bool = False
    """For its owner's eyes only, as what holds values that others were spared."""
    escape_formulas: bool = False
    """Whether cells that a spreadsheet would run get an apostrophe in front, in text files."""

    @property
    def specials(self) -> str | None:
        """The characters that altered cells must not hold to be written without quotes; None if quotes it must be."""
        plain = self.plain and not self.escape_formulas  # the apostrophe may be the quotation mark
        return f'{self.dialect.separator}{self.dialect.quote or ""}"\r\n' if plain else None

    @property
    def delimited(self) -> bool:
        return format_named(self.format).delimited

    def write(self, frame: pl.LazyFrame) -> None:
        sink = format_named(self.format).sink
        if sink is None:
            batches = frame.collect_batches(chunk_size=_TEXT_BATCH, maintain_order=True, engine="streaming")
            self.write_batches(frame.collect_schema(), told(batches, len))
            return
        with atomic_path(self.path, self.label, private=self.private) as hidden:
            sink(frame, hidden)

    def write_batches(self, schema: pl.Schema, batches: Iterator[pl.DataFrame], *, quotes: bool = True) -> None:
        """A delimited file, batch by batch: a quarter faster than a lazy sink over batches that Python makes."""
        with atomic_path(self.path, self.label, private=self.private) as hidden, hidden.open("wb") as file:
            self._append(pl.DataFrame(schema=schema), file, header=True, quotes=quotes)
            for batch in batches:
                self._append(batch.select(schema.names()), file, header=False, quotes=quotes)

    def scan(self) -> pl.LazyFrame:
        """What was written, read anew; without what was put in front of formulas."""
        scan = format_named(self.format).scan
        if scan is not None:
            return scan(self.path, self.label)
        written = scan_delimited(self.path, self.dialect, header_of(self.path, self.dialect, self.label))
        return without_escapes(written) if self.escape_formulas else written

    def pick(self, places: Integers) -> pl.DataFrame | None:
        """Some of the records that were written, by their places, which rise; None where all would have to be read."""
        if not self.delimited:
            return None
        columns = header_of(self.path, self.dialect, self.label)
        picked = pick_delimited(self.path, self.dialect, columns, self.label, places)
        return without_escapes(picked.lazy()).collect() if picked is not None and self.escape_formulas else picked

    def beginning(self, records: int) -> pl.DataFrame | None:
        """The first of the records that were written; None where Polars reads them no worse."""
        if not self.delimited:
            return None
        columns = header_of(self.path, self.dialect, self.label)
        first = begin_delimited(self.path, self.dialect, columns, self.label, records)
        return without_escapes(first.lazy()).collect() if first is not None and self.escape_formulas else first

    def _append(self, frame: pl.DataFrame, file: BinaryIO, *, header: bool, quotes: bool) -> None:
        if self.escape_formulas:
            frame = frame.with_columns(escaped(name) for name in texts_in(frame.schema))
        frame.write_csv(
            file,
            include_header=header,
            include_bom=header and self.dialect.mark,
            separator=self.dialect.separator,
            quote_char=self.dialect.quote or '"',
            line_terminator=self.dialect.line_end,
            quote_style="necessary" if quotes else "never",
        )


def open_target(
    options: TargetOptions, *, base: Path | None = None, like: Source | None = None, escape_formulas: bool = False
) -> Target:
    """The target behind the options. ``like`` is the source whose format and dialect are kept where nothing is said."""
    if isinstance(options, DatabaseTargetOptions):
        return database_target(options, base=base)
    path = (base or Path()) / Path(options.path).expanduser()
    return file_target(path, like=like, file_format=options.format, escape_formulas=escape_formulas)


def file_target(
    path: Path,
    *,
    like: Source | None = None,
    file_format: Format | None = None,
    private: bool = False,
    escape_formulas: bool = False,
) -> FileTarget:
    """A file that is not there yet. A name without an ending gets that of its format: the source's, else Parquet."""
    by_name = format_of_suffix(path.suffix)
    chosen = file_format or (_format_of(like) if by_name is None else by_name.key)
    if by_name is None:
        path = path.with_name(path.name + format_named(chosen).suffixes[0])
    label = str(path)
    if path.exists():
        raise TargetError(f"{label}: exists already")
    dialect, plain = Dialect(separator=format_named(chosen).separator or ","), False
    if isinstance(like, DelimitedSource) and like.format == chosen:
        dialect = Dialect(like.dialect.separator, like.dialect.quote, "utf-8", like.dialect.mark, like.dialect.line_end)
        plain = not like.quoted
    return FileTarget(path, chosen, dialect, label, plain, private, escape_formulas)


def database_target(options: DatabaseTargetOptions, *, base: Path | None = None) -> Target:
    """A table in a database; that it can be written is checked at once."""
    from shoal.io.databases.base import open_database_target

    return open_database_target(options, base)


def write_all(given: Sequence[tuple[Target, pl.LazyFrame]]) -> None:
    """Each table to its target; those that go to one database appear there together, or none does."""
    from shoal.io.databases.base import DatabaseTarget, write_in_databases

    for target, frame in given:
        if not isinstance(target, DatabaseTarget):
            target.write(frame)
    write_in_databases([(target, frame) for target, frame in given if isinstance(target, DatabaseTarget)])


def _format_of(source: Source | None) -> Format:
    """A format that keeps what the source holds: its own; Parquet for databases and frames, which have types."""
    found: Format = getattr(source, "format", parquet.KEY)
    return found
