"""Grid cells of coordinates."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from shoal.hierarchy import BoundHierarchy, parse_hierarchy
from shoal.schema import Column, ValueType

pytestmark = pytest.mark.requirement("T-08")
Bind = Callable[..., BoundHierarchy]
DECIMAL = ValueType.DECIMAL


def test_pdpc_gps_location(bind: Bind) -> None:
    """PDPC annex B rounds 103.79967 up to 103.800; cells that nest begin at their label, so here it is 103.799."""
    point = ["1.27434", "103.79967"]
    assert bind({"grid": [3]}, point, DECIMAL).generalise(pl.Series(point), 1).to_list() == ["1.274", "103.799"]


def test_negative_coordinates_have_cells_of_the_same_size(bind: Bind) -> None:
    bound = bind({"grid": [1, 0]}, ["-1.95", "0.95"], DECIMAL)
    values = pl.Series(["-1.95", "-0.05", "0.00", "0.05", None])
    assert bound.generalise(values, 1).to_list() == ["-2.0", "-0.1", "0.0", "0.0", None]
    assert bound.generalise(values, 2).to_list() == ["-2", "-1", "0", "0", None]


def test_loss_is_the_share_of_the_range(bind: Bind) -> None:
    bound = bind({"grid": [1, 0]}, [0.0, 20.0], DECIMAL)
    assert bound.loss(pl.Series([5.0]), 1)[0] == pytest.approx(0.1 / 20)
    assert bound.loss(pl.Series([5.0]), 2)[0] == pytest.approx(1 / 20)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(-18_000_000, 18_000_000), min_size=1), st.integers(0, 5))
def test_fewer_decimals_are_the_floor(bind: Bind, numbers: list[int], decimals: int) -> None:
    """Computed a second way, in whole hundred-thousandths of a degree."""
    texts = [f"{'-' * (number < 0)}{abs(number) // 100_000}.{abs(number) % 100_000:05d}" for number in numbers]
    labels = bind({"grid": [decimals]}, texts, DECIMAL).generalise(pl.Series(texts), 1)
    cell = 10 ** (5 - decimals)
    for number, label in zip(numbers, labels, strict=True):
        assert round(float(label) * 100_000) == number // cell * cell
        assert len(label.partition(".")[2]) == decimals


@pytest.mark.parametrize("decimals", [[0, 1], [2, 2], [], [-1], [10]])
def test_wrong_decimals(decimals: list[int]) -> None:
    with pytest.raises(ValidationError):
        parse_hierarchy({"grid": decimals})


def test_refuses_other_columns() -> None:
    refusal = parse_hierarchy("grid").refuse(Column("place"))
    assert refusal == "grid works on decimal columns; column 'place' is text"
