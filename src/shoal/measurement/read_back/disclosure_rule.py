"""When a released value counts as telling what was generalised, and what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

RECORDS = 10
SHARE = 0.95


@dataclass(frozen=True)
class DisclosureRule:
    """A value, or a pair of values, tells another if it stands in at least so many records, of at least two people, and
    at least this share of them have the other: what somebody who knows many such records would take for certain."""

    records: int = RECORDS
    share: float = SHARE


class DisclosureMethod(StrEnum):
    VALUE = "value"
    """A value of a column goes with one value of the attribute."""
    PAIR = "pair"
    """So do two values that stand in one record."""
    PART = "part"
    """So does a part of a value: the first characters of a number, the year of a date."""
    COPY = "copy"
    """A column says the same, in the same words."""
    FORMULA = "formula"
    """The attribute can be computed: a sum beside its parts, an age beside a date of birth."""
    CHARACTERS = "characters"
    """What is masked in the one is shown by the other."""
    ORDER = "order"
    """The records are sorted by what was taken out."""


@dataclass(frozen=True)
class ColumnDisclosure:
    """Some released columns tell an attribute in some records more finely than its own column does."""

    columns: tuple[str, ...]
    """None for the order of the records."""
    attribute: str
    how: DisclosureMethod
    records: int
    share: float
    """Of the released records."""
    level: int
    """The finest level that is told; 0 is the original value."""

    @property
    def words(self) -> str:
        """
        >>> ColumnDisclosure(("city", "ward"), "pin", DisclosureMethod.PAIR, 40, 0.25, 0).words
        "'city' with 'ward' tells 'pin' in 40 records (25 %)"
        """
        told = f"'{self.attribute}' in {self.records:,} records ({100 * self.share:.0f} %)"
        if self.how is DisclosureMethod.ORDER:
            beside = f" beside {_listed(self.columns)}" if self.columns else ""
            return f"the order of the records{beside} tells {told}"
        return f"{_HOW.get(self.how, '')}{_listed(self.columns)} tells {told}"


_HOW = {DisclosureMethod.PART: "a part of ", DisclosureMethod.FORMULA: "arithmetic with "}


def _listed(names: Sequence[str]) -> str:
    return " with ".join(f"'{name}'" for name in names)


@dataclass(frozen=True)
class ReadBack:
    """What can be read back from the other columns of a release, and what is left of k then."""

    k: int
    """After all that is told was put back."""
    below: int
    """Records in classes of fewer people than were required."""
    tellings: tuple[ColumnDisclosure, ...] = ()
    rule: DisclosureRule = field(default_factory=DisclosureRule)
    looked_at: int = 0
    """Records by which it was found what tells what."""
    pairs_looked_at: int = 0
    """Those by which pairs of columns were compared."""
    lower_bound: bool = False
    """Whether k was counted in a part of the records, so that it may be higher in all of them."""
