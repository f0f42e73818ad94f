"""Patterns behind signs: most lines of a log have none of a pattern's signs, and are not searched for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class SignedPattern:
    expression: re.Pattern[str]
    signs: tuple[str, ...]
    """Of these, in small letters, a text has one wherever the pattern fits."""

    @classmethod
    def of(cls, pattern: str, *signs: str) -> Self:
        return cls(re.compile(pattern, re.MULTILINE), signs)

    def finditer(self, text: str, folded: str) -> Iterator[re.Match[str]]:
        """``folded`` is the text with its case folded."""
        for sign in self.signs:
            if sign in folded:
                return self.expression.finditer(text)
        return iter(())
