"""Kinds of record, one file each."""
