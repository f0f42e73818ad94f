"""A sum that was put together again from what nobody could read."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any


@dataclass(frozen=True)
class OpenedTotal:
    records: int
    present: int
    sum: Decimal

    @property
    def mean(self) -> float | None:
        return float(self.sum) / self.present if self.present else None

    def to_dict(self) -> dict[str, Any]:
        return {"records": self.records, "present": self.present, "sum": str(self.sum), "mean": self.mean}
