"""What free text in a column mentions, by kinds and shares: the texts themselves stay where they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

import polars as pl

LOOKED_AT = 300
"""Distinct texts of a column that are read."""
LONGEST = 4_000
"""Characters of a text that are read."""


class TypedSpan(Protocol):
    @property
    def type(self) -> str: ...

    @property
    def score(self) -> float: ...


Annotate = Callable[[str], Sequence[TypedSpan]]
"""What finds personal data in a text; ``shoal.text.Annotator().annotate`` is one."""


@dataclass(frozen=True)
class TextMention:
    """One kind of personal data that texts of a column hold."""

    type: str
    share: float
    """Of the distinct texts read."""
    confidence: float
    """The mean score of what was found."""


def mentions_in(distinct: pl.Series, annotate: Annotate) -> tuple[TextMention, ...]:
    """Kinds found in a systematic sample of the distinct texts, the commonest first."""
    if distinct.is_empty():
        return ()
    texts = distinct.gather_every(max(1, -(-len(distinct) // LOOKED_AT)))
    in_texts: dict[str, int] = defaultdict(int)
    scores: dict[str, list[float]] = defaultdict(list)
    for text in texts:
        found = annotate(text[:LONGEST])
        for kind in {one.type for one in found}:
            in_texts[kind] += 1
        for one in found:
            scores[one.type].append(one.score)
    mentions = [TextMention(kind, number / len(texts), fmean(scores[kind])) for kind, number in in_texts.items()]
    return tuple(sorted(mentions, key=lambda mention: (-mention.share, mention.type)))
