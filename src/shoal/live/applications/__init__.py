"""Masking where a program gives something out: responses, logs, rows of a cursor, frames; by the same policies."""
