"""Aggregated tables, and the cells of them that may not be shown."""
