"""The ways in which a class can be made wider: nodes of the lattice of levels, from the finest to the coarsest.

A node says for each quasi-identifier how far up its hierarchy it goes. Nodes are tried in the order of their *height*:
the weighted sum of level ÷ height over the quasi-identifiers (what Sweeney's precision takes off), ties by the levels.
So the first node on which a record's class has enough people is the one on which it loses least, of all in the ladder.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Final

from shoal.errors import InputError

MOST_NODES: Final = 128
"""Of a larger lattice, attributes with many levels skip some of those in the middle."""

LatticeLevels = tuple[int, ...]


@dataclass(frozen=True)
class AttributeSpan:
    """The levels that a quasi-identifier may have."""

    name: str
    height: int
    low: int = 0
    high: int | None = None
    weight: float = 1.0

    @property
    def levels(self) -> list[int]:
        high = self.height if self.high is None else min(self.high, self.height)
        if self.low > high:
            raise InputError(f"solve.levels: '{self.name}' has no level from {self.low} to {high}")
        return list(range(self.low, high + 1))


def ladder(spans: Sequence[AttributeSpan]) -> list[LatticeLevels]:
    """
    >>> ladder([AttributeSpan("age", 2), AttributeSpan("sex", 1)])
    [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1)]
    """
    choices = [span.levels for span in spans]
    while prod(map(len, choices)) > MOST_NODES and max(map(len, choices)) > 2:
        place = max(range(len(choices)), key=lambda place: len(choices[place]))
        choices[place] = _thinned(choices[place])
    found = _one_after_the_other(choices) if prod(map(len, choices)) > MOST_NODES else itertools.product(*choices)
    top = tuple(span.height for span in spans)
    return sorted((node for node in found if node != top), key=lambda node: (_height(node, spans), node[::-1]))


def _thinned(levels: list[int]) -> list[int]:
    """Every second level is left out, but the lowest and the highest stay."""
    return [*levels[:-1:2], levels[-1]] if len(levels) > 2 else levels


def _one_after_the_other(choices: list[list[int]]) -> list[LatticeLevels]:
    """Where there are too many attributes for all sets of them: each is raised after the one before it."""
    return [
        tuple(levels[-1] if place < raised else levels[0] for place, levels in enumerate(choices))
        for raised in range(len(choices) + 1)
    ]


def _height(node: LatticeLevels, spans: Sequence[AttributeSpan]) -> Fraction:
    return sum(
        (Fraction(span.weight) * level / span.height for level, span in zip(node, spans, strict=True)), Fraction(0)
    )
