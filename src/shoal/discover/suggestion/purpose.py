"""What a purpose needs: the columns that its words name, and whether counts by group would do (ISO/IEC 20889, 11.3).

``diabetes by age`` names two columns. Whoever counts cases by age needs no records; whoever trains a model does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from shoal.discover.recognisers import words
from shoal.errors import DataError

SMALL = frozenset(re.findall(r"\w+", "a an and are as at by for from how in into is it of on or per the to with what"))
STATISTICS = frozenset(
    re.findall(
        r"\w+",
        "average averages count counts distribution frequencies frequency histogram mean means number numbers "
        "percentage prevalence proportion rate rates share shares statistics sum sums table total totals trend trends",
    )
)
"""Words that ask for figures about groups."""
RECORDS = frozenset(
    re.findall(
        r"\w+",
        "classifier cluster clustering individual learning machine model models predict predicting prediction record "
        "records regression research software test testing train training",
    )
)
"""Words that ask for records."""
STEM = 5
"""Letters in which two forms of a word have to agree: smoking, smoker."""


@dataclass(frozen=True)
class StatedPurpose:
    """What somebody wants to do with the data, as far as the columns go."""

    text: str
    needs: tuple[str, ...]
    """The columns that it names, in the order of the table."""
    groups: tuple[str, ...] = ()
    """Those of them that come after ``by``."""
    aggregates_suffice: bool = False


def read_purpose(text: str, columns: Sequence[str]) -> StatedPurpose:
    """
    >>> found = read_purpose("diabetes by age", ["Age", "City", "Diabetes(Yes/No)"])
    >>> found.needs, found.groups, found.aggregates_suffice
    (('Age', 'Diabetes(Yes/No)'), ('Age',), True)
    """
    said = [word for word in words(text).split() if word]
    asked, _, by = _around_by(said)
    needs = tuple(name for name in columns if _names(said, name))
    if not needs:
        raise DataError(
            "the purpose names no column of the table", advice=f"name what is needed, of {', '.join(columns)}"
        )
    groups = tuple(name for name in needs if _names(by, name))
    wants_figures = bool(STATISTICS & set(said)) or (bool(by) and bool(asked))
    return StatedPurpose(text, needs, groups, wants_figures and not RECORDS & set(said))


def _around_by(said: list[str]) -> tuple[list[str], str, list[str]]:
    place = next((at for at, word in enumerate(said) if word in ("by", "per")), len(said))
    return said[:place], "by", said[place + 1 :]


def _names(said: Sequence[str], column: str) -> bool:
    told = [word for word in words(column).split() if word not in SMALL]
    return any(_alike(word, own) for word in said if word not in SMALL for own in told)


def _alike(word: str, own: str) -> bool:
    if word == own or word.removesuffix("s") == own.removesuffix("s"):
        return True
    return min(len(word), len(own)) >= STEM and word[:STEM] == own[:STEM]
