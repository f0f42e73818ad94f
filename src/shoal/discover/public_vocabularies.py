"""Names that anybody can look up: countries, states of the US, currencies. A private method needs not find these.

A column whose frequent names are of one list is taken to be of that list. Which names are frequent was told with noise,
so nothing but that and the list decides; a name of a list may then be told however few people have it, since that it
can be there is no news.

>>> names_beside(["United-States", "Mexico"])[:3]
('Afghanistan', 'Aland-Islands', 'Albania')
>>> names_beside(["red", "green"]), names_beside(["IN"])
((), ())
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Final

from shoal import geonames

_NEARLY_ALL: Final = 2 / 3
"""Of the names that were told, so many have to be in a list."""
_LETTERS: Final = 4
"""Of a name, from which on it is enough by itself: two or three letters may stand for anything."""
_PARTS_OF_COUNTRIES: Final = ("England", "Northern Ireland", "Scotland", "Wales")
"""Often listed among countries."""
_WRITTEN: Final[tuple[Callable[[str], str], ...]] = (
    str,
    str.upper,
    str.lower,
    *(lambda name, mark=mark: re.sub(r"\W+", mark, name) for mark in "-_"),
)
"""Ways to spell a name of several words."""


@cache
def _vocabularies() -> tuple[tuple[str, ...], ...]:
    lands, states = list(geonames.countries()), geonames.us_states()
    lists: tuple[Iterable[str], ...] = (
        (*(one.name.strip() for one in lands), *_PARTS_OF_COUNTRIES),
        (one.code for one in lands),
        (one.iso3 for one in lands),
        (one.currency for one in lands),
        states.values(),
        states,
    )
    return tuple(tuple(sorted(set(one) - {""})) for one in lists)


def names_beside(told: Sequence[str]) -> tuple[str, ...]:
    """All names of the list that most of these are of, spelled as these are; none where there is no such list."""
    best: tuple[str, ...] = ()
    least = max(1 if any(len(name) >= _LETTERS for name in told) else 2, _NEARLY_ALL * len(told))
    for names in _vocabularies():
        for spell in _WRITTEN:
            spelled = {spell(name): None for name in names}
            known = sum(name in spelled for name in told)
            if known >= least and (not best or known > sum(name in best for name in told)):
                best = tuple(spelled)
    return best
