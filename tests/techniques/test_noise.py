"""Noise: the right distribution and not a wrong one, bounds, types, missing values, refusals."""

from __future__ import annotations

import datetime
import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import ValidationError
from scipy import stats

from shoal.errors import DataError
from shoal.randomness import Randomness
from shoal.schema import ROW, Column, ValueType
from shoal.techniques.base import Context, Scope, Step
from shoal.techniques.randomisation.noise.noise import Noise

pytestmark = pytest.mark.requirement("T-14")

STREAM = Randomness(seed=14).stream("noise")
INTEGER = Column("x", ValueType.INTEGER, pl.Int64())
DECIMAL = Column("x", ValueType.DECIMAL, pl.Float64(), scale=6)
DATE = Column("x", ValueType.DATE, pl.Date())
DATETIME = Column("x", ValueType.DATETIME, pl.Datetime("us"))
TEXT_DATE = Column("x", ValueType.DATE, pl.String(), date_format="%d/%m/%Y")


def bound(column: Column, *others: Column, **parameters: object) -> Step:
    columns = {each.name: each for each in (column, *others)}
    return Noise.model_validate(parameters).bind(column, Context(columns, STREAM))


def table(values: pl.Series | list[object], dtype: pl.DataType | None = None) -> pl.DataFrame:
    series = values if isinstance(values, pl.Series) else pl.Series(values, dtype=dtype)
    return pl.DataFrame({ROW: pl.Series(range(len(series)), dtype=pl.UInt64), "x": series})


def residuals(rows: int = 20_000, value: float = 0.0, **parameters: object) -> NDArray[np.float64]:
    fine = Column("x", ValueType.DECIMAL, pl.Float64(), scale=12)
    noisy = bound(fine, **parameters).apply(table(pl.Series(np.full(rows, value))))
    return noisy["x"].to_numpy() - value


def fits(sample: NDArray[np.float64], distribution: object) -> bool:
    return bool(stats.kstest(sample, distribution.cdf).pvalue > 0.01)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("parameters", "right", "narrow", "wide"),
    [
        ({"laplace": {"scale": 3.0}}, stats.laplace(scale=3.0), stats.laplace(scale=2.7), stats.laplace(scale=3.3)),
        ({"gaussian": {"sd": 3.0}}, stats.norm(scale=3.0), stats.norm(scale=2.7), stats.norm(scale=3.3)),
        (
            {"uniform": {"width": 3.0}},
            stats.uniform(-1.5, 3.0),
            stats.uniform(-1.35, 2.7),
            stats.uniform(-1.65, 3.3),
        ),
    ],
)
def test_additive_noise_has_the_stated_scale_and_no_other(parameters, right, narrow, wide):
    sample = residuals(**parameters)
    assert fits(sample, right)
    assert not fits(sample, narrow)
    assert not fits(sample, wide)
    assert not fits(sample + 0.1, right), "a shifted mean must be noticed"


def test_multiplicative_noise_scales_with_the_value():
    sample = residuals(value=200.0, multiplicative={"sd": 0.1})
    assert fits(sample, stats.norm(scale=20.0))
    assert not fits(sample, stats.norm(scale=18.0))
    assert not fits(sample, stats.norm(scale=22.0))
    assert (residuals(value=0.0, rows=100, multiplicative={"sd": 0.1}) == 0).all()


@pytest.mark.parametrize(
    ("parameters", "variance"),
    [
        ({"laplace": {"scale": 3.0}}, 18.0),
        ({"gaussian": {"sd": 3.0}}, 9.0),
        ({"uniform": {"width": 6.0}}, 3.0),
    ],
)
def test_the_statistics_it_says_it_keeps(parameters, variance):
    assert Noise.model_validate(parameters).keeps == f"the mean; the variance rises by {variance:g}"
    sample = residuals(rows=50_000, **parameters)
    assert sample.mean() == pytest.approx(0.0, abs=4 * np.sqrt(variance / 50_000))
    assert sample.var() == pytest.approx(variance, rel=0.05)


def test_days_are_uniform_and_reach_both_ends():
    day = datetime.date(2020, 2, 29)
    moved = bound(DATE, days=3).apply(table([day] * 7_000))["x"]
    shifts = (moved - day).dt.total_days()
    counted = np.bincount(shifts.to_numpy() + 3, minlength=7)
    assert len(counted) == 7
    assert stats.chisquare(counted).pvalue > 0.01


def test_dates_with_time_blur_the_time_of_day_within_the_days():
    moment = datetime.datetime.fromisoformat("2020-05-17T09:30:15")
    moved = bound(DATETIME, days=2).apply(table([moment] * 5_000))["x"]
    seconds = (moved - moment).dt.total_seconds().to_numpy().astype(float)
    assert np.abs(seconds).max() <= 2 * 86_400
    assert fits(seconds, stats.uniform(-172_800, 345_600))
    assert moved.dt.hour().n_unique() == 24


