"""Excel workbooks: one sheet is read, the first row is the header, every cell becomes text as in a CSV.

A sheet has at most 1,048,576 rows and is read whole, in a child process; only then is it known what lies in it. Whole
numbers come without ".0", dates without a time where the whole column has none. Cells that hold an Excel error (#N/A …)
are missing values.

Writing streams the five parts that a workbook needs (ECMA-376) into its zip archive; libraries for it put rows aside in
temporary files, which a kill would leave behind. A text that is a number as Excel would write it becomes a number cell,
so that the column can be summed; "007" stays text. Equal data gives equal bytes.
"""

from __future__ import annotations

import mmap
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final
from xml.sax.saxutils import escape

import polars as pl

from shoal import sandbox
from shoal.errors import SourceError, TargetError
from shoal.io.formats.detection import check_names
from shoal.io.options import FileOptions, Format
from shoal.sandbox import ReadRequest
from shoal.schema.registry import did_you_mean

MAX_RECORDS: Final = 1_048_575
_MAX_CELL: Final = 32_767
_BROKEN: Final = "is not a whole Excel workbook"
_PROTECTED: Final = "EncryptedPackage".encode("utf-16-le")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{0,14}[1-9])?")
_DIGITS: Final = 15
_NOT_IN_XML: Final = re.compile("[^\\t\\n\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]|_(?=x[0-9A-Fa-f]{4}_)")
_OLD: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@dataclass(frozen=True)
class ExcelSource:
    label: str
    sheet: str
    path: Path
    frame: pl.DataFrame = field(repr=False)
    format: Format = "excel"

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path,)

    def scan(self) -> pl.LazyFrame:
        return self.frame.lazy()


def open_excel(path: Path, options: FileOptions) -> ExcelSource:
    label, chosen = options.label, list[str]()

    def choose(told: Mapping[str, Any]) -> dict[str, str]:
        chosen.append(_chosen(told["sheets"], options))
        return {"sheet": chosen[0]}

    arguments = {"path": str(path.resolve()), "label": label, "null_values": list(options.null_values or ())}
    request = ReadRequest("shoal.sandbox.excel_task:table", arguments, label, _BROKEN, path.stat().st_size)
    found = sandbox.read(request, answer=choose)
    with _protected(path, label):
        header = next(found).told["header"]
        parts = [pl.read_ipc_stream(part.content) for part in found]
    names = tuple(name or "" for name in header)
    check_names(names, label)
    frame = pl.concat(parts)
    frame.columns = list(names)
    if not frame.height:
        raise SourceError(f"{label}: the sheet '{chosen[0]}' has a header but no records")
    return ExcelSource(label, chosen[0], path, frame)


def sheets_of(path: Path, label: str) -> list[str]:
    """The names of the sheets of a workbook."""
    arguments = {"path": str(path.resolve()), "label": label}
    request = ReadRequest("shoal.sandbox.excel_task:sheets", arguments, label, _BROKEN, path.stat().st_size)
    with _protected(path, label):
        (told,) = sandbox.read(request)
    return [str(name) for name in told.told["sheets"]]


@contextmanager
def _protected(path: Path, label: str) -> Iterator[None]:
    """A workbook that can't be read because of its password is said to be one."""
    try:
        yield
    except SourceError:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if content[: len(_OLD)] != _OLD or content.find(_PROTECTED) < 0:
                raise
        raise SourceError(f"{label}: is protected by a password; save it without one") from None


def _chosen(sheets: list[str], options: FileOptions) -> str:
    wanted = options.sheet
    if not sheets:
        raise SourceError(f"{options.label}: there is no sheet in it")
    if wanted is None:
        return sheets[0]
    if isinstance(wanted, int):
        if not 1 <= wanted <= len(sheets):
            raise SourceError(f"{options.label}: there is no sheet number {wanted}; there are {len(sheets)}")
        return sheets[wanted - 1]
    if wanted not in sheets:
        raise SourceError(f"{options.label}: there is no sheet '{wanted}'{did_you_mean(wanted, tuple(sheets))}")
    return wanted


