"""Figures as places on a drawing: what a template needs to draw an SVG, and no more."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

WIDTH: Final = 720
HEIGHT: Final = 340
LEFT: Final = 56
BOTTOM: Final = 44
EDGE: Final = 16
_STEPS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
MOST_TICKS: Final = 6


@dataclass(frozen=True)
class AxisTick:
    at: float
    share: float


@dataclass(frozen=True)
class ChartPoint:
    number: int
    """Which of the tries."""
    x: float
    y: float
    try_: Mapping[str, Any]


@dataclass(frozen=True)
class FrontierChart:
    """Loss against the highest risk; what no other try beats in both is joined by a line."""

    points: tuple[ChartPoint, ...]
    line: str
    across: tuple[AxisTick, ...]
    upwards: tuple[AxisTick, ...]


def frontier_chart(tries: Sequence[Mapping[str, Any]]) -> FrontierChart | None:
    """None where nothing could be met."""
    met = [(number, one) for number, one in enumerate(tries) if one["feasible"]]
    if not met:
        return None
    risks, losses = [one["prosecutor_max"] for _, one in met], [one["loss"] for _, one in met]
    most_risk, most_loss = _ceiling(max(risks)), _ceiling(max(losses))

    def across(risk: float) -> float:
        return round(LEFT + (WIDTH - LEFT - EDGE) * risk / most_risk, 1)

    def upwards(loss: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - BOTTOM - EDGE) * loss / most_loss, 1)

    points = tuple(ChartPoint(number, across(one["prosecutor_max"]), upwards(one["loss"]), one) for number, one in met)
    best = sorted((point.x, point.y) for point in points if point.try_["pareto"])
    return FrontierChart(
        points,
        " ".join(f"{x},{y}" for x, y in best),
        tuple(AxisTick(across(share), share) for share in _ticks(most_risk)),
        tuple(AxisTick(upwards(share), share) for share in _ticks(most_loss)),
    )


def _step(most: float) -> float:
    return next((step for step in _STEPS if most / step <= MOST_TICKS), _STEPS[-1])


def _ceiling(most: float) -> float:
    """
    >>> _ceiling(0.31), _ceiling(0.0), _ceiling(1.0)
    (0.4, 0.01, 1.0)
    """
    step = _step(most * 1.05)
    return min(1.0, max(step, round(step * (int(most * 1.02 / step) + 1), 6)))


def _ticks(most: float) -> list[float]:
    """
    >>> _ticks(0.35)
    [0.0, 0.1, 0.2, 0.3]
    """
    step = _step(most)
    return [round(step * number, 6) for number in range(int(most / step + 1e-9) + 1)]


@dataclass(frozen=True)
class ClassBar:
    label: str
    classes: int
    people: int
    share: float
    """Of all people in classes."""


def class_chart(bins: Sequence[Mapping[str, Any]]) -> tuple[ClassBar, ...]:
    """
    >>> [bar.share for bar in class_chart([{"label": "1", "classes": 0, "people": 0},
    ...                                    {"label": "5–9", "classes": 2, "people": 12}])]
    [0.0, 1.0]
    """
    whole = max(1, sum(one["people"] for one in bins))
    return tuple(ClassBar(one["label"], one["classes"], one["people"], one["people"] / whole) for one in bins)


NODE_WIDTH: Final = 150
NODE_HEIGHT: Final = 58
NODE_GAP: Final = 14


@dataclass(frozen=True)
class NodeBox:
    x: float
    y: float
    name: str
    """The levels, one after the other."""
    node: Mapping[str, Any]


@dataclass(frozen=True)
class LatticeChart:
    """The node in the middle, coarser ones above it, finer ones below."""

    width: int
    height: int
    middle: NodeBox
    around: tuple[NodeBox, ...]


def lattice_chart(nodes: Sequence[Mapping[str, Any]]) -> LatticeChart | None:
    """None where there is nothing around."""
    if len(nodes) < 2:
        return None
    rows = [[one for one in nodes[1:] if one["step"] == step] for step in (1, -1)]
    most = max(map(len, rows))
    width = max(1, most) * (NODE_WIDTH + NODE_GAP) + NODE_GAP
    heights = (8, 8 + 2 * NODE_HEIGHT + 8 * NODE_GAP)
    around = tuple(
        NodeBox(round((width - len(row) * (NODE_WIDTH + NODE_GAP) + NODE_GAP) / 2 + at * (NODE_WIDTH + NODE_GAP), 1),
                y, _node_name(one), one)
        for row, y in zip(rows, heights, strict=True) for at, one in enumerate(row)
    )  # fmt: skip
    middle = NodeBox((width - NODE_WIDTH) / 2, (heights[0] + heights[1]) / 2, _node_name(nodes[0]), nodes[0])
    return LatticeChart(width, heights[1] + NODE_HEIGHT + 8, middle, around)


def _node_name(node: Mapping[str, Any]) -> str:
    return " · ".join(str(level) for level in node["levels"].values())


@dataclass(frozen=True)
class GraphNode:
    x: float
    y: float
    row: Mapping[str, Any]


@dataclass(frozen=True)
class ReleaseGraph:
    """Releases on a circle; a line joins two that were looked at together."""

    left: float
    width: float
    height: int
    nodes: tuple[GraphNode, ...]
    lines: tuple[tuple[GraphNode, GraphNode], ...]


GRAPH_RADIUS: Final = 150
GRAPH_HEIGHT: Final = 110
GRAPH_EDGE: Final = 90
MOST_NODES: Final = 60


def release_graph(rows: Sequence[Mapping[str, Any]]) -> ReleaseGraph | None:
    """None where fewer than two releases are there, or so many that nobody could tell them apart.

    >>> rows = [{"id": "a", "composition": None}, {"id": "b", "composition": {"outcome": "pass", "earlier": ["a"]}}]
    >>> [(one.row["id"], other.row["id"]) for one, other in release_graph(rows).lines]
    [('a', 'b')]
    """
    if not 2 <= len(rows) <= MOST_NODES:
        return None
    centre = GRAPH_RADIUS + GRAPH_EDGE
    nodes = {}
    for number, row in enumerate(rows):
        turn = 2 * math.pi * number / len(rows) - math.pi / 2
        x, y = centre + GRAPH_RADIUS * math.cos(turn), 40 + GRAPH_HEIGHT * (1 + math.sin(turn))
        nodes[row["id"]] = GraphNode(round(x, 1), round(y, 1), row)
    together = {
        tuple(sorted((row["id"], other)))
        for row in rows
        for other in (row.get("composition") or {}).get("earlier", ())
        if other in nodes
    }
    lines = tuple((nodes[one], nodes[other]) for one, other in sorted(together))
    left, right = (outer(node.x for node in nodes.values()) for outer in (min, max))
    width = round(right - left + 2 * GRAPH_EDGE, 1)
    return ReleaseGraph(left - GRAPH_EDGE, width, 2 * GRAPH_HEIGHT + 80, tuple(nodes.values()), lines)
