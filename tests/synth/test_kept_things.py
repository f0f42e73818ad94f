"""What users need kept is kept in every record, over random schemas; outliers are not, whatever is drawn."""

from __future__ import annotations

import datetime
from functools import cache

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import DataError
from shoal.randomness import Randomness
from shoal.synth.column_shapes import ColumnShape, ShapeKind
from shoal.synth.method import FitOptions
from shoal.synth.methods.sequential import SequentialModel, fit_sequential
from shoal.synth.shape_detection import shapes_of
from shoal.synth.table_coding import TableDescription

pytestmark = pytest.mark.requirement("T-25")

NUMBERS = np.random.default_rng(5)
MEASUREMENTS: dict[str, tuple[pl.Series, ShapeKind]] = {
    "pay, sorted": (pl.Series("pay", np.unique(NUMBERS.lognormal(11, 1, 400).astype(int))), ShapeKind.WHOLE),
    "pay": (
        pl.Series("pay", NUMBERS.permutation(np.unique(NUMBERS.lognormal(11, 1, 400).astype(int)))),
        ShapeKind.WHOLE,
    ),
    "platelets": (
        pl.Series("platelets", NUMBERS.permutation(np.unique(NUMBERS.normal(250_000, 60_000, 300).astype(int)))),
        ShapeKind.WHOLE,
    ),
    "a count": (pl.Series("x", range(1, 301)), ShapeKind.IDENTIFIER),
    "a count, mixed": (pl.Series("x", NUMBERS.permutation(300)), ShapeKind.IDENTIFIER),
    "a count with gaps": (pl.Series("x", np.cumsum(NUMBERS.integers(1, 20, 300))), ShapeKind.IDENTIFIER),
    "called a key": (
        pl.Series("patient_id", NUMBERS.permutation(np.unique(NUMBERS.lognormal(11, 1, 400).astype(int)))),
        ShapeKind.IDENTIFIER,
    ),
    "numbers given out": (pl.Series("x", NUMBERS.integers(10**11, 10**12, 300)), ShapeKind.IDENTIFIER),
}


@pytest.mark.parametrize("case", MEASUREMENTS)
def test_whole_numbers_that_are_all_different_are_measurements_or_keys_and_it_is_said_why(case: str) -> None:
    values, kind = MEASUREMENTS[case]
    shape = shapes_of(values.to_frame())[values.name]
    assert shape.kind is kind
    assert shape.reason is not None
    assert shape.reason.startswith("all different")


def test_a_measurement_that_is_all_different_keeps_its_spread() -> None:
    values, _ = MEASUREMENTS["pay"]
    model = fit_sequential(values.to_frame())
    drawn = model.sample(2_000, Randomness(1))["pay"]
    assert drawn.median() == pytest.approx(values.median(), rel=0.1)  # type: ignore[arg-type]
    assert model.inspect()["shapes"]["pay"]["reason"].endswith("taken for a measurement")


