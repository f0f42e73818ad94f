"""Delimited text (CSV, TSV): dialect, shape of records, reading and checking."""
