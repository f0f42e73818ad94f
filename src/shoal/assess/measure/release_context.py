"""What the manifest of a release says, where the table that is measured is one."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.assess.comparison.counting_unit import DeclaredPeople
from shoal.errors import SourceError
from shoal.measurement.read_back import ReadBack
from shoal.results.record_counts import RecordCounts
from shoal.results.release_folder import read_back_in, require_untouched, roles_of
from shoal.schema import Role


@dataclass(frozen=True)
class ReleaseContext:
    folder: str
    people: DeclaredPeople | None
    records: RecordCounts | None
    """Of the source."""
    read_back: ReadBack | None
    """What other columns tell."""

    @classmethod
    def of(cls, folder: str, quasi: tuple[str, ...]) -> ReleaseContext:
        return cls(folder, DeclaredPeople.of(folder), RecordCounts.told(folder), _read_back(folder, quasi))


def _read_back(folder: str, quasi: tuple[str, ...]) -> ReadBack | None:
    """What the manifest says, if it is of this very file and of the same quasi-identifiers."""
    found = read_back_in(folder)
    if found is None or {name for name, role in roles_of(folder).items() if role is Role.QUASI} != set(quasi):
        return None
    try:
        require_untouched(folder)
    except SourceError:
        return None
    return found
