"""A rewrite rule makes a plan quicker and leaves its output unchanged."""

from __future__ import annotations

import pickle

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import DataError
from shoal.hierarchy import parse_hierarchy
from shoal.plan import rewrite_rules
from shoal.plan.nodes import PlannedStep
from shoal.plan.rewrite_rules import PlanSegment
from shoal.schema import Column, Step, ValueType
from shoal.techniques.generalisation.generalise import GeneraliseStep, LookUpStep

pytestmark = pytest.mark.requirement("T-08")


def looked_up(step: GeneraliseStep, known: pl.Series) -> Step:
    node = PlannedStep(step, "generalise", "", "age", known_values=known)
    schema = pl.Schema({"age": step.column.storage or pl.String()})
    (rewritten,) = rewrite_rules.look_up_labels(PlanSegment.over(schema, (node,))).steps
    return rewritten.step


def step_on(values: pl.Series, level: int) -> GeneraliseStep:
    column = Column("age", ValueType.INTEGER, storage=values.dtype)
    distinct = values.unique().to_frame("value").with_columns(pl.lit(1).alias("records"))
    return GeneraliseStep(column, parse_hierarchy({"intervals": [10, 50]}).bind(column, distinct), level)


@given(
    values=st.lists(st.integers(-99, 199) | st.none(), min_size=1, max_size=40),
    level=st.integers(1, 3),
    text=st.booleans(),
)
@settings(max_examples=60)
def test_look_up_gives_what_computing_gives(values: list[int | None], level: int, text: bool) -> None:
    ages = pl.Series("age", values, dtype=pl.Int64)
    ages = ages.cast(pl.String) if text else ages
    computed = step_on(ages, level)
    found = looked_up(computed, ages.unique())
    assert isinstance(found, LookUpStep)
    assert found.apply(ages.to_frame()).equals(computed.apply(ages.to_frame()))
    assert found.apply(ages.to_frame().clear()).schema == computed.apply(ages.to_frame().clear()).schema
    assert pickle.loads(pickle.dumps(found)).apply(ages.to_frame()).equals(computed.apply(ages.to_frame()))  # noqa: S301


def test_many_values_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewrite_rules, "MOST_ENTRIES", 2)
    ages = pl.Series("age", [1, 2, 3])
    assert looked_up(step_on(ages, 1), ages) == step_on(ages, 1)


def test_a_value_that_was_not_counted_stops_the_run() -> None:
    ages = pl.Series("age", [1, 2])
    found = looked_up(step_on(ages, 1), ages)
    with pytest.raises(DataError, match="'age' has values") as caught:
        found.apply(pl.DataFrame({"age": [31]}))
    assert "31" not in str(caught.value)
