"""Matches by stars, against records compared one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.measurement import measure_classes
from shoal.measurement.risk.wildcard_matches import WildcardMeasurement, count_matches
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.privacy.models.re_identification_risk import MaximumRisk

pytestmark = pytest.mark.requirement("T-03", "R-01")

Row = tuple[str | None, ...]


def measured(rows: list[Row]) -> WildcardMeasurement:
    names = tuple(f"q{place}" for place in range(len(rows[0])))
    table = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    return WildcardMeasurement.of(measure_classes(table.lazy(), names))


def match(one: Row, other: Row) -> bool:
    return all(a == b or "*" in (a, b) for a, b in zip(one, other, strict=True))


@given(st.lists(st.tuples(*[st.sampled_from(["a", "b", "*", None])] * 3), min_size=1, max_size=30))
def test_figures_equal_a_count_by_hand(rows: list[Row]) -> None:
    kept = [row for row in rows if set(row) != {"*"}] or rows
    matches = [sum(match(row, other) for other in kept) for row in kept]
    risk = measured(rows).risk
    assert risk.k == min(matches)
    assert risk.prosecutor_max == risk.journalist_max == 1 / min(matches)
    assert risk.prosecutor_average == risk.marketer == pytest.approx(np.mean([1 / many for many in matches]))
    assert risk.uniques == matches.count(1)
    assert risk.k_by_value == min(kept.count(row) for row in kept)
    assert risk.uniques_by_value == sum(kept.count(row) == 1 for row in kept)
    assert risk.k >= risk.k_by_value


@given(st.lists(st.tuples(*[st.sampled_from(["a", "b"])] * 3), min_size=1, max_size=20))
def test_without_stars_it_is_the_count_by_classes(rows: list[Row]) -> None:
    by_match = measured(rows)
    by_class = measure_classes(pl.DataFrame(rows, schema=["q0", "q1", "q2"], orient="row").lazy(), ("q0", "q1", "q2"))
    assert by_match.matches.tolist() == by_class.classes.people.tolist()
    assert by_match.risk.prosecutor_average == pytest.approx(by_class.risk.prosecutor_average)


def test_only_k_anonymity_by_all_attributes_can_be_found() -> None:
    table = measured([("a", "x"), ("a", "*"), ("b", "*")])
    (found,) = table.find([KAnonymity(k=2)])
    assert (found.name, found.required, found.achieved, found.met) == ("k_anonymity", 2, 1, False)
    for model in (MaximumRisk(maximum=0.5), KAnonymity(k=2, attributes=("q0",))):
        with pytest.raises(InputError, match=model.key):
            table.find([model])


def test_people_with_several_records_are_refused() -> None:
    table = pl.DataFrame({"q": ["a", "a", "*"], "who": [1, 1, 2]})
    with pytest.raises(InputError, match="one record only"):
        WildcardMeasurement.of(measure_classes(table.lazy(), ("q",), "who"))
    apart = table.with_columns(q=pl.Series(["a", "b", "*"]))
    with pytest.raises(InputError, match="one record only"):
        WildcardMeasurement.of(measure_classes(apart.lazy(), ("q",), "who"))
    once = WildcardMeasurement.of(measure_classes(table.with_columns(who=pl.Series([1, 2, 3])).lazy(), ("q",), "who"))
    assert once.risk.k == 2


def test_an_empty_table_is_at_no_risk() -> None:
    table = pl.DataFrame(schema={"q": pl.String})
    empty = WildcardMeasurement.of(measure_classes(table.lazy(), ("q",)))
    assert (empty.risk.k, empty.risk.k_by_value, empty.risk.uniques) == (0, 0, 0)
    assert empty.find([KAnonymity(k=2)])[0].met


def test_many_wide_columns_do_not_overflow() -> None:
    """Numbers of all columns together would need more than 64 bits."""
    generator = np.random.default_rng(3)
    table = pl.DataFrame({f"q{place}": generator.permutation(5000).astype(str) for place in range(7)})
    assert count_matches(table, np.ones(5000, dtype=np.int64)).tolist() == [1] * 5000
    twice = pl.concat([table.with_columns(pl.lit("*").alias("q0")), table])
    assert count_matches(twice, np.ones(10_000, dtype=np.int64)).tolist() == [2] * 10_000


@given(st.lists(st.tuples(*[st.sampled_from(["a", "b", None])] * 3), min_size=1, max_size=20))
def test_an_empty_cell_is_a_star_where_asked(rows: list[tuple[str | None, ...]]) -> None:
    cells = pl.DataFrame(rows, schema=dict.fromkeys(["q0", "q1", "q2"], pl.String), orient="row").unique()
    once = np.ones(cells.height, dtype=np.int64)
    assert count_matches(cells, once, empty_too=True).tolist() == count_matches(cells.fill_null("*"), once).tolist()
    assert count_matches(cells, once).tolist() == once.tolist()


def test_a_blank_record_matches_everybody_and_hides_nobody() -> None:
    cells = pl.DataFrame({"q": ["a", "b", None], "r": ["x", "x", None]})
    assert count_matches(cells, np.array([2, 1, 5]), empty_too=True).tolist() == [2, 1, 8]


def test_the_offices_count_of_missing_values_is_met(shared: Path) -> None:
    """Of a public table with missing values, where a missing value matches anything in full (alpha = 1)."""
    theirs = pl.read_csv(shared / "golden" / "sdcmicro" / "francdat_NA_freqCalc_alpha.csv", infer_schema=False)
    keys = ["Key1", "Key2", "Key3", "Key4"]
    cells = theirs.select(pl.col(keys).fill_null("*"))
    found = count_matches(cells, np.ones(cells.height, dtype=np.int64))
    assert found.tolist() == theirs["fk_a1"].cast(pl.Float64).cast(pl.Int64).to_list()
