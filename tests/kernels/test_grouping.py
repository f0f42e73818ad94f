"""Counting in segments gives what counting at once gives."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels import group_counts
from shoal.kernels.group_counts import count_groups

pytestmark = pytest.mark.requirement("S-01")


@given(
    rows=st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 3) | st.none()), max_size=50),
    segment=st.integers(1, 60),
    batch=st.integers(1, 9),
)
@settings(max_examples=60)
def test_any_segments_give_the_count_by_hand(
    rows: list[tuple[str | None, int | None]], segment: int, batch: int
) -> None:
    table = pl.DataFrame(rows, schema={"p": pl.String, "q": pl.Int64}, orient="row")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(group_counts, "BATCH_RECORDS", batch)
        counted = count_groups(table.lazy(), ("p", "q"), "n", segment_records=segment)
    assert {row[:2]: row[2] for row in counted.rows()} == Counter(rows)
    assert counted.columns == ["p", "q", "n"]
