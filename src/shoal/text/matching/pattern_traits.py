"""What is known of a pattern without looking for it: whether it is a number, holds an @, its shape, what walls it off.

To work it out takes the reading of every pattern; for the recognisers that come with Shoal it is kept
(``shoal.text.lexicon.kept_tables``), for others it is worked out when they are met.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from shoal.discover.recognisers import shipped
from shoal.text.lexicon.kept_tables import kept_json
from shoal.text.matching.pattern_shape import digit_spread, least, may_hold_blanks, pattern_shape
from shoal.text.matching.pattern_walls import separating_signs

FEWEST_DIGITS = 2
APART = 12
"""Bytes between two digits of the same stretch, at most."""
AROUND = 16
"""Bytes before the first and after the last digit that belong to the stretch too."""


class PatternTraits(NamedTuple):
    is_number: bool
    """Whether all that it matches lies within a stretch of digits."""
    holds_at: bool
    """Whether all that it matches holds an @ and no blank."""
    shape: str | None
    """An expression for the outlines of what it matches."""
    walls: str
    """Signs that a wall between two texts can be built of."""


def traits_of(pattern: str) -> PatternTraits:
    known = _shipped_traits().get(pattern)
    return worked_out(pattern) if known is None else known


def worked_out(pattern: str) -> PatternTraits:
    shape = pattern_shape(pattern)
    return PatternTraits(_is_number(pattern, shape), _holds_at(pattern), shape, separating_signs(pattern))


def _is_number(pattern: str, shape: str | None) -> bool:
    spreads = digit_spread(pattern)
    if spreads is None or shape is None or least(pattern) < FEWEST_DIGITS:
        return False
    return max(spreads.lead, spreads.tail) <= AROUND and spreads.gap <= APART


def _holds_at(pattern: str) -> bool:
    return least(pattern, "@") > 0 and not may_hold_blanks(pattern)


@cache
def _shipped_traits() -> dict[str, PatternTraits]:
    return {pattern: PatternTraits(*traits) for pattern, traits in kept_json("pattern_traits", _of_shipped).items()}


def _of_shipped() -> dict[str, PatternTraits]:
    given = [one.text for one in shipped() if one.text is not None]
    labelled = [text.labelled for text in given if text.after]
    return {pattern: worked_out(pattern) for pattern in (*(text.expression for text in given), *labelled)}
