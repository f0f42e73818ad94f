"""Attacks as results have them: how often each was right, against what, and whether that is a find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.results.base import Number, ResultModel, Words

if TYPE_CHECKING:
    from shoal.attack import Attack, Rate

_CLOCKED = ("hashes_per_second", "seconds_for_whole_space")
"""Details that depend on the machine's mood; without them the same seed gives the same bytes."""


def attack_in_words(key: str) -> str:
    return key.replace("_", " ")


class RateResult(ResultModel):
    """A share of trials with its 95 % interval."""

    share: Number
    low: Number
    high: Number
    right: Number
    trials: int

    @classmethod
    def of(cls, rate: Rate) -> RateResult:
        low, high = rate.interval
        return cls(share=rate.share, low=low, high=high, right=rate.right, trials=rate.trials)


class IntervalResult(ResultModel):
    low: Number
    high: Number


class AttackResult(ResultModel):
    attack: str
    """Its key."""
    title: str
    attribute: str | None
    """The attribute that is inferred or broken, where there is one."""
    knows: str
    """What the attacker is taken to know, in words."""
    success: RateResult
    baseline: RateResult
    """The same guesses, made without the release."""
    control: RateResult | None
    """The same attack on people who are not in the release; None where no such people are known."""
    control_left_out: bool
    """Whether the control group is the same people with their own records left out."""
    yardstick: Number
    allowed: Number
    """The part of what is unknown that groups of their size tell of those in them."""
    limit: Number
    """What success has to exceed to be a find."""
    excess: IntervalResult
    p: Number
    p_adjusted: Number
    risk: Number
    found: bool
    details: dict[str, Number]

    @classmethod
    def of(cls, attack: Attack) -> AttackResult:
        low, high = attack.excess
        return cls(
            attack=attack.key,
            title=attack.title,
            attribute=attack.attribute,
            knows=attack.knows,
            success=RateResult.of(attack.success),
            baseline=RateResult.of(attack.baseline),
            control=None if attack.control is None else RateResult.of(attack.control),
            control_left_out=attack.left_out,
            yardstick=attack.yardstick.share,
            allowed=attack.allowed,
            limit=attack.limit.share,
            excess=IntervalResult(low=low, high=high),
            p=attack.p_value,
            p_adjusted=attack.p_value if attack.adjusted is None else attack.adjusted,
            risk=attack.risk,
            found=attack.found,
            details={name: value for name, value in (attack.details or {}).items() if name not in _CLOCKED},
        )


class AttackReportResult(ResultModel):
    """What ``shoal attack --json`` prints of one table."""

    rows: int
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    person: str | None
    control: bool
    """Whether a control group was given."""
    fitting: Number
    """Share of the people who could be in any released record."""
    doubts: tuple[Words, ...]
    rows_in_order: bool
    rows_known: bool
    attacks: tuple[AttackResult, ...]
    skipped: dict[str, Words]
    """Attack → why it was not tried or judged."""
    unjudged: tuple[str, ...]
    found: tuple[str, ...]


class JoinedAttackResult(ResultModel):
    attacks: tuple[AttackResult, ...]
    skipped: Words | None
    unjudged: bool
    found: tuple[str, ...]


class MultiTableAttackResult(ResultModel):
    """What ``shoal attack --json`` prints of several tables."""

    joined: JoinedAttackResult
    tables: dict[str, AttackReportResult]
    nothing_to_attack: tuple[str, ...]