def test_dates_stored_as_text_stay_text_in_their_format():
    moved = bound(TEXT_DATE, days=1).apply(table(["01/03/2024", None, "31/12/1999"]))["x"]
    assert moved.dtype == pl.String
    assert moved[1] is None
    assert moved[0] in {"29/02/2024", "01/03/2024", "02/03/2024"}
    assert moved[2] in {"30/12/1999", "31/12/1999", "01/01/2000"}


def test_integers_stay_integers_and_decimals_keep_their_digits():
    whole = bound(INTEGER, gaussian={"sd": 2.5}).apply(table([1, 2, 3]))["x"]
    assert whole.dtype == pl.Int64
    two_digits = Column("x", ValueType.DECIMAL, pl.Float64(), scale=2)
    noisy = bound(two_digits, gaussian={"sd": 2.5}).apply(table([1.25] * 50))["x"]
    assert (noisy.round(2) == noisy).all()
    assert (noisy.round(1) != noisy).any()
    coarse = bound(two_digits, gaussian={"sd": 2.5}, decimals=1).apply(table([1.25] * 50))["x"]
    assert (coarse.round(1) == coarse).all()


def test_integers_beyond_the_digits_of_a_float_are_exact():
    large = 2**60 + 1
    noisy = bound(INTEGER, uniform={"width": 4}).apply(table([large] * 100))["x"]
    assert set((noisy - large).to_list()) == {-2, -1, 0, 1, 2}


@given(
    values=st.lists(st.one_of(st.none(), st.integers(-50, 150)), max_size=30),
    scale=st.floats(0.1, 1e4),
    low=st.integers(-20, 20),
    width=st.integers(1, 60),
)
@settings(max_examples=60, deadline=None)
def test_bounds_hold_for_every_value_and_missing_ones_stay(values, scale, low, width):
    noisy = bound(INTEGER, laplace={"scale": scale}, bounds=[low, low + width]).apply(table(values, pl.Int64()))["x"]
    assert noisy.is_null().to_list() == [value is None for value in values]
    assert noisy.drop_nulls().is_between(low, low + width).all()


def test_bounds_truncate_rather_than_pile_up():
    sample = residuals(rows=20_000, gaussian={"sd": 1.0}, bounds=[-1.0, 1.0])
    assert fits(sample, stats.truncnorm(-1.0, 1.0))
    assert np.count_nonzero(np.abs(sample) == 1.0) < 5


def test_what_lies_far_outside_is_clamped_to_the_bound():
    noisy = bound(INTEGER, uniform={"width": 2}, bounds=[0, 10]).apply(table([-500, 5, 500]))["x"]
    assert noisy[0] == 0
    assert noisy[2] == 10


def test_rounding_can_not_cross_a_bound():
    noisy = bound(INTEGER, uniform={"width": 10}, bounds=[0.5, 2.5]).apply(table([1] * 200))["x"]
    assert set(noisy) == {1, 2}
    with pytest.raises(DataError, match="no value with 0 decimal"):
        bound(INTEGER, uniform={"width": 10}, bounds=[0.2, 0.8])


def test_date_bounds_include_both_days():
    first, last = datetime.date(2020, 1, 1), datetime.date(2020, 1, 3)
    moved = bound(DATE, days=30, bounds=[first, last]).apply(table([datetime.date(2020, 1, 2)] * 300))["x"]
    assert set(moved) == {first, datetime.date(2020, 1, 2), last}
    moments = bound(DATETIME, days=30, bounds=[first, last]).apply(
        table([datetime.datetime.fromisoformat("2020-01-02T12:00")] * 300)
    )
    assert set(moments["x"].dt.date()) == {first, datetime.date(2020, 1, 2), last}


STEPS = [
    (bound(INTEGER, laplace={"scale": 5}, bounds=[0, 100]), [1, None, 50, 99]),
    (bound(DECIMAL, multiplicative={"sd": 0.2}), [1.5, None, -2.25]),
    (bound(DATE, days=20), [datetime.date(2000, 1, 1), None]),
    (bound(TEXT_DATE, days=20), ["01/01/2000", None]),
    (bound(Column("x", ValueType.INTEGER), gaussian={"sd": 3}), ["12", None, "007"]),
]


