"""Techniques on traces: where people were, when, point by point (D-12)."""
