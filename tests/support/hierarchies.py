"""A hierarchy of every kind, with drawn parameters, on a column with drawn values."""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.hierarchy import TOP, BoundHierarchy, FlatHierarchy, Hierarchy, parse_hierarchy
from shoal.hierarchy.places.gazetteer import AREA_LEVELS
from shoal.schema import Column, ValueType


@dataclass(frozen=True)
class Case:
    hierarchy: Hierarchy
    column: Column
    values: pl.Series
    records: Sequence[int]
    file: str = ""
    """What the hierarchy's file holds, if it has one."""

    def bind(self) -> BoundHierarchy:
        assert self.hierarchy.refuse(self.column) is None
        counted = pl.DataFrame({"value": self.values, "records": self.records})
        distinct = counted.group_by("value").agg(pl.col("records").sum())
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "file.csv").write_text(self.file)
            return self.hierarchy.resolve(Path(folder)).bind(self.column, distinct)


def multiples(draw: st.DrawFn, first: int) -> list[int]:
    widths = [first]
    for factor in draw(st.lists(st.integers(2, 4), max_size=3)):
        widths.append(widths[-1] * factor)
    return widths


def case(draw: st.DrawFn, spec: object, column: Column, value: st.SearchStrategy[object], dtype: pl.DataType) -> Case:
    hierarchy = spec if isinstance(spec, Hierarchy) else parse_hierarchy(spec)
    values = draw(st.lists(st.none() | value, max_size=20))
    records = draw(st.lists(st.integers(1, 20), min_size=len(values), max_size=len(values)))
    return Case(hierarchy, column, pl.Series("value", values, dtype=dtype), records)


@st.composite
def whole_intervals(draw: st.DrawFn) -> Case:
    spec: dict[str, object] = {
        "widths": multiples(draw, draw(st.integers(1, 12))),
        "origin": draw(st.integers(-30, 30)),
    }
    if draw(st.booleans()):
        spec["low"] = draw(st.integers(-40, 20))
    if draw(st.booleans()):
        spec["high"] = draw(st.integers(21, 60))
    column = Column("age", ValueType.INTEGER, pl.Int64())
    return case(draw, {"intervals": spec}, column, st.integers(-80, 120), pl.Int64())


@st.composite
def decimal_intervals(draw: st.DrawFn) -> Case:
    tenths = multiples(draw, draw(st.integers(1, 30)))
    spec: dict[str, object] = {"widths": [width / 10 for width in tenths], "origin": draw(st.integers(-30, 30)) / 10}
    if draw(st.booleans()):
        spec["low"] = draw(st.integers(-40, 20)) / 100
    if draw(st.booleans()):
        spec["high"] = draw(st.integers(21, 60)) / 10
    column = Column("weight", ValueType.DECIMAL, pl.Float64())
    values = st.integers(-900, 900).map(lambda hundredths: hundredths / 100) | st.floats(-9, 9)
    return case(draw, {"intervals": spec}, column, values, pl.Float64())


@st.composite
def cuts(draw: st.DrawFn) -> Case:
    column = Column("spent", ValueType.DECIMAL, pl.Float64())
    hundredths = sorted(draw(st.sets(st.integers(-900, 900), min_size=1, max_size=9)))
    spec: dict[str, object] = {"at": [number / 100 for number in hundredths]}
    if len(hundredths) > 2 and draw(st.booleans()):
        spec["join"] = [2]
    values = st.integers(-1000, 1000).map(lambda number: number / 100) | st.floats(-9, 9)
    return case(draw, {"cuts": spec}, column, values, pl.Float64())


@st.composite
def grids(draw: st.DrawFn) -> Case:
    decimals = sorted(draw(st.sets(st.integers(0, 5), min_size=1)), reverse=True)
    column = Column("latitude", ValueType.DECIMAL)
    values = st.integers(-9_000_000, 9_000_000).map(lambda number: f"{number / 100_000:.5f}")
    return case(draw, {"grid": decimals}, column, values, pl.String())


@st.composite
def orders(draw: st.DrawFn) -> Case:
    words = draw(st.lists(st.text("abcd", min_size=1, max_size=3), min_size=1, max_size=12, unique=True))
    spec = {"order": words, "sizes": multiples(draw, draw(st.integers(2, 4)))}
    return case(draw, {"order": spec}, Column("grade"), st.sampled_from(words), pl.String())


@st.composite
def redactions(draw: st.DrawFn) -> Case:
    spec = {
        "side": draw(st.sampled_from(["left", "right"])),
        "char": draw(st.sampled_from("x*aé")),
        "keep_length": draw(st.booleans()),
        "align": draw(st.booleans()),
        "steps": draw(st.none() | st.sets(st.integers(1, 7), min_size=1).map(sorted)),
    }
    return case(draw, {"redact": spec}, Column("code"), st.text("abxé", max_size=6), pl.String())


def periods(draw: st.DrawFn) -> list[str]:
    chain = ["day", "month", "quarter", "year", "decade"]
    chosen = draw(
        st.lists(st.sampled_from(chain), min_size=1, unique=True).map(lambda some: sorted(some, key=chain.index))
    )
    return draw(st.sampled_from([chosen, ["day", "week"], ["week"]]))


