"""Further files of a release: what steps put beside the data file, written as it is, listed in the manifest.

They are made from the hidden columns that the engine set aside while it wrote the data, record beside record; so their
order is that of the released records, and records that were left out are in neither.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path, PurePosixPath
from typing import Final

import polars as pl

from shoal.errors import BugError, InputError
from shoal.io import FileTarget, PartsTarget, Source, file_target, parts_target, sha256_of, writing
from shoal.io.formats.base import format_named, format_of_suffix
from shoal.io.formats.delimited.formula_bytes import digest_and_formulas
from shoal.io.formats.delimited.formula_escapes import count_formulas, formula_warnings
from shoal.io.formats.partitioned import checksum
from shoal.plan import Plan
from shoal.results.manifest import DataFile, FurtherFile, WrittenFile
from shoal.schema.steps import SidecarFile

_TAKEN: Final = frozenset({"data", "release", "report", "recipient", "history"})
"""Names that the release folder has files of its own under."""


def data_target(path: Path, like: Source, *, in_parts: bool, escape: bool = False) -> FileTarget | PartsTarget:
    """Where the data of a release goes: one file in the format of the source, or a folder of such files."""
    target = file_target(path, like=like, escape_formulas=escape)
    return parts_target(target) if in_parts else target


@dataclass(frozen=True)
class DataInspection:
    """What the bytes of the data tell: found once it is not written any more."""

    sha256: str
    formulas: int
    """Cells that a spreadsheet would run; what is escaped is counted as it was before."""


def inspect_data(target: FileTarget | PartsTarget) -> DataInspection:
    """By one reading, where that does."""
    if isinstance(target, PartsTarget):
        found = count_formulas(target.scan()) if target.whole.delimited else 0
        return DataInspection(checksum(target.parts), found)
    if not target.delimited:
        return DataInspection(sha256_of(target.path), 0)
    if target.escape_formulas:
        return DataInspection(sha256_of(target.path), count_formulas(target.scan()))
    digest, counted = digest_and_formulas(target.path, target.dialect)
    return DataInspection(digest, count_formulas(target.scan()) if counted is None else counted)


def describe_data_file(target: FileTarget | PartsTarget, records: int, sha256: str) -> DataFile:
    parts = tuple(target.parts) or None if isinstance(target, PartsTarget) else None
    return DataFile(path=target.path.name, rows=records, sha256=sha256, parts=parts)


def planned_files(plan: Plan) -> tuple[SidecarFile, ...]:
    """What the steps of a plan want beside the data, each file once, by name."""
    named: dict[str, list[SidecarFile]] = {}
    for planned in plan:
        for beside in planned.step.sidecar_files:
            named.setdefault(_checked(beside).file, []).append(beside)
    return tuple(_joined(named[name]) for name in sorted(named))


def refuse_for_aggregates(files: Sequence[SidecarFile]) -> None:
    """An aggregated table has no records, and so has nothing beside them."""
    if any(beside.table is None for beside in files):
        listed = ", ".join(beside.file for beside in files if beside.table is None)
        raise InputError(f"aggregate leaves no records that further files ({listed}) could stand beside")


def write_files(
    files: Iterable[SidecarFile], aside: Path, folder: Path, *, like: Source, escape: bool = False
) -> tuple[WrittenFile, ...]:
    """Into the folder, in the format of the source unless a file needs another."""
    return tuple(_write(beside, aside, folder, like, escape=escape) for beside in files)


def formulas_in(data: str, cells: int, files: Iterable[WrittenFile], *, escape: bool) -> Iterable[str]:
    """What to know of cells of text files that a spreadsheet would run; ``data`` is the data's name."""
    further = [(file.told.path, count_formulas(file.frame)) for file in files if _is_delimited(file.told.path)]
    return formula_warnings([(data, cells), *further], escape=escape)


def collect_files(files: Iterable[SidecarFile], aside: Path) -> tuple[WrittenFile, ...]:
    """The same as tables in memory."""
    frames = [(beside, _content(beside, aside).collect(engine="streaming")) for beside in files]
    return tuple(
        WrittenFile(
            beside, FurtherFile(path=beside.file, rows=frame.height, sha256="", about=beside.about), frame.lazy()
        )
        for beside, frame in frames
    )


def remove_aside(aside: Path) -> None:
    """A file, or where many have written at once a folder of files."""
    if aside.is_dir():
        shutil.rmtree(aside)
    else:
        aside.unlink(missing_ok=True)


def _write(beside: SidecarFile, aside: Path, folder: Path, like: Source, *, escape: bool) -> WrittenFile:
    ending = "" if beside.ending is None else f".{beside.ending}"
    target = file_target(folder / f"{beside.file}{ending}", like=like, escape_formulas=escape)
    with writing(beside.file):
        target.path.parent.mkdir(parents=True, exist_ok=True)
    target.write(_content(beside, aside))
    frame = _scan(target)
    rows = int(frame.select(pl.len()).collect(engine="streaming").item())
    path = target.path.relative_to(folder).as_posix()
    told = FurtherFile(path=path, rows=rows, sha256=sha256_of(target.path), about=beside.about)
    return WrittenFile(beside, told, frame)


def _scan(target: FileTarget) -> pl.LazyFrame:
    """What was written. Sources of data refuse binary values; a further file may hold them."""
    scan_binary = format_named(target.format).scan_binary
    return target.scan() if scan_binary is None else scan_binary(target.path)


def _is_delimited(path: str) -> bool:
    found = format_of_suffix(PurePosixPath(path).suffix)
    return found is not None and found.delimited


def _content(beside: SidecarFile, aside: Path) -> pl.LazyFrame:
    if beside.table is not None:
        return beside.table.lazy()
    frame = pl.scan_ipc(aside).select(pl.col(hidden).alias(name) for hidden, name in beside.columns.items())
    return frame if beside.shape is None else beside.shape(frame)


def _checked(beside: SidecarFile) -> SidecarFile:
    """Its name stays below the folder and takes no other file's place."""
    parts = PurePosixPath(beside.file).parts
    if not parts or "\\" in beside.file or any(part.startswith((".", "/")) for part in parts):
        raise InputError(f"'{beside.file}' is no name for a file below the release folder")
    if len(parts) == 1 and PurePosixPath(beside.file).stem.lower() in _TAKEN:
        raise InputError(f"'{beside.file}' is the name of a file that every release has")
    if (beside.table is None) == (not beside.columns) or not _is_known(beside.ending):
        raise BugError(f"the file '{beside.file}' needs either columns or a table, and an ending that is known")
    return beside


def _is_known(ending: str | None) -> bool:
    return not ending or format_of_suffix(f".{ending}") is not None


def _joined(beside: Sequence[SidecarFile]) -> SidecarFile:
    return reduce(_side_by_side, beside)


def _side_by_side(one: SidecarFile, other: SidecarFile) -> SidecarFile:
    ready = any(beside.table is not None or beside.shape is not None for beside in (one, other))
    if ready or one.ending != other.ending or not _distinct(one.columns, other.columns):
        raise InputError(f"two techniques would write the file '{one.file}'", advice="give one of them another name")
    about = "; ".join(dict.fromkeys(filter(None, (one.about, other.about))))
    return replace(
        one,
        columns={**one.columns, **other.columns},
        about=about,
        for_recipient=one.for_recipient and other.for_recipient,
    )


def _distinct(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return set(one).isdisjoint(other) and set(one.values()).isdisjoint(other.values())
