"""CSV (RFC 4180): delimited text, by default with commas. What dialects there are is in the folder ``delimited``."""

from __future__ import annotations

from shoal.io.formats.base import file_formats
from shoal.io.formats.delimited.declaration import delimited_format

KEY = "csv"

file_formats.add(KEY, delimited_format(KEY, (".csv", ".txt"), ",", order=10, shared_suffixes=frozenset({".txt"})))
