"""Rounding: one of two neighbours, unbiased where it is random, the total kept where it is controlled."""

from __future__ import annotations

import math
import pickle
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from shoal.errors import DataError
from shoal.randomness import Randomness
from shoal.schema import ROW, Column, ValueType
from shoal.techniques import Context, Scope
from shoal.techniques.generalisation.round import Round, RoundingMethod

pytestmark = pytest.mark.requirement("T-10")

WHOLE = Column("value", ValueType.INTEGER, pl.Int64())
CENTS = Column("value", ValueType.DECIMAL, pl.Float64(), scale=2)
FIVE_SIGMA = 5.0


def table(column: Column, values: list[object]) -> pl.DataFrame:
    rows = pl.Series(ROW, range(len(values)), dtype=pl.UInt64)
    return pl.DataFrame([pl.Series(column.name, values, dtype=column.storage), rows])


def run(technique: Round, column: Column, values: list[object], seed: int = 5) -> list[float | None]:
    """Through a pickle, as on the way to an executor; the empty frame must promise the same schema."""
    frame = table(column, values)
    context = Context({}, Randomness(seed).stream("round"))
    step = pickle.loads(pickle.dumps(technique.bind(column, context)))  # noqa: S301  # our own bytes
    applied = step.apply(frame)
    assert technique.refuse(column) is None
    assert step.reads == ("value",)
    assert step.apply(frame.clear()).schema == applied.schema
    assert applied.schema["value"] == technique.leaves(column).storage
    rounded: list[float | None] = applied["value"].to_list()
    return rounded


def rounding(base: object, method: str = "nearest") -> Round:
    return Round.model_validate({"base": base, "method": method})


@pytest.mark.parametrize(
    ("base", "values", "rounded"),
    [
        (10, [4, 5, 14, 15, 25, 0, None], [0, 10, 10, 20, 30, 0, None]),
        (10, [-4, -5, -14, -15, -25], [0, -10, -10, -20, -30]),
        (3, [20, 22, 44, 46, 50], [21, 21, 45, 45, 51]),
        (1, [7, -7], [7, -7]),
    ],
)
def test_nearest_whole_numbers(base: int, values: list[object], rounded: list[int | None]) -> None:
    assert run(rounding(base), WHOLE, values) == rounded


@pytest.mark.parametrize(
    ("base", "values", "rounded"),
    [
        (0.1, [0.15, 0.25, 0.28, 0.33, -0.25, 1.05, None], [0.2, 0.3, 0.3, 0.3, -0.3, 1.1, None]),
        (0.25, [0.12, 0.13, 38.05], [0.0, 0.25, 38.0]),
        (100, [1250.0, 1349.99], [1300.0, 1300.0]),
        (2.5, [1.24, 1.25, -1.25], [0.0, 2.5, -2.5]),
    ],
)
def test_nearest_decimals(base: float, values: list[object], rounded: list[float | None]) -> None:
    """Exact equality: the result is the float that its decimal is read as."""
    assert run(rounding(base), CENTS, values) == rounded


def test_numbers_stored_as_text() -> None:
    assert run(rounding(5), Column("value", ValueType.INTEGER), ["177", "007", None]) == [175, 5, None]
    assert run(rounding(0.5), Column("value", ValueType.DECIMAL, scale=1), ["1.7", "-0.2"]) == [1.5, 0.0]


@given(
    cents=st.lists(st.none() | st.integers(-(10**9), 10**9), max_size=20),
    base=st.sampled_from(["0.01", "0.02", "0.05", "0.1", "0.25", "0.3", "1", "2.5", "7", "1000"]),
)
@settings(max_examples=60)
def test_nearest_is_decimal_arithmetic(cents: list[int | None], base: str) -> None:
    values = [None if cent is None else cent / 100 for cent in cents]
    step = Decimal(base)
    exact = [
        None if cent is None else float((Decimal(cent) / 100 / step).quantize(Decimal(1), ROUND_HALF_UP) * step)
        for cent in cents
    ]
    assert run(rounding(float(base)), CENTS, list(values)) == exact


