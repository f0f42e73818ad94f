"""The words that every room shares: roles, value types, columns, counts (ISO/IEC 20889 terms)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from shoal.schema.columns import ROW, Column, Columns
    from shoal.schema.counts import Counts
    from shoal.schema.roles import Role
    from shoal.schema.steps import Scope, Step
    from shoal.schema.values import DATES, NUMBERS, ValueType

__all__ = ["DATES", "NUMBERS", "ROW", "Column", "Columns", "Counts", "Role", "Scope", "Step", "ValueType"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Column": "shoal.schema.columns",
        "Columns": "shoal.schema.columns",
        "Counts": "shoal.schema.counts",
        "DATES": "shoal.schema.values",
        "NUMBERS": "shoal.schema.values",
        "ROW": "shoal.schema.columns",
        "Role": "shoal.schema.roles",
        "Scope": "shoal.schema.steps",
        "Step": "shoal.schema.steps",
        "ValueType": "shoal.schema.values",
    },
)
