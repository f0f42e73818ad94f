"""Where the data of a policy is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import BugError, FieldName, FieldText, InputError, SourceError
from shoal.io import FileOptions, ReaderOptions, Source, SourceOptions, open_source, parse_source
from shoal.io.frames import source_at
from shoal.policy import Policy
from shoal.policy.multi_table import MultiTablePolicy
from shoal.policy.source_mapping import LocatedMapping, MergeOptions, load_mapping

if TYPE_CHECKING:
    from shoal.io.merging.merged_source import MappedTable, MergedSource
    from shoal.io.nested.tables import NestedTables


def source_of(policy: Policy, data: str | Source | None, reader: ReaderOptions | None = None) -> Source:
    """Where the data is: what the caller says (relative to where they are), else what the policy says.

    What ``reader`` says goes before what the policy says of its source.
    """
    if data is not None:
        return source_at(data, reader) if isinstance(data, str) else data
    if policy.source is None:
        raise InputError("the policy names no source", advice=FieldText("give one with ", FieldName("data", "DATA")))
    return open_named(policy.source, policy.folder, reader)


def open_nested(several: MultiTablePolicy, data: Path | None = None) -> NestedTables:
    """The tables of the documents that a policy is for: those of a file, or of the one that the policy names."""
    from shoal.io.nested.document_files import DocumentFile
    from shoal.io.nested.tables import NestedTables

    if several.documents is None:
        raise BugError("the policy is of no documents")
    told = several.documents
    if data is not None and data.is_dir():
        given = data / told.path
        data = given if given.exists() else data / Path(told.path).name
    file = DocumentFile.at(told.path, several.folder) if data is None else DocumentFile.at(str(data))
    return NestedTables.open(file, told.paths)


def open_named(
    options: SourceOptions | MergeOptions, folder: Path | None, reader: ReaderOptions | None = None
) -> Source:
    """A source that a policy names; what is wrong is said in the words of policies."""
    if isinstance(options, MergeOptions):
        return open_merged((folder or Path()) / Path(options.merge).expanduser(), options.label, reader)
    return _open_listed(options, folder, reader, "policy")


def open_merged(path: Path, label: str, reader: ReaderOptions | None = None) -> MergedSource:
    """The table that a mapping file makes of its sources, once every value of them is known to fit."""
    from shoal.io.merging.merged_source import findings_of, merged

    located = load_mapping(path)
    tables = tuple(_mapped_tables(located, path.parent, reader))
    located.refuse(findings_of(tables))
    return merged(label, path, tables)


def _mapped_tables(located: LocatedMapping, folder: Path, reader: ReaderOptions | None) -> Iterator[MappedTable]:
    from shoal.io.merging.merged_source import MappedTable, expanded

    for place, mapped in enumerate(located.mapping.sources):
        for options in expanded(mapped.source, folder):
            source = _open_listed(options, folder, reader, "mapping")
            yield MappedTable(source, place, mapped, located.mapping)


def _open_listed(options: SourceOptions, folder: Path | None, reader: ReaderOptions | None, kind: str) -> Source:
    told = options.told(reader) if reader is not None and isinstance(options, FileOptions) else options
    try:
        return open_source(told, base=folder)
    except SourceError as error:
        raise error.with_fields(partial(_as_key, kind=kind), FileOptions.model_fields) from None


def _as_key(field: FieldName, kind: str = "policy") -> str:
    """
    >>> _as_key(FieldName("encoding", "cp1252"))
    '`encoding: cp1252` in the policy, below `source`'
    """
    written = field.name if not field.example else f"{field.name}: {_quoted(field.example)}"
    return f"`{written}` in the {kind}, below `source`"


def _quoted(example: str) -> str:
    return f'"{example}"' if example in (",", ".") else example


def population_source(policy: Policy) -> Source:
    """Where the table of the population is that a privacy model compares with."""
    if policy.population is None:
        raise BugError("no model of the policy compares with a population")
    return open_source(parse_source(policy.population), base=policy.folder)
