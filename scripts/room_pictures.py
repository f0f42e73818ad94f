"""The two pictures of `docs/explanation/rooms.md`: the rooms on their floors, and the way of a run through them.

Plain SVG that is the same whenever it is made; it stands on a page, so it brings its own background.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise

WIDTH, ROW, LABEL, GAP = 860, 56, 96, 8
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1d2733}.floor{fill:#5b6b7c}.small{font-size:11px;fill:#5b6b7c}"
    ".box{fill:#fff;stroke:#8aa0b4}.band{fill:#eef2f6}.way{fill:none;stroke:#1f6f8b;stroke-width:1.5}"
    ".stop{fill:#1f6f8b}.number{fill:#fff;font-size:11px}"
)


def floors(rooms: Sequence[tuple[str, Sequence[tuple[str, int]]]]) -> str:
    """Each floor a band, each room a box with the number of its files."""
    parts = []
    for place, (floor, there) in enumerate(rooms):
        parts.append(_band(floor, place))
        width = (WIDTH - LABEL - GAP) / max(1, len(there)) - GAP
        for number, (room, files) in enumerate(there):
            left, top = LABEL + number * (width + GAP), place * ROW + GAP
            parts.append(
                f'<rect class="box" x="{left:.0f}" y="{top}" width="{width:.0f}" height="{ROW - 2 * GAP}" rx="4"/>'
            )
            parts.append(_text(left + width / 2, top + 17, room, "middle"))
            parts.append(_text(left + width / 2, top + 33, f"{files} files", "middle", "small"))
    return _svg("Rooms by floor, the doors on top", len(rooms) * ROW, parts)


def way(names: Sequence[str], visits: Sequence[tuple[str, str]]) -> str:
    """A line that goes to each room, on its floor, when it is called for the first time."""
    step = (WIDTH - LABEL - 2 * GAP) / max(1, len(visits))
    at = [
        (LABEL + GAP + step * (number + 0.5), names.index(floor) * ROW + ROW // 2)
        for number, (_, floor) in enumerate(visits)
    ]
    parts = [_band(floor, place) for place, floor in enumerate(names)]
    for (left, top), (right, low) in pairwise(at):
        middle = (left + right) / 2
        parts.append(
            f'<path class="way" d="M{left:.0f} {top}C{middle:.0f} {top} {middle:.0f} {low} {right:.0f} {low}"/>'
        )
    for number, ((x, y), (room, _)) in enumerate(zip(at, visits, strict=True), 1):
        parts.append(f'<circle class="stop" cx="{x:.0f}" cy="{y}" r="9"/>')
        parts.append(_text(x, y + 4, str(number), "middle", "number"))
        beside = y + 23 if number % 2 else y - 14
        parts.append(_text(x, beside, room, "middle", "small"))
    return _svg("The way of a run: the rooms in the order in which it comes to them", len(names) * ROW, parts)


def _band(floor: str, place: int) -> str:
    shade = f'<rect class="band" x="0" y="{place * ROW}" width="{WIDTH}" height="{ROW}"/>' if place % 2 == 0 else ""
    return shade + _text(10, place * ROW + ROW // 2 + 4, floor, "start", "floor")


def _text(x: float, y: float, words: str, anchor: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(words)}</text>'


def _svg(title: str, height: int, parts: Sequence[str]) -> str:
    named = f'role="img" aria-label="{escape(title)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" {named}>'
    page = f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>", page, *parts, "</svg>", ""])
