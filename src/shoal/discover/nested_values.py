"""Values inside values: records and lists, stored as such or as JSON in text, laid out by path.

``address.city`` is a field of a record, ``phones[]`` an item of a list, ``visits[].ward`` a field of each item. A row
of the result is an item, so its columns have lengths of their own and come one by one.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
from polars.exceptions import PolarsError

DEEPEST = 8
WIDEST = 200
"""Paths of one column that are followed."""
_JSON = r"^\s*[\[{]"


def is_nested(dtype: pl.DataType) -> bool:
    return isinstance(dtype, pl.Struct | pl.List | pl.Array)


def leaves(values: pl.Series) -> Iterator[pl.Series]:
    """The plain columns inside a nested one, each named by its path.

    >>> column = pl.Series("a", [{"b": [{"c": 1}, {"c": 2}]}, {"b": []}])
    >>> [(leaf.name, leaf.to_list()) for leaf in leaves(column)]
    [('a.b[].c', [1, 2])]
    """
    for number, leaf in enumerate(_leaves(values, values.name, 0)):
        if number == WIDEST:
            return
        yield leaf


def _leaves(values: pl.Series, path: str, depth: int) -> Iterator[pl.Series]:
    if depth > DEEPEST or not is_nested(values.dtype):
        yield values.alias(path)
    elif isinstance(values.dtype, pl.Struct):
        for field in values.struct.fields:
            yield from _leaves(values.struct.field(field), f"{path}.{field}", depth + 1)
    else:
        items = values.arr.to_list() if isinstance(values.dtype, pl.Array) else values
        yield from _leaves(
            items.drop_nulls().filter(items.drop_nulls().list.len() > 0).explode(), f"{path}[]", depth + 1
        )


def from_json(values: pl.Series) -> pl.Series | None:
    """Text that is JSON of records or lists, as what it holds; None if it is something else."""
    if not isinstance(values.dtype, pl.String):
        return None
    present = values.drop_nulls()
    if present.is_empty() or not present.str.contains(_JSON).all():
        return None
    try:
        decoded = present.str.json_decode(infer_schema_length=None)
    except (PolarsError, TypeError):
        return None
    return decoded if is_nested(decoded.dtype) else None
