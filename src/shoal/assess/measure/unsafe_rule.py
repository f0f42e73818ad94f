"""The rule on unsafe combinations as a user writes it."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.errors import FieldName, FieldText, InputError

MOST_KEYS = 3
"""As many attributes as an attacker is usually taken to know."""


@dataclass(frozen=True)
class UnsafeRule:
    """Cells with as many records or fewer are unsafe, in all tables by up to so many attributes."""

    threshold: int
    most_keys: int = MOST_KEYS

    @classmethod
    def parse(cls, text: str) -> UnsafeRule:
        """
        >>> UnsafeRule.parse("10"), UnsafeRule.parse("20,4")
        (UnsafeRule(threshold=10, most_keys=3), UnsafeRule(threshold=20, most_keys=4))
        """
        numbers = [part.strip() for part in text.split(",")]
        if len(numbers) > 2 or not all(number.isdecimal() and int(number) for number in numbers):
            raise InputError(
                f"'{text}' is neither a number of records nor that and a number of attributes",
                field="unsafe",
                advice=FieldText("as in ", FieldName("unsafe", "10"), " or ", FieldName("unsafe", "10,4")),
            )
        return cls(*map(int, numbers))
