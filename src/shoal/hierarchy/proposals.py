"""What a kind of hierarchy says when a column needs one: whether it fits the values, and with which parameters.

Nothing in a proposal is a value of the column: intervals begin and end at round numbers, and codes and places are those
of public lists.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from shoal.schema.columns import Column

KNOWN: Final = 0.95
"""The share of records whose values have to be known for facts to fit a column."""


@dataclass(frozen=True)
class HierarchyProposal:
    """Parameters as they can stand in a policy, and why these."""

    parameters: Any
    reason: str
    source: str = ""
    """Where facts that it rests on are from; empty where it rests on none."""


@dataclass(frozen=True)
class ColumnValues:
    """The distinct values of a column, with the records that have each, and the words of its name."""

    column: Column
    distinct: pl.DataFrame
    """``value`` and ``records``, without missing values."""
    words: frozenset[str] = field(default_factory=frozenset)
    is_code: bool = False
    """Whether its name says that numbers in it are codes."""

    @property
    def texts(self) -> pl.Series:
        return self.distinct["value"].cast(pl.String)

    @property
    def is_measured(self) -> bool:
        """Whether its numbers are amounts."""
        return self.column.is_number and not self.is_code

    @property
    def is_named(self) -> bool:
        """Whether its values are names or codes, not amounts or dates."""
        return not self.column.is_date and not self.is_measured

    def share(self, chosen: pl.Series) -> float:
        """Of the records.

        >>> values = ColumnValues(Column("ward"), pl.DataFrame({"value": ["A", "B"], "records": [3, 1]}))
        >>> values.share(pl.Series([True, False]))
        0.75
        """
        records = self.distinct["records"]
        return float(records.filter(chosen).sum()) / float(records.sum())


def starred(share: float, what: str) -> str:
    """What is said where some are not known."""
    return "" if share == 1 else f"; {1 - share:.1%} of the records have {what} that are not known, and are starred"
