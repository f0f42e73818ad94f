"""Formats of tables: how each is read and written."""
