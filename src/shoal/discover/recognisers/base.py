"""What a recogniser is: the form of a value, a check of its digits, the words that columns of the kind are called by.

How sure a match is: a column in which a share s of the distinct values has the form is believed with
s · (1 − (1 − strength)(1 − hint)), where ``strength`` is what the form alone tells and ``hint`` is NAME_STRENGTH if the
column's name speaks for it, else 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from shoal.schema import Role, ValueType

NAME_STRENGTH = 0.7
"""How far a column's name alone is believed."""

Setting = str | int | float | bool | Sequence["Setting"] | Mapping[str, "Setting"]
"""A technique or a hierarchy as it is written in a policy."""


@dataclass(frozen=True)
class Recogniser:
    """One line of a table of recognisers."""

    key: str
    title: str
    """With its article, as in "an IBAN"."""
    role: Role
    because: str
    """How stable it is and who else knows it: what makes it identifying or sensitive (PDPC guide, step 1)."""
    pattern: str = ".+"
    """A regular expression for the whole value, which it is given in capitals."""
    strength: float = 0.0
    """How sure the form makes by itself; with 0 the column's name has to speak for it."""
    names: tuple[str, ...] = ()
    """What columns of this kind are called, in lower-case words."""
    never: tuple[str, ...] = ()
    """Words that rule it out in a column's name."""
    check: Callable[[str], bool] | None = None
    """A further test of values that have the form, in capitals too."""
    proof: str = ""
    """What the check proves, where it is more than the form: "check digit"."""
    types: frozenset[ValueType] | None = None
    """The value types it is found in; None for any."""
    technique: Setting | None = None
    hierarchy: Setting | None = None

    def hinted(self, column: str) -> bool:
        """Whether the column's name speaks for it."""
        name = f" {words(column)} "
        return any(f" {each} " in name for each in self.names) and not any(f" {each} " in name for each in self.never)

    def confidence(self, share: float, *, hinted: bool) -> float:
        return share * (1 - (1 - self.strength) * (1 - NAME_STRENGTH * hinted))

    def count(self, values: pl.Series) -> int:
        """How many of the values, given as text, have the form and pass the check."""
        text = values.str.strip_chars().str.to_uppercase()
        fitting = text.filter(text.str.contains(f"^(?:{self.pattern})$"))
        check = self.check
        return len(fitting) if check is None else sum(check(value) for value in fitting)


def words(column: str) -> str:
    """A column's name in lower-case words: ``date of birth`` for DateOfBirth, date-of-birth and DATE_OF_BIRTH."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", column)
    return " ".join(re.findall(r"[^\s!-/:-@[-`{-~]+", apart.lower()))