@pytest.mark.parametrize(("step", "values"), STEPS)
def test_batches_pickling_and_the_empty_frame(step, values):
    frame = table(values * 40)
    whole = step.apply(frame)
    for cut in (0, 1, 57, frame.height):
        assert pl.concat([step.apply(frame[:cut]), step.apply(frame[cut:])]).equals(whole)
    assert pickle.loads(pickle.dumps(step)).apply(frame).equals(whole)  # noqa: S301
    assert step.apply(frame.clear()).schema == whole.schema
    assert whole["x"].null_count() == frame["x"].null_count()
    assert whole.drop("x").equals(frame.drop("x"))


def test_a_large_frame_is_the_same_as_its_batches():
    step = bound(INTEGER, laplace={"scale": 5}, bounds=[0, 10])
    frame = table(pl.Series(np.arange(40_000) % 11))
    parts = [step.apply(frame[at : at + 7_001]) for at in range(0, frame.height, 7_001)]
    assert pl.concat(parts).equals(step.apply(frame))


def pairs(rows: int, correlation: float) -> pl.DataFrame:
    normal = np.random.default_rng(5).multivariate_normal(
        [100, 5], [[400, correlation * 20], [correlation * 20, 1]], rows
    )
    return table(pl.Series(normal[:, 0])).with_columns(y=pl.Series(normal[:, 1]), other=pl.lit("kept"))


OTHER = Column("y", ValueType.DECIMAL, pl.Float64(), scale=6)


@pytest.mark.parametrize(("rescale", "factor"), [(False, 1.25), (True, 1.0)])
def test_correlated_noise_keeps_correlation_and_the_stated_covariance(rescale, factor):
    frame = pairs(20_000, 0.8)
    step = bound(DECIMAL, OTHER, correlated={"with": ["y"], "share": 0.25, "rescale": rescale})
    assert step.scope is Scope.TABLE
    noisy = step.apply(frame)
    before, after = (np.cov(each["x"], each["y"]) for each in (frame, noisy))
    assert np.allclose(after, factor * before, rtol=0.05)
    assert not np.allclose(after, (factor + 0.15) * before, rtol=0.05)
    noise = np.column_stack([noisy[name] - frame[name] for name in ("x", "y")])
    assert (noise != 0).mean() > 0.99
    if not rescale:
        assert np.corrcoef(noise.T)[0, 1] == pytest.approx(np.corrcoef(frame["x"], frame["y"])[0, 1], abs=0.03)
    assert noisy.drop("x", "y").equals(frame.drop("x", "y"))


def test_correlated_noise_follows_columns_that_depend_on_each_other_or_never_vary():
    frame = table(pl.Series([1.0, 2.0, 3.0, 4.0])).with_columns(y=pl.col("x") * 1e9, z=pl.lit(7.0))
    columns = (OTHER, Column("z", ValueType.DECIMAL, pl.Float64(), scale=1))
    noisy = bound(DECIMAL, *columns, correlated={"with": ["y", "z"], "share": 0.5}).apply(frame)
    assert np.allclose(noisy["y"] / noisy["x"], 1e9, rtol=1e-4)
    assert (noisy["x"] != frame["x"]).all()
    assert (noisy["z"] == 7.0).all()


def test_correlated_noise_needs_two_records_and_no_gaps():
    step = bound(DECIMAL, OTHER, correlated={"with": ["y"], "share": 0.5})
    assert step.apply(pairs(5, 0).clear()).schema == pairs(5, 0).schema
    with pytest.raises(DataError, match="at least two records, there is 1"):
        step.apply(pairs(1, 0))
    with pytest.raises(DataError, match="column 'y' has 3"):
        step.apply(pairs(3, 0).with_columns(y=pl.lit(None, pl.Float64)))


LATITUDE = Column("x", ValueType.DECIMAL, pl.Float64(), scale=9)
LONGITUDE = Column("y", ValueType.DECIMAL, pl.Float64(), scale=9)


def metres_between(lat: NDArray[np.float64], lon: NDArray[np.float64], lat0: float, lon0: float) -> NDArray[np.float64]:
    """By the haversine formula."""
    phi, phi0 = np.radians(lat), np.radians(lat0)
    half = np.sin((phi - phi0) / 2) ** 2 + np.cos(phi) * np.cos(phi0) * np.sin(np.radians(lon - lon0) / 2) ** 2
    return 2 * 6_371_008.8 * np.arcsin(np.sqrt(half))


@pytest.mark.parametrize(
    ("latitude", "longitude"), [(1.27434, 103.79967), (69.6, -180.0), (-89.999, 10.0), (90.0, 0.0)]
)
def test_a_location_moves_to_a_uniform_point_of_the_disc(latitude, longitude):
    frame = table(pl.Series(np.full(5_000, latitude))).with_columns(y=pl.lit(longitude))
    moved = bound(LATITUDE, LONGITUDE, gps={"metres": 500, "longitude": "y"}).apply(frame)
    assert moved["y"].is_between(-180, 180).all()
    distance = metres_between(moved["x"].to_numpy(), moved["y"].to_numpy(), latitude, longitude)
    assert distance.max() <= 500.1
    assert fits((distance / 500) ** 2, stats.uniform())
    north = moved["x"].to_numpy() > latitude
    assert abs(latitude) > 89 or north.mean() == pytest.approx(0.5, abs=0.03)


