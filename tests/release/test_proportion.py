"""Noise and rounding out of proportion to the range are warned of (PDPC guide, annex A)."""

from __future__ import annotations

import datetime

import polars as pl
import pytest

from shoal.policy import Policy
from shoal.release import anonymise

pytestmark = pytest.mark.requirement("T-12", "T-13")


def warnings(values: list[object], technique: str) -> list[str]:
    text = f"shoal: 1\nname: x\nattributes:\n  x: {{role: insensitive, technique: {technique}}}\n"
    release = anonymise(pl.DataFrame({"x": values}), Policy.from_text(text), seed=1)
    return [one for one in release.manifest.warnings if "PDPC annex A" in one]


HEIGHTS: list[object] = list(range(120, 191))


@pytest.mark.parametrize("technique", ["{round: {base: 5}}", "{noise: {uniform: {width: 10}}}"])
def test_what_the_guide_takes_is_in_proportion(technique: str) -> None:
    assert warnings(HEIGHTS, technique) == []


@pytest.mark.parametrize(
    ("technique", "what"),
    [
        ("{round: {base: 100}}", "so much"),
        ("{noise: {gaussian: {sd: 60}}}", "so much"),
        ("{noise: {laplace: {scale: 60}}}", "so much"),
    ],
)
def test_what_leaves_nothing_is_warned_of(technique: str, what: str) -> None:
    (told,) = warnings(HEIGHTS, technique)
    assert what in told


def test_what_hides_nothing_is_warned_of() -> None:
    salaries: list[object] = [30_000 + 997 * n for n in range(200)]
    (told,) = warnings(salaries, "{round: {base: 10}}")
    assert "hardly hides anything" in told
    dates: list[object] = [datetime.date(1950, 1, 1) + datetime.timedelta(days=90 * n) for n in range(250)]
    (told,) = warnings(dates, "{noise: {days: 3}}")
    assert "hardly hides anything" in told
    assert warnings(dates, "{noise: {days: 365}}") == []
