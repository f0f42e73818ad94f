"""Nothing is imported that its library calls private: such parts change without notice."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def private_imports(source: str) -> Iterator[str]:
    """Modules of which a part begins with a low line, imported by a statement or by name."""
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        match node:
            case ast.Import(names=aliases):
                names = [alias.name for alias in aliases]
            case ast.ImportFrom(module=str(module), level=0, names=aliases):
                names = [f"{module}.{alias.name}" for alias in aliases]
            case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(module)), *_]):
                names = [module]
        for name in names:
            if any(part.startswith("_") and not part.endswith("__") for part in name.split(".")):
                yield name


TOLERATED = {
    "_csv.Reader": "what csv.reader gives has no other name that a type checker knows",
    "typer._click.Context": "what a group of commands is given has no other name that a type checker knows",
    "typer._click.HelpFormatter": "likewise",
}


def test_no_source_imports_private_parts() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in SOURCES
        for name in private_imports(path.read_text(encoding="utf-8"))
        if name not in TOLERATED
    }
    assert len(SOURCES) > 100
    assert found == set()


@pytest.mark.parametrize(
    "line",
    [
        'importlib.import_module("re._parser")',
        "import re._parser",
        "from re import _parser",
        "from numpy._core import multiarray",
        "def f():\n    from polars._utils import x",
    ],
)
def test_private_parts_are_seen(line: str) -> None:
    assert list(private_imports(line))


def test_public_ones_are_not() -> None:
    assert (
        list(private_imports("from __future__ import annotations\nimport re\nfrom numpy.typing import NDArray")) == []
    )
