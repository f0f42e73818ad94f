"""Runs the paper's clustering on the Adult file for the k of its table 4.1: a Markdown table on stdout, a plot as SVG.

    python -m scripts.paper_curves FOLDER     # holds data/adult/adult.csv and the hierarchies

Beside the two curves of the paper stand one pass at k ÷ 2, which has the guarantee that the second level really gives,
and local generalisation at the full k.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import polars as pl
from benchmarks.adult import ALL, Adult

from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.solve.cells import solve_rare
from shoal.solve.cells.table import judge
from shoal.solve.clusters import information_loss, solve_clusters

PLOT = Path(__file__).resolve().parent.parent / "docs" / "explanation" / "paper-curves.svg"
QUASI = tuple(name for name in ALL if name != "salary-class")
SIZES = (10, 20, 30, 40, 50)
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 400, 70, 50, 230, 50
INK, GRID = "#333333", "#dddddd"


@dataclass(frozen=True)
class Curve:
    name: str
    promise: str
    colour: str
    loss: Callable[[int], float]
    """By k, per record and attribute, 0 to 1."""

    @cached_property
    def losses(self) -> tuple[float, ...]:
        return tuple(self.loss(k) for k in SIZES)


def curves(shared: Path) -> list[Curve]:
    adult = Adult(shared)
    problem = adult.problem(QUASI, [])
    numeric = {"age": problem.counts.values_of("age").cast(pl.Float64).to_numpy()}
    cells = problem.records * len(QUASI)

    def clustered(k: int, *, second_level: bool, worse_than: float | None = None) -> float:
        found = solve_clusters(problem, k, second_level=second_level, numeric=numeric, worse_than=worse_than)
        return found.information_loss / cells

    def local(k: int) -> float:
        wanted = adult.problem(QUASI, [KAnonymity(k=k)])
        solution = solve_rare(wanted)
        if solution.cells is None or solution.suppressed:
            raise SystemExit("local generalisation suppressed records: the curves can't be compared")
        _, member = judge(wanted, solution.cells, ~solution.withheld)
        return information_loss(wanted, member, numeric=numeric) / cells

    once, twice = (partial(clustered, second_level=second) for second in (False, True))
    return [
        Curve("one pass", "k", "#b3261e", once),
        Curve("second level", "k ÷ 2", "#b26a00", twice),
        Curve("one pass at k ÷ 2", "k ÷ 2", "#777777", lambda k: once(k // 2)),
        Curve("second level, all clusters", "k ÷ 2", "#1565c0", partial(twice, worse_than=0)),
        Curve("local generalisation", "k", "#00796b", local),
    ]


def table(found: Sequence[Curve]) -> str:
    lines = [
        f"| k | {' | '.join(curve.name for curve in found)} |",
        f"|---|{'---|' * len(found)}",
        f"| *people in a class at least* | {' | '.join(f'*{curve.promise}*' for curve in found)} |",
    ]
    for place, k in enumerate(SIZES):
        base = found[0].losses[place]
        cells = [f"{curve.losses[place]:.3f} ({curve.losses[place] / base:.2f})" for curve in found]
        lines.append(f"| {k} | {' | '.join(cells)} |")
    return "\n".join(lines)


def plot(found: Sequence[Curve]) -> str:
    top = max(max(curve.losses) for curve in found) * 1.05
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            'font-family="system-ui, sans-serif" font-size="13">',
            "<title>Information loss against k on Adult</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff"/>',
            f'<text x="{LEFT}" y="28" fill="{INK}" font-weight="600">'
            "Information loss per record and attribute (Adult, 30,162 records)</text>",
            *_axes(top),
            *(line for curve in found for line in _line(curve, top)),
            "</svg>\n",
        ]
    )


def _axes(top: float) -> Iterator[str]:
    for tenth in range(int(top * 10) + 1):
        y = _y(tenth / 10, top)
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="{GRID}"/>'
        yield f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end" fill="{INK}">{tenth / 10:.1f}</text>'
    for k in SIZES:
        yield f'<text x="{_x(k)}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle" fill="{INK}">{k}</text>'
    yield f'<text x="{_x(30)}" y="{HEIGHT - 10}" text-anchor="middle" fill="{INK}">k</text>'


def _line(curve: Curve, top: float) -> Iterator[str]:
    points = [(_x(k), _y(loss, top)) for k, loss in zip(SIZES, curve.losses, strict=True)]
    path = " ".join(f"{x},{y}" for x, y in points)
    dash = "" if curve.promise == "k" else ' stroke-dasharray="6 4"'
    yield f'<polyline points="{path}" fill="none" stroke="{curve.colour}" stroke-width="2.5"{dash}/>'
    for x, y in points:
        yield f'<circle cx="{x}" cy="{y}" r="3.5" fill="{curve.colour}"/>'
    x, y = points[-1]
    yield f'<text x="{x + 12}" y="{y + 4}" fill="{curve.colour}">{curve.name}</text>'


def _x(k: int) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * (k - SIZES[0]) / (SIZES[-1] - SIZES[0]), 1)


def _y(loss: float, top: float) -> float:
    return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * loss / top, 1)


def main() -> None:
    found = curves(Path(sys.argv[1]))
    PLOT.write_text(plot(found), encoding="utf-8")
    sys.stdout.write(table(found) + "\n")


if __name__ == "__main__":
    main()
