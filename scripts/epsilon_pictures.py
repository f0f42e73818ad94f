"""The two pictures of docs/explanation/differential-privacy.md, from the formulas that the curator uses, and the one of
docs/how-to/ask-people.md, from a survey that was made up and asked at the device."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log10
from pathlib import Path

from shoal.dp.local.device import randomised_response
from shoal.dp.local.estimates import response_counts
from shoal.dp.opendp_measurements import LaplaceNoise

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
WIDTH, HEIGHT = 720, 360
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 24, 56
INK, FAINT = "#5b6770", "#c3cad0"
HALO = 'stroke="#ffffff" stroke-width="4" paint-order="stroke"'
COLOURS = ("#0f766e", "#b45309", "#6d28d9")


def main() -> None:
    (IMAGES / "epsilon-bet.svg").write_text(bet(), encoding="utf-8")
    (IMAGES / "epsilon-error.svg").write_text(error(), encoding="utf-8")
    (IMAGES / "survey.svg").write_text(survey(), encoding="utf-8")


def bet() -> str:
    """How often a bet on somebody's being in the table is won at best."""
    values = (0.1, 0.5, 1, 2, 5)
    step = (WIDTH - LEFT - RIGHT) / len(values)
    parts = [_across(share, f"{share:.0%}", (share - 0.5) / 0.5) for share in (0.5, 0.75, 1)]
    for place, epsilon in enumerate(values):
        won = exp(epsilon) / (1 + exp(epsilon))
        x = LEFT + step * place + step * 0.2
        y = _y((won - 0.5) / 0.5)
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{step * 0.6:.1f}" height="{_y(0) - y:.1f}" fill="{COLOURS[0]}"/>'
        )
        middle = x + step * 0.3
        parts.append(_text(middle, y - 8, f"{won:.0%}"))
        parts.append(_text(middle, HEIGHT - BOTTOM + 20, f"ε = {epsilon:g}"))
    parts.append(_text(WIDTH / 2, HEIGHT - 10, "the best bet after all answers, in the worst case; 50 % is a coin"))
    return _svg(parts)


def error() -> str:
    """Half of the 95 % interval of a count, as a share of it."""
    sizes = [10 ** (power / 10) for power in range(10, 51)]
    parts = [
        _across(share, label, _share(share))
        for share, label in ((1, "100%"), (0.1, "10%"), (0.01, "1%"), (0.001, "0.1%"), (0.0001, "0.01%"))
    ]
    parts += [_text(_x(size), HEIGHT - BOTTOM + 20, f"{size:,}") for size in (10, 100, 1000, 10_000, 100_000)]
    for colour, epsilon in zip(COLOURS, (0.1, 0.5, 1), strict=True):
        width = LaplaceNoise(1, epsilon).half_width(0.95)
        points = " ".join(f"{_x(size):.1f},{_y(_share(width / size)):.1f}" for size in sizes)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        at = sizes[14]
        beside = (-34, 18) if epsilon == 1 else (22, -3)
        parts.append(_text(_x(at) + beside[0], _y(_share(width / at)) + beside[1], f"ε = {epsilon:g}", colour))
    parts.append(_text(WIDTH / 2, HEIGHT - 10, "people in a group, and half of the 95 % interval as a share of them"))
    return _svg(parts)


def survey() -> str:
    """What people of a made-up survey did, and what noisy answers of some of them say they did."""
    truth = {"never": 6, "once": 3, "often": 1}
    step = (WIDTH - LEFT - RIGHT) / len(truth)
    parts = [_across(share, f"{share:.0%}", share / 0.8) for share in (0, 0.2, 0.4, 0.6, 0.8)]
    for place, (option, tenths) in enumerate(truth.items()):
        x, top = LEFT + step * (place + 0.2), _y(tenths / 8)
        size = f'width="{step * 0.6:.1f}" height="{_y(0) - top:.1f}"'
        parts.append(f'<rect x="{x:.1f}" y="{top:.1f}" {size} fill="{FAINT}"/>')
        parts.append(_text(x + step * 0.3, HEIGHT - BOTTOM + 20, option))
    for lane, (people, colour) in enumerate(((1000, COLOURS[1]), (10_000, COLOURS[0]))):
        answers = [option for option, tenths in truth.items() for _ in range(tenths * people // 10)]
        told = [randomised_response(answer, list(truth), epsilon=1.0) for answer in answers]
        for place, found in enumerate(response_counts(told, list(truth), epsilon=1.0)):
            x = LEFT + step * (place + 0.4 + lane * 0.2)
            low, middle, high = (_y(one / people / 0.8) for one in (found.low, found.value, found.high))
            ends = f'x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"'
            parts.append(f'<line {ends} stroke="{colour}" stroke-width="3"/>')
            parts.append(f'<circle cx="{x:.1f}" cy="{middle:.1f}" r="5" fill="{colour}"/>')
        parts.append(_text(WIDTH - 130, TOP + 14 + lane * 22, f"told by {people:,} people", colour))
    parts.append(
        _text(WIDTH / 2, HEIGHT - 10, "grey: what people did; lines: where noisy answers at ε = 1 say it lies (95 %)")
    )
    return _svg(parts)


def _share(value: float) -> float:
    """On a logarithmic scale from 0.001 % to 400 %."""
    return min(1.0, max(0.0, (log10(value) + 5) / 5.6))


def _x(size: float) -> float:
    return LEFT + (log10(size) - 1) / 4 * (WIDTH - LEFT - RIGHT - 30)


def _y(height: float) -> float:
    return HEIGHT - BOTTOM - height * (HEIGHT - TOP - BOTTOM - 10)


def _across(_: float, label: str, height: float) -> str:
    y = _y(height)
    line = f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{FAINT}"/>'
    return line + f'<text x="{LEFT - 8}" y="{y + 5:.1f}" text-anchor="end" fill="{INK}">{label}</text>'


def _text(x: float, y: float, text: str, colour: str = INK) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" fill="{colour}" {HALO}>{text}</text>'


def _svg(parts: Sequence[str]) -> str:
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="15">'
    return "\n".join([head, f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff"/>', *parts, "</svg>", ""])


if __name__ == "__main__":
    main()
