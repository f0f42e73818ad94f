"""The tables of a release folder, or of a folder that a policy of several tables takes its files from."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from shoal.assess.comparison.counting_unit import DeclaredPeople
from shoal.assess.multi_table.joined_risk import JoinedRisk, groups_from_manifest, joined_risk, key_groups
from shoal.assess.multi_table.references import references_of
from shoal.errors import FieldName, FieldText, InputError, SourceError
from shoal.io import FileOptions, ReaderOptions, Source, explained
from shoal.io.formats.base import format_of_suffix
from shoal.io.frames import source_at
from shoal.io.nested.paths import table_name
from shoal.measurement.risk.joined_tables import ROW, KeyGroup
from shoal.policy import Policy
from shoal.policy.multi_table import TABLE_NAME, MultiTablePolicy, load_any
from shoal.policy.sources import open_named, open_nested
from shoal.results.manifest import MANIFEST
from shoal.results.multi_table_manifest import MultiTableManifest
from shoal.results.release_folder import ReleaseFolder
from shoal.schema import Role


@dataclass(frozen=True)
class TableSet:
    """Tables that belong together, and what is known of them: by a policy, or by the manifest."""

    place: str
    sources: Mapping[str, Source]
    several: MultiTablePolicy | None
    manifest: MultiTableManifest | None
    """Of the whole release; None where these are the tables before."""
    folders: Mapping[str, ReleaseFolder] = field(default_factory=dict)
    """Of each table, where it was released."""

    def folder(self, table: str) -> ReleaseFolder:
        """The release folder of one table."""
        return self.folders.get(table) or ReleaseFolder.at(str(Path(self.place) / table))

    def policy(self, table: str) -> Policy | None:
        return None if self.several is None else self.several.tables[table]

    def quasi(self, table: str) -> tuple[str, ...]:
        policy = self.policy(table)
        if policy is not None:
            return policy.quasi_identifiers
        manifest = self.folder(table).manifest
        return () if manifest is None else manifest.with_role(Role.QUASI)

    def keys(self, frames: Mapping[str, pl.LazyFrame]) -> tuple[KeyGroup, ...]:
        """What joins the tables as they are; without a policy, what joined them when they were released.

        That tables are in the same order only the manifest can say, since the sources showed it.
        """
        if self.several is not None:
            found = key_groups(self.several.tables, references_of(self.several, self.sources), frames)
            ordered = [group for group in self._told() or () if any(column == ROW for _, column in group.columns)]
            return (*found, *ordered)
        told = self._told()
        if told is None:
            said = f"{self.place}: doesn't say what its tables are joined by"
            raise InputError(said, advice=FieldText("give ", FieldName("policy")))
        return told

    def _told(self) -> tuple[KeyGroup, ...] | None:
        """What the manifest says; None where it says nothing that can be read."""
        if self.manifest is None:
            return ()
        joined = self.manifest.joined
        if joined is None or joined.keys is None:
            return None
        groups = groups_from_manifest(joined.keys)
        return tuple(group for group in groups if set(group.tables) <= self.sources.keys())

    def joined(self) -> JoinedRisk:
        """Counted in the files as they are now."""
        with ExitStack() as reading:
            for source in self.sources.values():
                reading.enter_context(explained(source))
            return self._joined({name: source.scan() for name, source in self.sources.items()})

    def _joined(self, frames: Mapping[str, pl.LazyFrame]) -> JoinedRisk:
        groups = self.keys(frames)
        for table, column in (end for group in groups for end in group.columns):
            if column != ROW and column not in frames[table].collect_schema():
                raise SourceError(f"{self.place}: the table '{table}' has no column '{column}', by which it was joined")
        rows = sum(int(frame.select(pl.len()).collect(engine="streaming").item()) for frame in frames.values())
        people = (
            {name: DeclaredPeople.of(self.folder(name)) for name in self.sources} if self.manifest is not None else {}
        )
        return joined_risk(
            frames,
            {name: self.quasi(name) for name in self.sources},
            groups,
            several=self.several,
            rows=rows,
            most_records={name: told.most_records for name, told in people.items() if told is not None},
        )


def table_set_at(
    place: str | ReleaseFolder, policy: Path | None, reader: ReaderOptions | None = None
) -> TableSet | None:
    """None where the data, or the policy, is of one table."""
    folder = ReleaseFolder.at(place) if isinstance(place, str) else place
    data, manifest = folder.place, folder.tables
    several = None
    plain = Path(data).is_dir() and not (Path(data) / MANIFEST).exists()
    if policy is not None and (manifest is not None or plain):
        chosen = load_any(policy)
        several = chosen if isinstance(chosen, MultiTablePolicy) else None
        if several is None and manifest is not None:
            raise InputError(f"{policy}: is a policy of one table, and {data} is a release of several")
    if manifest is None:
        return None if several is None else TableSet(data, files_of(several, data, reader), several, None)
    names = tuple(manifest.tables)
    if not names or not all(TABLE_NAME.match(name) for name in names):
        raise SourceError(f"{data}: is not a release of several tables")
    if several is not None and several.documents is not None:  # an array without elements is no table
        several = replace(several, tables={name: one for name, one in several.tables.items() if name in names})
    if several is not None and set(names) != set(several.tables):
        raise InputError(f"{policy}: has other tables than {data}")
    ordered = names if several is None else tuple(several.tables)
    folders = {name: ReleaseFolder.at(str(Path(data) / name)) for name in ordered}
    sources = {name: source_at(folder.data) for name, folder in folders.items()}
    return TableSet(data, sources, several, manifest, folders)


def files_of(several: MultiTablePolicy, folder: str, reader: ReaderOptions | None = None) -> dict[str, Source]:
    """The tables' sources, files being those of the folder: where the policy has them, or by their names."""
    if several.documents is not None:
        nested = open_nested(several, Path(folder))
        return {table_name(table): source for table, source in nested.sources.items()}
    found: dict[str, Source] = {}
    for name, policy in several.tables.items():
        if policy.source is None or not isinstance(policy.source, FileOptions):
            own = policy.source
            found[name] = named_in(folder, name, reader) if own is None else open_named(own, policy.folder, reader)
            continue
        given = Path(folder) / policy.source.path
        near = given if given.exists() else Path(folder) / given.name
        found[name] = open_named(policy.source.model_copy(update={"path": str(near)}), None, reader)
    return found


def originals_of(tables: TableSet, place: str, reader: ReaderOptions | None = None) -> dict[str, Source]:
    """The tables that a release was made from, in a folder or a database."""
    if tables.several is not None and "://" not in place:
        if tables.several.documents is None and not Path(place).is_dir():
            raise _takes_a_folder()
        return files_of(tables.several, place, reader)
    return {name: named_in(place, name, reader) for name in tables.sources}


def named_in(place: str, table: str, reader: ReaderOptions | None = None) -> Source:
    """The table of this name in a folder or a database."""
    if "://" in place and not place.startswith("file://"):
        return source_at({"url": place, "table": table})
    if not Path(place).is_dir():
        raise _takes_a_folder()
    fitting = [path for path in sorted(Path(place).iterdir()) if path.stem == table and format_of_suffix(path.suffix)]
    if len(fitting) != 1:
        how = "no file" if not fitting else f"{len(fitting)} files"
        raise SourceError(
            f"{place}: has {how} of the table '{table}'",
            advice=FieldText("give ", FieldName("policy"), ", which names them"),
        )
    return source_at({"path": str(fitting[0])}, reader)


def _takes_a_folder() -> InputError:
    where = FieldName("original", "FOLDER")
    return InputError(FieldText("a release of several tables takes ", where, ", the folder that its files are in"))
