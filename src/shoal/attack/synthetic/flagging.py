"""Attacks that say of everybody how suspicious they are: how many members stand out among strangers?

The bound is set so that a stated share of the strangers is beyond it (false alarms), and the share of members beyond it
is what the attack finds. Both groups were drawn alike, so a table that knows neither flags both alike.
"""

from __future__ import annotations

import numpy as np

from shoal.attack.result import Attack, NothingToTryError, Rate
from shoal.kernels.arrays import Floats

FEWEST = 50
"""Strangers, and members; among fewer no share can be told from another."""


def flagged(members: Floats, strangers: Floats, share: float) -> tuple[float, float]:
    """How many of both are flagged where the larger figure is the more suspicious, and this share of strangers is to
    be. Of those on the bound itself, the part that is needed to come to that share.

    >>> flagged(np.array([5.0, 4.0, 1.0]), np.array([4.0, 3.0, 2.0, 1.0]), 0.25)
    (2.0, 1.0)
    """
    wanted = share * len(strangers)
    ordered = np.sort(strangers)[::-1]
    bound = ordered[min(int(np.ceil(wanted)) - 1, len(ordered) - 1)]
    above, level = (ordered > bound).sum(), (ordered == bound).sum()
    part = (wanted - above) / level
    return float((members > bound).sum() + part * (members == bound).sum()), float(above + part * level)


def flagging_attack(  # noqa: PLR0913, PLR0917  # what it is called, what was found
    key: str,
    title: str,
    knows: str,
    suspicion: tuple[Floats, Floats],
    share: float,
    details: dict[str, float] | None = None,
) -> Attack:
    """``suspicion`` is that of members and of strangers."""
    members, strangers = suspicion
    if min(len(members), len(strangers)) < FEWEST:
        raise NothingToTryError(f"it can't be judged by fewer than {FEWEST} people of a control group")
    right, mistaken = flagged(members, strangers, share)
    return Attack(
        key,
        title,
        knows,
        Rate(right, len(members)),
        Rate(share * len(members), len(members)),
        Rate(mistaken, len(strangers)),
        details=details,
    )
