"""What the hierarchy tests share: binding a specification to values, and the public data with known optima."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest

from shoal.hierarchy import BoundHierarchy, parse_hierarchy
from shoal.schema import Column, ValueType

Bind = Callable[..., BoundHierarchy]


@pytest.fixture(scope="session")
def shared() -> Path:
    """Public data and the results that other tools have on it."""
    folder = Path(os.environ.get("SHOAL_SHARED", Path(__file__).parents[3] / "shared"))
    if not (folder / "data" / "adult").is_dir():
        pytest.skip(f"NOT TESTED against known results: no public data at {folder} (set SHOAL_SHARED)")
    return folder


@pytest.fixture(scope="session")
def bind() -> Bind:
    """Binds a hierarchy, as a policy writes it, to a column that holds these values."""

    def bind_to(
        spec: object,
        values: Sequence[object] | pl.Series,
        type: ValueType = ValueType.TEXT,  # noqa: A002 - the name of Column's field
        records: Sequence[int] | None = None,
        **column: object,
    ) -> BoundHierarchy:
        hierarchy = parse_hierarchy(spec)
        read = Column("column", type, **column)  # type: ignore[arg-type]
        assert hierarchy.refuse(read) is None
        series = pl.Series("value", values, strict=False)
        counted = pl.DataFrame({"value": series, "records": records or [1] * len(series)})
        return hierarchy.bind(read, counted)

    return bind_to
