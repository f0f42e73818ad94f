"""Private methods alike: what they keep, what they promise, models as files, constraints that are declared."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.synth.private_tables import PRIVATE, PrivateModel, categories, fit, people

from shoal.errors import Cancelled
from shoal.randomness import Randomness
from shoal.schema.progress import CancelToken, Monitor
from shoal.synth.constraints import FunctionalDependency, Inequality, SumOfParts, TableConstraints, UniqueColumn
from shoal.synth.method import FitOptions, batches, synthesis_method
from shoal.synth.model_files import load_model, save_model
from shoal.synth.table_coding import TableDescription

pytestmark = pytest.mark.requirement("T-25")


@cache
def model(method: str) -> PrivateModel:
    return fit(people(2_000).select("sex", "age", "job"), method, epsilon=20.0)


@pytest.mark.parametrize("method", PRIVATE)
def test_what_depends_on_others_still_does(method: str) -> None:
    drawn = model(method).sample(4_000, Randomness(1))
    old = drawn.filter((pl.col("age") > 66) & pl.col("job").is_not_null())
    young = drawn.filter((pl.col("age") < 58) & pl.col("job").is_not_null())
    assert (old["job"] == "retired").mean() > 0.75
    assert (young["job"] == "retired").mean() < 0.15
    assert (drawn["sex"] == "f").mean() == pytest.approx(0.4, abs=0.04)


@pytest.mark.parametrize("method", PRIVATE)
def test_a_saved_model_draws_the_same(method: str, tmp_path: Path) -> None:
    path, second = tmp_path / "people.model", tmp_path / "again.model"
    save_model(model(method), path)
    loaded = load_model(path)
    assert loaded.sample(1_000, Randomness(2)).equals(model(method).sample(1_000, Randomness(2)))
    assert loaded.inspect() == model(method).inspect()
    save_model(loaded, second)
    assert second.read_bytes() == path.read_bytes()
    told = synthesis_method(method).guarantee(FitOptions(), loaded)
    assert told == synthesis_method(method).guarantee(FitOptions(), model(method))


@pytest.mark.parametrize("method", PRIVATE)
def test_the_same_seed_gives_the_same_records(method: str) -> None:
    whole = model(method).sample(66_000, Randomness(4))
    assert whole.equals(pl.concat(batches(model(method), 66_000, Randomness(4))))
    assert not whole.equals(model(method).sample(66_000, Randomness(5)))
    assert model(method).sample(0, Randomness(1)).schema == whole.schema


@pytest.mark.parametrize("method", PRIVATE)
def test_no_seed_repeats_the_noise(method: str) -> None:
    """Whoever knows a seed must not be able to take the noise out again."""
    frame, said = people(300).select("sex"), categories(sex="fm")
    sides = [fit(frame, method, description=said, randomness=Randomness(1), epsilon=0.5) for _ in range(6)]
    assert len({one.records for one in sides}) > 1


@pytest.mark.parametrize("method", PRIVATE)
def test_the_promise_says_what_holds_and_what_does_not(method: str) -> None:
    found = synthesis_method(method)
    assert found.is_private
    told = found.guarantee(FitOptions(), model(method))
    assert (told.epsilon, told.delta) == (20.0, 1e-6)
    assert any("ε = 20" in line for line in told.guaranteed)
    assert any("public knowledge" in line for line in told.not_guaranteed)
    assert not synthesis_method("sequential").is_private


@pytest.mark.slow
def test_a_workload_is_measured_first() -> None:
    """Where little can be told, what matters is told: pairs of the workload, or with a target."""
    numbers = np.random.default_rng(1)
    base = numbers.integers(0, 4, 3_000)
    frame = pl.DataFrame({name: base ^ (numbers.random(3_000) < 0.3) for name in "abcdef"}).cast(pl.String)
    said = categories(**dict.fromkeys("abcdef", "01234"))
    for options in ({"workload": (("a", "b"),)}, {"targets": ("a",)}):
        asked = fit(frame, description=said, epsilon=0.3, **options).inspect()["pairs"]
        assert "a" in asked[0]["columns"]


@pytest.mark.slow
def test_columns_beyond_what_goes_together_are_drawn_alone() -> None:
    frame = pl.DataFrame({f"c{at}": ["0", "1"] * 20 for at in range(70)})
    found = fit(frame, description=categories(**dict.fromkeys(frame.columns, "01")))
    assert len(found.inspect()["alone"]) == 6
    assert found.sample(10, Randomness(1)).width == 70


@pytest.mark.parametrize("method", PRIVATE)
def test_a_fit_can_be_stopped(method: str) -> None:
    stop = CancelToken()
    stop.cancel()
    with pytest.raises(Cancelled):
        fit(people(200).select("sex", "age"), method, monitor=Monitor(cancel=stop))


@st.composite
def constrained(draw: st.DrawFn) -> tuple[pl.DataFrame, TableConstraints]:
    numbers = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = draw(st.integers(1, 300))
    low, gap = numbers.integers(-50, 50, rows), numbers.integers(0, draw(st.integers(1, 40)), rows)
    town = numbers.integers(0, draw(st.integers(1, 6)), rows)
    missing = pl.Series(numbers.random(rows) < draw(st.sampled_from([0, 0.2])))
    frame = pl.DataFrame(
        {
            "id": np.arange(rows),
            "low": pl.Series(low).set(missing, None),
            "high": low + gap,
            "one": numbers.integers(0, 9, rows),
            "two": numbers.integers(0, 9, rows),
            "town": town.astype(str),
            "state": (town // 2).astype(str),
        }
    ).with_columns(total=pl.col("one") + pl.col("two"))
    return frame, TableConstraints(
        dependencies=(FunctionalDependency(determinant="town", dependent="state"),) * draw(st.integers(0, 1)),
        inequalities=(Inequality(lower="low", upper="high"),) * draw(st.integers(0, 1)),
        sums=(SumOfParts(total="total", parts=("one", "two")),) * draw(st.integers(0, 1)),
        unique=(UniqueColumn(column="id"),) * draw(st.integers(0, 1)),
    )


@pytest.mark.parametrize("method", ["network", pytest.param("marginals", marks=pytest.mark.slow)])
@given(table=constrained(), epsilon=st.sampled_from([0.1, 3.0, 100.0]))
@settings(deadline=None, max_examples=6)
def test_declared_constraints_hold_in_every_record(
    method: str, table: tuple[pl.DataFrame, TableConstraints], epsilon: float
) -> None:
    frame, declared = table
    said = TableDescription(constraints=declared)
    drawn = fit(frame, method, description=said, epsilon=epsilon).sample(200, Randomness(1))
    assert drawn.columns == frame.columns
    if declared.inequalities:
        assert drawn.filter(pl.col("low") > pl.col("high")).is_empty()
    if declared.sums:
        assert drawn.filter(pl.col("one") + pl.col("two") != pl.col("total")).is_empty()
    if declared.unique:
        assert drawn["id"].n_unique() == 200
    if declared.dependencies and "state" in drawn.columns:
        assert drawn.group_by("town").agg(pl.col("state").n_unique())["state"].max() == 1
