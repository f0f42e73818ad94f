"""Drawings of the report: inline SVG without a library.

Horizontal places are percentages and there is no view box, so a drawing takes the width it is given while its text
keeps the size of the page around it, on a phone as on paper. Colours come from the page's style sheet by class name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from markupsafe import Markup

from shoal.report.facts import ClassSizes
from shoal.results.number_format import one_in

THRESHOLDS = {"Low": 0.2, "Medium": 0.1, "High": 0.01}
"""Potential harm → highest acceptable risk (PDPC, annex D, example values).

The guide's sentence has the threshold rise with the harm, its table has it fall; the table is followed.
"""

_LEAST_RISK = 0.001
_EDGES = (1, 2, 3, 5, 10, 20, 50, 100)
_LABELS = ("1", "2", "3–4", "5–9", "10–19", "20–49", "50–99", "100+")


@dataclass(frozen=True)
class ClassSizeBin:
    """Equivalence classes of about the same size: how many there are and how many people are in them."""

    label: str
    classes: int
    people: int


def class_bins(class_sizes: ClassSizes) -> tuple[ClassSizeBin, ...]:
    """
    >>> [(one.label, one.classes, one.people) for one in class_bins((1, 1, 4, 250)) if one.classes]
    [('1', 2, 2), ('3–4', 1, 4), ('100+', 1, 250)]
    >>> class_bins({1: 2, 4: 1, 250: 1}) == class_bins((1, 1, 4, 250))
    True
    """
    if isinstance(class_sizes, Mapping):
        sizes = np.array(list(class_sizes.keys()), dtype=np.int64)
        times = np.array(list(class_sizes.values()), dtype=np.int64)
    else:
        sizes = np.asarray(class_sizes, dtype=np.int64)
        times = np.ones_like(sizes)
    times = np.where(sizes > 0, times, 0)
    place = np.maximum(np.searchsorted(_EDGES, sizes, side="right") - 1, 0)
    classes = np.zeros(len(_EDGES), dtype=np.int64)
    people = np.zeros(len(_EDGES), dtype=np.int64)
    np.add.at(classes, place, times)
    np.add.at(people, place, sizes * times)
    return tuple(ClassSizeBin(label, int(c), int(p)) for label, c, p in zip(_LABELS, classes, people, strict=True))


def bar(length: float, kind: str) -> Markup:
    """A bar over ``length`` (0 to 1) of its cell; what is not nothing stays visible."""
    width = 0.0 if length <= 0 else max(1.0, 100 * length)
    return Markup(
        '<svg class="bar" width="100%" height="12" aria-hidden="true" focusable="false">'
        '<rect class="bar-{kind}" width="{width:.1f}%" height="12" rx="2"/></svg>'
    ).format(kind=kind, width=width)


@dataclass(frozen=True)
class RiskMarker:
    """A risk marked on the gauge. ``kind``: before, after or assessed."""

    risk: float
    kind: str
    label: str


_ROW = 22
"""Pixels between the labels of two pins; each has a row of its own, so they never lie on each other."""


def gauge(pins: Sequence[RiskMarker], limit: tuple[str, float] | None = None) -> Markup:
    """The highest risk on a logarithmic scale, from certainty (left) to 1 in 1000 (right), between the thresholds.

    ``limit``: the threshold to keep, named.
    """
    top = _ROW * len(pins) + 4
    bounds = (1.0, *THRESHOLDS.values(), _LEAST_RISK)
    body = [
        *(_zone(number, top, *pair) for number, pair in enumerate(pairwise(bounds), start=1)),
        *(_tick(bound, top) for bound in bounds),
        *([_limit(*limit, top)] if limit else []),
        *(_pin(pin, _ROW * row + 14, top) for row, pin in enumerate(pins)),
    ]
    said = ", ".join(f"{pin.label} {one_in(pin.risk)}" for pin in pins)
    kept = f"; {limit[0]} {limit[1]:g}" if limit else ""
    return Markup(
        '<svg class="gauge" width="100%" height="{height}" role="img" aria-label="Highest risk: {said}">{body}</svg>'
    ).format(height=top + (64 if limit else 44), said=said + kept, body=Markup("").join(body))


def _place(risk: float) -> float:
    """Per cent from the left."""
    return 100 * math.log(1 / min(max(risk, _LEAST_RISK), 1.0)) / math.log(1 / _LEAST_RISK)


def _zone(number: int, top: int, high: float, low: float) -> Markup:
    left, right = _place(high), _place(low)
    return Markup('<rect class="zone-{n}" x="{x:.2f}%" y="{y}" width="{w:.2f}%" height="16"/>').format(
        n=number, x=left, y=top, w=right - left
    )


def _tick(risk: float, top: int) -> Markup:
    x = _place(risk)
    anchor = "start" if x <= 0 else "end" if x >= 100 else "middle"
    return Markup(
        '<line class="tick" x1="{x:.2f}%" x2="{x:.2f}%" y1="{top}" y2="{end}"/>'
        '<text class="tick-label" x="{x:.2f}%" y="{y}" text-anchor="{anchor}">{risk:g}</text>'
    ).format(x=x, top=top, end=top + 22, y=top + 36, anchor=anchor, risk=risk)


def _limit(name: str, risk: float, top: int) -> Markup:
    """The threshold to keep: a thick line across the scale, named below the ticks."""
    x = _place(risk)
    anchor = "start" if x < 33 else "end" if x > 67 else "middle"
    return Markup(
        '<line class="keep" x1="{x:.2f}%" x2="{x:.2f}%" y1="{above}" y2="{below}"/>'
        '<text class="tick-label keep-label" x="{x:.2f}%" y="{y}" text-anchor="{anchor}">{name}: {risk:g}</text>'
    ).format(x=x, above=top - 3, below=top + 24, y=top + 56, anchor=anchor, name=name, risk=risk)


def _pin(pin: RiskMarker, baseline: int, top: int) -> Markup:
    x = _place(pin.risk)
    anchor, shift = ("start", 9) if x < 50 else ("end", -9)
    return Markup(
        '<line class="pin pin-{kind}" x1="{x:.2f}%" x2="{x:.2f}%" y1="{start}" y2="{centre}"/>'
        '<circle class="pin-{kind}" cx="{x:.2f}%" cy="{centre}" r="6"/>'
        '<text class="pin-label pin-label-{kind}" x="{x:.2f}%" dx="{shift}" y="{y}" text-anchor="{anchor}">'
        "{label}: {risk}</text>"
    ).format(
        kind=pin.kind, label=pin.label, x=x, start=baseline - 10, centre=top + 8, shift=shift, y=baseline,
        anchor=anchor, risk=one_in(pin.risk),
    )  # fmt: skip
