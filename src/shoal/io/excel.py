"""Excel workbooks: one sheet is read, the first row is the header, every cell becomes text as in a CSV.

A sheet has at most 1,048,576 rows and is read whole; only then is it known what lies in it. Whole numbers come without
".0", dates without a time where the whole column has none. Cells that hold an Excel error (#N/A …) are missing values.
Writing goes row by row. A text that is a number as Excel would write it becomes a number cell, so that the column can
be summed; "007" stays text.
"""

from __future__ import annotations

import datetime
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from shoal.errors import SourceError, TargetError
from shoal.io.files import check_names
from shoal.io.options import FileOptions, Format
from shoal.schema.registry import did_you_mean

if TYPE_CHECKING:
    from xlsxwriter.worksheet import Worksheet

MAX_RECORDS: Final = 1_048_575
_MAX_CELL: Final = 32_767
_CREATED: Final = datetime.datetime(2000, 1, 1)  # noqa: DTZ001 - the writer takes no time zones
_PROTECTED: Final = "EncryptedPackage".encode("utf-16-le")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{0,14}[1-9])?")
_DIGITS: Final = 15
_MIDNIGHT: Final = r"^\d{4}-\d\d-\d\d 00:00:00$"
_CLOCK: Final = r"^1899-12-3[01] \d\d:\d\d:\d\d"


@dataclass(frozen=True)
class ExcelSource:
    label: str
    sheet: str
    frame: pl.DataFrame = field(repr=False)
    format: Format = "excel"

    def scan(self) -> pl.LazyFrame:
        return self.frame.lazy()


def open_excel(path: Path, options: FileOptions) -> ExcelSource:
    import fastexcel

    label = options.label
    try:
        book = fastexcel.read_excel(path)
        sheet = _chosen(book.sheet_names, options)
        first = book.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string").to_polars()
        cells = book.load_sheet(sheet, header_row=None, skip_rows=1, dtypes="string").to_polars()
    except fastexcel.FastExcelError:
        raise SourceError(f"{label}: {_broken(path)}") from None
    if not first.height:
        raise SourceError(f"{label}: the sheet '{sheet}' is empty")
    names = tuple(name or "" for name in first.row(0))
    check_names(names, label)
    cells.columns = list(names)
    frame = _plain(cells, options.null_values or ())
    if not frame.height:
        raise SourceError(f"{label}: the sheet '{sheet}' has a header but no records")
    return ExcelSource(label, sheet, frame)


def _chosen(sheets: list[str], options: FileOptions) -> str:
    wanted = options.sheet
    if wanted is None:
        return sheets[0]
    if isinstance(wanted, int):
        if not 1 <= wanted <= len(sheets):
            raise SourceError(f"{options.label}: there is no sheet number {wanted}; there are {len(sheets)}")
        return sheets[wanted - 1]
    if wanted not in sheets:
        raise SourceError(f"{options.label}: there is no sheet '{wanted}'{did_you_mean(wanted, tuple(sheets))}")
    return wanted


def _broken(path: Path) -> str:
    if _PROTECTED in path.read_bytes():
        return "is protected by a password; save it without one"
    return "is not a whole Excel workbook"


def _plain(cells: pl.DataFrame, null_values: tuple[str, ...]) -> pl.DataFrame:
    """Cells as text; rows without any value, which Excel keeps below a table, are left out at the end."""
    texts = cells.select(_date_or_time(cells[name].cast(pl.String)) for name in cells.columns)
    if null_values:
        texts = texts.with_columns(pl.when(~pl.all().is_in(null_values)).then(pl.all()).name.keep())
    filled = texts.select(pl.any_horizontal(pl.all().is_not_null())).to_series().arg_true()
    return texts.head(int(filled[-1]) + 1 if len(filled) else 0)


def _date_or_time(values: pl.Series) -> pl.Series:
    """Excel has moments only: one at midnight throughout is a date, one on its day zero is a time of day."""
    present = values.drop_nulls()
    if present.len() and present.str.contains(_MIDNIGHT).all():
        return values.str.head(10)
    if present.len() and present.str.contains(_CLOCK).all():
        return values.str.tail(-11)
    return values


def write_excel(path: Path, columns: list[str], batches: Iterable[pl.DataFrame]) -> None:
    """A new workbook, row by row. The dates in its properties are fixed, so that equal data gives equal bytes."""
    import xlsxwriter
    from xlsxwriter.exceptions import FileCreateError

    # What the writer puts aside on the way lies beside the output, and goes whatever happens.
    with tempfile.TemporaryDirectory(prefix=f"{path.name}-", dir=path.parent) as aside:
        book = xlsxwriter.Workbook(str(path), {"constant_memory": True, "tmpdir": aside})
        try:
            book.set_properties({"created": _CREATED})
            _fill(book.add_worksheet("data"), columns, batches)
        finally:
            try:
                book.close()
            except FileCreateError as error:
                raise error.args[0] from None  # the operating system's error is wrapped


def _fill(page: Worksheet, columns: list[str], batches: Iterable[pl.DataFrame]) -> None:
    for place, name in enumerate(columns):
        page.write_string(0, place, name)
    row = 0
    for batch in batches:
        if row + batch.height > MAX_RECORDS:
            raise TargetError(f"an Excel sheet can't hold more than {MAX_RECORDS:,} records; choose another format")
        for record in batch.select(pl.all().cast(pl.String)).iter_rows():
            row += 1
            for place, text in enumerate(record):
                if text is not None:
                    _write_cell(page, row, place, text, columns[place])


def _write_cell(page: Worksheet, row: int, place: int, text: str, column: str) -> None:
    if len(text) > _MAX_CELL:
        raise TargetError(f"column '{column}': an Excel cell can't hold more than {_MAX_CELL:,} letters")
    if _NUMBER.fullmatch(text) and sum(map(str.isdigit, text)) <= _DIGITS:
        page.write_number(row, place, float(text))
    else:
        page.write_string(row, place, text)
