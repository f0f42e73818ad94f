"""What the manifest of a release says, where the table that is measured is one."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.assess.comparison.counting_unit import DeclaredPeople
from shoal.measurement.read_back import ReadBack
from shoal.results.record_counts import RecordCounts
from shoal.results.release_folder import ReleaseFolder
from shoal.schema import Role


@dataclass(frozen=True)
class ReleaseContext:
    folder: ReleaseFolder
    people: DeclaredPeople | None
    records: RecordCounts | None
    """Of the source."""
    read_back: ReadBack | None
    """What other columns tell."""

    @classmethod
    def of(cls, folder: ReleaseFolder, quasi: tuple[str, ...]) -> ReleaseContext:
        return cls(folder, DeclaredPeople.of(folder), folder.records, _read_back(folder, quasi))


def _read_back(folder: ReleaseFolder, quasi: tuple[str, ...]) -> ReadBack | None:
    """What the manifest says, unless it is of another file or of other quasi-identifiers."""
    manifest = folder.manifest
    if manifest is None or manifest.read_back is None or folder.changed:
        return None
    return manifest.read_back.read_back() if set(manifest.with_role(Role.QUASI)) == set(quasi) else None
