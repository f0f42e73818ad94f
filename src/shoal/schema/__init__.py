"""The words that every room shares: roles, value types, columns, counts (ISO/IEC 20889 terms)."""

from shoal.schema.columns import ROW, Column, Columns
from shoal.schema.counts import Counts
from shoal.schema.roles import Role
from shoal.schema.steps import Scope, Step
from shoal.schema.values import DATES, NUMBERS, ValueType

__all__ = ["DATES", "NUMBERS", "ROW", "Column", "Columns", "Counts", "Role", "Scope", "Step", "ValueType"]
