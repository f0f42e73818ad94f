"""What a recogniser is: the form of a value, a check of its digits, the words that columns of the kind are called by.

How sure a match is: a column in which a share s of the distinct values has the form is believed with
s · (1 − (1 − strength)(1 − hint)), where ``strength`` is what the form alone tells and ``hint`` is NAME_STRENGTH if the
column's name speaks for it, else 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from shoal.discover.recognisers.expressions import Edges, after_label, any_label, within_edges
from shoal.schema.roles import Role
from shoal.schema.values import ValueType

if TYPE_CHECKING:
    import polars as pl

NAME_STRENGTH = 0.7
"""How far a column's name alone is believed."""

ANYTHING = ".+"
"""The form of a kind that has none in cells."""

Setting = str | int | float | bool | Sequence["Setting"] | Mapping[str, "Setting"]
"""A technique or a hierarchy as it is written in a policy."""


@dataclass(frozen=True)
class InText:
    """How a kind of value is found in running text."""

    pattern: str
    """A linear-time regular expression, without look-around, in any case. A group ``(?P<value>…)`` is the value."""
    score: float
    """How sure the form makes by itself."""
    checked: float
    """How sure the form with a passed check makes."""
    context: tuple[str, ...] = ()
    """Words that make it surer where they stand near it, in small letters, in any language."""
    avoid: tuple[str, ...] = ()
    """Expressions for what has the form and is something else."""
    avoid_after: tuple[str, ...] = ()
    """Words right before it that say it is something else."""
    after: tuple[str, ...] = ()
    """Labels: if there are any, it is looked for right after one of them only."""
    edges: Edges = "both"
    """On which sides no letter or digit may touch it."""
    check: Callable[[str], bool] | None = None
    """A further test of what has the form, in capitals."""
    exact_case: bool = False
    """Capitals in the pattern are capitals in the text."""
    dense: bool = False
    """Its digits stand close together, even if the pattern allows for others: it is looked for among numbers only."""

    @cached_property
    def expression(self) -> str:
        """What is looked for: the value, or else the label before it."""
        if self.after:
            return any_label(self.after)
        return within_edges(self.pattern, self.edges, exact_case=self.exact_case)

    @cached_property
    def labelled(self) -> str:
        """The label with the value, which is the first group."""
        return after_label(self.after, self.pattern, self.edges, exact_case=self.exact_case)


@dataclass(frozen=True)
class Recogniser:
    """One entry of a file of recognisers."""

    key: str
    title: str
    """With its article, as in "an IBAN"."""
    role: Role
    because: str
    """How stable it is and who else knows it: what makes it identifying or sensitive (PDPC guide, step 1)."""
    pattern: str = ANYTHING
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
    type: str = ""
    """What a span of it is called in text."""
    text: InText | None = None
    called: tuple[str, ...] = ()
    """Whole names of columns, for words that say too little inside a longer one."""
    examples: tuple[str, ...] = ()
    """Texts in which it has to be found, or cells that have its form."""
    counter_examples: tuple[str, ...] = ()

    def hinted(self, column: str) -> bool:
        """Whether the column's name speaks for it."""
        name = f" {words(column)} "
        if name.strip() in self.called:
            return True
        return any(f" {each} " in name for each in self.names) and not any(f" {each} " in name for each in self.never)

    def confidence(self, share: float, *, hinted: bool) -> float:
        return share * (1 - (1 - self.strength) * (1 - NAME_STRENGTH * hinted))

    def in_cells(self) -> Recogniser:
        """Known by its form in text where its entry says nothing of cells: a cell may hold nothing but it."""
        text = self.text
        if text is None or text.after or self.pattern != ANYTHING or self.strength:
            return self
        return replace(self, pattern=f"(?i:{text.pattern})", strength=text.score, check=self.check or text.check)

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
