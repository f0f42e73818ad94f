"""Attribute suppression: the attribute is gone, everything else is as it was."""

from __future__ import annotations

import pickle

import polars as pl
import pytest

from shoal.randomness import Randomness
from shoal.schema import ROW, Column, ValueType
from shoal.techniques import Context
from shoal.techniques.suppression.suppress import Suppress, SuppressStep

pytestmark = pytest.mark.requirement("T-01")

FRAME = pl.DataFrame(
    {"name": ["Asha", None], "age": [34, 35], ROW: pl.Series([0, 1], dtype=pl.UInt64)},
)


def step() -> SuppressStep:
    return Suppress().bind(Column("name"), Context({}, Randomness(0).stream("suppress")))


def test_the_attribute_is_gone_and_nothing_else_changes() -> None:
    suppressed = pickle.loads(pickle.dumps(step())).apply(FRAME)  # noqa: S301  # our own bytes
    assert suppressed.equals(FRAME.select("age", ROW))


def test_empty_frames_and_batches() -> None:
    whole = step().apply(FRAME)
    assert step().apply(FRAME.clear()).schema == whole.schema
    assert pl.concat([step().apply(FRAME[:1]), step().apply(FRAME[1:])]).equals(whole)


def test_the_values_need_not_even_be_read() -> None:
    assert step().reads == ()
    assert step().apply(FRAME.drop("name")).equals(FRAME.drop("name"))


@pytest.mark.requirement("T-29")
@pytest.mark.parametrize("type_", list(ValueType))
def test_every_value_type_can_be_suppressed(type_: ValueType) -> None:
    assert Suppress().refuse(Column("name", type_, missing=3)) is None
