"""What of a column a model may know: kinds, missing values, special codes, and nothing that is rare."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import DataError
from shoal.randomness import Randomness
from shoal.synth.column_shapes import ColumnShape, ShapeKind
from shoal.synth.shape_detection import natural_order, shapes_of
from shoal.synth.table_coding import TableDescription, coding_of

pytestmark = pytest.mark.requirement("T-25")

ALONE = TableDescription(find_constraints=False)


def again(frame: pl.DataFrame, description: TableDescription = ALONE) -> pl.DataFrame:
    """The same records through codes and back."""
    coding = coding_of(frame, description)
    return coding.decode(coding.encode(frame), Randomness(1), 0)


def normal(size: int = 2_000, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(50_000, 9_000, size).round(2)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2", "5"] * 20, ShapeKind.WHOLE),
        ([1.5, 2.25, 3.0] * 20, ShapeKind.DECIMAL),
        ([True, False, None] * 20, ShapeKind.BOOLEAN),
        (["2024-01-02", "2024-02-03", None] * 20, ShapeKind.DATE),
        (["2024-01-02 03:04:00"] * 60, ShapeKind.DATETIME),
        (["red", "blue", "green"] * 20, ShapeKind.CATEGORY),
        (["low", "high", "medium"] * 20, ShapeKind.ORDERED),
        (["0-9", "10-19", "100+"] * 20, ShapeKind.ORDERED),
        ([f"P{number}" for number in range(60)], ShapeKind.IDENTIFIER),
        (list(range(1000, 1060)), ShapeKind.IDENTIFIER),
        ([f"note {number // 2}" for number in range(60)], ShapeKind.TEXT),
    ],
)
def test_kinds_are_found_and_said_to_be(values: list[object], kind: ShapeKind) -> None:
    shape = shapes_of(pl.DataFrame({"column": values}))["column"]
    assert (shape.kind, shape.origin) == (kind, "found")


def test_numbers_of_people_are_not_kept_though_each_has_many_records() -> None:
    frame = pl.DataFrame({"patient": [f"PT-{100_000 + number % 40}" for number in range(2_000)]})
    assert shapes_of(frame)["patient"].kind is ShapeKind.TEXT
    assert again(frame)["patient"].null_count() == 2_000


def test_what_is_declared_is_taken_as_said() -> None:
    declared = ColumnShape(kind=ShapeKind.CATEGORY)
    frame = pl.DataFrame({"ward": [1, 2, 3] * 20})
    assert shapes_of(frame, {"ward": declared})["ward"] is declared
    assert again(frame, TableDescription(columns={"ward": declared})).equals(frame)
    with pytest.raises(DataError, match="no column 'bed'"):
        shapes_of(frame, {"bed": declared})


def test_a_shape_is_plain_yaml_and_back() -> None:
    shape = ColumnShape(kind=ShapeKind.DATE, lowest=datetime.date(2020, 1, 1), date_format="%Y-%m-%d")
    assert ColumnShape.model_validate(shape.model_dump(mode="json")) == shape


def test_words_that_are_no_scale_have_no_order() -> None:
    assert natural_order(["low", "tall", "high"]) == ()
    assert natural_order(["1 a", "1 b", "2 c"]) == ()


def test_special_codes_and_inflated_zeros_are_found() -> None:
    numbers = np.random.default_rng(1).integers(18, 90, 1_000)
    numbers[:30], numbers[30:60] = 999, -1
    spent = np.where(np.arange(1_000) % 2, 0, numbers * 7)
    shapes = shapes_of(pl.DataFrame({"age": numbers, "spent": spent, "plain": np.clip(numbers, 18, 80)}))
    assert shapes["age"].special == (-1, 999)
    assert shapes["spent"].zero_inflated
    assert not shapes["plain"].special
    assert not shapes["plain"].zero_inflated


def test_special_codes_come_back_as_often_and_nothing_lies_between() -> None:
    numbers = np.random.default_rng(1).normal(50, 9, 2_000).round(1)
    numbers[:100] = 999
    drawn = again(pl.DataFrame({"pressure": numbers}))["pressure"]
    assert (drawn == 999).sum() == 100
    assert not drawn.is_between(120, 998).any()


def test_frequent_values_and_missing_ones_come_back_as_they_were() -> None:
    frame = pl.DataFrame(
        {
            "sex": ["f", "m", None, "f"] * 25,
            "children": [0, 1, 2, None] * 25,
            "day": [datetime.date(2024, 1, 1), None, datetime.date(2024, 5, 1), datetime.date(1899, 5, 1)] * 25,
            "seen": ["2024-01-01 10:00:00", "2024-01-01 11:30:00", None, "2023-01-01 11:30:00"] * 25,
            "smoker": [True, False, None, True] * 25,
            "dose": [0.25, 1.5, None, 2.0] * 25,
        }
    )
    assert again(frame).equals(frame)


def test_many_categories_stay_within_a_bounded_number_of_codes() -> None:
    towns = [f"town {min(number % 997, number % 613)}" for number in range(40_000)]
    frame = pl.DataFrame({"town": towns})
    coding = coding_of(frame, ALONE)
    assert coding.sizes[0] <= 200
    drawn = coding.decode(coding.encode(frame), Randomness(1), 0)["town"]
    assert drawn.n_unique() > 500
    assert set(drawn) <= set(towns)


@pytest.mark.parametrize("others", [0, 5])
def test_a_billionaire_and_his_town_never_appear(others: int) -> None:
    """Nor do those of a handful: only from ten on is it a crowd."""
    rich = [9.5e11 + number for number in range(1 + others)]
    frame = pl.DataFrame(
        {"income": [*normal(), *rich], "town": ["Pune", "Agra"] * 1_000 + ["Alibag"] * len(rich)}
    ).sample(fraction=1, shuffle=True, seed=1)
    coding = coding_of(frame, ALONE)
    assert "Alibag" not in coding.model_dump_json()
    drawn = coding.decode(coding.encode(frame), Randomness(1), 0)
    assert drawn["income"].max() < 1e6
    assert set(drawn["town"]) == {"Pune", "Agra"}


def test_a_crowd_is_of_people_not_of_records() -> None:
    """One person with fifty visits is no crowd."""
    numbers = np.random.default_rng(1).integers(100, 200, 600)
    visits = pl.DataFrame(
        {
            "patient": [*(number % 200 for number in range(600)), *[777] * 50],
            "town": ["Pune", "Agra"] * 300 + ["Alibag"] * 50,
            "state": ["MH", "UP"] * 300 + ["GA"] * 50,
            "bill": [*numbers, *[9_000] * 50],
        }
    )
    drawn = again(visits, TableDescription(person="patient"))
    assert not set(drawn["patient"]) & set(visits["patient"])
    assert set(drawn["town"]) == {"Pune", "Agra"}
    assert set(drawn["state"]) == {"MH", "UP"}
    assert drawn["bill"].max() < 200
    assert "Alibag" in set(again(visits)["town"]), "by records it would be one"
    with pytest.raises(DataError, match="tell people apart"):
        again(visits, TableDescription(person="name"))


def test_a_crowd_may_appear() -> None:
    """Ten is a crowd: the guard above would pass on a coding that keeps nothing."""
    frame = pl.DataFrame({"income": [*normal(), *[9.5e11] * 10], "town": ["Pune", "Agra"] * 1_000 + ["Alibag"] * 10})
    drawn = again(frame)
    assert (drawn["income"] == 9.5e11).sum() == 10
    assert (drawn["town"] == "Alibag").sum() == 10


def test_rare_values_get_a_label_where_they_are_many() -> None:
    towns = ["Pune"] * 50 + [f"hamlet {number}" for number in range(50)]
    assert set(again(pl.DataFrame({"town": towns}))["town"]) == {"Pune", "other"}


@given(st.lists(st.one_of(st.none(), st.integers(-(10**12), 10**12), st.integers(0, 5)), min_size=10, max_size=80))
@settings(deadline=None, max_examples=50)
def test_no_number_beyond_the_tenth_from_either_end_and_no_rare_name(values: list[int | None]) -> None:
    shapes = {"number": ColumnShape(kind=ShapeKind.WHOLE), "name": ColumnShape(kind=ShapeKind.CATEGORY)}
    frame = pl.DataFrame({"number": values, "name": values}, schema={"number": pl.Int64, "name": pl.Int64})
    drawn = again(frame, TableDescription(columns=shapes, find_constraints=False))
    present = sorted(value for value in values if value is not None)
    numbers = drawn["number"].drop_nulls()
    if len(present) >= 20 and len(numbers):
        assert present[9] <= numbers.min() <= numbers.max() <= present[-10]
    names = {str(name) for name in drawn["name"].drop_nulls()}
    assert all(present.count(int(name)) >= 10 for name in names - {"other"})


def test_known_bounds_are_kept() -> None:
    shape = ColumnShape(kind=ShapeKind.DECIMAL, decimals=2, lowest=45_000, highest=55_000)
    drawn = again(pl.DataFrame({"pay": normal()}), TableDescription(columns={"pay": shape}))["pay"]
    assert (drawn.min(), drawn.max()) == (45_000, 55_000)


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"constant": ["x"] * 30}),
        pl.DataFrame({"nothing": pl.Series([None] * 30, dtype=pl.String)}),
        pl.DataFrame({"nothing": pl.Series([None] * 30, dtype=pl.Int64), "one": [7] * 30}),
        pl.DataFrame({"far": [datetime.date(9999, 12, 31), datetime.date(1, 1, 1)] * 15}),
    ],
)
def test_columns_with_little_in_them(frame: pl.DataFrame) -> None:
    drawn = again(frame)
    assert drawn.equals(frame.cast({name: drawn[name].dtype for name in frame.columns}))


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (pl.DataFrame({"age": [30]}), "too small"),
        (pl.DataFrame({"age": [[30]] * 20}), "can't be synthesised"),
    ],
)
def test_what_can_not_be_synthesised_is_told_in_one_line(frame: pl.DataFrame, said: str) -> None:
    with pytest.raises(DataError, match=said):
        coding_of(frame)


def test_a_value_that_does_not_fit_what_is_declared_is_counted_not_shown() -> None:
    shape = ColumnShape(kind=ShapeKind.WHOLE)
    with pytest.raises(DataError, match=r"column 'age': 2 value\(s\) can't be read as whole") as caught:
        coding_of(pl.DataFrame({"age": ["30"] * 20 + ["secret"] * 2}), TableDescription(columns={"age": shape}))
    assert "secret" not in str(caught.value)
