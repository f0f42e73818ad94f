"""Columns that name people, by what they are called or as free text does: nothing of their values is learnt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import polars as pl

from shoal.discover.recognisers.recogniser_set import default_recognisers
from shoal.synth.column_shapes import ColumnShape, ShapeKind
from shoal.synth.table_coding import TableDescription

LONGEST: Final = 60
"""Letters of a label; what is longer is prose, where values are many too."""
MANY: Final = 0.2
"""The share of distinct values from which on long texts are prose."""


def with_direct_identifiers(columns: Iterable[str], description: TableDescription) -> TableDescription:
    """The description with such columns as identifiers, which are numbered anew. What is declared stays.

    >>> found = with_direct_identifiers(["name", "age"], TableDescription())
    >>> {column: str(shape.kind) for column, shape in found.columns.items()}
    {'name': 'identifier'}
    """
    known = default_recognisers()
    named = {
        name: ColumnShape(kind=ShapeKind.IDENTIFIER, origin="found")
        for name in columns
        if name not in description.columns and name != description.person and known.direct_by_name(name) is not None
    }
    return description.model_copy(update={"columns": {**named, **description.columns}}) if named else description


def with_free_text(frame: pl.DataFrame, description: TableDescription) -> TableDescription:
    """The description with columns of prose as free text, which is left empty: a sentence may name somebody, however
    many share it. This looks at the data, so it is not for private methods.
    """
    prose = {
        column.name: ColumnShape(kind=ShapeKind.TEXT, origin="found", reason="long texts may name people")
        for column in frame.iter_columns()
        if column.dtype == pl.String() and column.name not in description.columns and _is_prose(column)
    }
    return description.model_copy(update={"columns": {**prose, **description.columns}}) if prose else description


def _is_prose(column: pl.Series) -> bool:
    long = bool((column.str.len_chars() > LONGEST).any())
    return long and column.drop_nulls().n_unique() > MANY * len(column)
