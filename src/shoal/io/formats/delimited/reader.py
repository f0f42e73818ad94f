"""CSV and TSV: every cell is text, so that "007" stays "007"; empty cells are missing values.

UTF-8 goes straight to Polars' own reader. Other encodings are turned into UTF-8 block by block in memory, never in a
file. Before anything is read the file's shape is checked whole (see ``shape``), so that no pass meets a ragged row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Final

import polars as pl
from polars.exceptions import PolarsError

from shoal.errors import FieldName, FieldText, SourceError
from shoal.io.formats.delimited.dialect import SAMPLE_BYTES, Dialect, detect, encoding_advice
from shoal.io.formats.delimited.line_picking import LineIndex, lines_at
from shoal.io.formats.delimited.record_shape import BLOCK_BYTES, census, ragged, utf8_blocks
from shoal.io.formats.detection import Fingerprint, check_names, header_advice
from shoal.io.formats.number_notation import NumberNotation
from shoal.io.options import FileOptions
from shoal.io.reader_options import Format
from shoal.kernels.arrays import Integers
from shoal.kernels.batch_streams import streamed

_PARSE_BYTES: Final = 1 << 23
_BEGINNING_BYTES: Final = 1 << 20
"""What is parsed at a time where only the first records are wanted."""
_HEADER_BLOCKS: Final = 4
_LONGEST_RECORD: Final = 1 << 26
"""A reader holds a record whole, several times over."""
_NO_QUOTES: Final = FieldText("if nothing in the file is quoted, say ", FieldName("quote", '""'))


@dataclass(frozen=True)
class DelimitedSource:
    """A text file whose dialect is known and whose every record has one cell per column."""

    label: str
    path: Path
    format: Format
    dialect: Dialect
    columns: tuple[str, ...]
    rows: int
    fingerprint: Fingerprint
    trimmed: bool = False
    """Whether empty lines at the end are left out; Polars would read them as records."""
    quoted: bool = True
    """Whether a quotation mark stands anywhere in the file; if not, Polars parses it in a sixth less time."""
    notation: NumberNotation | None = None
    """Columns of numbers that are written as a country writes them."""
    lines: LineIndex | None = field(default=None, repr=False, compare=False)
    """Where they stand, of a file in which every line is a record."""

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path,)

    @property
    def header_row(self) -> int:
        """The line that names the columns, from 1."""
        return self.dialect.preamble + 1

    def scan(self) -> pl.LazyFrame:
        frame = self._texts()
        return frame if self.notation is None else self.notation.read(frame)

    def _texts(self) -> pl.LazyFrame:
        self.fingerprint.check(self.path, self.label)
        if self.dialect.encoding != "utf-8":
            return streamed(self._transcoded, pl.Schema(dict.fromkeys(self.columns, pl.String())))
        dialect = self.dialect if self.quoted else replace(self.dialect, quote=None)
        return scan_delimited(self.path, dialect, self.columns, n_rows=self.rows if self.trimmed else None)

    def pick(self, places: Integers) -> pl.DataFrame | None:
        """The records at these places, which rise; None where the file would have to be parsed for that."""
        if self.quoted:
            return None
        self.fingerprint.check(self.path, self.label)
        picked = pick_delimited(self.path, self.dialect, self.columns, self.label, places, self.lines)
        return picked if picked is None or self.notation is None else self.notation.read(picked.lazy()).collect()

    def beginning(self, records: int) -> pl.DataFrame | None:
        """The first records; None where the whole file would have to be parsed for that."""
        self.fingerprint.check(self.path, self.label)
        first = begin_delimited(self.path, self.dialect, self.columns, self.label, min(records, self.rows))
        return first if first is None or self.notation is None else self.notation.read(first.lazy()).collect()

    def explain(self, error: PolarsError) -> SourceError:
        """What is wrong with the file, from an error that arose while it was read; the error's text is never shown."""
        if "utf-8" in str(error).lower():
            with self.path.open("rb") as file:
                return SourceError(
                    f"{self.label}: is not text in UTF-8 throughout", advice=encoding_advice(file.read(SAMPLE_BYTES))
                )
        found = ragged(utf8_blocks(self.path, self.dialect, self.label), self.dialect, len(self.columns))
        if found:
            return SourceError(f"{self.label}: {found}")
        return SourceError(f"{self.label}: a quotation mark stands where none may be", advice=_NO_QUOTES)

    def _transcoded(self) -> Iterator[pl.DataFrame]:
        left = self.rows
        try:
            for frame in _parts(self.path, self.dialect, self.columns, self.label, _PARSE_BYTES):
                yield frame.head(left)
                left -= min(left, frame.height)
        except PolarsError as error:
            raise self.explain(error) from None


def open_delimited(path: Path, options: FileOptions, file_format: Format) -> DelimitedSource:
    label = options.label
    with path.open("rb") as file:
        sample = file.read(SAMPLE_BYTES)
    if not sample.strip():
        raise SourceError(f"{label}: is empty")
    fingerprint = Fingerprint.of(path)
    dialect = detect(sample, options, file_format)
    columns = header_of(path, dialect, label)
    check_names(columns, label, header_advice(options))
    found = census(utf8_blocks(path, dialect, label), dialect)
    if found.longest > _LONGEST_RECORD:
        raise SourceError(f"{label}: has a record of more than {_LONGEST_RECORD >> 20} MB", advice=_NO_QUOTES)
    if found.open_quote:
        raise SourceError(f"{label}: a quoted cell is never closed", advice=_NO_QUOTES)
    single = len(columns) == 1
    lines = found.lines + (found.blank_end if single else 0)
    if found.separators != (len(columns) - 1) * lines:
        said = ragged(utf8_blocks(path, dialect, label), dialect, len(columns))
        raise SourceError(
            f"{label}: {said or 'rows have more or fewer cells than the header'}",
            advice=header_advice(options),
        )
    if lines <= 1:
        read_as = None if dialect.encoding == "utf-8" else f"read as {dialect.encoding}: is it text at all?"
        raise SourceError(f"{label}: there is a header but no records", advice=read_as)
    return DelimitedSource(
        label,
        path,
        file_format,
        dialect,
        columns,
        rows=lines - 1,
        fingerprint=fingerprint,
        trimmed=found.blank_end > 0 and not single,
        quoted=found.quotes,
        lines=LineIndex.of(found.ends_in) if dialect.encoding == "utf-8" and _is_as_it_stands(dialect) else None,
    )


