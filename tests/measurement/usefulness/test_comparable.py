"""An original and a released column made comparable."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.measurement.usefulness import AttributeKind, make_comparable

pytestmark = pytest.mark.requirement("R-06")


def test_numbers_turned_into_ranges_stay_numbers() -> None:
    pair = make_comparable("age", pl.Series([31, 47, None]), pl.Series(["30-39", "40-49", "*"]))
    assert pair.kind is AttributeKind.NUMBER
    assert pair.released.to_list() == [34.5, 44.5, None]
    assert (pair.before.missing, pair.after.missing) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert pair.suppressed.tolist() == [False, False, True]


def test_dates_turned_into_periods_stay_dates() -> None:
    pair = make_comparable("born", pl.Series(["1970-01-02", "1970-02-03"]), pl.Series(["1970", "1970-02"]))
    assert pair.kind is AttributeKind.DATE
    assert pair.original.to_list() == [1.0, 33.0]
    assert pair.released.to_list() == [182.0, 44.5]


def test_codes_with_leading_zeros_and_masked_codes_are_categories() -> None:
    assert make_comparable("a", pl.Series(["007", "010"]), pl.Series(["007", "010"])).kind is AttributeKind.CATEGORY
    masked = make_comparable("pin", pl.Series(["560001", "560002"]), pl.Series(["560xxx", "560xxx"]))
    assert masked.kind is AttributeKind.CATEGORY
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
    assert (
        make_comparable("pin", pl.Series([560001]), pl.Series([560001]), kind=AttributeKind.CATEGORY).kind
        is AttributeKind.CATEGORY
    )


def test_open_periods_reach_to_the_last_original_date() -> None:
    pair = make_comparable("born", pl.Series(["1970-01-02", "1970-02-03"]), pl.Series(["<1970-02", "1970-02+"]))
    assert pair.released.to_list() == [(1 + 30) / 2, (31 + 33) / 2]


def test_moments_that_are_text_keep_their_time_of_day() -> None:
    pair = make_comparable("seen", pl.Series(["1970-01-02 12:00"]), pl.Series(["1970-01-02 18:00"]))
    assert pair.kind is AttributeKind.DATE
    assert (pair.original.to_list(), pair.released.to_list()) == ([1.5], [1.75])
