"""Two tables joined by class, counted anew: the printed example, by hand, and against a count of every record."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import DataError
from shoal.measurement.risk.anatomy import Anatomy, Diversity, measure_anatomy

pytestmark = pytest.mark.requirement("T-24")


def measured(data: pl.DataFrame, attributes: pl.DataFrame, *sensitive: str) -> Anatomy:
    return measure_anatomy(data.lazy(), attributes.lazy(), sensitive, class_name="class", count_name="count")


# Xiao and Tao (2006), table 3: the quasi-identifier table and the sensitive table.
PRINTED_DATA = pl.DataFrame(
    {
        "age": [23, 27, 35, 59, 61, 65, 65, 70],
        "sex": list("MMMMFFFF"),
        "zipcode": [11000, 13000, 59000, 12000, 54000, 25000, 25000, 30000],
        "class": [1, 1, 1, 1, 2, 2, 2, 2],
    }
)
PRINTED_ATTRIBUTES = pl.DataFrame(
    {
        "class": [1, 1, 2, 2, 2],
        "disease": ["dyspepsia", "pneumonia", "bronchitis", "flu", "gastritis"],
        "count": [2, 2, 1, 2, 1],
    }
)


def test_the_printed_tables_are_two_diverse() -> None:
    """The paper reckons with a chance of one half for Bob, whose record is the first."""
    found = measured(PRINTED_DATA, PRINTED_ATTRIBUTES, "disease")
    assert found == Anatomy(8, 2, Diversity(2, 0.5), {"disease": Diversity(2, 0.5)})
    assert found.together.reaches(2)
    assert not found.together.reaches(3)


def test_files_that_store_text_are_read_alike() -> None:
    as_text = [frame.cast(pl.String) for frame in (PRINTED_DATA, PRINTED_ATTRIBUTES)]
    assert measured(*as_text, "disease") == measured(PRINTED_DATA, PRINTED_ATTRIBUTES, "disease")


def test_a_value_that_is_listed_twice_counts_once() -> None:
    attributes = pl.DataFrame({"class": [1, 1, 1], "ill": ["flu", "flu", "gout"], "count": [1, 1, 1]})
    found = measured(pl.DataFrame({"class": [1, 1, 1]}), attributes, "ill")
    assert found.together == Diversity(2, 2 / 3)


def test_many_values_do_not_make_up_for_a_frequent_one() -> None:
    attributes = pl.DataFrame({"class": [1] * 4, "ill": ["flu", "gout", "cold", None], "count": [7, 1, 1, 1]})
    found = measured(pl.DataFrame({"class": [1] * 10}), attributes, "ill")
    assert found.together == Diversity(4, 0.7)
    assert not found.together.reaches(2)


def test_combined_values_and_each_attribute_by_itself() -> None:
    attributes = pl.DataFrame({"class": [1, 1, 1], "ill": ["flu"] * 3, "cost": [1, 2, 3], "count": [1, 1, 1]})
    found = measured(pl.DataFrame({"class": [1, 1, 1]}), attributes, "ill", "cost")
    assert found.together == Diversity(3, 1 / 3)
    assert found.attributes == {"ill": Diversity(1, 1.0), "cost": Diversity(3, 1 / 3)}


@pytest.mark.parametrize(
    ("classes", "listed", "count"),
    [
        ([1, 1], [1, 1, 1], [1, 1, 1]),
        ([1, 1, 1], [1, 1, 2], [1, 1, 1]),
        ([1, 1, 2], [1, 1], [1, 1]),
        ([1, 1], [1, 1, 1], [1, 2, -1]),
        ([1, None], [1, None], [1, 1]),
    ],
    ids=["more values", "another class", "a class without values", "less than none", "no class"],
)
def test_tables_that_do_not_fit_together(classes: list[int | None], listed: list[int | None], count: list[int]) -> None:
    attributes = pl.DataFrame({"class": listed, "ill": [f"d{row}" for row in range(len(listed))], "count": count})
    with pytest.raises(DataError, match="same numbers of records"):
        measured(pl.DataFrame({"class": classes}), attributes, "ill")


def test_a_sensitive_column_that_was_left_in_the_data() -> None:
    with pytest.raises(DataError, match=r"still has the column\(s\) disease"):
        measured(PRINTED_DATA.with_columns(disease=pl.lit("flu")), PRINTED_ATTRIBUTES, "disease")


def test_no_records() -> None:
    found = measured(PRINTED_DATA.clear(), PRINTED_ATTRIBUTES.clear(), "disease")
    assert (found.records, found.classes, found.together) == (0, 0, Diversity(0, 0.0))
    assert not found.together.reaches(2)


@given(records=st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["a", "b", "c", None])), min_size=1, max_size=40))
@settings(max_examples=60)
def test_against_a_count_of_every_record(records: list[tuple[int, str | None]]) -> None:
    table = pl.DataFrame(records, schema=["class", "ill"], orient="row")
    attributes = table.group_by("class", "ill").agg(pl.len().alias("count"))
    found = measured(table.select("class"), attributes, "ill").together
    members = [[ill for number, ill in records if number == one] for one in {number for number, _ in records}]
    assert found.distinct == min(len(set(values)) for values in members)
    assert found.largest_share == pytest.approx(max(max(Counter(values).values()) / len(values) for values in members))
