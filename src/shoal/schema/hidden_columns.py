"""Names of columns that steps carry along and no output ever has."""

from __future__ import annotations

from typing import Final

HIDDEN: Final = "__shoal_"
"""Columns whose names begin so never reach an output; an engine can put them aside."""
ORIGINAL: Final = f"{HIDDEN}original__"
"""Hidden columns whose names begin so hold original values: they are never put aside, only sampled."""
