"""Tables in memory: any of pandas, Polars, PyArrow in, the same kind out."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError
from shoal.io import DatabaseOptions, FileOptions, Source, SourceOptions, open_source, parse_source
from shoal.io.formats.base import format_of_suffix
from shoal.io.reader_options import ReaderOptions


@dataclass(frozen=True)
class FrameSource:
    frame: pl.LazyFrame
    label: str = "table in memory"

    def scan(self) -> pl.LazyFrame:
        return self.frame


@dataclass
class FrameTarget:
    label: str = "table in memory"
    frame: pl.DataFrame = field(default_factory=pl.DataFrame)

    def write(self, frame: pl.LazyFrame) -> None:
        self.frame = frame.collect(engine="streaming")


def source_at(given: str | Mapping[str, object] | SourceOptions, reader: ReaderOptions | None = None) -> Source:
    """The source behind a path or a database's address, as a caller writes it.

    What ``reader`` says is taken as far as it means something for the file.
    """
    try:
        options = parse_source(given)
    except ValueError as error:
        raise InputError(str(error)) from None
    return open_source(options.told(reader) if reader is not None and isinstance(options, FileOptions) else options)


def sources_at(places: Mapping[str, str], reader: ReaderOptions) -> dict[str, Source]:
    """The sources of a request by their names there. What ``reader`` says has to mean something for one of them."""
    paths = [path.removeprefix("file://") for path in places.values() if "://" not in path.removeprefix("file://")]
    for name in reader.said:
        if not any(name in reader.said_of(path) for path in paths):
            kind = "database" if not paths else "file in the format"
            formats = {found.key for path in paths if (found := format_of_suffix(Path(path).suffix)) is not None}
            raise InputError(f"can't be said of a {' '.join((kind, *sorted(formats)))}", field=name)
    return {name: source_at(place, reader) for name, place in places.items()}


def as_lazy(data: object) -> pl.LazyFrame:
    """A lazy frame over a path, a path with options for its reader, or a table in memory."""
    if isinstance(data, pl.LazyFrame):
        return data
    if isinstance(data, pl.DataFrame):
        return data.lazy()
    if isinstance(data, str | Path):
        return source_at(str(data)).scan()
    if isinstance(data, Mapping | FileOptions | DatabaseOptions):
        return source_at(data).scan()
    if _is(data, "pandas", "DataFrame"):
        return pl.from_pandas(data).lazy()  # type: ignore[call-overload,no-any-return]  # checked by name, to not import pandas
    if _is(data, "pyarrow", "Table"):
        return pl.DataFrame(pl.from_arrow(data)).lazy()
    raise InputError(
        f"a table of the type {type(data).__name__} is not supported; give pandas, Polars, PyArrow, Spark or a path",
        field="data",
    )


def like(data: object, frame: pl.DataFrame) -> Any:
    """The frame as the kind of table that ``data`` is."""
    if isinstance(data, pl.LazyFrame):
        return frame.lazy()
    if _is(data, "pandas", "DataFrame"):
        return frame.to_pandas()
    if _is(data, "pyarrow", "Table"):
        return frame.to_arrow()
    return frame


def is_spark(data: object) -> bool:
    return _is(data, "pyspark.sql", "DataFrame")


def _is(data: object, module: str, name: str) -> bool:
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(data, getattr(loaded, name))
