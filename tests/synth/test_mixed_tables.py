"""Tables that are partly real: what is kept is kept, what is drawn fits it, and the risk is said."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.randomness import Randomness
from shoal.synth.constraints import Inequality, TableConstraints
from shoal.synth.methods.hybrid import hybrid
from shoal.synth.methods.partial import PartialChoice, partially_synthetic
from shoal.synth.table_coding import TableDescription

pytestmark = pytest.mark.requirement("T-25")

ANY = TableDescription()


def people(rows: int = 1_500, seed: int = 1) -> pl.DataFrame:
    numbers = np.random.default_rng(seed)
    town = numbers.choice(["Pune", "Mumbai", "Kochi", "Agra"], rows)
    age = numbers.integers(20, 80, rows)
    room, food = numbers.integers(100, 900, rows), numbers.integers(10, 90, rows)
    came = numbers.integers(18_000, 19_000, rows)
    frame = pl.DataFrame(
        {
            "person": [f"P-{number}" for number in range(rows)],
            "age": age,
            "town": town,
            "state": pl.Series(town).replace_strict({"Pune": "MH", "Mumbai": "MH", "Kochi": "KL", "Agra": "UP"}),
            "income": (numbers.normal(1, 0.2, rows) * age * 1_000).round(0),
            "room": room,
            "food": food,
            "bill": room + food,
            "came": pl.Series(came, dtype=pl.Int32).cast(pl.Date),
            "left": pl.Series(came + numbers.poisson(5, rows), dtype=pl.Int32).cast(pl.Date),
            "smokes": numbers.choice(["yes", "no"], rows, p=[0.2, 0.8]),
        }
    )
    return frame.with_columns(smokes=pl.when(pl.col("age") < 30).then(None).otherwise("smokes"))


def constraints_hold(frame: pl.DataFrame) -> None:
    assert (frame["bill"] == frame["room"] + frame["food"]).all()
    assert (frame["left"] >= frame["came"]).all()
    states = {"Pune": "MH", "Mumbai": "MH", "Kochi": "KL", "Agra": "UP"}
    assert (frame["state"] == frame["town"].replace_strict(states)).all()


def test_chosen_columns_are_drawn_given_the_rest_and_the_rest_is_real() -> None:
    real = people()
    mixed = partially_synthetic(real, ANY, PartialChoice(columns=("income",)), Randomness(1))
    kept = [name for name in real.columns if name != "income"]
    assert mixed.frame.select(kept).equals(real.select(kept))
    assert (mixed.frame["income"] == real["income"]).mean() < 0.01
    assert np.corrcoef(mixed.frame["age"], mixed.frame["income"])[0, 1] > 0.6, "given the age that is kept"
    assert mixed.replaced == {"income": real.height}
    assert mixed.frame.schema == real.schema
    assert any("real data of real people" in line for line in mixed.statement)
    assert any("'person' may name people" in line for line in mixed.statement)


def test_what_a_drawn_column_determines_follows() -> None:
    real = people()
    mixed = partially_synthetic(real, ANY, PartialChoice(columns=("town", "room", "came")), Randomness(1))
    constraints_hold(mixed.frame)
    assert set(mixed.replaced) == {"town", "room", "came", "state", "bill", "left"}
    assert (mixed.frame["town"] == real["town"]).mean() < 0.5
    assert mixed.frame["food"].equals(real["food"])
    assert any("'state'" in line and "followed" in line for line in mixed.statement)


def test_the_upper_of_two_is_drawn_from_the_lower_that_is_kept() -> None:
    real = people()
    mixed = partially_synthetic(real, ANY, PartialChoice(columns=("left",)), Randomness(1))
    constraints_hold(mixed.frame)
    assert mixed.frame["came"].equals(real["came"])
    stay = (mixed.frame["left"] - mixed.frame["came"]).dt.total_days()
    assert stay.mean() == pytest.approx(5, abs=0.5)


def test_only_risky_records_are_touched() -> None:
    real = people()
    choice = PartialChoice(quasi_identifiers=("age", "town"), k=5)
    mixed = partially_synthetic(real, ANY, choice, Randomness(1))
    small = (real.select(pl.len().over("age", "town"))["len"] < 5).to_numpy()
    assert 0 < small.sum() < real.height
    assert mixed.frame.filter(pl.Series(~small)).equals(real.filter(pl.Series(~small)))
    changed = (mixed.frame["age"] != real["age"]) | (mixed.frame["town"] != real["town"])
    assert changed.filter(pl.Series(small)).mean() > 0.8
    assert mixed.replaced["age"] == small.sum()
    constraints_hold(mixed.frame)
    assert any(f"{small.sum():,} of 1,500 records" in line for line in mixed.statement)


def test_a_record_is_risky_by_people_not_by_records() -> None:
    real = people().with_columns(person=pl.lit("one")).vstack(people(seed=2))
    choice = PartialChoice(quasi_identifiers=("town",), k=2)
    alone = real.with_columns(town=pl.when(pl.col("person") == "one").then(pl.lit("Goa")).otherwise("town"))
    mixed = partially_synthetic(alone, TableDescription(person="person", find_constraints=False), choice, Randomness(1))
    assert "Goa" not in set(mixed.frame["town"])


def test_an_outlier_is_not_drawn_for_others() -> None:
    real = people().with_columns(income=pl.when(pl.int_range(1_500) == 3).then(9e11).otherwise("income"))
    mixed = partially_synthetic(real, ANY, PartialChoice(columns=("income",)), Randomness(1))
    assert mixed.frame["income"].max() < 1e6


WRONG = {
    ("incom",): "did you mean 'income'",
    ("state",): "is told by 'town', which is kept",
    ("bill",): "is told by 'room', 'food'",
    (): "name the columns",
}


@pytest.mark.parametrize("columns", WRONG)
def test_what_can_not_be_replaced_is_said(columns: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match=WRONG[columns]):
        partially_synthetic(people(200), ANY, PartialChoice(columns=columns), Randomness(1))


def test_k_needs_quasi_identifiers() -> None:
    with pytest.raises(InputError, match="quasi-identifiers"):
        partially_synthetic(people(200), ANY, PartialChoice(columns=("age",), k=5), Randomness(1))


@pytest.mark.parametrize("weight", [0.2, 0.5, 0.9])
def test_a_hybrid_lies_between_the_person_and_somebody_like_them(weight: float) -> None:
    real = people()
    mixed = hybrid(real, ANY, Randomness(1), weight)
    constraints_hold(mixed.frame)
    assert mixed.frame.schema == real.schema
    off = (mixed.frame["income"] - real["income"]).abs().mean()
    most = (hybrid(real, ANY, Randomness(1), 0.01).frame["income"] - real["income"]).abs().mean()
    assert off == pytest.approx((1 - weight) * most, rel=0.3)  # type: ignore[operator]
    assert (mixed.frame["smokes"].is_null() == real["smokes"].is_null()).mean() > 0.8
    assert not set(mixed.frame["person"]) & set(real["person"])
    assert any(f"{weight:.0%}" in line for line in mixed.statement)


def test_hybrids_keep_means_and_pairs() -> None:
    real = people()
    mixed = hybrid(real, ANY, Randomness(1)).frame
    assert mixed["income"].mean() == pytest.approx(real["income"].mean(), rel=0.02)  # type: ignore[arg-type]
    like = [np.corrcoef(one["age"], one["income"])[0, 1] for one in (real, mixed)]
    assert like[1] == pytest.approx(like[0], abs=0.1)


def test_no_extreme_and_no_rare_name_is_in_a_hybrid() -> None:
    real = people().with_columns(
        income=pl.when(pl.int_range(1_500) == 3).then(9e11).otherwise("income"),
        smokes=pl.when(pl.int_range(1_500) == 3).then(pl.lit("pipe")).otherwise("smokes"),
        left=pl.when(pl.int_range(1_500) == 3).then(datetime.date(2150, 1, 1)).otherwise("left"),
    )
    for seed in range(3):
        mixed = hybrid(real, ANY, Randomness(seed), 0.9).frame
        assert mixed["income"].max() < 1e6
        assert "pipe" not in set(mixed["smokes"])
        assert mixed["left"].max() < datetime.date(2030, 1, 1)


def test_rows_that_came_out_as_they_were_are_counted() -> None:
    same = pl.DataFrame({"sex": ["f", "m"] * 100})
    mixed = hybrid(same, ANY, Randomness(1), 0.99)
    equal = (mixed.frame["sex"] == same["sex"]).sum()
    assert f"{equal} of 200 rows came out as they were" in mixed.statement


@pytest.mark.parametrize("weight", [0, 1, -1, float("nan")])
def test_a_weight_lies_between(weight: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        hybrid(people(50), ANY, Randomness(1), weight)


@settings(deadline=None, max_examples=15)
@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 40), st.sampled_from("abc")), min_size=20, max_size=60),
    st.integers(0, 3),
)
def test_declared_inequalities_hold_whatever_is_mixed(rows: list[tuple[int, int, str]], seed: int) -> None:
    frame = pl.DataFrame(
        {"low": [low for low, _, _ in rows], "high": [low + more for low, more, _ in rows], "c": [c for *_, c in rows]}
    )
    said = TableDescription(
        constraints=TableConstraints(inequalities=(Inequality(lower="low", upper="high"),)),
        find_constraints=False,
        rare=3,
    )
    for columns in (("low",), ("high",), ("low", "high", "c")):
        mixed = partially_synthetic(frame, said, PartialChoice(columns=columns), Randomness(seed)).frame
        assert (mixed["low"] <= mixed["high"]).all()
    merged = hybrid(frame, said, Randomness(seed)).frame
    assert (merged["low"] <= merged["high"]).all()
