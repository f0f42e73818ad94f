"""What equivalence classes of their size tell of the people in them, whatever the values are.

Five people who can't be told apart have five sensitive values among them, one of which is the person's: whoever guesses
among these is right more often than whoever guesses among all. That much a k-anonymous release gives out by its nature,
and who accepts k accepts it: 1/k where all values differ, and more where some are alike by chance. The former is
counted, k being the fewest people that anybody has to hide among; the latter is measured, by the same attack on the
same tables after the sensitive values have been dealt out anew, a person's and their record's together: what is left
then is the size of the classes and how common values are. An attack has to get more than either to be a find.

It excuses nothing where somebody has fewer than ``LEAST_K`` people to hide among, and at most 1 in ``LEAST_K``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polars as pl

from shoal.attack.result import LEVEL, Attack
from shoal.attack.scene import Scene

LEAST_K = 3
"""The smallest k that a guideline accepts (PDPC: of data that stay inside)."""
TRIED = 2_000
"""People, over all deals: fewer would leave the mean to chance."""
MOST_DEALS = 8

Infer = Callable[[pl.DataFrame, pl.DataFrame], Attack]
"""Of a release and its original."""


def with_class_baseline(found: Attack, infer: Infer, scene: Scene, sensitive: str) -> Attack:
    """The attack with what is allowed; nothing is added where it makes no difference or is not known."""
    if found.p_value >= LEVEL or scene.whose is None or scene.fewest_people < LEAST_K:
        return found
    deals = min(MOST_DEALS, -(-TRIED // max(found.success.trials, 1)))
    risks = [infer(*scene.dealt_anew(sensitive, deal)).risk for deal in range(deals)]
    return replace(found, allowed=min(1 / LEAST_K, max(1 / scene.fewest_people, sum(risks) / deals)))
