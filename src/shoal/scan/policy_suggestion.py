"""Tables to suggest a policy for: one file, the files of a folder, the tables of a database."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from shoal.discover.column_profile import Profile
from shoal.discover.recognisers import RecogniserSet
from shoal.discover.suggestion.policy_draft import Suggestion, suggest_tables
from shoal.discover.table_links import LinkableTable, TableColumn
from shoal.discover.table_profile import profile
from shoal.errors import FieldName, FieldStyle, SourceError
from shoal.io import ReaderOptions, ReferenceSource, Source, explained, open_source, parse_source
from shoal.io.databases.base import address_of, tables_in
from shoal.io.formats.base import table_suffixes
from shoal.io.formats.detection import is_folder_of_parts
from shoal.io.frames import source_at
from shoal.io.reading_notes import found_header_row
from shoal.io.row_estimates import estimated_rows
from shoal.policy import UseCase
from shoal.policy.multi_table import TABLE_NAME
from shoal.scan.annotators import annotate_by
from shoal.schema.progress import Monitor

PASSWORD = "${SHOAL_DB_PASSWORD}"  # noqa: S105  # the name of a variable
FAR = 3
"""Folders up from which a path is written whole."""


@dataclass(frozen=True)
class ProfiledTable:
    """A table with its profile, and where it is."""

    source: Source
    profile: Profile
    given: dict[str, object]

    def source_setting(self, folder: Path) -> object:
        """As a policy in the folder names it."""
        if "url" in self.given:
            return {**self.given, "url": without_password(str(self.given["url"]), folder)}
        path = beside(Path(str(self.given["path"])), folder)
        return path if len(self.given) == 1 else {**self.given, "path": path}


@dataclass(frozen=True)
class ProfiledTables:
    tables: dict[str, ProfiledTable]
    url: str | None = None
    """The database that all are in."""
    constrained: tuple[tuple[TableColumn, TableColumn], ...] = field(default=())


def is_database(data: str) -> bool:
    """An address without a table: the whole database."""
    return "://" in data and not data.startswith("file://") and "#" not in data


def policy_name(data: str) -> str:
    """A name that a policy may have, by where its data is.

    >>> policy_name("in/staff 2024.csv"), policy_name("sqlite:///clinic.db#visits")
    ('staff 2024', 'visits')
    """
    last = re.split(r"[/#\\]", data.rstrip("/"))[-1]
    return re.sub(r"[^\w .-]+", "-", Path(last).stem).strip(" .-")[:100] or "data"


def holds_tables(data: str) -> bool:
    """Whether it is a whole database or a folder of tables; a folder of parts is one table."""
    return is_database(data) or (Path(data).is_dir() and not is_folder_of_parts(Path(data)))


def profiled(
    data: str,
    source: Source | None = None,
    reader: ReaderOptions | None = None,
    recognisers: RecogniserSet | None = None,
    *,
    monitor: Monitor | None = None,
) -> ProfiledTable:
    """A table; ``source`` is it, where it has been opened already, by what ``reader`` says."""
    if "://" in data and not data.startswith("file://"):
        url, _, table = data.partition("#")
        return _profiled({"url": url, "table": table}, recognisers=recognisers, source=source, monitor=monitor)
    place: dict[str, object] = {"path": data.removeprefix("file://")}
    return _profiled(place, reader, recognisers=recognisers, source=source, monitor=monitor)


def _profiled(
    place: dict[str, object],
    reader: ReaderOptions | None = None,
    recognisers: RecogniserSet | None = None,
    *,
    source: Source | None = None,
    monitor: Monitor | None = None,
) -> ProfiledTable:
    source, monitor = source or source_at(place, reader), monitor or Monitor()
    with explained(source), monitor.phase("read", estimated_rows(source)):
        reads, columns = annotate_by(recognisers=recognisers), monitor.progress("columns")
        found = profile(source.scan(), annotate=reads, recognisers=recognisers, progress=columns)
    return ProfiledTable(source, found, {**place, **_told(place, reader, source)})


def _told(place: dict[str, object], reader: ReaderOptions | None, source: Source) -> dict[str, object]:
    """What a policy has to say of the file so that it is read in the same way again."""
    row = found_header_row(source)
    found = {} if row is None else {"header_row": row}
    said = reader.said_of(str(place["path"])) if reader is not None and "path" in place else {}
    return {**found, **{key: list(value) if isinstance(value, tuple) else value for key, value in said.items()}}


def profile_tables_at(
    data: str, reader: ReaderOptions | None = None, recognisers: RecogniserSet | None = None
) -> ProfiledTables:
    """All tables of a folder or a database."""
    if is_database(data):
        return database_tables(data, recognisers)
    return folder_tables(Path(data), reader, recognisers)


def as_tables(found: ProfiledTables) -> dict[str, LinkableTable]:
    return {key: LinkableTable(one.profile, one.source.scan()) for key, one in found.tables.items()}


def folder_tables(
    folder: Path, reader: ReaderOptions | None = None, recognisers: RecogniserSet | None = None
) -> ProfiledTables:
    suffixes = table_suffixes()
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in suffixes and path.is_file())
    if not paths:
        raise SourceError(f"{folder}: holds no file that is a table")
    stems = [_name(path.stem) for path in paths]
    names = [stem if stems.count(stem) == 1 else _name(path.name) for stem, path in zip(stems, paths, strict=True)]
    profiles = (_profiled({"path": str(path)}, reader, recognisers) for path in paths)
    return ProfiledTables(dict(zip(names, profiles, strict=True)))


def database_tables(url: str, recognisers: RecogniserSet | None = None) -> ProfiledTables:
    found, reads = {}, annotate_by(recognisers=recognisers)
    for name in tables_in(address_of(url)):
        source = open_source(parse_source({"url": url, "table": name}))
        try:
            with explained(source):
                told = profile(source.scan(), annotate=reads, recognisers=recognisers)
                found[name] = ProfiledTable(source, told, {"table": name})
        except SourceError as error:
            if "no records" not in error.message:
                raise
    if not found:
        raise SourceError("the database holds no table with records")
    keys = tuple(
        ((child, column), (parent, key))
        for child, own in found.items()
        for parent, other in found.items()
        if isinstance(own.source, ReferenceSource)
        for column, key in own.source.refers_to(other.source)
    )
    return ProfiledTables({_name(name): one for name, one in found.items()}, url, _renamed(keys))


def _renamed(keys: tuple[tuple[TableColumn, TableColumn], ...]) -> tuple[tuple[TableColumn, TableColumn], ...]:
    return tuple(((_name(child[0]), child[1]), (_name(parent[0]), parent[1])) for child, parent in keys)


def _name(text: str) -> str:
    """A name that a table may have in a policy."""
    return text if TABLE_NAME.match(text) else re.sub(r"[^\w-]+", "_", text).strip("_-")[:63] or "table"


def suggest_multi_table(  # noqa: PLR0913  # one argument per part of the policy
    found: ProfiledTables,
    name: str,
    use_case: UseCase,
    folder: Path,
    *,
    keep_joinable: bool = False,
    style: FieldStyle = FieldName.keyword,
) -> Suggestion:
    tables = as_tables(found)
    if found.url is None:
        sources = {key: one.source_setting(folder) for key, one in found.tables.items()}
        return suggest_tables(
            tables, name=name, use_case=use_case, sources=sources, keep_joinable=keep_joinable, style=style
        )
    elsewhere = {key: one.given for key, one in found.tables.items() if one.given["table"] != key}
    return suggest_tables(
        tables,
        name=name,
        use_case=use_case,
        sources=elsewhere,
        source={"url": without_password(found.url, folder)},
        constrained=found.constrained,
        keep_joinable=keep_joinable,
        style=style,
    )


def without_password(url: str, folder: Path) -> str:
    """A database's address as a policy may hold it: a password stays in the environment.

    >>> without_password("postgresql://clinic:secret@db/records", Path())
    'postgresql://clinic:${SHOAL_DB_PASSWORD}@db/records'
    """
    if url.startswith("sqlite:///"):
        return f"sqlite:///{beside(Path(url.removeprefix('sqlite:///')), folder)}"
    said = re.fullmatch(r"([^/]+://[^:@/]*):([^@/]*)@(.*)", url)
    if said is None or "${" in said[2]:
        return url
    return f"{said[1]}:{PASSWORD}@{said[3]}"


def beside(path: Path, folder: Path) -> str:
    """The path as seen from the folder: a policy's paths are relative to its own."""
    whole = path.expanduser().resolve()
    relative = os.path.relpath(whole, folder)
    return str(whole) if Path(relative).parts[:FAR] == ("..",) * FAR else relative
