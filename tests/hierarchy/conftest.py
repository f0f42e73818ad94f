"""What the hierarchy tests share: binding a specification to values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl
import pytest

from shoal.hierarchy import BoundHierarchy, parse_hierarchy
from shoal.schema import Column, ValueType

Bind = Callable[..., BoundHierarchy]


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
