"""Columns that a run adds for itself and sets aside before anything is released."""
