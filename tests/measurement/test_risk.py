"""Risk figures against records counted one by one."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.measurement import measure_classes
from shoal.measurement.usefulness.information_loss import class_figures

pytestmark = pytest.mark.requirement("R-01")


@given(st.lists(st.tuples(st.sampled_from("ab*"), st.sampled_from(["x", "*", None])), min_size=1, max_size=40))
def test_figures_equal_a_count_by_hand(rows: list[tuple[str, str | None]]) -> None:
    table = pl.DataFrame(rows, schema={"p": pl.String, "q": pl.String}, orient="row")
    kept = [row for row in rows if row != ("*", "*")] or rows
    sizes = Counter(kept).values()
    measured = measure_classes(table.lazy(), ("p", "q"))
    assert measured.rows == len(rows)
    assert measured.suppressed == len(rows) - len(kept)
    assert sorted(measured.classes.people) == sorted(sizes)
    assert measured.risk.k == min(sizes)
    assert measured.risk.prosecutor_max == 1 / min(sizes)
    assert measured.risk.prosecutor_average == pytest.approx(len(sizes) / len(kept))
    assert measured.risk.uniques == sum(size == 1 for size in sizes)
    figures = class_figures(measured)
    assert figures["discernibility"] == sum(size**2 for size in sizes) + measured.suppressed * len(rows)


@pytest.mark.requirement("S-01")
def test_pdpc_annex_c_style_table_has_the_k_of_its_smallest_class() -> None:
    """The worked example of PDPC's step 4: classes of 2, 4 and 3 people give k = 2."""
    table = pl.DataFrame(
        {
            "postal": ["22xxxx"] * 2 + ["10xxxx"] * 4 + ["58xxxx"] * 3,
            "age": ["21 to 25"] * 2 + ["41 to 45"] * 4 + ["56 to 60"] * 3,
        }
    )
    assert shoal.measure(table, quasi=["postal", "age"]).k == 2


def test_distinct_sensitive_values_per_class() -> None:
    table = pl.DataFrame({"q": ["a", "a", "b", "b"], "s": ["x", "y", "x", "x"]})
    assert measure_classes(table.lazy(), ("q",), sensitive=("s",)).diversity == {"s": 1}
