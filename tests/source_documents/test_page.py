"""The page of worked tables names tests that are there, and every table that the documents print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "explanation" / "worked-tables.md").read_text(encoding="utf-8")
RESULTS = r"reproduced|(differs|facts|not yet): \S.*"
MEITY, PDPC, ISO, PAPER = "000_39415c28a4b584ed", "001_f28dac42dd438c50", "003_d427e0d913a194c0", "002_9e618e26873d21ff"
TITLES = {MEITY: "## MeitY", PDPC: "## PDPC", ISO: "## ISO/IEC", PAPER: "## Mziya"}
NUMBERED = {
    MEITY: r"^Table (2\.[a-z]):",
    ISO: r"^(Table [AB]\.\d) —",
    PAPER: r"^((?:Table|Figure) 4\.\d):",
    PDPC: r"^#+ (?:\*\*)?(STEP \d|ANNEX [A-D])\b",
}
"""How tables are called in the documents; the guide's have no numbers, so the parts of it that print some."""


def rows(text: str) -> list[list[str]]:
    """The lines of its tables, without their heads."""
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| where")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def problems(page: str) -> list[str]:
    found = []
    for where, _, test, result in rows(page):
        if not re.fullmatch(RESULTS, result):
            found.append(f"{where}: {result}")
        if test == "—":
            found += [] if result.startswith(("facts", "not yet")) else [f"{where}: no test"]
            continue
        path, _, name = test.strip("`").partition("::")
        at = ROOT / "tests" / path
        if not at.is_file() or not re.search(rf"def {name}\(", at.read_text(encoding="utf-8")):
            found.append(f"{where}: no such test as {test}")
    return found


def names(text: str) -> set[str]:
    """What a section lists, by the names that documents give their tables."""
    where = " | ".join(row[0] for row in rows(text)).lower()
    return set(re.findall(r"2\.[a-z]|(?:table|figure) [ab4]\.\d|step \d|annex [a-d]", where))


def test_every_test_that_is_named_is_there() -> None:
    assert len(rows(PAGE)) > 50
    assert problems(PAGE) == []


@pytest.mark.parametrize(
    "bad",
    [
        "| 1 | a | `techniques/test_round.py::test_no_such_test` | reproduced |",
        "| 1 | a | `techniques/no_such_file.py::test_lines` | reproduced |",
        "| 1 | a | `techniques/test_table_a1.py::test_lines` | nearly |",
        "| 1 | a | — | reproduced |",
    ],
)
def test_a_page_that_is_out_of_date_is_told(bad: str) -> None:
    assert len(problems(bad)) == 1


@pytest.mark.parametrize("document", NUMBERED)
def test_every_table_of_the_documents_is_listed(shared: Path, document: str) -> None:
    text = (shared / "seeds" / f"{document}.txt").read_text(encoding="utf-8")
    printed = {name.lower() for name in re.findall(NUMBERED[document], text, re.MULTILINE)}
    assert printed
    section = PAGE.partition(TITLES[document])[2].partition("\n## ")[0]
    assert printed - names(section) == set()
