"""The drawings: bins that lose nobody, places that follow the risk."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.report.plots import THRESHOLDS, RiskMarker, bar, class_bins, gauge

SIZES = st.lists(st.integers(1, 10_000), max_size=200)


@given(SIZES)
@settings(max_examples=50)
def test_bins_hold_every_class_and_every_person(sizes: list[int]) -> None:
    bins = class_bins(tuple(sizes))
    assert sum(one.classes for one in bins) == len(sizes)
    assert sum(one.people for one in bins) == sum(sizes)


@given(SIZES)
@settings(max_examples=50)
def test_sizes_can_be_given_one_by_one_as_an_array_or_counted(sizes: list[int]) -> None:
    assert class_bins(tuple(sizes)) == class_bins(np.array(sizes, dtype=np.int64)) == class_bins(Counter(sizes))


@pytest.mark.parametrize(
    ("size", "label"),
    [
        (1, "1"),
        (2, "2"),
        (3, "3–4"),
        (4, "3–4"),
        (5, "5–9"),
        (9, "5–9"),
        (10, "10–19"),
        (19, "10–19"),
        (20, "20–49"),
        (49, "20–49"),
        (50, "50–99"),
        (99, "50–99"),
        (100, "100+"),
        (10**9, "100+"),
    ],
)
def test_a_class_lies_in_the_bin_that_names_its_size(size: int, label: str) -> None:
    assert [one.label for one in class_bins((size,)) if one.classes] == [label]


def test_bins_without_classes_are_all_there_and_empty() -> None:
    assert [(one.classes, one.people) for one in class_bins(())] == [(0, 0)] * 8
    assert sum(one.classes for one in class_bins((0, -3))) == 0


def test_a_class_of_nobody_is_no_class() -> None:
    assert sum(one.classes for one in class_bins((0, 3))) == 1


def _width(drawing: str) -> float:
    (width,) = re.findall(r'<rect class="bar-after" width="([\d.]+)%"', drawing)
    return float(width)


def test_bars_are_as_long_as_their_share() -> None:
    assert [_width(bar(share, "after")) for share in (0.0, 0.25, 1.0)] == [0.0, 25.0, 100.0]


def test_a_bar_of_one_in_a_million_can_still_be_seen() -> None:
    assert _width(bar(1e-6, "after")) == 1.0


def _pins(drawing: str) -> dict[str, float]:
    return {kind: float(x) for kind, x in re.findall(r'<circle class="pin-(\w+)" cx="([\d.]+)%"', drawing)}


def _drawn(after: float, before: float | None = None) -> str:
    pins = [] if before is None else [RiskMarker(before, "before", "before")]
    return gauge([*pins, RiskMarker(after, "after", "this file" if before is None else "after")])


@pytest.mark.requirement("R-02")
def test_a_risk_equal_to_a_threshold_lies_on_its_tick() -> None:
    for limit in THRESHOLDS.values():
        drawing = _drawn(limit)
        ticks = {label: x for x, label in re.findall(r'class="tick-label" x="([\d.]+)%"[^>]*>([\d.]+)<', drawing)}
        assert _pins(drawing)["after"] == float(ticks[f"{limit:g}"])


@given(st.integers(1, 10_000), st.integers(1, 10_000))
@settings(max_examples=50)
def test_a_lower_risk_never_lies_further_left(smaller: int, larger: int) -> None:
    smaller, larger = sorted((smaller, larger))
    pins = _pins(_drawn(1 / larger, 1 / smaller))
    assert 0 <= pins["before"] <= pins["after"] <= 100


def test_a_gauge_says_in_words_what_it_shows() -> None:
    assert 'aria-label="Highest risk: before 1 in 1, after 1 in 8"' in _drawn(1 / 8, 1.0)
    assert 'aria-label="Highest risk: this file 1 in 8"' in _drawn(1 / 8)


@pytest.mark.requirement("R-02")
def test_the_limit_to_keep_is_drawn_at_its_risk_and_named() -> None:
    drawing = gauge([RiskMarker(1 / 8, "after", "after")], ("limit for medium potential harm", 0.05))
    line = re.search(r'<line class="keep" x1="([\d.]+)%"', drawing)
    assert line is not None
    assert float(line.group(1)) == pytest.approx(100 * np.log(20) / np.log(1000), abs=0.01)
    assert "limit for medium potential harm: 0.05" in drawing
    assert "after 1 in 8; limit for medium potential harm 0.05" in drawing


def test_labels_of_pins_stand_in_rows_of_their_own() -> None:
    drawing = gauge([RiskMarker(1 / 8, kind, kind) for kind in ("before", "after", "assessed")])
    rows = re.findall(r'class="pin-label [^>]* y="(\d+)"', drawing)
    assert len(set(rows)) == 3
