"""In the child: one sheet of an Excel workbook as a table of texts.

The library lays a sheet out as a rectangle up to its last cell, so that a file of one kilobyte can ask for terabytes.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from shoal.errors import SourceError
from shoal.sandbox.archive_limits import refuse_archive_bomb
from shoal.sandbox.child import Channel
from shoal.sandbox.excel_formulas import uncomputed_columns

if TYPE_CHECKING:
    import fastexcel

_MIDNIGHT: Final = r"^\d{4}-\d\d-\d\d 00:00:00$"
_CLOCK: Final = r"^1899-12-3[01] \d\d:\d\d:\d\d"
_MOST_BYTES: Final = 1 << 32
_SLICE: Final = 1 << 16
_OPENING: Final = 40
"""Rows that the parent sees to find out which one names the columns."""
_SHOWN: Final = 10


def sheets(channel: Channel, path: str, label: str) -> None:
    """Tell the names of the sheets."""
    channel.tell({"sheets": _opened(path, label).sheet_names})


def table(channel: Channel, path: str, label: str, null_values: list[str]) -> None:
    """Hand over the sheet that the parent chooses: the row of names, which it chooses too, then those below."""
    book = _opened(path, label)
    sheet = channel.ask({"ask": "sheet", "sheets": book.sheet_names})["sheet"]
    opening = _rows(book, sheet, 0, _OPENING)
    if not opening.height:
        raise SourceError(f"{label}: the sheet '{sheet}' is empty")
    place = channel.ask({"ask": "header", "rows": [list(row) for row in opening.iter_rows()]})["header_row"]
    _refuse_uncomputed(path, label, sheet, book.sheet_names.index(sheet))
    header = _rows(book, sheet, place - 1, 1)
    if not header.height:
        raise SourceError(f"{label}: the sheet '{sheet}' has no row {place}")
    frame = _plain(_rows(book, sheet, place, None), null_values)
    named = _named(header, frame)
    channel.tell({"header": list(header.select(named).row(0))})
    frame = frame.select(named)
    for part in frame.iter_slices(_SLICE) if frame.height else (frame,):
        hand_over(channel, part)


def _rows(book: fastexcel.ExcelReader, sheet: str, skipped: int, most: int | None) -> pl.DataFrame:
    """Rows by their numbers in the spreadsheet, empty ones above the table included."""
    return book.load_sheet(sheet, header_row=None, skip_rows=skipped, n_rows=most, dtypes="string").to_polars()


def _named(header: pl.DataFrame, frame: pl.DataFrame) -> list[str]:
    """All columns but those without a name and a value, as beside a title that is wider than the table."""
    cells = zip(header.columns, header.row(0), strict=True)
    return [name for name, cell in cells if cell is not None or frame[name].null_count() < frame.height]


def _refuse_uncomputed(path: str, label: str, sheet: str, place: int) -> None:
    columns = uncomputed_columns(path, place)
    if columns:
        shown = ", ".join(columns[:_SHOWN]) + (" …" if len(columns) > _SHOWN else "")
        raise SourceError(
            f"{label}: column(s) {shown} of the sheet '{sheet}' hold formulas that were never computed, so the file "
            "has no values for them",
            advice="open it in a spreadsheet program and save it",
        )


def _opened(path: str, label: str) -> fastexcel.ExcelReader:
    import fastexcel

    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            refuse_archive_bomb(archive.infolist(), label, _MOST_BYTES)
    return fastexcel.read_excel(path)


def hand_over(channel: Channel, frame: pl.DataFrame, told: Mapping[str, Any] | None = None) -> None:
    out = io.BytesIO()
    frame.write_ipc_stream(out)
    channel.tell(told or {}, out.getvalue())


def _plain(cells: pl.DataFrame, null_values: list[str]) -> pl.DataFrame:
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
