"""Sources that were opened once and are as they were: how a file is written need not be found out for every question.

What is kept is how to read a file, never what stands in it.

How a value is read depends on nothing but itself. Elsewhere a look at a whole column decides whether it holds numbers,
days or texts; here one record would so change how all others are read, by far more than the noise for one person hides.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import polars as pl

from shoal.dp.description import ColumnKind, DatasetColumn, TableDescription
from shoal.dp.scalars import readable
from shoal.dp.tabulation import missing_columns, unlike_described
from shoal.errors import DataError, SourceError
from shoal.io import FileSource, Source, open_source
from shoal.io.databases.base import declared_columns
from shoal.io.formats import arrow, parquet
from shoal.io.formats.base import format_named
from shoal.io.formats.columnar import open_columnar
from shoal.io.formats.detection import format_of, is_folder_of_parts, refuse_foreign_options, resolve
from shoal.io.formats.excel import ExcelSource
from shoal.io.formats.number_notation import CellNotation
from shoal.io.formats.partitioned import open_parts
from shoal.io.options import DatabaseOptions, FileOptions

_CLOCK: Final = r"^1899-12-3[01](?: (\d\d:\d\d:\d\d.*))?$"
"""A time of day in Excel, which has moments only."""
_MIDNIGHT: Final = r"^(\d{4}-\d\d-\d\d) 00:00:00$"
_DATED: Final = {one.KEY: one.KIND for one in (parquet, arrow)}
"""Formats in which any number can stand for a date. One that is none is no date, and no error that tells of it."""


@contextmanager
def no_details(label: str) -> Iterator[None]:
    """Why a file can't be read is somebody's record: which line, and how many of them, is not for who asks."""
    try:
        yield
    except SourceError:
        advice = "whoever keeps the data finds out why: shoal profile"
        raise SourceError(f"{label}: can't be read as it is described", advice=advice) from None


class OpenedSources:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, tuple[list[str], Source]] = {}

    def opened(self, table: TableDescription) -> Source:
        """Anew where the file is another one than before; always, where it is not a single file."""
        name = table.model_dump_json()
        state, source = self._known.get(name, ([], None))
        if source is not None and _present(source) and state_of(source) == state:
            return source
        with self._untold(table):
            fresh = self._read_by_value(table)
        if isinstance(fresh, FileSource) and len(fresh.files) == 1:
            self._known[name] = (state_of(fresh), fresh)
        return fresh

    @contextmanager
    def _untold(self, table: TableDescription) -> Iterator[None]:
        """A file that is not there is said to be; of one that is, no more than that it can't be read."""
        options = table.source
        if isinstance(options, DatabaseOptions) or not (self._folder / Path(options.path).expanduser()).exists():
            yield
            return
        with no_details(options.label):
            yield

    def _read_by_value(self, table: TableDescription) -> Source:
        options = table.source
        if isinstance(options, DatabaseOptions):
            declared = declared_columns(options, self._folder)
            return open_source(_as_texts(options, _there(table, declared)), base=self._folder)
        decimal = options.decimal
        source = self._opened_file(options if decimal is None else options.model_copy(update={"decimal": None}))
        if isinstance(source, ExcelSource):
            source = replace(source, frame=source.frame.with_columns(_day_or_time(pl.col(pl.String))))
        return source if decimal is None else _with_notation(source, decimal, table)

    def _opened_file(self, options: FileOptions) -> Source:
        folder = self._folder / Path(options.path).expanduser()
        if is_folder_of_parts(folder):
            return open_parts(folder, options, any_date=True)
        path = resolve(options, self._folder)
        file_format = format_of(path, options)
        if format_named(file_format).one_record_tells:  # before it is opened, so that its content makes no difference
            raise DataError(
                f"{options.label}: such files name no types, so one record would choose how all others are read",
                advice="write it as CSV or Parquet",
            )
        if file_format not in _DATED:
            return open_source(options, base=self._folder)
        refuse_foreign_options(options, file_format)
        return open_columnar(path, options, _DATED[file_format], any_date=True)


def _there(table: TableDescription, declared: dict[str, pl.DataType]) -> dict[str, DatasetColumn | None]:
    """What is read of a table of a database: what is described and there. Who asks for another column is told so."""
    person: dict[str, DatasetColumn | None] = {} if table.person is None else {table.person: None}
    described = {**person, **table.columns}
    found = {name: one for name, one in described.items() if name in declared}
    if not found:
        raise missing_columns(described)
    for name, one in found.items():
        if one is None or readable(one.type, declared[name]):
            continue
        raise unlike_described(name, one, declared[name])
    return found


def _as_texts(options: DatabaseOptions, columns: dict[str, DatasetColumn | None]) -> DatabaseOptions:
    """Text is had of each value by itself.

    SQLite has a kind with every value, whatever the column is declared as. PostgreSQL's numbers would be shown with as
    many digits as one of them has, MariaDB's truths would be numbers where one of them is, and of both a date that is
    none would be an error. Columns are named with their table, since SQLite takes an unknown name by itself for a text.
    """
    mark = "`" if options.kind == "mysql" else '"'
    texts = ", ".join(f"{_text(name, one, options.kind)} AS {_quoted(name, mark)}" for name, one in columns.items())
    if options.query is not None:
        inner = f"({options.query.strip().rstrip(';')}\n)"
    else:
        inner = ".".join(_quoted(part, mark) for part in (options.db_schema, options.table) if part)
    asked = f"SELECT {texts} FROM {inner} AS told"  # noqa: S608  # names are quoted
    return options.model_copy(update={"query": asked, "table": None, "db_schema": None})


def _text(name: str, column: DatasetColumn | None, kind: str) -> str:
    """Codes and truths that SQLite has as floating-point numbers are whole numbers where they can be: 1, not 1.0."""
    value = f"told.{_quoted(name, '`' if kind == 'mysql' else chr(34))}"
    if kind == "sqlite" and column is not None and column.type in (ColumnKind.CATEGORY, ColumnKind.BOOLEAN):
        whole = f"CAST({value} AS INTEGER)"
        value = f"CASE WHEN TYPEOF({value}) = 'real' AND {value} = {whole} THEN {whole} ELSE {value} END"
    return f"CAST({value} AS {'CHAR' if kind == 'mysql' else 'TEXT'})"


def _quoted(name: str, mark: str) -> str:
    return mark + name.replace(mark, 2 * mark) + mark


def _day_or_time(cell: pl.Expr) -> pl.Expr:
    """A moment at midnight is a day, one on Excel's day zero a time, whatever else the column holds."""
    clock = cell.str.extract(_CLOCK).fill_null("00:00:00")
    return pl.when(cell.str.contains(_CLOCK)).then(clock).otherwise(cell.str.replace(_MIDNIGHT, "$1")).name.keep()


def _with_notation(source: Source, decimal: str, table: TableDescription) -> Source:
    numbers = (ColumnKind.INTEGER, ColumnKind.NUMBER)
    there = source.scan().collect_schema()
    columns = tuple(name for name, one in table.columns.items() if one.type in numbers and there.get(name) == pl.String)
    return replace(source, notation=CellNotation(decimal, columns)) if columns else source  # type: ignore[type-var]


def _present(source: Source) -> bool:
    return isinstance(source, FileSource) and all(path.is_file() for path in source.files)


def state_of(source: Source) -> list[str]:
    """What tells whether the data are the same as before: path, size and time of each file."""
    if not isinstance(source, FileSource):
        return [source.label]
    return [f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in source.files]
