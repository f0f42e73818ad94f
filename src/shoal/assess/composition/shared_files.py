"""A file that was shared without Shoal, made into a release folder: its columns, roles and hierarchies are stated.

From then on it is a release like any other, and a composition check counts it. An ARX project (``.deid``, a ZIP
archive) holds all of that: its output, the role of each attribute, and hierarchies.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final
from xml.etree import ElementTree

from shoal.assess.composition.opened_release import HIERARCHIES
from shoal.attack.composition.released_counts import RECORDS, ReleasedCounts
from shoal.errors import DataError, InputError, SourceError
from shoal.io import ReaderOptions, Source, Staging, explained, sha256_of
from shoal.io.frames import source_at
from shoal.kernels.group_counts import count_groups
from shoal.policy.treatment import Treatment
from shoal.randomness import now
from shoal.results.manifest import MANIFEST, DataFile, Manifest
from shoal.results.risk_results import ReleasedRisk
from shoal.schema import Role
from shoal.schema.registry import did_you_mean

DATA: Final = "data.csv"
ARX: Final = ".deid"
_ARX_ROLES: Final = {
    "IDENTIFYING_ATTRIBUTE": Role.DIRECT,
    "QUASI_IDENTIFYING_ATTRIBUTE": Role.QUASI,
    "SENSITIVE_ATTRIBUTE": Role.SENSITIVE,
    "INSENSITIVE_ATTRIBUTE": Role.INSENSITIVE,
}
_MOST_BYTES: Final = 2_000_000_000
"""Of one file in an archive."""


@dataclass(frozen=True)
class SharedFile:
    """What is stated of a file that was shared: the role of each column that says something of people."""

    roles: Mapping[str, Role]
    hierarchies: Mapping[str, Path] = field(default_factory=dict)
    """By quasi-identifier, a file with a value in the first column and what stands for it in each further one."""


def import_file(
    data: str, output: Path, shared: SharedFile, *, reader: ReaderOptions | None = None, force: bool = False
) -> Manifest:
    """A release folder with the data as it was shared; columns that nothing is stated of are taken as insensitive."""
    source = source_at(data, reader)
    texts = {name: path.read_text(encoding="utf-8-sig") for name, path in shared.hierarchies.items()}
    with Staging(output, force=force) as staging:
        with explained(source):
            source.scan().sink_csv(staging.path / DATA)
        copy = source_at(str(staging.path / DATA))
        manifest = _described(staging.path, copy, shared.roles, texts, Path(data).stem)
        staging.commit()
    return manifest


def import_arx(project: Path, output: Path, *, force: bool = False) -> Manifest:
    """The output of an ARX project, with the roles and hierarchies that it was made with."""
    try:
        with zipfile.ZipFile(project) as archive:
            names = set(archive.namelist())
            if "data/output.csv" not in names:
                raise InputError(f"{project}: the project has no output: export the data, and enter that file")
            roles = _arx_roles(archive, project)
            hierarchies = {
                name: _text(archive, path) for name in roles if (path := _arx_hierarchy(names, name)) is not None
            }
            data = _text(archive, "data/output.csv")
    except (zipfile.BadZipFile, OSError):
        raise SourceError(f"{project}: is no project of ARX") from None
    with Staging(output, force=force) as staging:
        copy = staging.path / DATA
        copy.write_text(data, encoding="utf-8")
        manifest = _described(staging.path, source_at(str(copy)), roles, hierarchies, project.stem)
        staging.commit()
    return manifest


def _described(
    folder: Path, source: Source, roles: Mapping[str, Role], hierarchies: Mapping[str, str], name: str
) -> Manifest:
    frame = source.scan()
    present = tuple(frame.collect_schema())
    for stated in (*roles, *hierarchies):
        if stated not in present:
            raise DataError(f"the shared file has no column '{stated}'{did_you_mean(stated, present)}")
    every = {column: roles.get(column, Role.INSENSITIVE) for column in present}
    quasi = [column for column, role in every.items() if role is Role.QUASI]
    if not quasi:
        raise InputError("by which columns could somebody be found in it?", field="quasi")
    counted = count_groups(frame, quasi, RECORDS)
    if counted.is_empty():
        raise DataError("the shared file has no records")
    _keep_hierarchies(folder, hierarchies)
    manifest = Manifest(
        name=name,
        created=now().replace(microsecond=0),
        data=DataFile(path=DATA, rows=int(counted[RECORDS].sum()), sha256=sha256_of(folder / DATA)),
        roles=every,
        treatment={
            column: Treatment.GENERALISED if role is Role.QUASI else Treatment.KEPT for column, role in every.items()
        },
        risk=ReleasedRisk(k=ReleasedCounts.of(name, counted, quasi).k),
        warnings=("it was not made by Shoal: what is said of its columns was stated when it was entered",),
    )
    (folder / MANIFEST).write_text(manifest.to_published_json(), encoding="utf-8")
    return manifest


def _keep_hierarchies(folder: Path, hierarchies: Mapping[str, str]) -> None:
    (folder / HIERARCHIES).mkdir()
    for column, text in hierarchies.items():
        lines = [line for line in text.splitlines() if line.strip()]
        if not lines or len({line.count(";") for line in lines}) != 1 or ";" not in lines[0]:
            raise InputError(f"the hierarchy of '{column}' has to have a value and its levels on each line, after ;")
        if "/" in column or column.startswith("."):
            raise InputError(f"column '{column}': its name can't be a file's")
        (folder / HIERARCHIES / f"{column}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _arx_roles(archive: zipfile.ZipFile, project: Path) -> dict[str, Role]:
    names = archive.namelist()
    path = next((name for name in ("output/definition.xml", "input/definition.xml") if name in names), None)
    if path is None:
        raise InputError(f"{project}: the project says nothing of its attributes")
    text = _text(archive, path)
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise SourceError(f"{project}: its definition holds what ARX does not write")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314  # without entities, see above
    except ElementTree.ParseError:
        raise SourceError(f"{project}: its definition can't be read") from None
    found = {}
    for element in root.iter():
        name, kind = element.findtext("name"), element.findtext("type")
        if name is not None and kind in _ARX_ROLES:
            found[name] = _ARX_ROLES[kind]
    return found


def _arx_hierarchy(names: set[str], attribute: str) -> str | None:
    for folder in ("output", "input"):
        for name in sorted(names):
            path = PurePosixPath(name)
            if path.parent == PurePosixPath(folder, "hierarchies") and path.stem == attribute:
                return name
    return None


def _text(archive: zipfile.ZipFile, name: str) -> str:
    if archive.getinfo(name).file_size > _MOST_BYTES:
        raise SourceError(f"'{name}' in the project is too large")
    return archive.read(name).decode("utf-8-sig", errors="replace")
