"""How a text file with separators is written: found from its first megabyte, or as the policy says.

Nothing is guessed that could go wrong in silence. UTF-8 proves itself and byte-order marks name UTF-16 and UTF-32; any
other encoding has to be declared, because bytes of one 8-bit encoding are just as valid in another and names would come
out garbled. The error names the encoding that is likely.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from shoal.errors import FieldName, FieldText, SourceError
from shoal.io.formats.header_row import LOOKED_AT, find_header
from shoal.io.options import FileOptions
from shoal.io.reader_options import Format

if TYPE_CHECKING:
    from _csv import Reader

SAMPLE_BYTES: Final = 1 << 20
SEPARATORS: Final = (",", ";", "\t", "|")
_SAMPLE_RECORDS: Final = 1000
_CONSISTENT: Final = 0.9
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SPELT: Final = {"\t": "a tab", " ": "a space"}

LineEnd = Literal["\n", "\r\n", "\r"]
_Records = list[tuple[int, list[str]]]
"""The first records that are not empty, each with the line that it begins on, from 1."""


@dataclass(frozen=True)
class Dialect:
    separator: str = ","
    quote: str | None = '"'
    encoding: str = "utf-8"
    mark: bool = False
    """Whether the file begins with a byte-order mark."""
    line_end: LineEnd = "\n"
    null_values: tuple[str, ...] = ()
    preamble: int = 0
    """Lines above the one that names the columns: titles, notes."""

    @property
    def eol(self) -> str:
        """The character at which a parser cuts lines; a carriage return before it is dropped."""
        return self.line_end[-1]


def detect(sample: bytes, options: FileOptions, file_format: Format) -> Dialect:
    """The dialect of a file that begins with ``sample``; what the options say is checked, not overruled."""
    label = options.label
    encoding = _encoding(sample, options)
    text = _decoded(sample, encoding, label)
    said = None if options.header_row is None else options.header_row - 1
    body = text if not said else "\n".join(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[said:])
    quote = _quote(body, options.quote)
    candidates = dict.fromkeys((*SEPARATORS, options.separator or SEPARATORS[0]))
    cut = {separator: _records(body, separator, quote) for separator in candidates}
    found = _separator(cut, "\t" if file_format == "tsv" else None)
    titled = _below_titles(cut, options.separator) if said is None else None
    if titled is None and options.separator is not None:
        _refuse_wrong_separator(cut, options.separator, found, label)
    return Dialect(
        separator=options.separator or (found if titled is None else titled[0]),
        quote=quote,
        encoding=encoding,
        mark=any(sample.startswith(mark) for mark, _ in _MARKS),
        line_end="\r\n" if "\r\n" in text else "\n" if "\n" in text or "\r" not in text else "\r",
        null_values=options.null_values or (),
        preamble=said or (0 if titled is None else titled[1]),
    )


def _below_titles(cut: Mapping[str, _Records], declared: str | None) -> tuple[str, int] | None:
    """The separator of a table that stands below titles, and the number of lines above its names, beyond doubt."""
    found = []
    for separator in SEPARATORS if declared is None else (declared,):
        records = cut[separator]
        place = find_header([cells for _, cells in records[:LOOKED_AT]])
        if place is None:
            continue
        line, names = records[place - 1]
        below = [len(cells) == len(names) for _, cells in records[place:]]
        if len(records[0][1]) != len(names) and sum(below) >= _CONSISTENT * len(below):
            found.append((len(names), separator, line - 1))
    return max(found)[1:] if found else None


def csv_reader(lines: Iterable[str], separator: str, quote: str | None) -> Reader:
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE
    return csv.reader(lines, delimiter=separator, quotechar=quote, quoting=quoting)


def _encoding(sample: bytes, options: FileOptions) -> str:
    if options.encoding is not None:
        return "utf-8" if options.encoding in ("utf-8-sig", "ascii") else options.encoding
    for mark, name in _MARKS:
        if sample.startswith(mark):
            return name
    if sample.count(0) > len(sample) // 4:
        # Every second byte of Latin text in UTF-16 is zero; which half tells the byte order.
        likely = "utf-16-le" if sample[1::2].count(0) > sample[::2].count(0) else "utf-16-be"
        advice = FieldText("if it is UTF-16, say ", FieldName("encoding", likely))
        raise SourceError(f"{options.label}: is not text in UTF-8", advice=advice)
    if b"\0" in sample:
        raise SourceError(f"{options.label}: holds binary data, not text")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        raise SourceError(f"{options.label}: is not text in UTF-8", advice=encoding_advice(sample)) from None
    return "utf-8"


def encoding_advice(sample: bytes) -> FieldText:
    """What to declare for text that is not UTF-8. Few bytes beyond ASCII: Western text; many: another script."""
    beyond = sum(byte >= 0x80 for byte in sample)
    letters = sum(byte >= 0x41 for byte in sample)
    if beyond * 4 < letters:
        western = FieldName("encoding", "cp1252")
        return FieldText("it is probably Western text: say ", western, ", and look at names with accents afterwards")
    return FieldText("say which encoding it has, such as ", FieldName("encoding", "cp1251"), ", gb18030 or shift_jis")


def _decoded(sample: bytes, encoding: str, label: str) -> str:
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        raise SourceError(f"{label}: is not text in the declared encoding {encoding}") from None
    return text.removeprefix("\ufeff")


def _quote(text: str, declared: str | None) -> str | None:
    """The double quote, unless every cell of the header stands in single quotes."""
    if declared is not None:
        return declared or None
    header = text.lstrip("\r\n").split("\n", 1)[0].rstrip("\r")
    for separator in SEPARATORS:
        cells = header.split(separator)
        if all(len(cell) > 2 and cell[0] == cell[-1] == "'" for cell in cells):
            return "'"
    return '"'


def _separator(cut: Mapping[str, _Records], expected: str | None) -> str:
    """The one that cuts the header into several cells and the records into just as many; then the one with most."""
    candidates = SEPARATORS if expected is None else (expected, *SEPARATORS)
    shapes = {separator: _shape(cut[separator]) for separator in candidates}
    several = [separator for separator in candidates if shapes[separator][1] > 1]
    return max(several, key=lambda separator: shapes[separator]) if several else candidates[0]


def _shape(records: _Records) -> tuple[float, int]:
    """The share of records that have as many cells as the header, and that number."""
    widths = [len(cells) for _, cells in records] or [1]
    return sum(width == widths[0] for width in widths) / len(widths), widths[0]


def _records(text: str, separator: str, quote: str | None) -> _Records:
    reader = csv_reader(io.StringIO(text[: SAMPLE_BYTES // 4], newline=""), separator, quote)
    records, line = [], 1
    try:
        for cells in reader:
            if cells:
                records.append((line, cells))
            line = reader.line_num + 1
            if len(records) > _SAMPLE_RECORDS:
                break
    except csv.Error:  # a cell beyond the module's limit: judge by what was read so far
        pass
    if len(records) > 2:
        records.pop()  # the last may be cut off by the end of the sample
    return records


def _refuse_wrong_separator(cut: Mapping[str, _Records], declared: str, found: str, label: str) -> None:
    _, columns = _shape(cut[declared])
    share, better = _shape(cut[found])
    if columns == 1 and better > 1 and share >= _CONSISTENT:
        said, right = SPELT.get(declared, f"'{declared}'"), SPELT.get(found, f"'{found}'")
        raise SourceError(f"{label}: with {said} as separator there is one column; {right} gives {better}")
