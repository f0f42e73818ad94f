"""Excel workbooks: one sheet is read, below the row that names the columns; every cell becomes text as in a CSV.

A sheet has at most 1,048,576 rows and is read whole, in a child process; only then is it known what lies in it. Whole
numbers come without ".0", dates without a time where the whole column has none. Cells that hold an Excel error (#N/A …)
are missing values.

Writing goes row by row, through a file that is put aside beside the workbook and swept as an unfinished workbook is. A
text that is a number as Excel would write it becomes a number cell, so that the column can be summed; "007" stays text.
Equal data gives equal bytes.
"""

from __future__ import annotations

import datetime
import mmap
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from shoal import sandbox
from shoal.errors import SourceError, TargetError
from shoal.io.atomic.unfinished import scratch_folder
from shoal.io.formats.base import FileFormat, Signature, file_formats
from shoal.io.formats.detection import check_names, header_advice
from shoal.io.formats.header_row import find_header
from shoal.io.formats.number_notation import NumberNotation
from shoal.io.options import FileOptions
from shoal.io.reader_options import Format
from shoal.sandbox import ReadRequest
from shoal.schema.registry import did_you_mean

if TYPE_CHECKING:
    from xlsxwriter.worksheet import Worksheet

KEY = "excel"
MAX_RECORDS: Final = 1_048_575
_MAX_CELL: Final = 32_767
_BROKEN: Final = "is not a whole Excel workbook"
_PROTECTED: Final = "EncryptedPackage".encode("utf-16-le")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{0,14}[1-9])?")
_DIGITS: Final = 15
_SHEET: Final = "data"
_BATCH: Final = 10_000
_CREATED: Final = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
"""What every workbook says of itself, so that equal data gives equal bytes."""
_OLD: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@dataclass(frozen=True)
class ExcelSource:
    label: str
    sheet: str
    path: Path
    frame: pl.DataFrame = field(repr=False)
    format: Format = KEY
    header_row: int = 1
    """The row that names the columns, from 1."""
    notation: NumberNotation | None = None
    """Columns of numbers that are written as a country writes them, as text."""

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path,)

    def scan(self) -> pl.LazyFrame:
        frame = self.frame.lazy()
        return frame if self.notation is None else self.notation.read(frame)


@dataclass
class _SheetChoice:
    """What the child asks while it reads, and what it was told."""

    options: FileOptions
    sheet: str = ""
    header_row: int = 1

    def answer(self, told: Mapping[str, Any]) -> dict[str, object]:
        if told["ask"] == "sheet":
            self.sheet = _chosen(told["sheets"], self.options)
            return {"sheet": self.sheet}
        self.header_row = self.options.header_row or find_header(told["rows"]) or _first_filled(told["rows"])
        return {"header_row": self.header_row}


def open_excel(path: Path, options: FileOptions) -> ExcelSource:
    label, choice = options.label, _SheetChoice(options)
    arguments = {"path": str(path.resolve()), "label": label, "null_values": list(options.null_values or ())}
    request = ReadRequest("shoal.sandbox.excel_task:table", arguments, label, _BROKEN, path.stat().st_size)
    found = sandbox.read(request, answer=choice.answer)
    with _protected(path, label):
        header = next(found).told["header"]
        parts = [pl.read_ipc_stream(part.content) for part in found]
    names = tuple(name or "" for name in header)
    check_names(names, label, header_advice(options))
    frame = pl.concat(parts)
    frame.columns = list(names)
    if not frame.height:
        raise SourceError(f"{label}: the sheet '{choice.sheet}' has a header but no records")
    return ExcelSource(label, choice.sheet, path, frame, header_row=choice.header_row)


def _first_filled(rows: Sequence[Sequence[str | None]]) -> int:
    """Empty rows above a table are no part of it."""
    return next((number for number, row in enumerate(rows, 1) if any(cell is not None for cell in row)), 1)


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
    if wanted not in sheets and wanted.isdecimal():
        return _chosen(sheets, options.model_copy(update={"sheet": int(wanted)}))
    if wanted not in sheets:
        raise SourceError(f"{options.label}: there is no sheet '{wanted}'{did_you_mean(wanted, tuple(sheets))}")
    return wanted


def write_excel(path: Path, columns: list[str], batches: Iterable[pl.DataFrame]) -> None:
    """A new workbook with one sheet, row by row."""
    from xlsxwriter import Workbook
    from xlsxwriter.exceptions import XlsxWriterException

    with scratch_folder(path) as aside, path.open("wb") as file:
        book = Workbook(file, {"constant_memory": True, "tmpdir": str(aside)})
        book.set_properties({"created": _CREATED})
        book.use_zip64()
        sheet = book.add_worksheet(_SHEET)
        try:
            _write_rows(sheet, columns, batches)
            book.close()
        except XlsxWriterException as error:
            raise _cause(error) from None
        finally:
            with suppress(OSError):  # after an error the library leaves it open
                sheet.row_data_fh.close()


def _write_rows(sheet: Worksheet, columns: list[str], batches: Iterable[pl.DataFrame]) -> None:
    for place, name in enumerate(columns):
        sheet.write_string(0, place, name)
    row = 0
    for batch in batches:
        if row + batch.height > MAX_RECORDS:
            raise TargetError(f"an Excel sheet can't hold more than {MAX_RECORDS:,} records; choose another format")
        _refuse_long(batch)
        for record in batch.select(pl.all().cast(pl.String)).iter_rows():
            row += 1
            for place, text in enumerate(record):
                if text is None:
                    continue
                if _is_number(text):
                    sheet.write_number(row, place, float(text))
                else:
                    sheet.write_string(row, place, text)


def _refuse_long(batch: pl.DataFrame) -> None:
    for values in batch.iter_columns():
        if isinstance(values.dtype, pl.String) and (values.str.len_chars() > _MAX_CELL).any():
            raise TargetError(f"column '{values.name}': an Excel cell can't hold more than {_MAX_CELL:,} letters")


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None and sum(map(str.isdigit, text)) <= _DIGITS


def _cause(error: Exception) -> Exception:
    """What the operating system said, which the library wraps."""
    cause = error.args[0] if error.args else None
    return cause if isinstance(cause, OSError) else error


def _sink(frame: pl.LazyFrame, path: Path) -> None:
    columns = frame.collect_schema().names()
    write_excel(path, columns, frame.collect_batches(chunk_size=_BATCH, maintain_order=True, engine="streaming"))


def _scan(path: Path, _label: str) -> pl.LazyFrame:
    return open_excel(path, FileOptions(path=str(path), format=KEY)).scan()


file_formats.add(
    KEY,
    FileFormat(
        KEY,
        (".xlsx", ".xlsm", ".xls"),
        open_excel,
        _sink,
        _scan,
        order=30,
        signatures=(
            Signature(b"PK\x03\x04", "an Excel workbook or another zip archive"),
            Signature(_OLD, "an old or protected Office document"),
        ),
        options=frozenset({"header_row", "null_values", "decimal", "sheet"}),
        sheets=sheets_of,
    ),
)
