"""Encryption of columns, one file per scheme."""
