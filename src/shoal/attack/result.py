"""What an attack comes to: how often it was right, how often guessing is, how often it is right about strangers.

The method is that of Anonymeter (Giomi et al. 2023): the same attack is run on people who are in the released table and
on a control group who are not. What it knows about strangers it knows of the population, not of the table; only the
excess is the release's own doing. Guessing, without the release, is the baseline that an attack has to beat to be worth
anything.

A battery asks many questions at once, so its p-values are adjusted (Holm 1979): the chance that *any* attack on a
release that gives nothing away is called a find stays below the level, however many attacks there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import erfc, sqrt

from shoal.errors import DataError

Z = 1.959963984540054
"""Of a normal distribution, 95 % lie within this many standard deviations."""

LEVEL = 0.025
"""Of a one-sided test: half of what a 95 % interval leaves out. Of a battery, for all its attacks together."""

CERTAIN = ", certain links only"


class NothingToTryError(DataError):
    """The release, or what was given beside it, has nothing that the attack could go by.

    Any other reason not to try an attack leaves open what it would find.
    """


@dataclass(frozen=True)
class Rate:
    """A share of trials with its 95 % interval (Wilson 1927). ``right`` may be an expectation, so it is no integer."""

    right: float
    trials: int

    @property
    def share(self) -> float:
        return self.right / self.trials if self.trials else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """
        >>> low, high = Rate(8, 10).interval
        >>> round(low, 4), round(high, 4)
        (0.4902, 0.9433)
        >>> Rate(0, 0).interval
        (0.0, 1.0)
        """
        return self.within(Z)

    def within(self, z: float) -> tuple[float, float]:
        """Wilson's interval for so many standard deviations."""
        if not self.trials:
            return 0.0, 1.0
        n, p = self.trials, min(1.0, self.share)
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(0.0, centre - half), min(1.0, centre + half)


@dataclass(frozen=True)
class Attack:
    """One attack on one released table."""

    key: str
    """As in JSON: ``singling_out``, ``linking``, ``inference`` …"""
    title: str
    knows: str
    """What the attacker is taken to know, in words, without a value."""
    success: Rate
    baseline: Rate
    """The same guesses, made without the release."""
    control: Rate | None = None
    """The same attack on people who are not in the release; None where no such people are known."""
    attribute: str | None = None
    """The attribute that is inferred or broken, where there is one."""
    details: dict[str, float] | None = None
    claims_only: bool = False
    """Whether ``control`` counts false claims. They tell how sure an attacker can be who doesn't know who is in the
    table; against one who does, they are no excuse."""

    certain: bool = False
    """Whether success counts links that leave no doubt. Then one is enough: it needs no comparison with chance."""

    left_out: bool = False
    """Whether ``control`` is the same attack on the same people with their own records left out of the release: what it
    would say of them if they had never been in it."""

    allowed: float = 0.0
    """The part of what is unknown that classes of this size tell of those in them, whatever their values are: what the
    release accepts by its k. See :mod:`shoal.attack.class_baseline`."""

    adjusted: float | None = None
    """The p-value among those of all attacks that were tried with it; None of an attack by itself."""

    def renamed(self, key: str, title: str) -> Attack:
        return replace(self, key=key, title=title)

    def of_attribute(self, name: str) -> Attack:
        return replace(self, attribute=name)

    @property
    def yardstick(self) -> Rate:
        """What success is compared with: the better of guessing and, where it tells, of the attack on strangers."""
        if self.control is None or self.claims_only or self.control.share <= self.baseline.share:
            return self.baseline
        return self.control

    @property
    def limit(self) -> Rate:
        """What success has to exceed to be a find: the yardstick, and of the rest what is allowed."""
        known = self.yardstick
        return replace(known, right=known.right + (known.trials - known.right) * self.allowed)

    @property
    def risk(self) -> float:
        """How much of what could go wrong beyond the yardstick does: (success − yardstick) ÷ (1 − yardstick)."""
        known = self.yardstick.share
        return max(0.0, (self.success.share - known) / (1 - known)) if known < 1 else 0.0

    @property
    def found(self) -> bool:
        """Whether the release helps: the difference to the limit is more than chance explains (Newcombe 1998)."""
        return (self.p_value if self.adjusted is None else self.adjusted) < LEVEL

    @property
    def p_value(self) -> float:
        """How rarely chance alone would put success so far above the limit: the level at which the one-sided bound of
        the difference is 0. A link that leaves no doubt needs no chance."""
        if self.certain and self.success.right >= 1:
            return 0.0
        if self.success.share <= self.limit.share or self._bounds(0.0, self.limit)[0] <= 0:
            return 1.0
        low, high = 0.0, 40.0
        while high - low > 1e-9:
            middle = (low + high) / 2
            low, high = (middle, high) if self._bounds(middle, self.limit)[0] > 0 else (low, middle)
        return erfc(low / sqrt(2)) / 2

    @property
    def excess(self) -> tuple[float, float]:
        """The 95 % interval of success − yardstick, from the two Wilson intervals."""
        return self._bounds(Z, self.yardstick)

    def _bounds(self, z: float, other: Rate) -> tuple[float, float]:
        mine = self.success
        (low, high), (other_low, other_high) = mine.within(z), other.within(z)
        gap = mine.share - other.share
        return (
            gap - sqrt((mine.share - low) ** 2 + (other_high - other.share) ** 2),
            gap + sqrt((high - mine.share) ** 2 + (other.share - other_low) ** 2),
        )


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for all that were asked with them (Holm 1979): the smallest times their number, the next times
    one less, and so on; none is below one that came before it.

    >>> [round(each, 4) for each in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, before = [1.0] * len(p_values), 0.0
    for place, which in enumerate(order):
        before = max(before, min(1.0, p_values[which] * (len(p_values) - place)))
        adjusted[which] = before
    return adjusted


def holm_adjusted(attacks: Sequence[Attack]) -> tuple[Attack, ...]:
    """The same attacks, each judged as one of all of them."""
    adjusted = holm([attack.p_value for attack in attacks])
    return tuple(replace(attack, adjusted=p) for attack, p in zip(attacks, adjusted, strict=True))
