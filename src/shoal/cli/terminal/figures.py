"""Figures and sections as people read them on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from shoal.privacy.base import ROUNDING


def number(value: float) -> str:
    return f"{0 if abs(value) < ROUNDING else value:,.4g}"


def share(value: float) -> str:
    """0 % and 100 % only where nothing, or all, is meant.

    >>> share(0.12345), share(6e-39), share(0.99996), share(0.0)
    ('12.3 %', '<0.001 %', '>99.9 %', '0 %')
    """
    if 0 < value < 1e-5:
        return "<0.001 %"
    return ">99.9 %" if 0.9995 <= value < 1 else f"{100 * value:.3g} %"


def print_lines(title: str, lines: Sequence[str]) -> None:
    typer.echo(title)
    for line in lines:
        typer.echo(f"  {line}")
    typer.echo()
