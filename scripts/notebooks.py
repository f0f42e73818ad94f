"""Runs the notebooks of the documentation, and writes what their cells show into them and into a page of the site.

A notebook is run cell by cell in one namespace, as a kernel would, but without one: the tutorial needs no other program
than Shoal. What the last expression of a cell gives is its output, as text and as HTML. ``--check`` writes nothing and
fails when an output or a page is out of date.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "tutorial"
Cell = dict[str, Any]


def notebooks() -> list[Path]:
    return sorted(FOLDER.glob("*.ipynb"))


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with the outputs of its cells, numbered from 1."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, number = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            outputs = list(_outputs("".join(cell["source"]), names, number))
            cells.append({**cell, "execution_count": number, "outputs": outputs})
        else:
            cells.append(cell)
    return {**notebook, "cells": cells}


def _outputs(source: str, names: dict[str, Any], number: int) -> Iterator[Cell]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(compile(tree, f"<cell {number}>", "exec"), names)  # noqa: S102  # our own notebook
        shown = None if last is None else eval(compile(ast.Expression(last.value), f"<cell {number}>", "eval"), names)  # type: ignore[attr-defined]  # noqa: S307
    if said.getvalue():
        yield {"name": "stdout", "output_type": "stream", "text": said.getvalue().splitlines(keepends=True)}
    if shown is not None:
        data = {"text/plain": repr(shown).splitlines(keepends=True)}
        if hasattr(shown, "_repr_html_"):
            data = {"text/html": shown._repr_html_().splitlines(keepends=True), **data}
        yield {"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"}


def written(notebook: dict[str, Any]) -> str:
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def page(notebook: dict[str, Any], name: str) -> str:
    """The notebook as a page: its words, its code, what it shows."""
    parts = []
    for place, cell in enumerate(notebook["cells"]):
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
            if place == 0:
                parts.append(f"This page is made of a notebook that a test runs. Download it: [{name}]({name}).")
        else:
            parts += [f"```py\n{text}\n```", *map(_shown, cell["outputs"])]
    return "\n\n".join(parts) + "\n"


def _shown(output: Cell) -> str:
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text']).rstrip()}\n```"
    html = output["data"].get("text/html")
    if html is not None and "".join(html).startswith('<div class="shoal">'):
        return "".join(html)
    return f"```text\n{''.join(output['data']['text/plain']).rstrip()}\n```"


def current(path: Path) -> tuple[str, str]:
    """The notebook and its page as they should be."""
    done = executed(json.loads(path.read_text(encoding="utf-8")))
    return written(done), page(done, path.name)


def main() -> None:
    stale = []
    for path in notebooks():
        for file, text in zip((path, path.with_suffix(".md")), current(path), strict=True):
            if file.exists() and file.read_text(encoding="utf-8") == text:
                continue
            stale.append(file.name)
            if "--check" not in sys.argv:
                file.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv:
        sys.exit(f"out of date: {', '.join(stale)}; run `make generate`")


if __name__ == "__main__":
    main()
