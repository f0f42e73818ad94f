"""Released labels read as what they stand for."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest

from shoal.measurement.useful import Kind, make_comparable
from shoal.measurement.useful.labels import date_spans, number_spans

pytestmark = pytest.mark.requirement("R-06")


@pytest.mark.parametrize(
    ("label", "middle"),
    [
        ("30-39", 34.5),
        ("30–39", 34.5),
        ("[30, 40)", 35.0),
        ("30 to 39", 34.5),
        ("-10 to -1", -5.5),
        ("[0.5, 1.5)", 1.0),
        ("<18", 9.0),
        ("≥ 90", 95.0),
        ("90+", 95.0),
        ("42", 42.0),
        ("1e2", 100.0),
    ],
)
def test_a_range_stands_for_its_middle(label: str, middle: float) -> None:
    assert number_spans(pl.Series([label]), 0, 100).middle.tolist() == [middle]


@pytest.mark.parametrize("label", ["560xxx", "young", "", "1-2-3", "inf", "nan"])
def test_other_words_are_no_range(label: str) -> None:
    assert not number_spans(pl.Series([label]), 0, 100).known.any()


def test_periods_are_ranges_of_days() -> None:
    spans = date_spans(pl.Series(["2024-02", "2024-W07", "2024-13"]))
    start = datetime.date(1970, 1, 1)
    assert spans.low[:2].tolist() == [(datetime.date(2024, 2, day) - start).days for day in (1, 12)]
    assert spans.high[:2].tolist() == [(datetime.date(2024, 2, day) - start).days for day in (29, 18)]
    assert np.isnan(spans.low[2])


def test_numbers_turned_into_ranges_stay_numbers() -> None:
    pair = make_comparable("age", pl.Series([31, 47, None]), pl.Series(["30-39", "40-49", "*"]))
    assert pair.kind is Kind.NUMBER
    assert pair.released.to_list() == [34.5, 44.5, None]
    assert (pair.missing_before, pair.missing_after) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert pair.suppressed.tolist() == [False, False, True]


def test_dates_turned_into_periods_stay_dates() -> None:
    pair = make_comparable("born", pl.Series(["1970-01-02", "1970-02-03"]), pl.Series(["1970", "1970-02"]))
    assert pair.kind is Kind.DATE
    assert pair.original.to_list() == [1.0, 33.0]
    assert pair.released.to_list() == [182.0, 44.5]


def test_codes_with_leading_zeros_and_masked_codes_are_categories() -> None:
    assert make_comparable("a", pl.Series(["007", "010"]), pl.Series(["007", "010"])).kind is Kind.CATEGORY
    masked = make_comparable("pin", pl.Series(["560001", "560002"]), pl.Series(["560xxx", "560xxx"]))
    assert masked.kind is Kind.CATEGORY
    assert masked.problem is not None


def test_recoding_makes_labels_comparable() -> None:
    recode = pl.DataFrame({"value": ["560001", "560002"], "label": ["560xxx", "560xxx"]})
    pair = make_comparable("pin", pl.Series(["560001", "560002"]), pl.Series(["560xxx", "560xxx"]), recode=recode)
    assert pair.problem is None
    assert pair.recoded.to_list() == ["560xxx", "560xxx"]


def test_words_for_numbers_are_read_through_the_recoding() -> None:
    recode = pl.DataFrame({"value": [10, 20, 60], "label": ["young", "young", "60"]})
    before, after = pl.Series([10, 20, 60, 60]), pl.Series(["young", "young", "60", "60"])
    pair = make_comparable("age", before, after, recode=recode)
    assert pair.released.to_list() == [15.0, 15.0, 60.0, 60.0]


def test_the_kind_can_be_said() -> None:
    assert make_comparable("pin", pl.Series([560001]), pl.Series([560001]), kind=Kind.CATEGORY).kind is Kind.CATEGORY
