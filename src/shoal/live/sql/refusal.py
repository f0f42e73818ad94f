"""What can't be done to values as they are read, and why."""

from __future__ import annotations


class NotInSqlError(Exception):
    """Caught by the compiler, which says of which column."""


ELSE = "it is not compiled to SQL"
