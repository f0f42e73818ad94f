"""What other released columns tell of the quasi-identifiers, as results have it."""

from __future__ import annotations

from pydantic import Field

from shoal.measurement.read_back import ReadBack
from shoal.measurement.read_back.disclosure_rule import ColumnDisclosure, DisclosureMethod, DisclosureRule
from shoal.results.base import Absent, Number, ResultModel


class DisclosureResult(ResultModel):
    """Some released columns tell an attribute in some records more finely than its own column does."""

    columns: tuple[str, ...]
    attribute: str = Field(alias="tells")
    how: DisclosureMethod
    records: int
    share: Number
    level: int
    """The finest level that is told; 0 is the original value."""

    @property
    def words(self) -> str:
        return ColumnDisclosure(self.columns, self.attribute, self.how, self.records, self.share, self.level).words


class DisclosureRuleResult(ResultModel):
    """A value tells another if it stands in so many records, of which this share has the other."""

    records: int
    share: Number


class AcceptedResult(ResultModel):
    columns: tuple[str, ...]
    tells: str
    because: str


class ReadBackResult(ResultModel):
    k: int = Field(alias="k_effective")
    """What is left of k after all that is told was put back."""
    below: int
    """Records in classes of fewer people than were required."""
    tellings: tuple[DisclosureResult, ...] = Field(alias="tells")
    rule: DisclosureRuleResult
    looked_at: int = Field(alias="records_looked_at")
    """Records by which it was found what tells what."""
    pairs_looked_at: int
    """Those by which pairs of columns were compared."""
    lower_bound: bool
    """Whether k was counted in a part of the records, so that it may be higher in all of them."""
    suppressed_cells: Absent[int] = None
    accepted: Absent[tuple[AcceptedResult, ...]] = None

    def read_back(self) -> ReadBack:
        """As a measurement has it."""
        rule = DisclosureRule(self.rule.records, self.rule.share)
        tellings = tuple(
            ColumnDisclosure(one.columns, one.attribute, one.how, one.records, one.share, one.level)
            for one in self.tellings
        )
        return ReadBack(self.k, self.below, tellings, rule, self.looked_at, self.pairs_looked_at, self.lower_bound)
