"""Noise on columns, one file per kind."""
