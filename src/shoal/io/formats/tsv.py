"""TSV: delimited text with tabs, otherwise as CSV."""

from __future__ import annotations

from shoal.io.formats.base import file_formats
from shoal.io.formats.delimited.declaration import delimited_format

KEY = "tsv"

file_formats.add(KEY, delimited_format(KEY, (".tsv", ".tab"), "\t", order=20))
