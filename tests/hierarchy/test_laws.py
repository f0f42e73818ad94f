"""What holds for every kind of hierarchy, whatever its parameters and values."""

from __future__ import annotations

import datetime
import itertools
import pickle
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import DataError
from shoal.hierarchy import TOP, BoundHierarchy, Flat, Hierarchy, hierarchies, parse_hierarchy
from shoal.schema import Column, ValueType

pytestmark = pytest.mark.requirement("T-08")


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
        "char": draw(st.sampled_from("xaé")),
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
def flats(draw: st.DrawFn) -> Case:
    return case(draw, Flat(), Column("sex"), st.sampled_from(["F", "M"]), pl.String())


CASES = {
    "intervals": whole_intervals() | decimal_intervals(),
    "grid": grids(),
    "order": orders(),
    "redact": redactions(),
    "dates": dates() | moments(),
    "taxonomy": taxonomies(),
    "csv": files(),
    "rare": rares(),
    "flat": flats(),
}
every_kind = pytest.mark.parametrize("kind", CASES)
some = settings(max_examples=15, deadline=None)


def test_every_kind_is_held_to_the_laws() -> None:
    assert set(hierarchies.names()) == set(CASES) - {"flat"}


@every_kind
@some
@given(data=st.data())
def test_levels_nest(kind: str, data: st.DataObject) -> None:
    drawn = data.draw(CASES[kind])
    bound = drawn.bind()
    for level in range(bound.height):
        parents: dict[object, str] = {}
        below, above = bound.generalise(drawn.values, level), bound.generalise(drawn.values, level + 1)
        for child, parent in zip(below, above, strict=True):
            assert parents.setdefault(child, parent) == parent


@every_kind
@some
@given(data=st.data())
def test_every_known_value_has_one_label_and_missing_stays_missing(kind: str, data: st.DataObject) -> None:
    drawn = data.draw(CASES[kind])
    bound = drawn.bind()
    assert bound.height >= 1
    assert bound.generalise(drawn.values, 0).equals(drawn.values)
    lists_missing = getattr(bound, "lists_missing", False)
    for level in range(1, bound.height + 1):
        labels = bound.generalise(drawn.values, level)
        assert labels.dtype == pl.String
        assert labels.name == drawn.values.name
        expected = 0 if level == bound.height or lists_missing else drawn.values.null_count()
        assert labels.null_count() == expected
        assert (labels.is_null() & drawn.values.is_not_null()).sum() == 0
    assert set(bound.generalise(drawn.values, bound.height)) <= {TOP}


@every_kind
@some
@given(data=st.data())
def test_loss_grows_from_nothing_to_everything(kind: str, data: st.DataObject) -> None:
    drawn = data.draw(CASES[kind])
    bound = drawn.bind()
    missing = drawn.values.is_null().to_numpy()
    losses = [bound.loss(drawn.values, level) for level in range(bound.height + 1)]
    assert all(loss.dtype == np.float64 and len(loss) == len(drawn.values) for loss in losses)
    assert not losses[0].any()
    assert (losses[-1] == 1).all()
    for lower, upper in itertools.pairwise(losses):
        assert (lower <= upper).all()
    if not getattr(bound, "lists_missing", False):
        assert not any(loss[missing].any() for loss in losses[:-1])


@every_kind
@some
@given(data=st.data())
def test_one_label_one_loss(kind: str, data: st.DataObject) -> None:
    drawn = data.draw(CASES[kind])
    bound = drawn.bind()
    for level in range(1, bound.height):
        seen: dict[object, float] = {}
        for label, loss in zip(bound.generalise(drawn.values, level), bound.loss(drawn.values, level), strict=True):
            assert seen.setdefault(label, loss) == loss


