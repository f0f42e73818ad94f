"""PRAM: matrices of probabilities, unchanged expected frequencies, the stated share of changes, strata, refusals."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy import stats

from shoal.errors import DataError
from shoal.randomness import Randomness
from shoal.schema import ROW, Column, Counts, ValueType
from shoal.techniques.base import Context, Scope, Step
from shoal.techniques.randomisation.pram import Pram
from shoal.techniques.randomisation.transition_matrix import transition_matrix

pytestmark = pytest.mark.requirement("T-27")

TEXT = Column("x")
weights = st.lists(st.integers(1, 1000), min_size=1, max_size=12)


def table(**columns: object) -> pl.DataFrame:
    frame = pl.DataFrame(columns)
    return frame.with_columns(pl.Series(ROW, range(frame.height), dtype=pl.UInt64))


def bound(frame: pl.DataFrame, column: Column = TEXT, seed: int = 27, **parameters: object) -> Step:
    pram = Pram.model_validate(parameters)
    (wanted,) = pram.wants(column.name)
    counted = frame.group_by(wanted, maintain_order=True).agg(pl.len().alias("len"))
    counts = {wanted: Counts.from_frame(counted, wanted, "len")}
    return pram.bind(column, Context({}, Randomness(seed).stream("pram"), counts))


@given(weights=weights, keep=st.floats(0, 0.99), invariant=st.booleans())
def test_rows_are_probabilities(weights, keep, invariant):
    matrix = transition_matrix(np.array(weights) / sum(weights), keep, invariant=invariant)
    assert (matrix >= 0).all()
    assert np.allclose(matrix.sum(axis=1), 1)


@given(weights=weights, keep=st.floats(0, 0.99))
def test_the_invariant_matrix_leaves_expected_frequencies_and_keeps_the_rarest_as_stated(weights, keep):
    shares = np.array(weights) / sum(weights)
    matrix = transition_matrix(shares, keep, invariant=True)
    assert np.allclose(shares @ matrix, shares, atol=1e-12)
    if len(weights) > 1:
        assert matrix.diagonal().min() == pytest.approx(keep, abs=1e-12)
        assert np.argmin(matrix.diagonal()) in np.flatnonzero(shares == shares.min())


def test_without_invariance_frequencies_drift():
    shares = np.array([0.9, 0.1])
    matrix = transition_matrix(shares, 0.8, invariant=False)
    assert matrix.tolist() == [[0.8, pytest.approx(0.2)], [pytest.approx(0.2), 0.8]]
    assert not np.allclose(shares @ matrix, shares)


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.8])
def test_the_share_of_values_that_stay(keep):
    frame = table(x=["a", "b", "c", "d"] * 5_000)
    stayed = int((bound(frame, keep=keep).apply(frame)["x"] == frame["x"]).sum())
    assert stats.binomtest(stayed, frame.height, keep).pvalue > 0.01
    assert stats.binomtest(stayed, frame.height, keep + 0.02).pvalue < 0.01
    assert stats.binomtest(stayed, frame.height, abs(keep - 0.02)).pvalue < 0.01


def test_an_invariant_draw_keeps_frequencies_though_many_values_change():
    frame = table(x=["common"] * 9_000 + ["some"] * 900 + ["rare"] * 100)
    changed = bound(frame, keep=0.6, invariant=True).apply(frame)
    after = Counter(changed["x"])
    assert after["common"] == pytest.approx(9_000, abs=120)
    assert after["some"] == pytest.approx(900, abs=100)
    assert after["rare"] == pytest.approx(100, abs=35)
    rare = changed.filter(frame["x"] == "rare")
    assert stats.binomtest(int((rare["x"] == "rare").sum()), 100, 0.6).pvalue > 0.01
    plain = Counter(bound(frame, keep=0.6).apply(frame)["x"])
    assert plain["rare"] > 1_000, "the same keep without invariance swamps the rare value"


def test_only_values_of_the_own_stratum_are_drawn():
    frame = table(x=["yes", "no", "no", "never"] * 500, sex=["f", "f", "f", "m"] * 500)
    changed = bound(frame, keep=0.2, within=["sex"]).apply(frame)
    assert set(changed.filter(pl.col("sex") == "m")["x"]) == {"never"}
    assert set(changed.filter(pl.col("sex") == "f")["x"]) == {"yes", "no"}
    assert changed["sex"].equals(frame["sex"])


def test_frequencies_are_kept_in_each_stratum():
    frame = table(x=(["a"] * 9 + ["b"]) * 600 + (["a"] + ["b"] * 9) * 600, s=["one"] * 6_000 + [None] * 6_000)
    changed = bound(frame, keep=0.3, invariant=True, within=["s"]).apply(frame)
    share = changed.group_by("s").agg((pl.col("x") == "a").mean()).sort("x")["x"].to_list()
    assert share == [pytest.approx(0.1, abs=0.02), pytest.approx(0.9, abs=0.02)]


def test_missing_values_stay_and_are_never_drawn():
    frame = table(x=["a", "b", None] * 400)
    changed = bound(frame, keep=0.1).apply(frame)
    assert changed["x"].is_null().equals(frame["x"].is_null())
    assert (changed["x"].drop_nulls() != frame["x"].drop_nulls()).mean() > 0.8


@pytest.mark.parametrize(
    ("column", "values", "matrix"),
    [
        (TEXT, ["a", "b"], {"a": {"a": 0.25, "b": 0.75}, "b": {"new": 1.0}}),
        (Column("x", ValueType.INTEGER, pl.Int64()), [1, 2], {1: {1: 0.25, 2: 0.75}, 2: {3: 1.0}}),
        (
            Column("x", ValueType.BOOLEAN, pl.Boolean()),
            [True, False],
            {True: {True: 0.25, False: 0.75}, False: {True: 1}},
        ),
    ],
)
def test_a_matrix_of_ones_own(column, values, matrix):
    frame = table(x=values * 4_000)
    changed = bound(frame, column, matrix=matrix).apply(frame)["x"]
    assert changed.dtype == frame["x"].dtype
    first = changed.filter(frame["x"] == values[0])
    stayed = int((first == values[0]).sum())
    assert stats.binomtest(stayed, 4_000, 0.25).pvalue > 0.01
    assert changed.filter(frame["x"] == values[1]).n_unique() == 1
    assert (changed.filter(frame["x"] == values[1]) != values[1]).all()


def test_a_matrix_must_know_every_value():
    frame = table(x=["a", "b", "b", "c", None])
    with pytest.raises(DataError, match=r"2 distinct value\(s\), 3 record\(s\), have no line") as caught:
        bound(frame, matrix={"a": {"a": 1.0}})
    assert "'b'" not in str(caught.value)
    with pytest.raises(DataError, match="don't fit integer"):
        bound(table(x=[1]), Column("x", ValueType.INTEGER, pl.Int64()), matrix={"one": {"two": 1.0}})


def test_someone_alone_in_a_stratum_is_an_error_with_the_count():
    frame = table(x=["a", "b", "a", None], s=[1, 2, 2, 1])
    with pytest.raises(DataError, match=r"column 'x': 1 record\(s\) are alone"):
        bound(frame, keep=0.5, within=["s"])


def test_a_value_that_was_not_counted_is_an_error():
    step = bound(table(x=["a", "b", "a", "b"]), keep=0.5)
    with pytest.raises(DataError, match=r"column 'x': 2 value\(s\) were not there"):
        step.apply(table(x=["a", "later", "z"]))


def test_too_many_categories():
    with pytest.raises(DataError, match="too many distinct values"):
        bound(table(x=[str(at) for at in range(5_000)]), keep=0.5)


def test_columns_may_be_called_anything():
    frame = table(records=["a", "b"] * 20, code=["s", "s", "t", "t"] * 10)
    changed = bound(frame, Column("records"), keep=0.5, within=["code"]).apply(frame)
    assert changed.columns == frame.columns


def test_batches_pickling_and_the_empty_frame():
    frame = table(x=["a", "b", "c", None] * 50, s=["u", None] * 100)
    step = bound(frame, keep=0.5, invariant=True, within=["s"])
    whole = step.apply(frame)
    for cut in (0, 1, 77):
        assert pl.concat([step.apply(frame[:cut]), step.apply(frame[cut:])]).equals(whole)
    assert pickle.loads(pickle.dumps(step)).apply(frame).equals(whole)  # noqa: S301
    assert step.apply(frame.clear()).schema == whole.schema
    assert (step.scope, step.reads) == (Scope.ROW, ("x", "s"))
    assert "'a'" not in repr(step)
    nothing = bound(frame.clear(), keep=0.5)
    assert nothing.apply(frame.clear()).schema == frame.schema


@pytest.mark.requirement("T-29")
def test_refusals_say_why():
    assert "column 'x' is decimal" in (Pram(keep=0.5).refuse(Column("x", ValueType.DECIMAL)) or "")
    assert "within itself" in (Pram(keep=0.5, within=("x",)).refuse(TEXT) or "")
    assert Pram(keep=0.5).refuse(TEXT) is None


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"keep": 1.0},
        {"keep": -0.1},
        {"keep": 0.5, "matrix": {"a": {"a": 1.0}}},
        {"matrix": {"a": {"a": 0.5}}},
        {"matrix": {"a": {"a": 1.5, "b": -0.5}}},
        {"matrix": {"a": {"a": 1.0}}, "invariant": True},
    ],
)
def test_wrong_parameters(parameters):
    with pytest.raises(ValidationError):
        Pram.model_validate(parameters)
