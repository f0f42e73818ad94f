"""The key under ``attributes`` that stands for every column which the policy doesn't name."""

from __future__ import annotations

from typing import Final

EVERYTHING_ELSE: Final = "*"
