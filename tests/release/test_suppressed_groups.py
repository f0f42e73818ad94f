"""Releases say who was suppressed most, without naming whom nobody sees in them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import shoal

POLICY = """
shoal: 1
name: towns
attributes:
  sex: {role: quasi}
  town: {role: quasi}
  age: {role: quasi, hierarchy: {intervals: {widths: [20, 40]}}}
privacy: [{k_anonymity: {k: 5}}]
solve: {suppression_limit: 0.2, recoding: %s, levels: {sex: [0, 0], town: [0, 0]}}
"""


@pytest.fixture(scope="module")
def towns() -> pl.DataFrame:
    """Three towns of many people, and one that nobody may know of."""
    places = ["Pune"] * 200 + ["Thane"] * 150 + ["Goa"] * 38 + ["Hamlet"] * 12
    sexes = ["male" if place % 2 else "female" for place in range(400)]
    ages = [20 + place * 7 % 60 for place in range(400)]
    return pl.DataFrame({"sex": sexes, "town": places, "age": ages})


def test_small_groups_lose_most_and_are_not_named(towns: pl.DataFrame, tmp_path: Path) -> None:
    towns.write_csv(tmp_path / "towns.csv")
    release = shoal.anonymise(tmp_path / "towns.csv", POLICY % "global", output=tmp_path / "release")
    groups = {one.group: one for one in (release.manifest.suppressed_by_group or {})["town"]}
    released = pl.read_csv(tmp_path / "release" / "data.csv").filter(pl.col("town") != "*")["town"]
    kept = {town: int(number) for town, number in released.value_counts().iter_rows()}
    for town, one in groups.items():
        if town is not None:
            assert kept[town] == one.records - one.suppressed >= 10
            assert one.records == towns.filter(pl.col("town") == town).height
    assert sum(one.suppressed for one in groups.values()) == release.manifest.suppressed.records > 0
    assert groups[None].share == 1
    assert groups[None].above_average
    written = "".join((tmp_path / "release" / name).read_text() for name in ("release.json", "report.html"))
    assert "Hamlet" not in written
    assert "Who is suppressed most" in written
    assert "that are too small to be named, 100% of records and 100% of cells are gone" in written
    recipient = (tmp_path / "release" / "recipient.html").read_text()
    assert "suppressed most" not in recipient


@pytest.mark.parametrize("recoding", ["local", "cells"])
def test_starred_cells_are_told_by_group(towns: pl.DataFrame, recoding: str) -> None:
    text = (POLICY % recoding).replace(", levels: {sex: [0, 0], town: [0, 0]}", "")
    release = shoal.anonymise(towns, text)
    found = release.manifest.suppressed_by_group or {}
    assert found
    for groups in found.values():
        assert sum(one.cells for one in groups) == release.manifest.suppressed.cells
        assert sum(one.records for one in groups) == towns.height


def test_where_nothing_is_suppressed_nothing_is_told(towns: pl.DataFrame) -> None:
    release = shoal.anonymise(towns, (POLICY % "global").replace("k: 5", "k: 1"))
    assert "suppressed_by_group" not in release.manifest.to_dict()
