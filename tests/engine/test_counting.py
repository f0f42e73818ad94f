"""People counted by a cluster, combination by combination: the same as from all pairs of combination and person."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.schema import Counts

pytestmark = pytest.mark.requirement("D-09", "L-04")

FEW = st.sampled_from([None, "a", "b", "c"])


@pytest.mark.parametrize("attributes", [("q", "r"), ("q",), ("r",)], ids=", ".join)
@given(records=st.lists(st.tuples(FEW, st.sampled_from([None, 1.5, float("nan")]), FEW), max_size=40))
def test_people_of_one_combination_need_only_be_counted(
    attributes: tuple[str, ...], records: list[tuple[str | None, float | None, str | None]]
) -> None:
    table = pl.DataFrame(records, {"q": pl.String(), "r": pl.Float64(), "who": pl.String()}, orient="row")
    pairs = table.group_by(*attributes, "who").len("n")
    expected = Counts.from_pairs(pairs, attributes, "who", "n")
    places = pairs.with_columns(pl.len().over("who").alias("places"))
    each = places.group_by(attributes).agg(pl.col("n").sum(), (pl.col("places") == 1).sum().alias("single"))
    shared = places.filter(pl.col("places") > 1).select(*attributes, "who")
    found = Counts.from_shared(each, attributes, records="n", single="single", shared=shared, person="who")
    assert found.frame().equals(expected.frame())
    for name in ("codes", "records", "people", "shared"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert found.total_people == table["who"].n_unique()