def clinic(rows: int = 6_000, seed: int = 1) -> pl.DataFrame:
    numbers = np.random.default_rng(seed)
    age = numbers.integers(0, 90, rows)
    sex = numbers.choice(["f", "m"], rows)
    # who is young is not asked whether they smoke, and men more often don't say what they weigh
    smokes = pl.Series(numbers.choice(["yes", "no"], rows)).set(pl.Series(age < 16), None)
    weight = pl.Series((20 + age * 0.6 + numbers.normal(0, 6, rows)).round(1))
    weight = weight.set(pl.Series((sex == "m") & (numbers.random(rows) < 0.4)), None)
    pressure = np.where(numbers.random(rows) < 0.15, -9, 90 + age // 2 + numbers.integers(0, 30, rows))
    spent = np.where(numbers.random(rows) < 0.6, 0, numbers.lognormal(5, 1.2, rows).round(2))
    came = numbers.integers(1_500_000_000, 1_600_000_000, rows)
    return pl.DataFrame(
        {
            "age": age,
            "sex": sex,
            "smokes": smokes,
            "weight": weight,
            "pressure": pressure,
            "spent": spent,
            "severity": np.where(age > 60, "severe", numbers.choice(["mild", "moderate"], rows)),
            "village": [f"village {number}" for number in numbers.zipf(1.3, rows) % 3_000],
            "came": pl.Series(came * 1_000_000).cast(pl.Datetime("us")),
        }
    )


@cache
def clinic_model() -> SequentialModel:
    return fit_sequential(clinic())


def test_values_are_missing_where_they_were_missing() -> None:
    drawn = clinic_model().sample(6_000, Randomness(1))
    assert drawn.filter(pl.col("age") < 15)["smokes"].is_null().mean() > 0.97
    assert drawn.filter(pl.col("age") > 17)["smokes"].is_null().mean() < 0.03
    gaps = dict(drawn.group_by("sex").agg(pl.col("weight").is_null().mean()).iter_rows())
    assert gaps["m"] == pytest.approx(0.4, abs=0.05)
    assert gaps["f"] < 0.03


def test_special_codes_zeros_orders_and_skew_are_kept() -> None:
    drawn, real = clinic_model().sample(6_000, Randomness(1)), clinic()
    assert (drawn["pressure"] == -9).mean() == pytest.approx(0.15, abs=0.02)
    assert not drawn["pressure"].is_between(-8, 80).any()
    assert (drawn["spent"] == 0).mean() == pytest.approx(0.6, abs=0.02)
    positive = [np.log(one.filter(pl.col("spent") > 0)["spent"].to_numpy()) for one in (drawn, real)]
    assert positive[0].std() == pytest.approx(positive[1].std(), rel=0.08)
    assert clinic_model().coding.shapes["severity"].order == ("mild", "moderate", "severe")
    assert drawn.filter(pl.col("age") > 63)["severity"].eq("severe").mean() > 0.95
    assert drawn.schema == real.schema
    often = real["village"].value_counts(sort=True)["village"][0]
    assert (drawn["village"] == often).mean() == pytest.approx((real["village"] == often).mean(), abs=0.03)


KINDS = ("whole", "decimal", "date", "moment", "word", "scale", "truth", "code", "zeros")


def column(kind: str, rows: int, numbers: np.random.Generator) -> pl.Series:
    chance = numbers.random(rows)
    made = {
        "whole": lambda: pl.Series(numbers.integers(-50, 50, rows)),
        "decimal": lambda: pl.Series(numbers.normal(0, 5, rows).round(2)),
        "date": lambda: pl.Series(numbers.integers(-20_000, 30_000, rows), dtype=pl.Int32).cast(pl.Date),
        "moment": lambda: pl.Series(numbers.integers(0, 10**15, rows)).cast(pl.Datetime("us")),
        "word": lambda: pl.Series(numbers.choice(["red", "green", "blue"], rows)),
        "scale": lambda: pl.Series(numbers.choice(["low", "medium", "high"], rows)),
        "truth": lambda: pl.Series(chance < 0.5),
        "code": lambda: pl.Series(np.where(chance < 0.3, 999, numbers.integers(1, 60, rows))),
        "zeros": lambda: pl.Series(np.where(chance < 0.5, 0, numbers.integers(1, 60, rows))),
    }
    return made[kind]()


@settings(deadline=None, max_examples=25)
@given(
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=6),
    rows=st.integers(40, 120),
    gaps=st.floats(0, 0.6),
    seed=st.integers(0, 9),
    tied=st.booleans(),
)
def test_random_schemas_keep_types_ranges_words_and_ties(
    kinds: list[str], rows: int, gaps: float, seed: int, tied: bool
) -> None:
    numbers = np.random.default_rng(seed)
    frame = pl.DataFrame({f"c{at}": column(kind, rows, numbers) for at, kind in enumerate(kinds)})
    frame = frame.with_columns(one.set(pl.Series(numbers.random(rows) < gaps), None) for one in frame)
    if tied:
        city = pl.Series(numbers.choice(["Pune", "Mumbai", "Kochi"], rows))
        low, more = (pl.Series(numbers.integers(0, 300, rows)) for _ in range(2))
        state = city.replace_strict({"Pune": "MH", "Mumbai": "MH", "Kochi": "KL"})
        frame = frame.with_columns(city=city, state=state, low=low, more=more, total=low + more)
    model = fit_sequential(frame)
    drawn = model.sample(150, Randomness(seed))
    assert drawn.schema == frame.schema
    for name in frame.columns:
        values, made = frame[name].drop_nulls(), drawn[name].drop_nulls()
        if frame[name].dtype in (pl.String(), pl.Boolean()):
            assert set(made) <= {*values, "other"}
        elif len(made) and model.coding.shapes[name].kind is not ShapeKind.IDENTIFIER:
            assert values.min() <= made.min(), name  # type: ignore[operator]
            assert made.max() <= values.max(), name  # type: ignore[operator]
        if not frame[name].null_count():
            assert not drawn[name].null_count()
    if tied:
        told = {one.dependent: one for one in model.coding.constraints.dependencies}
        if "state" in told:
            assert (drawn["state"] == drawn["city"].replace_strict({"Pune": "MH", "Mumbai": "MH", "Kochi": "KL"})).all()
        if any(one.total == "total" for one in model.coding.constraints.sums):
            assert (drawn["total"] == drawn["low"] + drawn["more"]).all()
        assert all(one.origin == "found" for one in told.values())


