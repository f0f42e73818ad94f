"""The tables of a request, opened: files of a folder or a list, a whole database, or tables in memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import DataError, InputError, SourceError
from shoal.io import ReaderOptions, ReferenceSource, Source, explained
from shoal.io.databases.base import address_of, tables_in
from shoal.io.formats.base import table_suffixes
from shoal.io.formats.detection import is_folder_of_parts
from shoal.io.frames import FrameSource, as_lazy, source_at
from shoal.policy.multi_table import TABLE_NAME
from shoal.policy.references import Reference, ReferenceEnd
from shoal.synth.related_tables.description import RelatedTablesDescription
from shoal.synth.related_tables.key_detection import BY_DATABASE

Sources = dict[str, Source]
_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"


def is_several(data: Sequence[str], description: Path | None) -> bool:
    """Whether places, or what is described, are more than one table."""
    if len(data) > 1 or any(holds_several(place) for place in data):
        return True
    if description is None or not description.is_file():
        return False
    try:
        return re.search(r"^tables:", description.read_text(encoding="utf-8"), re.MULTILINE) is not None
    except (OSError, ValueError):
        return False


def holds_several(place: str) -> bool:
    """A folder of tables, or an address of a database that names no table."""
    if "://" in place and not place.startswith("file://"):
        return "#" not in place
    return Path(place).is_dir() and not is_folder_of_parts(Path(place))


def opened_tables(
    data: Any, description: RelatedTablesDescription | None, reader: ReaderOptions | None = None
) -> Sources:
    """By name; of a description those that it names, wherever they are said to be."""
    found = _opened(data, reader)
    if description is None:
        return found
    for name, told in description.tables.items():
        if name not in found and told.source is not None:
            place = str(description.folder / told.source) if "://" not in told.source else told.source
            found[name] = source_at(place, reader)
        elif name not in found:
            raise InputError(f"there is no table '{name}' in the data, and no source of it", field="description")
    return {name: found[name] for name in description.tables}


def _opened(data: Any, reader: ReaderOptions | None) -> Sources:
    if data is None:
        return {}
    if isinstance(data, Mapping):
        return {str(name): _source(one, reader) for name, one in data.items()}
    if not isinstance(data, str | Path | Sequence):
        raise InputError("the tables have to be a folder, files, a database, or tables by name")
    places = [str(data)] if isinstance(data, str | Path) else [str(place) for place in data]
    if len(places) == 1 and holds_several(places[0]):
        return _database(places[0]) if "://" in places[0] else _files(_tables_below(Path(places[0])), reader)
    return _files([Path(place) for place in places], reader)


def _source(given: object, reader: ReaderOptions | None) -> Source:
    if isinstance(given, Source):
        return given
    return source_at(str(given), reader) if isinstance(given, str | Path) else FrameSource(as_lazy(given))


def _tables_below(folder: Path) -> list[Path]:
    suffixes = table_suffixes()
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in suffixes and path.is_file())
    if not found:
        raise SourceError(f"{folder}: holds no file that is a table")
    return found


def _files(paths: Sequence[Path], reader: ReaderOptions | None) -> Sources:
    names = [table_name(path.stem) for path in paths]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"two files would be the table '{twice[0]}'")
    return {name: source_at(str(path), reader) for name, path in zip(names, paths, strict=True)}


def _database(url: str) -> Sources:
    return {table_name(name): source_at({"url": url, "table": name}) for name in tables_in(address_of(url))}


def table_name(text: str) -> str:
    """
    >>> table_name("visits 2024"), table_name("visits")
    ('visits_2024', 'visits')
    """
    return text if TABLE_NAME.match(text) else re.sub(r"[^\w-]+", "_", text).strip("_-")[:63] or "table"


def read_tables(sources: Sources) -> dict[str, pl.DataFrame]:
    frames = {}
    for name, source in sources.items():
        with explained(source):
            frames[name] = source.scan().collect(engine="streaming")
        if not frames[name].height:
            raise DataError(f"{source.label}: has no records")
        frames[name] = frames[name].with_columns(_numbers(frames[name]))
    return frames


def _numbers(frame: pl.DataFrame) -> list[pl.Series]:
    """Columns of text files that hold whole numbers only: keys stay numbers then."""
    texts = (
        column for column in frame.iter_columns() if column.dtype == pl.String() and column.null_count() < len(column)
    )
    return [column.cast(pl.Int64) for column in texts if column.str.contains(_WHOLE).all()]


def foreign_keys(sources: Sources) -> Iterator[Reference]:
    """What a database says itself."""
    for child, source in sources.items():
        for parent, other in sources.items():
            for column, key in source.refers_to(other) if isinstance(source, ReferenceSource) else ():
                yield Reference(ReferenceEnd(child, column), ReferenceEnd(parent, key), reason=BY_DATABASE)
