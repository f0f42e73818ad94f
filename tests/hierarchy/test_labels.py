"""Released labels read as what they stand for."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest

from shoal.hierarchy.labels import ValueLine, date_spans, members, number_spans, read_dates, read_numbers, shape_of

pytestmark = pytest.mark.requirement("R-04", "R-06")

INF = float("inf")
RANGES = [
    ("30-39", (30, 39), (30, 40)),
    ("30–39", (30, 39), (30, 40)),
    ("30 — 39", (30, 39), (30, 40)),
    ("30..39", (30, 39), (30, 40)),
    ("30 to 39", (30, 39), (30, 40)),
    ("30; 39", (30, 39), (30, 40)),
    ("30, 39", (30, 39), (30, 40)),
    ("30 ,39", (30, 39), (30, 40)),
    ("39-30", (30, 39), (30, 40)),
    ("-10 to -1", (-10, -1), (-10, 0)),
    ("−10 to −1", (-10, -1), (-10, 0)),
    ("-10--1", (-10, -1), (-10, 0)),
    ("1.5-2.4", (1.5, 2.4), (1.5, 2.5)),
    ("1,000-1,999", (1000, 1999), (1000, 2000)),
    ("1e3-2e3", (1000, 2000), (1000, np.nextafter(2000, INF))),
    ("[30, 40)", (30, 40), (30, 40)),
    ("[30,40)", (30, 40), (30, 40)),
    ("[30-40)", (30, 40), (30, 40)),
    ("[1,000, 2,000)", (1000, 2000), (1000, 2000)),
    ("(30; 40]", (30, 40), (np.nextafter(30, INF), 41)),
    ("[0.5, 1.5)", (0.5, 1.5), (0.5, 1.5)),
    ("[90, inf)", (90, 100), (90, INF)),
    ("(-∞, 18)", (0, 18), (-INF, 18)),
    ("[, 18)", (0, 18), (-INF, 18)),
    ("<18", (0, 18), (-INF, 18)),
    ("under 18", (0, 18), (-INF, 18)),
    ("≤ 18", (0, 18), (-INF, np.nextafter(18, INF))),
    ("<= 18", (0, 18), (-INF, np.nextafter(18, INF))),
    ("up to 18", (0, 18), (-INF, np.nextafter(18, INF))),
    ("18 or younger", (0, 18), (-INF, np.nextafter(18, INF))),
    (">90", (90, 100), (np.nextafter(90, INF), INF)),
    ("over 90", (90, 100), (np.nextafter(90, INF), INF)),
    ("≥ 90", (90, 100), (90, INF)),
    (">=90", (90, 100), (90, INF)),
    ("from 90", (90, 100), (90, INF)),
    ("90+", (90, 100), (90, INF)),
    ("90 and over", (90, 100), (90, INF)),
    ("1980s", (1980, 1989), (1980, 1990)),
    ("1980s–1990s", (1980, 1999), (1980, 2000)),
]
NO_RANGE = ["560xxx", "young", "", "1-2-3", "inf", "nan", "3,5", "<", "+", "to", "30-", "{30, 39}", "30 39", "*"]


@pytest.mark.parametrize(("label", "span", "stretch"), RANGES)
def test_ranges_of_numbers(label: str, span: tuple[float, float], stretch: tuple[float, float]) -> None:
    found = number_spans(pl.Series([label]), 0, 100)
    assert (found.low[0], found.high[0]) == span
    low, high = ValueLine("number", np.zeros(0)).stretches(pl.Series([label]))
    assert (low[0], high[0]) == stretch


def test_labels_are_read_each_for_itself() -> None:
    labels = pl.Series([label for label, _, _ in RANGES] + [*NO_RANGE, None])
    spans = number_spans(labels, 0, 100)
    assert list(zip(spans.low[: len(RANGES)], spans.high, strict=False)) == [span for _, span, _ in RANGES]
    assert not spans.known[len(RANGES) :].any()


@pytest.mark.parametrize("label", NO_RANGE)
def test_other_words_are_no_range(label: str) -> None:
    assert not number_spans(pl.Series([label]), 0, 100).known.any()
    assert np.isnan(ValueLine("number", np.zeros(0)).stretches(pl.Series([label]))[0]).all()


@pytest.mark.parametrize(
    ("label", "number"), [("42", 42.0), (" 42 ", 42.0), ("1e2", 100.0), ("−3", -3.0), ("1,250", 1250.0)]
)
def test_a_number_is_a_span_of_one_point_but_no_stretch(label: str, number: float) -> None:
    """It may have been rounded: only its neighbours tell how far it reaches."""
    assert number_spans(pl.Series([label]), 0, 100).middle.tolist() == [number]
    assert np.isnan(ValueLine("number", np.zeros(0)).stretches(pl.Series([label]))[0]).all()


def test_an_edge_that_another_label_begins_at_is_no_gap() -> None:
    low, high = ValueLine("number", np.zeros(0)).stretches(pl.Series(["30-40", "40-50"]))
    assert low.tolist() == [30, 40]
    assert high.tolist() == [np.nextafter(40, INF), 51]


def day(text: str) -> int:
    return (datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days


PERIODS = {
    "2024": ("2024-01-01", "2024-12-31"),
    "2024-02": ("2024-02-01", "2024-02-29"),
    "2024-12": ("2024-12-01", "2024-12-31"),
    "2024-Q4": ("2024-10-01", "2024-12-31"),
    "2024-W07": ("2024-02-12", "2024-02-18"),
    "2020s": ("2020-01-01", "2029-12-31"),
    "2020-2024": ("2020-01-01", "2024-12-31"),
    "2024-02 to 2024-Q2": ("2024-02-01", "2024-06-30"),
    "2024 to 2020": ("2020-01-01", "2024-12-31"),
    "2024-03 to 2024": ("2024-03-01", "2024-12-31"),
    "[2020, 2024)": ("2020-01-01", "2023-12-31"),
    "(2020, 2024]": ("2021-01-01", "2024-12-31"),
    "2024-02-14": ("2024-02-14", "2024-02-14"),
    "<2020": ("1970-01-01", "2019-12-31"),
    "up to 2020": ("1970-01-01", "2020-12-31"),
    ">2020": ("2021-01-01", "2030-12-31"),
    "2020+": ("2020-01-01", "2030-12-31"),
}
"""Their first and last days."""


@pytest.mark.parametrize(("label", "days"), PERIODS.items())
def test_periods_are_ranges_of_days(label: str, days: tuple[str, str]) -> None:
    first, last = map(day, days)
    least, greatest = day("1970-01-01"), day("2030-12-31")
    spans = date_spans(pl.Series([label]), least, greatest)
    assert (spans.low[0], spans.high[0]) == (first, last)
    low, high = ValueLine("date", np.zeros(0)).stretches(pl.Series([label]))
    assert max(low[0], least) == first
    assert min(high[0], greatest + 1) == last + 1


@pytest.mark.parametrize(
    "label", ["2024-13", "2024-W54", "2024-02-30", "2023-Q5", "24-02", "?", "1940 or older", "9999", "0000"]
)
def test_periods_that_there_are_not(label: str) -> None:
    assert not date_spans(pl.Series([label]), 0, 1).known.any()
    assert np.isnan(ValueLine("date", np.zeros(0)).stretches(pl.Series([label]))[0]).all()


def test_days_are_read_in_the_format_of_the_values() -> None:
    line = ValueLine.of(pl.Series(["25/12/2024", "01/02/2024"]))
    assert line is not None
    low, high = line.stretches(pl.Series(["03/04/2024", "2024-04"]))
    assert (low.tolist(), high.tolist()) == (
        [day("2024-04-03"), day("2024-04-01")],
        [day("2024-04-04"), day("2024-05-01")],
    )


@pytest.mark.parametrize(
    ("values", "kind", "points"),
    [
        (["31", " 4.5", "n/a"], "number", [31, 4.5, np.nan]),
        (["1,000", "2,500"], "number", [1000, 2500]),
        (["1970-01-02", "1970-01-11", "?"], "date", [1, 10, np.nan]),
        (["1/31/1970", "2/1/1970"], "date", [30, 31]),
        (["1970-01-02T06:00:00+05:30", "1970-01-03T12:00:00+00:00"], "date", [1.25, 2.5]),
        (["1970-01", "1970-02", "1970-02-02"], "date", [0, 31, 32]),
        ([datetime.datetime(1970, 1, 1, 12)], "date", [0.5]),  # noqa: DTZ001 - columns are naive
        ([3, None], "number", [3, np.nan]),
        (["inf", "1", "2"], "number", [np.nan, 1, 2]),
    ],
)
def test_values_on_a_line(values: list[object], kind: str, points: list[float]) -> None:
    line = ValueLine.of(pl.Series(values))
    assert line is not None
    assert line.kind == kind
    assert line.points == pytest.approx(points, nan_ok=True)


@pytest.mark.parametrize("values", [["a", "b", "3"], ["14/02/24"], [None], [True], []])
def test_values_that_lie_on_no_line(values: list[object]) -> None:
    assert ValueLine.of(pl.Series(values, dtype=None if any(values) else pl.String)) is None


def test_the_format_that_fits_most_is_taken() -> None:
    assert read_dates(pl.Series(["01/02/1970", "01/31/1970", "02/28/1970"])).to_list() == [1, 30, 58]


def test_numbers_stay_numbers_and_words_are_none() -> None:
    assert read_numbers(pl.Series(["1", "x", None, "1,2", "1,23"])).to_list() == [1, None, None, None, None]
    assert read_numbers(pl.Series([1.5, float("nan"), None])).to_list() == [1.5, None, None]


@pytest.mark.parametrize("label", ["*", "x", "Texas", "a_b", "X1"])
def test_words_that_are_no_mask(label: str) -> None:
    assert shape_of(label) is None


def test_sets_have_members() -> None:
    assert members('{a, "b"; c}') == ["a", "b", "c"]
    assert members("a, b") is None
