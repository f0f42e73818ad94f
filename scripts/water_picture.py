"""The picture of docs/how-to/publish-a-report.md: running totals of a year, true, with noise, and where they lie."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from shoal.dp.accounting import Accounting
from shoal.dp.running_totals import best_strategy, single_periods
from shoal.randomness import Randomness

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
WIDTH, HEIGHT = 720, 380
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 20, 60
DAYS = 365
INK, FAINT, OURS, PLAIN = "#5b6770", "#c3cad0", "#0f766e", "#b45309"


def main() -> None:
    (IMAGES / "running-totals.svg").write_text(picture(), encoding="utf-8")


def picture() -> str:
    """How far noisy totals are from true ones, day by day, at the same cost, each with its 95 % interval."""
    stream = Randomness(seed=11).stream("picture")
    parts = [_line(value) for value in (-150, -100, -50, 0, 50, 100, 150)]
    parts += [_label(_x(day), HEIGHT - BOTTOM + 22, str(day)) for day in (1, 100, 200, 300, 365)]
    for lane, (strategy, colour) in enumerate(
        ((single_periods(DAYS), PLAIN), (best_strategy(DAYS, Accounting.ZCDP), OURS))
    ):
        made = strategy.totals(DAYS)
        scale = strategy.l2 * 3.8  # ε about 1 at δ 10⁻⁶
        noise = stream.gaussian(np.arange(len(strategy.weights), dtype=np.uint64), lane=lane) * scale
        reach = np.sqrt((made**2).sum(axis=1)) * scale * 1.96
        upper = [f"{_x(day + 1):.1f},{_y(value):.1f}" for day, value in enumerate(reach)]
        lower = [f"{_x(day + 1):.1f},{_y(-value):.1f}" for day, value in enumerate(reach)]
        parts.append(f'<polygon points="{" ".join(upper + lower[::-1])}" fill="{colour}" fill-opacity="0.14"/>')
        drawn = " ".join(f"{_x(day + 1):.1f},{_y(value):.1f}" for day, value in enumerate(made @ noise))
        parts.append(f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2"/>')
    parts.append(_label(LEFT + 130, TOP + 14, "noise on each day, added up", PLAIN))
    parts.append(_label(LEFT + 108, TOP + 36, "shoal publish, same cost", OURS))
    parts.append(_label(WIDTH / 2, HEIGHT - 10, "day of the year; how far the noisy total is from the true one"))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"'
    frame = f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff"/>'
    return "\n".join([f'{head} font-size="15">', frame, *parts, "</svg>", ""])


def _x(day: float) -> float:
    return LEFT + (day - 1) / (DAYS - 1) * (WIDTH - LEFT - RIGHT)


def _y(value: float) -> float:
    return TOP + (1 - (value + 170) / 340) * (HEIGHT - TOP - BOTTOM)


def _line(value: int) -> str:
    line = f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{_y(value):.1f}" y2="{_y(value):.1f}" stroke="{FAINT}"/>'
    return line + f'<text x="{LEFT - 8}" y="{_y(value) + 5:.1f}" text-anchor="end" fill="{INK}">{value}</text>'


def _label(x: float, y: float, text: str, colour: str = INK) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" fill="{colour}">{text}</text>'


if __name__ == "__main__":
    main()
