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

if TYPE_CHECKING:
    import fastexcel

_MIDNIGHT: Final = r"^\d{4}-\d\d-\d\d 00:00:00$"
_CLOCK: Final = r"^1899-12-3[01] \d\d:\d\d:\d\d"
_MOST_BYTES: Final = 1 << 32
_SLICE: Final = 1 << 16


def sheets(channel: Channel, path: str, label: str) -> None:
    """Tell the names of the sheets."""
    channel.tell({"sheets": _opened(path, label).sheet_names})


def table(channel: Channel, path: str, label: str, null_values: list[str]) -> None:
    """Hand over the sheet that the parent chooses: its first row first, then the others."""
    book = _opened(path, label)
    sheet = channel.ask({"ask": "sheet", "sheets": book.sheet_names})["sheet"]
    first = book.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string").to_polars()
    if not first.height:
        raise SourceError(f"{label}: the sheet '{sheet}' is empty")
    channel.tell({"header": list(first.row(0))})
    frame = _plain(book.load_sheet(sheet, header_row=None, skip_rows=1, dtypes="string").to_polars(), null_values)
    for part in frame.iter_slices(_SLICE) if frame.height else (frame,):
        hand_over(channel, part)


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
