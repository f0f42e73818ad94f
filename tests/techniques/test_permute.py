"""Permutation: what it keeps (values, tuples, strata, nearness in rank), what it breaks, how likely each order is."""

from __future__ import annotations

import datetime
import pickle
from collections import Counter
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy import stats

from shoal.errors import DataError
from shoal.randomness import Randomness
from shoal.schema import ROW, Column, ValueType
from shoal.techniques.base import Context, Scope, Step
from shoal.techniques.randomisation.permute import Permute

pytestmark = pytest.mark.requirement("T-15")

TEXT = Column("x")
NUMBER = Column("x", ValueType.INTEGER, pl.Int64())


def bound(column: Column = TEXT, seed: int = 15, **parameters: object) -> Step:
    return Permute.model_validate(parameters).bind(column, Context({}, Randomness(seed).stream("permute")))


def table(**columns: object) -> pl.DataFrame:
    frame = pl.DataFrame(columns)
    return frame.with_columns(pl.Series(ROW, range(frame.height), dtype=pl.UInt64))


records = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", None]), st.integers(0, 3), st.sampled_from(["m", "f", None])), max_size=25
)


@given(rows=records, seed=st.integers(0, 1000))
@settings(max_examples=60)
def test_tuples_are_kept_within_strata_and_nothing_else_moves(rows, seed):
    schema = {"x": pl.String, "y": pl.Int64, "sex": pl.String}
    frame = table(**pl.DataFrame(rows, schema=schema, orient="row").to_dict()).with_columns(
        still=pl.int_range(pl.len())
    )
    moved = bound(seed=seed, **{"with": ["y"], "within": ["sex"]}).apply(frame)  # type: ignore[arg-type]
    assert Counter(moved.select("x", "y", "sex").rows()) == Counter(frame.select("x", "y", "sex").rows())
    assert moved.drop("x", "y").equals(frame.drop("x", "y"))
    assert moved.schema == frame.schema


def test_columns_permuted_apart_lose_their_link_and_together_keep_it():
    frame = table(x=[str(at) for at in range(200)], y=list(range(200)))
    together = bound(**{"with": ["y"]}).apply(frame)  # type: ignore[arg-type]
    assert (together["x"] == together["y"].cast(pl.String)).all()
    assert (together["x"] != frame["x"]).sum() > 190
    apart = bound().apply(frame)
    assert (apart["x"] == apart["y"].cast(pl.String)).sum() < 10


@pytest.mark.parametrize(("derange", "possible"), [(False, 24), (True, 9)])
def test_every_order_is_equally_likely(derange, possible):
    frame = table(x=["0", "1", "2", "3"])
    drawn = Counter(tuple(bound(seed=seed, derange=derange).apply(frame)["x"]) for seed in range(1800))
    wanted = {order for order in permutations("0123") if not derange or all(int(c) != at for at, c in enumerate(order))}
    assert set(drawn) == wanted
    assert len(wanted) == possible
    assert stats.chisquare(list(drawn.values())).pvalue > 0.01


@given(sizes=st.lists(st.integers(2, 9), min_size=1, max_size=8), seed=st.integers(0, 1000))
@settings(max_examples=60)
def test_a_true_swap_leaves_no_value_in_its_place(sizes, seed):
    strata = np.repeat(np.arange(len(sizes)), sizes)
    np.random.default_rng(seed).shuffle(strata)
    frame = table(x=[str(at) for at in range(len(strata))], s=strata)
    moved = bound(seed=seed, derange=True, within=["s"]).apply(frame)
    assert (moved["x"] != frame["x"]).all()
    origin = moved["x"].cast(pl.Int64).to_numpy()
    assert (strata[origin] == strata).all()
    assert sorted(origin) == list(range(len(strata)))


def test_a_true_swap_of_someone_alone_is_an_error_with_the_count():
    frame = table(x=["a", "b", "c", "d"], sex=["m", "m", "f", None])
    with pytest.raises(DataError, match=r"column 'x': 2 record\(s\) are alone"):
        bound(derange=True, within=["sex"]).apply(frame)
    with pytest.raises(DataError, match=r"1 record\(s\) are alone"):
        bound(derange=True).apply(frame[:1])
    assert bound().apply(frame[:1]).equals(frame[:1])


