"""How long a search may go on, in work rather than in seconds: the same problem ends at the same place anywhere.

What is counted are the numbers that are gone through: the classes a roll-up starts from, by column, the bounds that are
raised, and a fixed amount for each look. ``PER_SECOND`` of them are taken for a second, whatever the machine. Both
rates are what searches of tables from 4,000 to 100,000 records, 7 to 24 attributes, were seen to take: by k alone from
half to twice the seconds, by models on sensitive values up to three times as many.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from shoal.solve.rollup import ClassTable

PER_SECOND = 100_000_000
PER_EVALUATION = 25_000


@dataclass
class Budget:
    """
    >>> Budget.of_seconds(2.0).left
    200000000.0
    """

    left: float = inf

    @classmethod
    def of_seconds(cls, seconds: float | None) -> Budget:
        return cls(inf if seconds is None else seconds * PER_SECOND)

    @property
    def spent(self) -> bool:
        return self.left <= 0

    def spend(self, table: ClassTable, bounds: int) -> None:
        """For a look at the classes of a node, which raises so many bounds."""
        below = table.number if table.origin is None else table.origin[0].number
        self.left -= PER_EVALUATION + below * max(1, len(table.codes)) + bounds