@pytest.mark.parametrize("method", list(RoundingMethod))
@given(values=st.lists(st.integers(-(10**6), 10**6), max_size=20), base=st.integers(1, 50), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_one_of_two_neighbours(method: RoundingMethod, values: list[int], base: int, seed: int) -> None:
    once = run(rounding(base, method), WHOLE, list(values), seed)
    for value, rounded in zip(values, once, strict=True):
        assert rounded in (value // base * base, -(-value // base) * base)
    assert run(rounding(base, method), WHOLE, list(once), seed + 1) == once


@given(cents=st.lists(st.integers(-(10**6), 10**6), max_size=20), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_decimal_neighbours(cents: list[int], seed: int) -> None:
    for method in RoundingMethod:
        rounded = run(rounding(0.3, method), CENTS, [cent / 100 for cent in cents], seed)
        for cent, value in zip(cents, rounded, strict=True):
            assert value in (cent // 30 * 3 / 10, -(-cent // 30) * 3 / 10)


def off_by(rounded: list[float | None], low: int, share: float) -> float:
    """How many standard deviations the share of those rounded up is from the expected one."""
    up = sum(value != low for value in rounded)
    return abs(up - share * len(rounded)) / math.sqrt(share * (1 - share) * len(rounded))


@pytest.mark.parametrize(("value", "low", "share"), [(7, 0, 0.7), (-7, -10, 0.3), (12, 10, 0.2)])
def test_random_rounding_is_unbiased(value: int, low: int, share: float) -> None:
    """Up with probability residual ÷ base; the test would notice a share that is off by four hundredths."""
    rounded = run(rounding(10, "random"), WHOLE, [value] * 10_000)
    assert off_by(rounded, low, share) < FIVE_SIGMA
    for wrong in (share - 0.04, share + 0.04, 1 - share):
        assert off_by(rounded, low, wrong) > FIVE_SIGMA


def test_random_rounding_of_decimals_is_unbiased() -> None:
    values = np.random.default_rng(1).integers(0, 10_000, 10_000) / 100
    rounded = run(rounding(2.5, "random"), CENTS, list(values))
    mean = float(np.mean(np.array(rounded) - values))
    assert abs(mean) < FIVE_SIGMA * 1.25 / math.sqrt(10_000)


@given(
    values=st.lists(st.integers(-(10**6), 10**6), max_size=30), base=st.integers(1, 10**4), seed=st.integers(0, 10**6)
)
@settings(max_examples=100)
def test_controlled_rounding_keeps_the_total(values: list[int], base: int, seed: int) -> None:
    total = sum(run(rounding(base, "controlled"), WHOLE, list(values), seed))  # type: ignore[arg-type]
    nearest = (Decimal(sum(values)) / base).quantize(Decimal(1), ROUND_HALF_UP) * base
    assert total == nearest


@given(cents=st.lists(st.integers(0, 10**5), max_size=30), seed=st.integers(0, 10**6))
@settings(max_examples=40)
def test_controlled_rounding_keeps_the_total_of_decimals(cents: list[int], seed: int) -> None:
    rounded = run(rounding(0.25, "controlled"), CENTS, [cent / 100 for cent in cents], seed)
    nearest = (Decimal(sum(cents)) / 25).quantize(Decimal(1), ROUND_HALF_UP) / 4
    assert sum(rounded) == nearest  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "up"),
    [
        ([7, 3, 5, 25], [0.7, 0.3, 0.5, 0.5]),  # the total is a multiple: exactly unbiased
        ([7, 3, 4, 8, 0], [0.7 / 1.1, 0.3 / 1.1, 0.4 / 1.1, 0.8 / 1.1, 0.0]),  # 22 goes down to 20
        ([6, 6, 6, 0], [2 / 3, 2 / 3, 2 / 3, 0.0]),  # 18 goes up to 20
    ],
)
def test_controlled_rounding_is_fair(values: list[object], up: list[float]) -> None:
    frame = table(WHOLE, values)
    contexts = (Context({}, Randomness(seed).stream("round")) for seed in range(600))
    steps = (rounding(10, "controlled").bind(WHOLE, context) for context in contexts)
    runs = np.array([step.apply(frame)["value"].to_list() for step in steps])
    shares = (runs > np.array(values)).mean(axis=0)
    margin = FIVE_SIGMA * 0.5 / math.sqrt(len(runs))
    assert np.abs(shares - up).max() < margin
    assert abs(shares[0] - (1 - up[0])) > margin


def test_controlled_rounding_of_a_long_column_needs_128_bits() -> None:
    huge = 10**15
    values = [huge * 3 + huge // 2 - 1] * 30_000
    rounded = run(rounding(huge - 1, "controlled"), WHOLE, list(values))
    base = huge - 1
    assert sum(int(value or 0) for value in rounded) == round(sum(values) / base) * base


@pytest.mark.parametrize("method", ["nearest", "random"])
def test_batches_do_not_matter(method: str) -> None:
    frame = table(WHOLE, [*range(50), None])
    step = rounding(10, method).bind(WHOLE, Context({}, Randomness(3).stream("round")))
    whole = step.apply(frame)
    assert step.scope is Scope.ROW
    for cut in (0, 1, 17, 51):
        assert pl.concat([step.apply(frame[:cut]), step.apply(frame[cut:])]).equals(whole)


def test_controlled_rounding_sees_the_whole_column() -> None:
    step = rounding(10, "controlled").bind(WHOLE, Context({}, Randomness(3).stream("round")))
    assert step.scope is Scope.TABLE
    with pytest.raises(
        DataError, match="column 'value': controlled rounding has no rule for missing values; there are 2"
    ):
        step.apply(table(WHOLE, [3, None, 4, None]))


def test_numbers_beyond_64_bits_and_what_is_no_number() -> None:
    with pytest.raises(DataError, match=r"'value': 2 number\(s\) are too large"):
        run(rounding(10), WHOLE, [2**62 + 1, 5, -(2**63)])
    with pytest.raises(DataError, match=r"'value': 1 number\(s\) are too large"):
        run(rounding(0.1), CENTS, [1e300, 0.5])
    with pytest.raises(DataError, match=r"'value': 2 value\(s\) can't be read") as caught:
        run(rounding(10), Column("value", ValueType.INTEGER), ["12", "secret", "1.5"])
    assert "secret" not in str(caught.value)


@pytest.mark.requirement("T-29")
@pytest.mark.parametrize(
    ("technique", "column", "reason"),
    [
        (rounding(5), Column("town"), "round works on decimal, integer; column 'town' is text"),
        (rounding(5), Column("born", ValueType.DATE), "column 'born' is date"),
        (rounding(0.5), WHOLE, "column 'value' needs a whole number as base"),
        (rounding(5, "controlled"), Column("age", ValueType.INTEGER, missing=3), "missing values; column 'age' has 3"),
    ],
)
def test_refusals(technique: Round, column: Column, reason: str) -> None:
    assert reason in (technique.refuse(column) or "")


@pytest.mark.parametrize(
    "parameters", [{}, {"base": 0}, {"base": -5}, {"base": 5, "method": "up"}, {"base": "1e16"}, {"base": "inf"}]
)
def test_wrong_parameters(parameters: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Round.model_validate(parameters)


def test_the_policy_form_survives_a_round_trip() -> None:
    assert rounding(0.1).model_dump(mode="json") == {"base": 0.1, "method": "nearest"}
    assert rounding(100.0).model_dump(mode="json") == {"base": 100, "method": "nearest"}


def test_leaves_the_digits_of_the_base() -> None:
    assert rounding(0.25).leaves(CENTS).scale == 2
    assert rounding(0.50).leaves(CENTS).scale == 1
    assert rounding(100).leaves(CENTS).scale == 0