def test_half_a_location_is_no_location():
    frame = table([1.0, None, 3.0]).with_columns(y=pl.Series([10.0, 20.0, None]))
    moved = bound(LATITUDE, LONGITUDE, gps={"metres": 500, "longitude": "y"}).apply(frame)
    assert moved["x"].is_null().to_list() == moved["y"].is_null().to_list() == [False, True, True]
    with pytest.raises(DataError, match=r"column 'x': 1 value\(s\) are no degrees"):
        bound(LATITUDE, LONGITUDE, gps={"metres": 500, "longitude": "y"}).apply(
            table([91.5]).with_columns(y=pl.Series([10.0]))
        )


@pytest.mark.requirement("T-29")
@pytest.mark.parametrize(
    ("parameters", "column", "reason"),
    [
        ({"laplace": {"scale": 1}}, Column("name"), "column 'name' is text"),
        ({"laplace": {"scale": 1}}, DATE, "dates take noise in days"),
        ({"days": 3}, INTEGER, "numbers all other noise"),
        ({"laplace": {"scale": 1}, "decimals": 2}, INTEGER, "integers stay integers"),
        ({"correlated": {"with": ["x"], "share": 0.1}}, INTEGER, "named twice"),
        ({"gps": {"metres": 100, "longitude": "y"}}, INTEGER, "a latitude has decimals; column 'x' is integer"),
        ({"correlated": {"with": ["y"], "share": 0.1}}, Column("x", ValueType.INTEGER, missing=4), "has 4"),
    ],
)
def test_refusals_say_why(parameters, column, reason):
    assert reason in (Noise.model_validate(parameters).refuse(column) or "")


@pytest.mark.requirement("T-29")
@pytest.mark.parametrize(
    "parameters", [{"correlated": {"with": ["name"], "share": 0.1}}, {"gps": {"metres": 100, "longitude": "name"}}]
)
def test_a_further_column_must_be_a_number_too(parameters):
    with pytest.raises(DataError, match="column 'name' is text"):
        bound(DECIMAL, Column("name"), **parameters)


@pytest.mark.parametrize("column", [INTEGER, DECIMAL])
def test_what_it_accepts(column):
    assert Noise.model_validate({"gaussian": {"sd": 1}}).refuse(column) is None
    assert Noise.model_validate({"days": 1}).refuse(DATE) is None


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"laplace": {"scale": 1}, "days": 2},
        {"laplace": {"scale": 0}},
        {"uniform": {"width": -1}},
        {"multiplicative": {"sd": 1.5}},
        {"gaussian": {"sd": float("inf")}},
        {"days": 0},
        {"days": 2, "bounds": [1, 2]},
        {"days": 2, "decimals": 1},
        {"laplace": {"scale": 1}, "bounds": ["2020-01-01", "2021-01-01"]},
        {"laplace": {"scale": 1}, "bounds": [5, 5]},
        {"laplace": {"scale": 1}, "bounds": [5, 1]},
        {"gps": {"metres": 5, "longitude": "y"}, "bounds": [1, 2]},
        {"laplace": {"scale": 1, "spread": 2}},
    ],
)
def test_wrong_parameters(parameters):
    with pytest.raises(ValidationError):
        Noise.model_validate(parameters)


def test_errors_count_and_never_quote():
    with pytest.raises(DataError, match=r"1 value\(s\) can't be read") as caught:
        bound(Column("x", ValueType.INTEGER), laplace={"scale": 1}).apply(table(["12", "secret"]))
    assert "secret" not in str(caught.value)
    with pytest.raises(DataError, match=r"1 value\(s\) with noise are too large"):
        bound(INTEGER, multiplicative={"sd": 1}).apply(table([2**63 - 1], pl.Int64()))


def test_what_the_column_is_afterwards():
    text_number = Column("x", ValueType.INTEGER, pl.String())
    assert Noise.model_validate({"laplace": {"scale": 1}}).leaves(text_number).storage == pl.Int64()
    left = Noise.model_validate({"laplace": {"scale": 1}, "decimals": 1}).leaves(DECIMAL)
    assert (left.storage, left.scale) == (pl.Float64(), 1)
    assert Noise.model_validate({"days": 1}).leaves(TEXT_DATE) == TEXT_DATE
