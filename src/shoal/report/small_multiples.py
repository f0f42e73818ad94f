"""Small drawings in tables: the interval of an attack, and the bars of a distribution before and after."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from shoal.results.attack_results import AttackResult
from shoal.results.evidence_facts import DistributionFacts
from shoal.results.number_format import number, percent

MOST_BARS = 12
"""Of one attribute; what is beyond is put together in the last bar."""
MOST_LETTERS = 60
"""Of a label."""
CONTROL = "M0 0 5 8H-5z"
"""A triangle that points up at its place."""
_ENDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class DistributionBar:
    """One label of a distribution."""

    label: str
    before: str
    after: str
    drawing: Markup


@dataclass(frozen=True)
class DistributionChart:
    name: str
    note: str
    bars: tuple[DistributionBar, ...]


def reach(attacks: Iterable[AttackResult]) -> float:
    """The share at the right end of all intervals: a round one that holds them all, so that they can be compared."""
    most = max((_farthest(one) for one in attacks), default=1.0)
    return next((end for end in _ENDS if most <= end), 1.0)


def _farthest(attack: AttackResult) -> float:
    control = attack.control.share if attack.control is not None else 0.0
    return max(attack.success.high, attack.success.share, attack.baseline.share, control)


def interval(attack: AttackResult, end: float) -> Markup:
    """Success as a bar with its 95 % interval as whiskers; guessing a dashed line, the control group a mark below."""

    def x(share: float) -> float:
        return 100 * min(max(share, 0.0), end) / end

    control = Markup("")
    if attack.control is not None:
        control = Markup(
            '<svg x="{x:.2f}%" y="19" width="1" height="1" overflow="visible"><path class="control" d="{mark}"/></svg>'
        ).format(x=x(attack.control.share), mark=CONTROL)
    return Markup(
        '<svg class="interval" width="100%" height="28" aria-hidden="true" focusable="false">'
        '<rect class="track" y="4" width="100%" height="12" rx="2"/>'
        '<rect class="{kind}" y="4" width="{success:.2f}%" height="12" rx="2"/>'
        '<line class="whisker" x1="{low:.2f}%" x2="{high:.2f}%" y1="10" y2="10"/>'
        '<line class="whisker" x1="{low:.2f}%" x2="{low:.2f}%" y1="6" y2="14"/>'
        '<line class="whisker" x1="{high:.2f}%" x2="{high:.2f}%" y1="6" y2="14"/>'
        '<line class="guess" x1="{base:.2f}%" x2="{base:.2f}%" y1="0" y2="20"/>{control}</svg>'
    ).format(
        kind="bar-found" if attack.found else "bar-safe",
        success=x(attack.success.share),
        low=x(attack.success.low),
        high=x(attack.success.high),
        base=x(attack.baseline.share),
        control=control,
    )


def distribution(facts: DistributionFacts) -> DistributionChart:
    kept = _together(facts.bars)
    longest = max((max(before, after) for _, before, after in kept), default=0.0) or 1.0
    told = [facts.kind]
    if facts.suppressed > 0:
        told.append(f"{percent(facts.suppressed)} empty or hidden")
    if facts.bars:
        told += [f"{name} {number(value)}" for name, value in facts.distances]
    return DistributionChart(
        facts.name,
        " · ".join(told),
        tuple(
            DistributionBar(_short(label), percent(b), percent(a), before_and_after(b / longest, a / longest))
            for label, b, a in kept
        ),
    )


def _together(bars: tuple[tuple[str, float, float], ...]) -> tuple[tuple[str, float, float], ...]:
    """Not more bars than can be read; the rest as one."""
    if len(bars) <= MOST_BARS:
        return bars
    kept, rest = bars[: MOST_BARS - 1], bars[MOST_BARS - 1 :]
    return (*kept, (f"{len(rest):,} others", sum(one[1] for one in rest), sum(one[2] for one in rest)))


def _short(label: str) -> str:
    return label if len(label) <= MOST_LETTERS else f"{label[: MOST_LETTERS - 1]}…"


def before_and_after(before: float, after: float) -> Markup:
    """Two bars above each other, each over a share of the width."""
    return Markup(
        '<svg class="pair" width="100%" height="15" aria-hidden="true" focusable="false">'
        '<rect class="bar-before" width="{b:.1f}%" height="7"/>'
        '<rect class="bar-after" y="8" width="{a:.1f}%" height="7"/></svg>'
    ).format(b=_width(before), a=_width(after))


def _width(length: float) -> float:
    """What is not nothing stays visible."""
    return 0.0 if length <= 0 else min(100.0, max(0.8, 100 * length))
