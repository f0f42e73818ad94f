"""How results look in a notebook: a heading, a few figures, tables. Text is escaped; no script, no style of its own.

>>> card("a < b", {"k": "10"})
'<div class="shoal"><p><b>a &lt; b</b><br>k: <b>10</b></p></div>'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from shoal.errors import printable

MOST_ROWS = 50
"""Lines of a table; how many more there are is said below it."""


def card(title: str, figures: Mapping[str, str], *parts: str) -> str:
    """``parts`` are HTML already."""
    told = " · ".join(f"{_text(name)}: <b>{_text(figure)}</b>" for name, figure in figures.items())
    below = f"<br>{told}" if told else ""
    return f'<div class="shoal"><p><b>{_text(title)}</b>{below}</p>{"".join(parts)}</div>'


def short(kind: str, name: str, figures: Mapping[str, str]) -> str:
    """A result on one line.

    >>> short("Release", "staff", {"records": "5", "k": "2"})
    '<Release staff: records 5, k 2>'
    """
    told = ", ".join(f"{figure_name} {figure}" for figure_name, figure in figures.items())
    about = ": ".join(part for part in (name, told) if part)
    return printable(f"<{kind} {about}>" if about else f"<{kind}>")


def grid(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table, or nothing where it would have no line."""
    lines = list(rows)
    if not lines:
        return ""
    head = "".join(f"<th>{_text(cell)}</th>" for cell in header)
    body = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in line)}</tr>" for line in lines[:MOST_ROWS])
    more = f"<p>… and {len(lines) - MOST_ROWS:,} more</p>" if len(lines) > MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def listing(title: str, entries: Iterable[str]) -> str:
    """A list under its title, or nothing where it would be empty."""
    items = "".join(f"<li>{_text(entry)}</li>" for entry in entries)
    return f"<p>{_text(title)}</p><ul>{items}</ul>" if items else ""


def preformatted(text: str) -> str:
    """A text with its lines."""
    return f"<pre>{escape(text)}</pre>"


def tick(*, met: bool) -> str:
    """With the word: a sign alone is not read out."""
    return "✓ met" if met else "✗ not met"


def _text(cell: object) -> str:
    return escape(printable(str(cell)))
