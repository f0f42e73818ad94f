"""The generator of the standards page reads every mark, and refuses what it can't vouch for."""

from __future__ import annotations

import pytest

from standards import Requirement, StandardsError, marks_in, page

GROUPS = {"T · Techniques": [Requirement("T-01", "one", "ISO 1"), Requirement("T-02", "two", "ISO 2", "a.md")]}


def test_marks_are_read_from_functions_classes_modules_and_parameters() -> None:
    source = """
import pytest
pytestmark = [pytest.mark.slow, pytest.mark.requirement("M-01")]

@pytest.mark.requirement("F-01", "F-02")
def test_function(): ...

@pytest.mark.requirement("C-01")
class TestClass:
    @pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.requirement("P-01"))])
    def test_method(self): ...

def helper(): ...
"""
    assert list(marks_in(source, "test_x.py")) == [
        ("M-01", "test_function"),
        ("F-01", "test_function"),
        ("F-02", "test_function"),
        ("M-01", "test_method"),
        ("C-01", "test_method"),
        ("P-01", "test_method"),
    ]


def test_a_mark_that_is_not_written_out_is_refused() -> None:
    with pytest.raises(StandardsError, match="line 1: requirement IDs have to be written out"):
        list(marks_in("@pytest.mark.requirement(*IDS)\ndef test_x(): ...", "test_x.py"))


def test_an_unknown_requirement_is_refused() -> None:
    with pytest.raises(StandardsError, match="T-99"):
        page(GROUPS, {"T-99": {"tests/test_x.py": ["test_x"]}})


def test_page_shows_what_is_shown_and_what_is_not() -> None:
    made = page(GROUPS, {"T-02": {"tests/test_x.py": ["test_x", "test_y"]}})
    assert "Shown: **1 of 2**" in made
    assert "| T-01 | one | ISO 1 |  | not yet |" in made
    assert "| T-02 | two | ISO 2 | [read](a.md) | [2](#t-02) |" in made
    assert "- `tests/test_x.py`: `test_x`, `test_y`" in made
