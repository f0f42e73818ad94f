"""Microaggregation by one attribute or several."""
