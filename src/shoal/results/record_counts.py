"""What a manifest says of the source's records: how many there were, and what became of those that the data lacks."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from shoal.errors import SourceError
from shoal.measurement import Measurement
from shoal.results.release_folder import manifest_of, require_untouched


@dataclass(frozen=True)
class RecordCounts:
    """Records of the source, but for ``invented`` ones; kept + suppressed + not_sampled = source."""

    source: int
    kept: int
    """Released with their quasi-identifying values, be they generalised."""
    suppressed: int
    """Starred as a whole, or left out because a model or a rule asked for it."""
    dropped: int
    """Those suppressed that are not in the data at all."""
    not_sampled: int = 0
    invented: int = 0
    """Decoys among the released records; nobody is to know which."""

    @classmethod
    def measured(cls, found: Measurement) -> RecordCounts:
        return cls(
            found.source_records,
            found.kept_records,
            found.suppressed_records,
            found.dropped,
            found.not_sampled,
            found.invented,
        )

    @classmethod
    def told(cls, release: str) -> RecordCounts | None:
        """From a manifest that is of this very data file; None where there is none, or one that doesn't say."""
        said = (manifest_of(release) or {}).get("records")
        try:
            found = cls(**{name: int(number) for name, number in said.items()})  # type: ignore[union-attr]
            require_untouched(release)
        except (AttributeError, TypeError, ValueError, SourceError):
            return None
        return found

    def of(self, measured: Measurement) -> Measurement:
        """The measurement of the data file, with what only the manifest tells."""
        found = replace(measured, dropped=self.dropped, not_sampled=self.not_sampled, invented=self.invented)
        return found if self.kept else found.nobody_kept()

    def to_dict(self) -> dict[str, int]:
        return asdict(self)


class CountBasis(StrEnum):
    PEOPLE = "people"
    AT_LEAST = "people_at_least"
    """As few people in each class as there can be, so that risks are upper bounds."""
    RECORDS = "records"
