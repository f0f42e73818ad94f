"""Streams: records that never end, anonymised in windows as they come (L-05)."""