_XML: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_OPEN: Final = "http://schemas.openxmlformats.org"
_RELATION: Final = f"{_OPEN}/officeDocument/2006/relationships"
_MAIN: Final = f"{_OPEN}/spreadsheetml/2006/main"
_KIND: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS: Final = {
    "[Content_Types].xml": f"""<Types xmlns="{_OPEN}/package/2006/content-types">\
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>\
<Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>\
<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_KIND}.worksheet+xml"/></Types>""",
    "_rels/.rels": f"""<Relationships xmlns="{_OPEN}/package/2006/relationships">\
<Relationship Id="rId1" Type="{_RELATION}/officeDocument" Target="xl/workbook.xml"/></Relationships>""",
    "xl/workbook.xml": f"""<workbook xmlns="{_MAIN}" xmlns:r="{_RELATION}">\
<sheets><sheet name="data" sheetId="1" r:id="rId1"/></sheets></workbook>""",
    "xl/_rels/workbook.xml.rels": f"""<Relationships xmlns="{_OPEN}/package/2006/relationships">\
<Relationship Id="rId1" Type="{_RELATION}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>""",
}


def write_excel(path: Path, columns: list[str], batches: Iterable[pl.DataFrame]) -> None:
    """A new workbook with one sheet, row by row."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, text in _PARTS.items():
            with book.open(zipfile.ZipInfo(name), "w") as part:
                part.write(f"{_XML}{text}".encode())
        sheet = zipfile.ZipInfo("xl/worksheets/sheet1.xml")
        sheet.compress_type = zipfile.ZIP_DEFLATED
        with book.open(sheet, "w", force_zip64=True) as part:
            _write_sheet(part, columns, batches)


def _write_sheet(part: IO[bytes], columns: list[str], batches: Iterable[pl.DataFrame]) -> None:
    places = [_letters(place) for place in range(len(columns))]
    part.write(f'{_XML}<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
    part.write(f'<row r="1">{"".join(map(_text_cell, places, [1] * len(columns), columns))}</row>'.encode())
    row = 1
    for batch in batches:
        if row + batch.height > MAX_RECORDS + 1:
            raise TargetError(f"an Excel sheet can't hold more than {MAX_RECORDS:,} records; choose another format")
        _refuse_long(batch)
        lines = []
        for record in batch.select(pl.all().cast(pl.String)).iter_rows():
            row += 1
            cells = "".join(
                _cell(place, row, text) for place, text in zip(places, record, strict=True) if text is not None
            )
            lines.append(f'<row r="{row}">{cells}</row>')
        part.write("".join(lines).encode())
    part.write(b"</sheetData></worksheet>")


def _refuse_long(batch: pl.DataFrame) -> None:
    for values in batch.iter_columns():
        if isinstance(values.dtype, pl.String) and (values.str.len_chars() > _MAX_CELL).any():
            raise TargetError(f"column '{values.name}': an Excel cell can't hold more than {_MAX_CELL:,} letters")


def _cell(place: str, row: int, text: str) -> str:
    if _NUMBER.fullmatch(text) and sum(map(str.isdigit, text)) <= _DIGITS:
        return f'<c r="{place}{row}"><v>{text}</v></c>'
    return _text_cell(place, row, text)


def _text_cell(place: str, row: int, text: str) -> str:
    plain = escape(_NOT_IN_XML.sub(lambda found: f"_x{ord(found[0]):04X}_", text))
    return f'<c r="{place}{row}" t="inlineStr"><is><t xml:space="preserve">{plain}</t></is></c>'


def _letters(place: int) -> str:
    """Columns as Excel names them: A … Z, AA …

    >>> [_letters(place) for place in (0, 25, 26, 701, 702)]
    ['A', 'Z', 'AA', 'ZZ', 'AAA']
    """
    return (_letters(place // 26 - 1) if place >= 26 else "") + chr(ord("A") + place % 26)
