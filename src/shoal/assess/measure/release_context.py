"""What the manifest of a release says, where the table that is measured is one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from shoal.assess.comparison.compatibility import ReleaseProvenance
from shoal.assess.comparison.counting_unit import DeclaredPeople
from shoal.errors import SourceError
from shoal.measurement.read_back import ReadBack
from shoal.policy import Policy
from shoal.results.record_counts import RecordCounts
from shoal.results.release_folder import read_back_in, require_untouched, roles_of
from shoal.schema import Role


@dataclass(frozen=True)
class ReleaseContext:
    people: DeclaredPeople | None = None
    records: RecordCounts | None = None
    """Of the source."""
    read_back: ReadBack | None = None
    """What other columns tell."""
    provenance: ReleaseProvenance = field(default_factory=ReleaseProvenance)
    """How the table was made: needed where it is compared with its original."""

    @classmethod
    def of(cls, folder: str, quasi: tuple[str, ...]) -> ReleaseContext:
        return cls(DeclaredPeople.of(folder), RecordCounts.told(folder), _read_back(folder, quasi))

    def made_by(self, policy: Policy | None, folder: str | None) -> ReleaseContext:
        """With how the table was made, by its policy or its manifest."""
        return replace(self, provenance=ReleaseProvenance.of(policy, folder))

    @property
    def person(self) -> str | None:
        return None if self.people is None else self.people.person


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
