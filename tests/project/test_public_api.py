"""What is public: each name of ``shoal`` with a docstring and on its page, and the only ones that examples import."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import shoal

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
EXAMPLES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = set(re.findall(r"`(shoal\.[\w.]+)`", PAGE))
PROMPT = re.compile(r"^\s*(?:>>>|\.\.\.) ?", re.MULTILINE)


def beyond_the_page(page: str) -> Iterator[str]:
    """What the examples of a page import of Shoal, and is neither of ``shoal`` nor of a module that is listed."""
    for block in re.findall(r"^```(?:python|pycon)[^\n]*\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        code = PROMPT.sub("", textwrap.dedent(block)) if ">>>" in block else textwrap.dedent(block)
        for line in code.splitlines():
            if re.match(r"\s*(from|import) shoal", line):
                yield from _not_public(ast.parse(line.strip().removesuffix("(")).body[0])


def _not_public(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.Import(names=aliases):
            modules = [alias.name for alias in aliases if alias.name != "shoal"]
        case ast.ImportFrom(module="shoal", names=aliases):
            given = {*shoal.__all__, *(name.removeprefix("shoal.") for name in MODULES)}
            modules = [f"shoal.{alias.name}" for alias in aliases if alias.name not in given]
        case ast.ImportFrom(module=str(module)):
            modules = [module]
        case _:
            modules = []
    yield from (one for one in modules if not any(one == known or one.startswith(f"{known}.") for known in MODULES))


@pytest.mark.parametrize("name", shoal.__all__)
def test_a_public_name_is_documented(name: str) -> None:
    value = getattr(shoal, name)
    assert inspect.getdoc(value)
    assert f"`{name}`" in PAGE
    assert f"`{name}`" in (shoal.__doc__ or "")


def test_names_in_the_page_are_public() -> None:
    table = PAGE.split("## Modules")[0]
    listed = {
        name for row in re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", table, re.MULTILINE) for name in row.split(", ")
    }
    assert {name.strip("`") for name in listed} == set(shoal.__all__)
    assert set(shoal.__all__) <= set(dir(shoal))
    for module in MODULES:
        importlib.import_module(module)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_import_only_what_is_public(path: Path) -> None:
    assert list(beyond_the_page(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "line",
    [
        "from shoal.plan.execution import x",
        "import shoal.solve",
        "from shoal import solve",
        ">>> from shoal.io import sources",
    ],
)
def test_other_imports_would_be_seen(line: str) -> None:
    assert list(beyond_the_page(f"```python\n{line}\n```\n"))
