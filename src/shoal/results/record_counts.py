"""What a manifest says of the source's records: how many there were, and what became of those that the data lacks."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from shoal.measurement import Measurement
from shoal.results.base import ResultModel


class RecordCounts(ResultModel):
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
            source=found.source_records,
            kept=found.kept_records,
            suppressed=found.suppressed_records,
            dropped=found.dropped,
            not_sampled=found.not_sampled,
            invented=found.invented,
        )

    def complete(self, measured: Measurement) -> Measurement:
        """The measurement of the data file, with what only the manifest tells."""
        found = replace(measured, dropped=self.dropped, not_sampled=self.not_sampled, invented=self.invented)
        return found if self.kept else found.nobody_kept()


class CountBasis(StrEnum):
    PEOPLE = "people"
    AT_LEAST = "people_at_least"
    """As few people in each class as there can be, so that risks are upper bounds."""
    RECORDS = "records"