@every_kind
@some
@given(data=st.data())
def test_result_does_not_depend_on_batches_or_on_the_process(kind: str, data: st.DataObject) -> None:
    drawn = data.draw(CASES[kind])
    bound = drawn.bind()
    sent = pickle.loads(pickle.dumps(bound))  # noqa: S301 - what an executor does
    cut = data.draw(st.integers(0, len(drawn.values)))
    parts = drawn.values[:cut], drawn.values[cut:]
    for level in range(bound.height + 1):
        whole = bound.generalise(drawn.values, level)
        assert pl.concat([sent.generalise(part, level) for part in parts]).equals(whole)
        losses = np.concatenate([sent.loss(part, level) for part in parts])
        assert (losses == bound.loss(drawn.values, level)).all()


@every_kind
@some
@given(data=st.data())
def test_bounds_hold_the_value(kind: str, data: st.DataObject) -> None:
    drawn = data.draw(CASES[kind])
    bound = drawn.bind()
    for level in range(bound.height + 1):
        found = bound.bounds(drawn.values, level)
        if kind not in {"intervals", "grid", "dates"}:
            assert found is None
            continue
        assert found is not None
        read = drawn.column.dates(drawn.values) if kind == "dates" else drawn.column.numbers(drawn.values)
        low, high = found
        assert low.dtype == high.dtype == read.dtype
        assert (low.is_null() == read.is_null()).all()
        assert (high.is_null() == read.is_null()).all()
        assert (low <= read).all()
        assert (read <= high).all()


@every_kind
@settings(max_examples=3, deadline=None)
@given(data=st.data())
def test_no_values_at_all(kind: str, data: st.DataObject) -> None:
    drawn = data.draw(CASES[kind])
    empty = replace(drawn, values=drawn.values.clear(), records=[])
    bound = empty.bind()
    for level in range(bound.height + 1):
        assert len(bound.generalise(empty.values, level)) == 0
        assert bound.loss(empty.values, level).shape == (0,)


@every_kind
@settings(max_examples=3, deadline=None)
@given(data=st.data())
def test_there_is_no_level_outside(kind: str, data: st.DataObject) -> None:
    drawn = data.draw(CASES[kind])
    bound = drawn.bind()
    for level in (-1, bound.height + 1):
        with pytest.raises(DataError, match=f"there is no level {level}, the highest is {bound.height}"):
            bound.generalise(drawn.values, level)
        with pytest.raises(DataError, match="there is no level"):
            bound.loss(drawn.values, level)


@pytest.mark.parametrize(
    ("spec", "type_", "values"),
    [
        ({"intervals": [10]}, ValueType.INTEGER, ["70707", "80808"]),
        ({"redact": {}}, ValueType.TEXT, ["70707", "80808"]),
        ({"rare": 2}, ValueType.TEXT, ["70707", "80808"]),
        ({"grid": [1]}, ValueType.DECIMAL, ["70.707", "80.808"]),
    ],
)
def test_what_is_bound_shows_no_value(spec: object, type_: ValueType, values: list[str]) -> None:
    known = pl.DataFrame({"value": values, "records": [1, 1]})
    shown = repr(parse_hierarchy(spec).bind(Column("column", type_), known))
    assert "707" not in shown
    assert "808" not in shown


@pytest.mark.parametrize(
    "spec",
    [
        {"order": {"order": ["a", "b"], "sizes": [2]}},
        {"taxonomy": {"tree": {"ab": ["a", "b"]}}},
    ],
)
class TestUnknownValues:
    def test_on_binding(self, spec: object) -> None:
        known = pl.DataFrame({"value": ["a", "Zaphod", "Trillian", None], "records": [5, 3, 4, 9]})
        with pytest.raises(DataError) as error:
            parse_hierarchy(spec).bind(Column("name"), known)
        assert "column 'name': 2 distinct value(s), 7 record(s)" in str(error.value)
        assert "Zaphod" not in str(error.value)

    def test_in_a_batch(self, spec: object) -> None:
        bound = parse_hierarchy(spec).bind(Column("name"), pl.DataFrame({"value": ["a"], "records": [5]}))
        batch = pl.Series(["a", "Zaphod", None, "Zaphod"])
        for use in (bound.generalise, bound.loss):
            with pytest.raises(DataError) as error:
                use(batch, 1)
            assert "column 'name': 1 distinct value(s), 2 record(s)" in str(error.value)
            assert "Zaphod" not in str(error.value)