def _is_as_it_stands(dialect: Dialect) -> bool:
    """Whether nothing comes before the header."""
    return not dialect.mark and not dialect.preamble


def scan_delimited(path: Path, dialect: Dialect, columns: Sequence[str], *, n_rows: int | None = None) -> pl.LazyFrame:
    """Polars' own lazy reader, every column text."""
    return pl.scan_csv(
        path,
        new_columns=list(columns),
        infer_schema=False,
        separator=dialect.separator,
        quote_char=dialect.quote,
        null_values=list(dialect.null_values) or None,
        eol_char=dialect.eol,
        skip_lines=dialect.preamble,
        n_rows=n_rows,
        glob=False,
    )


def pick_delimited(  # noqa: PLR0913, PLR0917  # the file, how it is read, and what of it
    path: Path,
    dialect: Dialect,
    columns: Sequence[str],
    label: str,
    places: Integers,
    index: LineIndex | None = None,
) -> pl.DataFrame | None:
    """Some records of a file, by their places; of one column, an empty line may be a record or none."""
    if len(columns) < 2 or not len(places):
        return None
    if index is not None and index.suits(places):
        lines = index.lines_at(path, dialect, places)
    else:
        lines = lines_at(path, dialect, label, places)
    return None if lines is None else _parsed(lines, dialect, columns)


def begin_delimited(
    path: Path, dialect: Dialect, columns: Sequence[str], label: str, records: int
) -> pl.DataFrame | None:
    """The first records of a file, for which no more is read; of one column, an empty line may be a record or none."""
    if len(columns) < 2:
        return None
    found = [pl.DataFrame(schema=dict.fromkeys(columns, pl.String()))]
    for frame in _parts(path, dialect, columns, label, _BEGINNING_BYTES):
        found.append(frame.head(records))
        records -= found[-1].height
        if not records:
            break
    return pl.concat(found)


def header_of(path: Path, dialect: Dialect, label: str) -> tuple[str, ...]:
    """The cells of the first record as they stand there; Polars would rename doubles and keep doubled quotes."""
    block = b"".join(islice(utf8_blocks(path, dialect, label), _HEADER_BLOCKS)).lstrip(b"\r\n")
    if dialect.eol.encode() not in block and len(block) >= (_HEADER_BLOCKS - 1) * BLOCK_BYTES:
        raise SourceError(f"{label}: the first line has no end within {len(block) >> 10:,} KB, so it is no header")
    try:
        names = pl.read_csv(
            block[: _header_end(block, dialect)],
            has_header=False,
            separator=dialect.separator,
            quote_char=dialect.quote,
            eol_char=dialect.eol,
            infer_schema=False,
        )
    except PolarsError:
        raise SourceError(f"{label}: the header can't be read as names of columns") from None
    return tuple(name or "" for name in names.row(0)) if names.height else ()


def _header_end(block: bytes, dialect: Dialect) -> int:
    """Where the first record ends."""
    end, quote = dialect.eol.encode(), (dialect.quote or "").encode()
    cut = block.find(end) + 1
    while cut and quote and block.count(quote, 0, cut) % 2:
        cut = block.find(end, cut) + 1
    return cut or len(block)


def _parts(
    path: Path, dialect: Dialect, columns: Sequence[str], label: str, least_bytes: int
) -> Iterator[pl.DataFrame]:
    """The records, of which so many bytes or a few more are parsed at a time."""
    parts = _whole_records(utf8_blocks(path, dialect, label), dialect, least_bytes)
    first = next(filter(None, (part.lstrip(b"\r\n") for part in parts)), b"")
    for records in chain([first[_header_end(first, dialect) :]], parts):
        if records:
            yield _parsed(records, dialect, columns)


def _whole_records(blocks: Iterable[bytes], dialect: Dialect, least_bytes: int) -> Iterator[bytes]:
    """Blocks joined and cut anew where a record ends."""
    end, quote = dialect.eol.encode(), (dialect.quote or "").encode()
    rest = b""
    for block in blocks:
        rest += block
        if len(rest) < least_bytes:
            continue
        cut = rest.rfind(end) + 1
        while cut and quote and rest.count(quote, 0, cut) % 2:
            # Inside a cell: no line end behind the last quote can be the end of a record.
            cut = rest.rfind(end, 0, rest.rfind(quote, 0, cut)) + 1
        if cut:
            yield rest[:cut]
            rest = rest[cut:]
    if rest:
        yield rest


def _parsed(records: bytes, dialect: Dialect, columns: Sequence[str]) -> pl.DataFrame:
    return pl.read_csv(
        records,
        has_header=False,
        schema=dict.fromkeys(columns, pl.String()),
        separator=dialect.separator,
        quote_char=dialect.quote,
        null_values=list(dialect.null_values) or None,
        eol_char=dialect.eol,
    )
