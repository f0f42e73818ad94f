"""Drawings of the report: inline SVG without a library.

Horizontal places are percentages and there is no view box, so a drawing takes the width it is given while its text
keeps the size of the page around it, on a phone as on paper. Colours come from the page's style sheet by class name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from markupsafe import Markup

from shoal.report.figures import one_in

THRESHOLDS = {"Low": 0.2, "Medium": 0.1, "High": 0.01}
"""Potential harm → highest acceptable risk (PDPC, annex D, example values).

The guide's sentence has the threshold rise with the harm, its table has it fall; the table is followed.
"""

_LEAST_RISK = 0.001
_EDGES = (1, 2, 3, 5, 10, 20, 50, 100)
_LABELS = ("1", "2", "3–4", "5–9", "10–19", "20–49", "50–99", "100+")


@dataclass(frozen=True)
class Bin:
    """Equivalence classes of about the same size: how many there are and how many people are in them."""

    label: str
    classes: int
    people: int


def class_bins(class_sizes: Sequence[int]) -> tuple[Bin, ...]:
    """
    >>> [(one.label, one.classes, one.people) for one in class_bins((1, 1, 4, 250)) if one.classes]
    [('1', 2, 2), ('3–4', 1, 4), ('100+', 1, 250)]
    """
    sizes = np.asarray(class_sizes, dtype=np.int64)
    sizes = sizes[sizes > 0]
    place = np.searchsorted(_EDGES, sizes, side="right") - 1
    classes = np.bincount(place, minlength=len(_EDGES))
    people = np.zeros(len(_EDGES), dtype=np.int64)
    np.add.at(people, place, sizes)
    return tuple(Bin(label, int(c), int(p)) for label, c, p in zip(_LABELS, classes, people, strict=True))


def bar(length: float, kind: str) -> Markup:
    """A bar over ``length`` (0 to 1) of its cell; what is not nothing stays visible."""
    width = 0.0 if length <= 0 else max(1.0, 100 * length)
    return Markup(
        '<svg class="bar" width="100%" height="12" aria-hidden="true" focusable="false">'
        '<rect class="bar-{kind}" width="{width:.1f}%" height="12" rx="2"/></svg>'
    ).format(kind=kind, width=width)


def gauge(after: float, before: float | None) -> Markup:
    """The highest risk on a logarithmic scale, from certainty (left) to 1 in 1000 (right), between the thresholds."""
    pins = [(after, "after", "this file" if before is None else "after", 36)]
    if before is not None:
        pins.insert(0, (before, "before", "before", 14))
    bounds = (1.0, *THRESHOLDS.values(), _LEAST_RISK)
    body = [
        *(_zone(number, *pair) for number, pair in enumerate(pairwise(bounds), start=1)),
        *(_tick(bound) for bound in bounds),
        *(_pin(*pin) for pin in pins),
    ]
    said = ", ".join(f"{label} {one_in(risk)}" for risk, _, label, _ in pins)
    return Markup(
        '<svg class="gauge" width="100%" height="92" role="img" aria-label="Highest risk: {said}">{body}</svg>'
    ).format(said=said, body=Markup("").join(body))


def _place(risk: float) -> float:
    """Per cent from the left."""
    return 100 * math.log(1 / min(max(risk, _LEAST_RISK), 1.0)) / math.log(1 / _LEAST_RISK)


def _zone(number: int, high: float, low: float) -> Markup:
    left, right = _place(high), _place(low)
    return Markup('<rect class="zone-{n}" x="{x:.2f}%" y="48" width="{w:.2f}%" height="16"/>').format(
        n=number, x=left, w=right - left
    )


def _tick(risk: float) -> Markup:
    x = _place(risk)
    anchor = "start" if x <= 0 else "end" if x >= 100 else "middle"
    return Markup(
        '<line class="tick" x1="{x:.2f}%" x2="{x:.2f}%" y1="48" y2="70"/>'
        '<text class="tick-label" x="{x:.2f}%" y="84" text-anchor="{anchor}">{risk:g}</text>'
    ).format(x=x, anchor=anchor, risk=risk)


def _pin(risk: float, kind: str, label: str, baseline: int) -> Markup:
    x = _place(risk)
    anchor, shift = ("start", 9) if x < 50 else ("end", -9)
    return Markup(
        '<line class="pin pin-{kind}" x1="{x:.2f}%" x2="{x:.2f}%" y1="{top}" y2="56"/>'
        '<circle class="pin-{kind}" cx="{x:.2f}%" cy="56" r="6"/>'
        '<text class="pin-label pin-label-{kind}" x="{x:.2f}%" dx="{shift}" y="{y}" text-anchor="{anchor}">'
        "{label}: {risk}</text>"
    ).format(kind=kind, label=label, x=x, top=baseline - 10, shift=shift, y=baseline, anchor=anchor, risk=one_in(risk))