def crowd(rows: int = 4_000, seed: int = 1) -> pl.DataFrame:
    numbers = np.random.default_rng(seed)
    sex = numbers.choice(["f", "m"], rows)
    job = np.where(
        sex == "m", numbers.choice(["priest", "clerk"], rows, p=[0.1, 0.9]), numbers.choice(["nurse", "clerk"], rows)
    )
    return pl.DataFrame(
        {
            "sex": sex,
            "job": job,
            "income": numbers.lognormal(10, 0.4, rows).round(2),
            "seen": pl.Series(numbers.integers(17_000, 19_000, rows), dtype=pl.Int32).cast(pl.Date),
            "town": numbers.choice(["Pune", "Kochi", "Agra"], rows),
        }
    )


def planted(frame: pl.DataFrame) -> pl.DataFrame:
    """With one who is rich, a priestess, was seen last, and lives where nobody does."""
    one = {"sex": "f", "job": "priest", "income": 9.5e11, "seen": datetime.date(2099, 12, 31), "town": "Alibag"}
    return pl.concat([frame, pl.DataFrame([one], schema=frame.schema)]).sample(fraction=1, shuffle=True, seed=3)


def test_a_planted_outlier_never_shows_in_twenty_draws() -> None:
    model = fit_sequential(planted(crowd()))
    for seed in range(20):
        drawn = model.sample(4_000, Randomness(seed))
        assert drawn["income"].max() < 3e5
        assert drawn["seen"].max() < datetime.date(2022, 2, 1)
        assert "Alibag" not in set(drawn["town"])
        assert drawn.filter((pl.col("sex") == "f") & (pl.col("job") == "priest")).is_empty()
    assert not drawn.filter((pl.col("sex") == "m") & (pl.col("job") == "priest")).is_empty()


def test_no_statistic_moves_with_one_person_beyond_what_one_may() -> None:
    """One of 4,001: a mean moves by 1/4,001 of the range that is kept; what is left is the chance of a draw."""
    rows = 100_000
    with_one, without = (fit_sequential(one).sample(rows, Randomness(1)) for one in (planted(crowd()), crowd()))
    for name in ("income", "seen"):
        numbers = [one[name].to_physical().cast(pl.Float64) for one in (with_one, without)]
        spread = float(numbers[1].max() - numbers[1].min())  # type: ignore[operator, arg-type]
        chance = 4 * float(numbers[1].std() or 0) / np.sqrt(4_000)  # type: ignore[arg-type]
        assert abs(float(numbers[0].mean() - numbers[1].mean())) < spread / 4_001 + chance  # type: ignore[operator, arg-type]
    for name in ("sex", "job", "town"):
        shares = [dict(one.group_by(name).agg(pl.len() / rows).iter_rows()) for one in (with_one, without)]
        assert all(abs(shares[0].get(key, 0) - shares[1].get(key, 0)) < 0.01 for key in shares[1])


def test_ten_who_share_a_combination_may_show() -> None:
    """The guard above would pass on a model that knows no pair."""
    frame = crowd()
    ten = frame.filter(pl.col("sex") == "f").head(60).with_columns(job=pl.lit("priest"))
    drawn = fit_sequential(pl.concat([frame, ten])).sample(20_000, Randomness(1))
    assert not drawn.filter((pl.col("sex") == "f") & (pl.col("job") == "priest")).is_empty()


def test_bad_tables_get_a_line_or_a_good_result() -> None:
    with pytest.raises(DataError, match="too small"):
        fit_sequential(pl.DataFrame({"age": [30], "sex": ["f"]}))
    with pytest.raises(DataError, match="too small"):
        fit_sequential(pl.DataFrame({"age": pl.Series([], dtype=pl.Int64)}))
    nothing = pl.DataFrame({"a": pl.Series([None] * 40, dtype=pl.Float64), "b": ["x"] * 40, "c": [1.5] * 40})
    assert fit_sequential(nothing).sample(40, Randomness(1)).equals(nothing)
    far = pl.DataFrame({"day": ["9999-12-31", "0001-01-01", "2024-02-30"] * 20})
    assert set(fit_sequential(far).sample(50, Randomness(1))["day"]) <= set(far["day"])


@pytest.mark.slow
def test_a_million_categories_end_in_a_bounded_model() -> None:
    numbers = np.random.default_rng(1)
    frame = pl.DataFrame(
        {"town": [f"town {one}" for one in numbers.zipf(1.2, 1_000_000) % 10**6], "sex": ["f", "m"] * 500_000}
    )
    model = fit_sequential(frame)
    assert max(model.coding.sizes) < 200
    assert model.sample(1_000, Randomness(1)).height == 1_000


def test_declared_shapes_are_kept_over_what_is_found() -> None:
    frame = pl.DataFrame({"patient_id": [*range(300)], "x": [1, 2, 3] * 100})
    shapes = {"patient_id": ColumnShape(kind=ShapeKind.WHOLE)}
    model = fit_sequential(frame, FitOptions(TableDescription(columns=shapes)))
    assert model.coding.shapes["patient_id"].origin == "declared"
    assert model.sample(500, Randomness(1))["patient_id"].is_between(0, 299).all()