@given(
    values=st.lists(st.integers(0, 12), min_size=5, max_size=60),
    share=st.sampled_from([0.2, 0.34, 0.5, 1.0]),
    seed=st.integers(0, 1000),
)
@settings(max_examples=60)
def test_rank_swapping_moves_no_value_further_than_its_share(values, share, seed):
    frame = table(x=values, name=[str(at) for at in range(len(values))])
    moved = bound(NUMBER, seed=seed, rank=share, **{"with": ["name"]}).apply(frame)
    assert sorted(moved["x"]) == sorted(values)
    window = int(share * len(values))
    lowest = np.searchsorted(np.sort(values), values, side="left")
    highest = np.searchsorted(np.sort(values), values, side="right") - 1
    origin = moved["name"].cast(pl.Int64).to_numpy()
    # Equal values share their ranks, so the distance is that between the nearest ranks of the two.
    gap = np.maximum(lowest[origin] - highest, lowest - highest[origin])
    assert (gap <= window).all()


def test_rank_swapping_uses_the_whole_window_and_not_more():
    size, share = 1000, 0.05
    frame = table(x=list(range(size)))
    moved = [
        np.abs(bound(NUMBER, seed=seed, rank=share).apply(frame)["x"].to_numpy() - np.arange(size))
        for seed in range(20)
    ]
    # 1000 records in the fewest runs of at most 51: 20 runs of 50
    assert max(distance.max() for distance in moved) == 49
    assert np.mean([distance.mean() for distance in moved]) == pytest.approx(50 / 3, rel=0.05)
    assert np.mean([(distance == 0).mean() for distance in moved]) == pytest.approx(1 / 50, rel=0.2)


def test_rank_swapping_of_dates_within_strata_with_a_true_swap():
    days = [datetime.date(2000, 1, 1) + datetime.timedelta(days=7 * at) for at in range(40)]
    frame = table(x=days, s=[at % 2 for at in range(40)])
    step = bound(Column("x", ValueType.DATE, pl.Date()), rank=0.2, derange=True, within=["s"])
    moved = step.apply(frame)
    assert (moved["x"] != frame["x"]).all()
    assert (moved["x"] - frame["x"]).abs().max() <= datetime.timedelta(days=7 * 2 * 4)
    for stratum in (0, 1):
        of = pl.col("s") == stratum
        assert set(moved.filter(of)["x"]) == set(frame.filter(of)["x"])


def test_rank_swapping_has_no_place_for_a_missing_value_or_a_window_of_nothing():
    with pytest.raises(DataError, match=r"column 'x': 1 missing value\(s\) have no rank"):
        bound(NUMBER, rank=0.5).apply(table(x=[1, None, 3]))
    with pytest.raises(DataError, match=r"a rank share of 0\.1 reaches no other record in 2 strata"):
        bound(NUMBER, rank=0.1, within=["s"]).apply(table(x=[1, 2, 3, 4], s=["a", "b", "a", "b"]))


@pytest.mark.parametrize(
    "parameters",
    [{}, {"with": ["y"]}, {"derange": True}, {"rank": 0.3}, {"rank": 0.3, "derange": True, "within": ["y"]}],
)
def test_pickling_repeating_and_the_empty_frame(parameters):
    step = bound(NUMBER, **parameters)
    frame = table(x=list(range(60)), y=[at % 2 for at in range(60)])
    moved = step.apply(frame)
    assert not moved.equals(frame)
    assert pickle.loads(pickle.dumps(step)).apply(frame).equals(moved)  # noqa: S301
    assert step.apply(frame.clear()).schema == moved.schema
    assert step.scope is Scope.TABLE
    assert set(step.reads) == {"x", *parameters.get("with", ()), *parameters.get("within", ())}


def test_the_draw_belongs_to_row_numbers_not_to_places():
    frame = table(x=list(range(30)))
    later = frame.with_columns(pl.col(ROW) + 1000)
    assert not bound(NUMBER).apply(frame)["x"].equals(bound(NUMBER).apply(later)["x"])


@pytest.mark.requirement("T-29")
@pytest.mark.parametrize(
    ("parameters", "column", "reason"),
    [
        ({"rank": 0.1}, TEXT, "rank swapping needs numbers or dates"),
        ({"rank": 0.1}, Column("x", ValueType.INTEGER, missing=3), "a missing value has no rank; column 'x' has 3"),
        ({"with": ["x"]}, TEXT, "with or within itself"),
        ({"within": ["x"]}, TEXT, "with or within itself"),
    ],
)
def test_refusals_say_why(parameters, column, reason):
    assert reason in (Permute.model_validate(parameters).refuse(column) or "")
    assert Permute().refuse(Column("x", missing=5)) is None


@pytest.mark.parametrize(
    "parameters", [{"rank": 0}, {"rank": 1.5}, {"with": ["y"], "within": ["y"]}, {"within": ["y", "y"]}, {"swap": True}]
)
def test_wrong_parameters(parameters):
    with pytest.raises(ValidationError):
        Permute.model_validate(parameters)
