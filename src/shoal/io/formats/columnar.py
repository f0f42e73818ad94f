"""Parquet, Arrow (file or stream) and JSON lines: columns have types of their own, and keep them.

JSON lines name no types, so the whole file is looked at once: a key or a kind of value that first shows up in the last
line still counts. Tables are flat here; nested and binary columns are refused by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl
from polars.exceptions import PolarsError

from shoal import sandbox
from shoal.errors import SourceError
from shoal.io.formats.detection import Fingerprint, check_names
from shoal.io.options import FileOptions
from shoal.io.reader_options import Format
from shoal.sandbox import ReadRequest


class ColumnarKind(ABC):
    """How one of these formats is read."""

    key: ClassVar[Format]
    broken: ClassVar[str]
    """What is said of a file that can't be read."""

    @abstractmethod
    def scan(self, path: Path, schema: pl.Schema | None, label: str) -> pl.LazyFrame:
        """The file as it is. The columns are given once they are known."""

    def where(self, path: Path) -> str:
        """Where a file is broken, for the message."""
        return ""


@dataclass(frozen=True)
class ColumnarSource:
    label: str
    path: Path
    kind: ColumnarKind
    schema: pl.Schema
    fingerprint: Fingerprint
    rows: int

    @property
    def format(self) -> Format:
        return self.kind.key

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path,)

    def scan(self) -> pl.LazyFrame:
        self.fingerprint.check(self.path, self.label)
        return _plain(self.kind.scan(self.path, self.schema, self.label), self.schema)

    def explain(self, error: PolarsError) -> SourceError:
        """An error that arose while the file was read; its text is never shown, it may quote a value."""
        return SourceError(f"{self.label}: {self.kind.broken}{self.kind.where(self.path)}")


def open_columnar(path: Path, options: FileOptions, kind: ColumnarKind, *, any_date: bool = False) -> ColumnarSource:
    """With ``any_date`` the caller deals with dates that are none (see ``kernels.calendar``); else they are refused."""
    fingerprint = Fingerprint.of(path)
    schema, records = checked(path, kind, options.label, any_date=any_date)
    check_names(schema.names(), options.label)
    refuse_nested(schema, options.label)
    if not records:
        raise SourceError(f"{options.label}: there are no records")
    return ColumnarSource(options.label, path, kind, schema, fingerprint, records)


def checked(
    path: Path, kind: ColumnarKind, label: str, *, broken: str | None = None, any_date: bool = False
) -> tuple[pl.Schema, int]:
    """The columns of a file that others have written, and how many records it has; all of it was decoded in a child."""
    told = {"path": str(path.resolve()), "file_format": kind.key, "label": label}
    arguments = {**told, "content": True, "any_date": any_date}
    broken = broken or kind.broken
    try:
        (found,) = sandbox.read(
            ReadRequest("shoal.sandbox.columnar_task:check", arguments, label, broken, path.stat().st_size)
        )
    except SourceError as error:
        where = kind.where(path) if error.message == f"{label}: {broken}" else ""
        raise SourceError(f"{error.message}{where}", advice=error.advice) from None
    return pl.read_ipc_stream(found.content).schema, int(found.told["records"])


def scan_own(path: Path, kind: ColumnarKind, label: str) -> pl.LazyFrame:
    """A file that we have written ourselves, read anew."""
    schema = kind.scan(path, None, label).collect_schema()
    return _plain(kind.scan(path, schema, label), schema)


def refuse_nested(schema: pl.Schema, label: str) -> None:
    nested = [name for name, dtype in schema.items() if dtype.is_nested() or isinstance(dtype, pl.Binary | pl.Object)]
    if nested:
        raise SourceError(
            f"{label}: column(s) {', '.join(nested)} hold lists, records or binary data, not single values"
        )


def plain_schema(schema: pl.Schema) -> pl.Schema:
    """Categories are text, and a column that is missing throughout is text too."""
    texts = {name for name, dtype in schema.items() if isinstance(dtype, pl.Categorical | pl.Enum | pl.Null)}
    return pl.Schema({name: pl.String() if name in texts else dtype for name, dtype in schema.items()})


def _plain(frame: pl.LazyFrame, schema: pl.Schema) -> pl.LazyFrame:
    texts = [name for name, dtype in plain_schema(schema).items() if dtype != schema[name]]
    return frame.with_columns(pl.col(texts).cast(pl.String)) if texts else frame
