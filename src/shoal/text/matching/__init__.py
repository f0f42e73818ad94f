"""Patterns matched in one pass."""
