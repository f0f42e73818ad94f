"""The chart to choose by: loss against k, one line per suppression limit, one panel per kind of recoding.

All panels share both scales, so that they can be compared. k is on a logarithmic scale, since the risk is 1 ÷ k and
each doubling halves it. Drawn as the other plots of the report are: percentages across, pixels down, no library.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from markupsafe import Markup

from shoal.results.exploration import Exploration, ExplorationOutcome, ExplorationTrial
from shoal.results.number_format import count, percent

_TOP, _BOTTOM, _HEIGHT = 26, 270, 300
_LEFT, _RIGHT = 9.0, 95.0
_LABEL_GAP = 5.0
"""Per cent of the width that a label on the axis needs."""
MARKS: Final = (
    "M0 -5A5 5 0 1 1 0 5A5 5 0 1 1 0 -5z",
    "M-4.5 -4.5H4.5V4.5H-4.5z",
    "M0 -6 6 0 0 6 -6 0z",
    "M0 -5.5 5.5 4.5H-5.5z",
    "M0 5.5 5.5 -4.5H-5.5z",
    "M-2 -5.5H2V-2H5.5V2H2V5.5H-2V2H-5.5V-2H-2z",
)
"""A disc, a square, a diamond, a triangle either way, a cross: one for each line, as colour alone does not tell all."""
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25)


@dataclass(frozen=True)
class FrontierScales:
    ks: tuple[int, ...]
    limits: tuple[float, ...]
    step: float
    """Between two lines of the grid."""
    most: float
    """Loss at the top of the plot."""

    @classmethod
    def of(cls, exploration: Exploration) -> FrontierScales:
        highest = max((one.found.loss for one in exploration.tries if one.found is not None), default=0.0)
        step = next((step for step in _STEPS if highest <= 5 * step), _STEPS[-1])
        return cls(
            tuple(sorted({one.k for one in exploration.tries})),
            tuple(sorted({one.limit for one in exploration.tries})),
            step,
            step * max(1, math.ceil(highest / step - 1e-9)),
        )

    def x(self, k: int) -> float:
        """Per cent from the left."""
        reach = math.log(self.ks[-1] / self.ks[0])
        share = math.log(k / self.ks[0]) / reach if reach else 0.5
        return _LEFT + (_RIGHT - _LEFT) * share

    def y(self, loss: float) -> float:
        """Pixels from the top."""
        return _BOTTOM - (_BOTTOM - _TOP) * loss / self.most

    def series(self, limit: float) -> int:
        """Which of the styles a limit has, from 1 on: a colour, a kind of line and a mark of its own."""
        return self.limits.index(limit) % len(MARKS) + 1


def panel(exploration: Exploration, recoding: str, scales: FrontierScales) -> Markup:
    """All tries of one kind of recoding; those on the frontier of all kinds are filled."""
    tries = [one for one in exploration.tries if one.recoding == recoding]
    best = exploration.frontier
    points = [(one, one.found) for one in tries if one.found is not None]
    body = [
        *_grid(scales),
        *(line for limit in reversed(scales.limits) for line in _lines(points, limit, scales)),
        *(_point(one, found, scales, filled=False) for one, found in reversed(points) if one not in best),
        *(_point(one, found, scales, filled=True) for one, found in reversed(points) if one in best),
        *(_ring(one, found, scales) for one, found in points if one.wanted),
    ]
    said = f"{recoding} recoding: loss from {_range(found.loss for _, found in points)}" if points else "nothing found"
    return Markup(
        '<svg class="frontier" width="100%" height="{height}" role="img" aria-label="{said}">{body}</svg>'
    ).format(height=_HEIGHT, said=said, body=Markup("").join(body))


def swatch(limit: float, scales: FrontierScales) -> Markup:
    return Markup(
        '<svg class="swatch" width="40" height="14" aria-hidden="true" focusable="false">'
        '<line class="limit series-{series}" x1="0" x2="40" y1="7" y2="7"/>{mark}</svg>'
    ).format(series=scales.series(limit), mark=_mark("20", 7, scales.series(limit), "beaten"))


def _range(losses: Iterable[float]) -> str:
    known = sorted(losses)
    return f"{known[0]:.3f} to {known[-1]:.3f}"


def _grid(scales: FrontierScales) -> Iterable[Markup]:
    for place in range(round(scales.most / scales.step) + 1):
        loss = place * scales.step
        yield Markup(
            '<line class="rule" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>'
            '<text class="tick-label" x="0" y="{above:.1f}">{loss:g}{unit}</text>'
        ).format(
            y=scales.y(loss),
            above=scales.y(loss) - 4,
            loss=round(loss, 2),
            unit=" loss" if place == round(scales.most / scales.step) else "",
        )
    last = -math.inf
    for k in scales.ks:
        if scales.x(k) - last >= _LABEL_GAP:
            last = scales.x(k)
            yield Markup(
                '<text class="tick-label" x="{x:.2f}%" y="{y}" text-anchor="middle">{prefix}{k:,}</text>'
            ).format(x=last, y=_HEIGHT - 8, k=k, prefix="k = " if k == scales.ks[0] else "")


def _lines(
    points: Sequence[tuple[ExplorationTrial, ExplorationOutcome]], limit: float, scales: FrontierScales
) -> Iterable[Markup]:
    """From each k to the next. Where one between them could not be reached, there is no line."""
    here = {one.k: found.loss for one, found in points if one.limit == limit}
    for low, high in pairwise(scales.ks):
        if low in here and high in here:
            yield Markup(
                '<line class="limit series-{series}" x1="{a:.2f}%" x2="{b:.2f}%" y1="{c:.1f}" y2="{d:.1f}"/>'
            ).format(
                series=scales.series(limit),
                a=scales.x(low),
                b=scales.x(high),
                c=scales.y(here[low]),
                d=scales.y(here[high]),
            )


def _point(one: ExplorationTrial, found: ExplorationOutcome, scales: FrontierScales, *, filled: bool) -> Markup:
    lost = f"{count(found.suppressed, 'record')} suppressed, {percent(found.suppressed_share)}"
    mark = _mark(
        f"{scales.x(one.k):.2f}%", scales.y(found.loss), scales.series(one.limit), "best" if filled else "beaten"
    )
    return Markup("<g><title>{told}</title>{mark}</g>").format(told=f"{one}: loss {found.loss:.3f}, {lost}", mark=mark)


def _mark(x: str, y: float, series: int, kind: str) -> Markup:
    return Markup(
        '<svg x="{x}" y="{y:.1f}" width="1" height="1" overflow="visible">'
        '<path class="try {kind} series-{series}" d="{mark}"/></svg>'
    ).format(x=x, y=y, kind=kind, series=series, mark=MARKS[series - 1])


def _ring(one: ExplorationTrial, found: ExplorationOutcome, scales: FrontierScales) -> Markup:
    # A lower k loses less, so lines rise to the right: there is room below them on the right, above them on the left.
    x, y = scales.x(one.k), scales.y(found.loss)
    anchor, shift, down = ("start", 13, 16) if x < 60 else ("end", -13, -8)
    return Markup(
        '<circle class="ring" cx="{x:.2f}%" cy="{y:.1f}" r="10"/>'
        '<text class="pin-label pin-label-after" x="{x:.2f}%" dx="{shift}" y="{place:.1f}" text-anchor="{anchor}">'
        "the policy</text>"
    ).format(x=x, y=y, shift=shift, place=y + down, anchor=anchor)
