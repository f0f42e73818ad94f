"""Generalisation (ISO/IEC 20889, 9.6): rounding, coding, combining, recoding, sets of items."""
