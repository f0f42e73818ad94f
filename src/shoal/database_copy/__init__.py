"""Copies of whole databases: every table by one policy, joined as before, into an empty schema or a file of SQL."""

from shoal.database_copy.request import CopyRequest
from shoal.database_copy.run import DatabaseCopy

__all__ = ["CopyRequest", "DatabaseCopy"]
