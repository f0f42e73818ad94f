"""Nested documents: JSON, JSON lines and what mongoexport writes, taken apart into tables and put together again."""
