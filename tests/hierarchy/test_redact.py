"""Redaction: sides, values of different lengths, what the length gives away, loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl
import pytest
from pydantic import ValidationError

from shoal.errors import DataError
from shoal.hierarchy import BoundHierarchy, parse_hierarchy
from shoal.schema import Column, ValueType

pytestmark = pytest.mark.requirement("T-08")
Bind = Callable[..., BoundHierarchy]
PINS = ["411005", "500081", "500003", "411028", "411040", "500012"]


def labels(bound: BoundHierarchy, values: Sequence[object], level: int) -> list[str | None]:
    return bound.generalise(pl.Series(values), level).to_list()


def test_one_character_more_on_each_level(bind: Bind) -> None:
    bound = bind("redact", PINS)
    assert bound.height == 6
    shown = [labels(bound, ["411005"], level)[0] for level in range(7)]
    assert shown == ["411005", "41100x", "4110xx", "411xxx", "41xxxx", "4xxxxx", "*"]


def test_meity_table_2v(bind: Bind) -> None:
    """The printed table has 411*** and 4110** for the same area; its text asks for one level for all records."""
    bound = bind({"redact": {"char": "*"}}, PINS)
    assert labels(bound, PINS, 3) == ["411***", "500***", "500***", "411***", "411***", "500***"]


def test_pdpc_postal_code(bind: Bind) -> None:
    assert labels(bind({"redact": {"steps": [4]}}, ["117438", "828755"]), ["117438"], 1) == ["11xxxx"]


def test_from_the_left(bind: Bind) -> None:
    bound = bind({"redact": {"side": "left"}}, PINS)
    assert labels(bound, ["411005", None], 2) == ["xx1005", None]


def test_each_value_loses_its_own_last_characters(bind: Bind) -> None:
    bound = bind("redact", ["7", "12", "105", None])
    assert bound.height == 3
    assert labels(bound, ["7", "12", "105"], 1) == ["x", "1x", "10x"]
    assert labels(bound, ["7", "12", "105"], 2) == ["x", "xx", "1xx"]


@pytest.mark.parametrize(
    ("side", "after"), [("right", ["E11xx", "I10xx", "I1xxx"]), ("left", ["xx1.9", "xxI10", "xxxI1"])]
)
def test_aligned_with_the_longest(bind: Bind, side: str, after: Sequence[str]) -> None:
    bound = bind({"redact": {"align": True, "side": side}}, ["E11.9", "I10", "I1"])
    assert labels(bound, ["E11.9", "I10", "I1"], 2) == after


@pytest.mark.parametrize(("side", "after"), [("right", ["Sheix", "x", "Anx"]), ("left", ["xeila", "x", "xna"])])
def test_length_can_be_hidden(bind: Bind, side: str, after: Sequence[str]) -> None:
    bound = bind({"redact": {"keep_length": False, "side": side}}, ["Sheila", "Al", "Anna"])
    assert labels(bound, ["Sheila", "Al", "Anna"], 2) == after


def test_characters_not_bytes(bind: Bind) -> None:
    bound = bind({"redact": {"char": "•"}}, ["Zürich", "मुंबई"])
    assert labels(bound, ["Zürich"], 4) == ["Zü••••"]


def test_whole_numbers(bind: Bind) -> None:
    bound = bind("redact", [411005], ValueType.INTEGER, storage=pl.Int64())
    assert labels(bound, [411005], 3) == ["411xxx"]


def test_steps(bind: Bind) -> None:
    bound = bind({"redact": {"steps": [1, 3, 6, 9]}}, PINS)
    assert bound.height == 3
    assert [labels(bound, ["411005"], level)[0] for level in (1, 2, 3)] == ["41100x", "411xxx", "*"]


def test_loss_counts_distinct_values(bind: Bind) -> None:
    bound = bind("redact", PINS)
    assert bound.loss(pl.Series(["411005", "500081", None]), 3).tolist() == [2 / 5, 2 / 5, 0]
    assert bound.loss(pl.Series(["411005", "500003", "500081"]), 2).tolist() == [2 / 5, 2 / 5, 2 / 5]
    assert bound.loss(pl.Series(["411005", "500003", "500012"]), 1).tolist() == [0, 0, 0]


def test_long_values_need_steps(bind: Bind) -> None:
    with pytest.raises(DataError, match="column 'column': redaction would have 65 levels"):
        bind("redact", ["y" * 65])
    assert bind({"redact": {"steps": [10, 60]}}, ["y" * 65]).height == 3
    assert bind("redact", ["y" * 64]).height == 64


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"steps": [3, 1]}, "has to redact more"),
        ({"steps": [2, 2]}, "has to redact more"),
        ({"steps": [0]}, "greater than or equal to 1"),
        ({"steps": []}, "at least 1 item"),
        ({"char": "xx"}, "at most 1 character"),
        ({"char": ""}, "at least 1 character"),
        ({"side": "middle"}, "'right' or 'left'"),
    ],
)
def test_wrong_parameters(spec: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError) as error:
        parse_hierarchy({"redact": spec})
    assert message in str(error.value)


def test_refuses_what_has_no_characters() -> None:
    redact = parse_hierarchy("redact")
    assert "column 'born' is stored as date" in str(redact.refuse(Column("born", ValueType.DATE, pl.Date())))
    assert "is stored as decimal" in str(redact.refuse(Column("weight", ValueType.DECIMAL, pl.Float64())))
    assert redact.refuse(Column("born", ValueType.DATE)) is None
