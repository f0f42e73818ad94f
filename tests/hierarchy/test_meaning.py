"""What a level does to values, in words."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from shoal.errors import DataError
from shoal.hierarchy import BoundHierarchy, parse_hierarchy
from shoal.schema import Column, ValueType


def bound(written: Any, values: list[Any], kind: ValueType = ValueType.TEXT) -> BoundHierarchy:
    known = pl.DataFrame({"value": values, "records": [5] * len(values)})
    return parse_hierarchy(written).bind(Column("one", kind, storage=known["value"].dtype), known)


@pytest.mark.parametrize(
    ("written", "values", "kind", "words"),
    [
        ({"intervals": [5, 20]}, [3, 44], ValueType.INTEGER, ["intervals of 5", "intervals of 20"]),
        ({"intervals": ["0.5"]}, [0.1, 4.4], ValueType.DECIMAL, ["intervals of 0.5"]),
        ({"cuts": {"at": [5, 10, 100]}}, [3, 44], ValueType.INTEGER, ["4 intervals", "2 intervals"]),
        ({"dates": ["month", "year"]}, ["2025-01-03"], ValueType.DATE, ["months", "years"]),
        (
            {"redact": {"steps": [1, 3]}},
            ["411005", "411028"],
            ValueType.TEXT,
            ["the last character covered", "the last 3 of 6 characters covered"],
        ),
        ({"redact": {"side": "left", "steps": [2]}}, ["4110"], ValueType.TEXT, ["the first 2 of 4 characters covered"]),
        ({"rare": {"minimum": 6, "label": "Andere"}}, ["a", "b"], ValueType.TEXT, ["rare values as Andere"]),
        (
            {"taxonomy": {"tree": {"Asia": ["India", "Nepal"], "Europe": ["France"]}}},
            ["India"],
            ValueType.TEXT,
            ["2 groups, such as Asia, Europe"],
        ),
    ],
)
def test_levels_in_words(written: Any, values: list[Any], kind: ValueType, words: list[str]) -> None:
    ladder = bound(written, values, kind)
    told = [ladder.meaning(level) for level in range(ladder.height + 1)]
    assert told == ["as it is", *words, "* (suppressed)"]


def test_there_is_no_level_above_the_top() -> None:
    with pytest.raises(DataError):
        bound({"intervals": [5]}, [3], ValueType.INTEGER).meaning(3)
