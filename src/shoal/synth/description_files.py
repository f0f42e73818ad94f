"""Descriptions of tables as files: what is said of columns, and what has to hold between them.

columns:
  age: {kind: whole, lowest: 0, highest: 110}
  town: {kind: category}
constraints:
  dependencies: [{determinant: town, dependent: state}]
person: patient_id
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from shoal.dp.description import DescribedFile
from shoal.schema.parameters import Parameters
from shoal.synth.table_coding import TableDescription


class TableDescriptionFile(TableDescription, DescribedFile):
    """``TableDescription`` in YAML; every problem is reported at once, with its line."""

    shoal: Literal[1] = 1


def read_description(given: object, kind: type[Parameters]) -> Parameters:
    """As a method takes it: one that was read, the path of its file, its text, or a mapping."""
    if isinstance(given, kind):
        return given
    wanted = kind if issubclass(kind, DescribedFile) else TableDescriptionFile
    return wanted.load(given) if isinstance(given, Path) else wanted.of(given)
