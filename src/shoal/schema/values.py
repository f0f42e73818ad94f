"""Value types (ISO/IEC 20889, 11.6) and how a stored column is read as one of them."""

from enum import StrEnum


class ValueType(StrEnum):
    INTEGER = "integer"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "datetime"
    TEXT = "text"


NUMBERS = frozenset({ValueType.INTEGER, ValueType.DECIMAL})
DATES = frozenset({ValueType.DATE, ValueType.DATETIME})
