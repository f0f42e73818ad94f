"""Docstrings below fields are the descriptions of a JSON Schema, and cost nothing where none is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pydantic import Field

from shoal.schema.field_docs import DocumentedFields, field_docs


class Measured(DocumentedFields):
    height: int
    """In metres."""
    width: int = Field(alias="breadth")
    """From left
    to right.
    """
    depth: int
    weight: int
    """In tonnes."""


class Redefined(Measured):
    height: int
    weight: int
    """In kilograms."""


def test_what_stands_below_a_field_describes_it() -> None:
    properties = Measured.model_json_schema()["properties"]
    assert properties["height"]["description"] == "In metres."
    assert properties["breadth"]["description"] == "From left\nto right."
    assert "description" not in properties["depth"]


def test_a_field_that_is_defined_again_has_its_own_words_or_none() -> None:
    assert field_docs(Redefined) == {"width": "From left\nto right.", "weight": "In kilograms."}


@pytest.mark.parametrize("library", ["scipy", "sklearn", "pyspark", "inspect_source"])
def test_what_only_some_runs_need_is_imported_by_those(library: str) -> None:
    """``inspect_source`` stands for the sources of our own modules: nothing reads them to start a run."""
    code = "import shoal.release.run, sys, linecache; print(*sys.modules, 'inspect_source' if linecache.cache else '')"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert library not in loaded
