"""The notebooks run, show what they say they show, and are the pages that are made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import notebooks


@pytest.mark.parametrize("path", notebooks.notebooks(), ids=lambda path: path.stem)
def test_outputs_and_page_are_current(path: Path) -> None:
    notebook, page = notebooks.current(path)
    assert path.read_text(encoding="utf-8") == notebook, "run `make generate`"
    assert path.with_suffix(".md").read_text(encoding="utf-8") == page, "run `make generate`"


@pytest.mark.parametrize("path", notebooks.notebooks(), ids=lambda path: path.stem)
def test_it_is_a_notebook_that_others_open(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 4)
    for number, cell in enumerate((one for one in notebook["cells"] if one["cell_type"] == "code"), start=1):
        assert cell["execution_count"] == number
        assert {"metadata", "outputs", "source"} <= cell.keys()


def test_there_is_one() -> None:
    assert notebooks.notebooks()


def code(*sources: str) -> dict[str, Any]:
    empty: dict[str, Any] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cells = [{**empty, "source": [source]} for source in sources]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}


def test_cells_share_their_names_and_the_last_expression_is_shown() -> None:
    done = notebooks.executed(code("x = 2", "print('said')\nx + 1", "x; None"))
    first, second, third = (cell["outputs"] for cell in done["cells"])
    assert (first, third) == ([], [])
    assert second[0]["text"] == ["said\n"]
    assert second[1]["data"] == {"text/plain": ["3"]}


def test_a_cell_that_fails_is_not_passed_over() -> None:
    with pytest.raises(ZeroDivisionError):
        notebooks.executed(code("1 / 0"))