@st.composite
def dates(draw: st.DrawFn) -> Case:
    column = Column("born", ValueType.DATE, pl.Date())
    days = st.dates(datetime.date(1899, 1, 1), datetime.date(2101, 1, 1))
    return case(draw, {"dates": periods(draw)}, column, days, pl.Date())


@st.composite
def moments(draw: st.DrawFn) -> Case:
    column = Column("seen", ValueType.DATETIME, pl.Datetime("us"))
    times = st.datetimes(datetime.datetime(1960, 1, 1), datetime.datetime(2030, 1, 1))  # noqa: DTZ001 - columns are naive
    return case(draw, {"dates": periods(draw)}, column, times, pl.Datetime("us"))


@st.composite
def taxonomies(draw: st.DrawFn) -> Case:
    """A random partition of numbered leaves, cut again and again; each group is named by its place in the tree."""
    leaves: list[str] = []

    def branch(name: str, depth: int) -> object:
        if depth and draw(st.booleans()):
            return {f"{name}{letter}": branch(f"{name}{letter}", depth - 1) for letter in "pq"}
        fresh = [f"{name}{number}" for number in range(draw(st.integers(1, 3)))]
        leaves.extend(fresh)
        return fresh

    tree = {name: branch(name, 2) for name in "AB"}
    return case(draw, {"taxonomy": {"tree": tree}}, Column("country"), st.sampled_from(leaves), pl.String())


@st.composite
def files(draw: st.DrawFn) -> Case:
    """Groups of groups of lines, written in a drawn separator, with or without a top and a line for missing values."""
    size = draw(st.integers(1, 12))
    names = ["" if draw(st.booleans()) and not number else f"v{number}" for number in range(size)]
    top = [TOP] if draw(st.booleans()) else []
    first, second = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    rows = [[name, f"a{place // first}", f"b{place // first // second}", *top] for place, name in enumerate(names)]
    separator = draw(st.sampled_from(";,\t|"))
    drawn = case(draw, {"csv": "file.csv"}, Column("school"), st.sampled_from(names), pl.String())
    return replace(drawn, file="".join(separator.join(row) + "\n" for row in rows))


@st.composite
def rares(draw: st.DrawFn) -> Case:
    spec = {"minimum": draw(st.integers(2, 60))}
    return case(draw, {"rare": spec}, Column("race"), st.sampled_from(["a", "b", "c", "d", "Others"]), pl.String())


@st.composite
def places(draw: st.DrawFn) -> Case:
    levels = draw(st.lists(st.sampled_from(AREA_LEVELS), min_size=1, unique=True))
    spec = {
        "levels": sorted(levels, key=AREA_LEVELS.index),
        "also": {"Poona camp": "Pune"},
        "unknown": "suppress",
        "country": draw(st.none() | st.sampled_from(["IN", "US", "PK"])),
    }
    names = ["Pune", "pune", "Poona camp", "Maharashtra", "India", "Hyderabad", "Georgia", "Atlanta", "Bedok", "xyz"]
    return case(draw, {"places": spec}, Column("town"), st.sampled_from(names), pl.String())


CODES = {
    "icd-10": ["E11.9", "e119", "E10", "I10", "T79.0", "E10-E14", "IX Circulation", "xyz"],
    "isco-08": ["2221", "2221.0100", "2211", "22", "2", "Health professionals", "Managers", "5120", "99", "xyz"],
    "isced-2011": ["0", "6", "ISCED 7", "PhD", "Primary", "High (ISCED 5-8)", "9"],
    "india-pin": ["411005", "403 001", "744101", "Goa", "North", "290001"],
    "singapore-postal": ["238859", "018956", "S238859", "District 09", "740001"],
}


@st.composite
def classifications(draw: st.DrawFn) -> Case:
    name = draw(st.sampled_from(sorted(CODES)))
    spec = {"name": name, "also": {"the same": CODES[name][0]}, "unknown": "suppress"}
    values = st.sampled_from([*CODES[name], "the same"])
    return case(draw, {"classification": spec}, Column("code"), values, pl.String())


@st.composite
def flats(draw: st.DrawFn) -> Case:
    return case(draw, FlatHierarchy(), Column("sex"), st.sampled_from(["F", "M"]), pl.String())


CASES = {
    "intervals": whole_intervals() | decimal_intervals(),
    "cuts": cuts(),
    "grid": grids(),
    "order": orders(),
    "redact": redactions(),
    "dates": dates() | moments(),
    "taxonomy": taxonomies(),
    "csv": files(),
    "rare": rares(),
    "places": places(),
    "classification": classifications(),
    "flat": flats(),
}


def every_kind(examples: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The test on so many drawn hierarchies of each kind."""
    some = settings(max_examples=examples, deadline=None)

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        marked: Callable[..., None] = pytest.mark.parametrize("kind", CASES)(some(given(data=st.data())(test)))
        return marked

    return decorated
