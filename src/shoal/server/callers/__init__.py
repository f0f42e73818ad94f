"""Verification without looking: does what a caller says match? Yes or no, and nothing else (L-06)."""
