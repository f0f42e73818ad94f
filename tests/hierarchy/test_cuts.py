"""Intervals between given edges, and the quantiles that are proposed for crowded columns."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from shoal.discover.suggestion.hierarchy_choice import HierarchyChoice, choose_hierarchy
from shoal.errors import PolicyError, ShoalError
from shoal.hierarchy import parse_hierarchy
from shoal.schema import Column, ValueType

pytestmark = pytest.mark.requirement("T-08")


def labels(written: Any, values: list[Any], level: int, type_: ValueType = ValueType.INTEGER) -> list[str | None]:
    counted = pl.DataFrame({"value": values, "records": [1] * len(values)})
    column = Column("one", type_, storage=counted["value"].dtype)
    return parse_hierarchy({"cuts": written}).bind(column, counted).generalise(counted["value"], level).to_list()


def test_an_edge_begins_its_interval() -> None:
    assert labels([10, 100], [9, 10, 99, 100, None], 1) == ["<10", "10-99", "10-99", "100+", None]


def test_decimals_show_which_end_is_inside() -> None:
    assert labels([0.3, 2.5], [0.29, 0.3, 2.5], 1, ValueType.DECIMAL) == ["<0.3", "[0.3, 2.5)", "≥ 2.5"]


def test_neighbours_are_joined_as_said() -> None:
    written = {"at": [10, 20, 30, 40, 50], "join": [3]}
    assert labels(written, [5, 29, 30, 60], 2) == ["<30", "<30", "30+", "30+"]
    assert labels(written, [5, 60], 3) == ["*", "*"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"at": [10, 10]}, "larger than the one before"),
        ({"at": [10, 20, 30], "join": [2, 3]}, "not a multiple"),
        ({"at": [10, 20, 30], "join": [4]}, "nothing to tell apart"),
        ({"at": []}, "at least 1"),
    ],
)
def test_what_is_refused(written: Any, said: str) -> None:
    with pytest.raises((ValueError, PolicyError, ShoalError), match=said):
        parse_hierarchy({"cuts": written})


def test_whole_numbers_need_whole_edges() -> None:
    cuts = parse_hierarchy({"cuts": [0.5]})
    assert "whole" in (cuts.refuse(Column("visits", ValueType.INTEGER)) or "")
    assert cuts.refuse(Column("dose", ValueType.DECIMAL)) is None


def proposed(values: Sequence[float]) -> HierarchyChoice:
    return choose_hierarchy(pl.LazyFrame({"amount": values}), "amount")


def written(choice: HierarchyChoice) -> dict[str, Any]:
    return choice.setting if isinstance(choice.setting, dict) else {}


def test_crowded_numbers_get_quantiles_and_even_ones_common_widths() -> None:
    draw = random.Random(5)
    skewed = [round(draw.lognormvariate(9, 1.6)) for _ in range(2_000)]
    choice = proposed([float(one) for one in skewed])
    assert set(written(choice)) == {"cuts"}
    found = choice.bound.generalise(pl.Series("value", [float(one) for one in skewed]), 1)
    shares = found.value_counts()["count"] / len(skewed)
    assert shares.max() < 0.25  # type: ignore[operator]
    assert len(shares) >= 6
    assert proposed([float(one) for one in range(400)]).setting == {"intervals": {"widths": [20, 40, 80]}}


def test_proposed_edges_are_round_and_few_records_get_none() -> None:
    draw = random.Random(6)
    values = [round(draw.lognormvariate(9, 1.6), 2) for _ in range(500)]
    choice = proposed(values)
    edges = written(choice)["cuts"]["at"]
    assert not set(edges) & set(values)
    assert "cuts" not in written(proposed(values[:30]))


def test_counts_with_many_zeros() -> None:
    draw = random.Random(7)
    visits = [0] * 500 + [draw.choice([1, 2, 3, 4, 6, 9, 15, 40, 90, 300]) for _ in range(500)]
    choice = proposed(visits)
    assert set(written(choice)) == {"cuts"}
    assert choice.bound.generalise(pl.Series("value", [0]), 1).to_list() == ["<1"]
