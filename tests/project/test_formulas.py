"""The page of formulas names files and tests that exist, and leaves out no file that cites a paper."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "formulas.md").read_text(encoding="utf-8")
ROOMS = ("measurement", "attack", "privacy")
SOURCES = ("printed", "tool", "worked")
CITES = re.compile(r"\b[A-Z]\w*,? (?:et al\. )?\(?(?:19|20)\d\d\b")
COLUMNS = 6


def rows(page: str) -> list[list[str]]:
    """The cells of the tables, without headings."""
    lines = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    return [cells for cells in lines if cells[0] != "Figure"]


def missing(page: str) -> list[str]:
    """Modules and tests that a page names and that aren't there."""
    absent = []
    for cells in rows(page):
        module, test = (cells[place].strip("`") for place in (3, 4))
        path, _, name = test.partition("::")
        if not (ROOT / "src" / "shoal" / module).is_file():
            absent.append(module)
        if not (ROOT / "tests" / path).is_file() or name not in functions(ROOT / "tests" / path):
            absent.append(test)
    return absent


def functions(path: Path) -> set[str]:
    return {node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)}


def cites(source: str) -> bool:
    """Whether a docstring of the module names an author and a year."""
    scopes = (ast.Module, ast.ClassDef, ast.FunctionDef)
    texts = [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(source)) if isinstance(node, scopes)]
    return any(CITES.search(text) for text in texts)


def test_every_module_and_test_on_the_page_exists() -> None:
    assert missing(PAGE) == []


def test_a_module_or_test_that_is_not_there_is_seen() -> None:
    wrong = "| A | B | C | `attack/nowhere.py` | `attack/test_result.py::test_nothing` | worked |"
    assert missing(wrong) == ["attack/nowhere.py", "attack/test_result.py::test_nothing"]


def test_every_row_says_where_its_example_comes_from() -> None:
    found = rows(PAGE)
    assert [cells for cells in found if len(cells) != COLUMNS] == []
    assert [cells[0] for cells in found if not cells[5].startswith(SOURCES)] == []


def test_every_file_that_cites_a_paper_is_on_the_page() -> None:
    named = {cells[3].strip("`") for cells in rows(PAGE)}
    source = ROOT / "src" / "shoal"
    files = [path for room in ROOMS for path in sorted((source / room).rglob("*.py"))]
    citing = {str(path.relative_to(source)) for path in files if cites(path.read_text(encoding="utf-8"))}
    assert len(citing) > 20
    assert citing - named == set()


def test_a_citation_is_seen() -> None:
    assert cites('"""By the rule of Cox (1981)."""')
    assert cites('"""So it is (Li et al. 2007)."""')
    assert not cites('"""ISO/IEC 20889, 10.4; dates from 1900."""')
