"""What holds for every kind of hierarchy, whatever its parameters and values."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import strategies as st
from tests.support.hierarchies import CASES, every_kind

from shoal.errors import DataError
from shoal.hierarchy import TOP, hierarchies, parse_hierarchy
from shoal.schema import Column, ValueType

pytestmark = pytest.mark.requirement("T-08")


def test_every_kind_is_held_to_the_laws() -> None:
    assert set(hierarchies.names()) == set(CASES) - {"flat"}


@every_kind(15)
def test_levels_nest(kind: str, data: st.DataObject) -> None:
    drawn = data.draw(CASES[kind])
    bound = drawn.bind()
    for level in range(bound.height):
        parents: dict[object, str] = {}
        below, above = bound.generalise(drawn.values, level), bound.generalise(drawn.values, level + 1)
        for child, parent in zip(below, above, strict=True):
            assert parents.setdefault(child, parent) == parent


@every_kind(15)
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


@every_kind(15)
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


@every_kind(15)
def test_one_label_one_loss(kind: str, data: st.DataObject) -> None:
    drawn = data.draw(CASES[kind])
    bound = drawn.bind()
    for level in range(1, bound.height):
        seen: dict[object, float] = {}
        for label, loss in zip(bound.generalise(drawn.values, level), bound.loss(drawn.values, level), strict=True):
            assert seen.setdefault(label, loss) == loss


@every_kind(15)
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


@every_kind(15)
def test_bounds_hold_the_value(kind: str, data: st.DataObject) -> None:
    drawn = data.draw(CASES[kind])
    bound = drawn.bind()
    for level in range(bound.height + 1):
        found = bound.bounds(drawn.values, level)
        if kind not in {"intervals", "cuts", "grid", "dates"}:
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


@every_kind(3)
def test_no_values_at_all(kind: str, data: st.DataObject) -> None:
    drawn = data.draw(CASES[kind])
    empty = replace(drawn, values=drawn.values.clear(), records=[])
    bound = empty.bind()
    for level in range(bound.height + 1):
        assert len(bound.generalise(empty.values, level)) == 0
        assert bound.loss(empty.values, level).shape == (0,)


@every_kind(3)
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
