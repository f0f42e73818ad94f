"""Heavy anonymisation: everything is blurred and dealt out again, and no row of the original is left."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.examples import hospital
from shoal.synth.test_data.heavy import heavy_policy

pytestmark = pytest.mark.requirement("T-25")

LEFT = ["age", "sex", "city", "occupation", "admitted", "diagnosis", "bill"]


@pytest.fixture(scope="module")
def original() -> pl.DataFrame:
    return hospital.table(1_500)


@pytest.fixture(scope="module")
def released(original: pl.DataFrame) -> pl.DataFrame:
    return shoal.anonymise(original, heavy_policy(original), seed=7).data


def test_what_names_people_is_gone(released: pl.DataFrame) -> None:
    assert {"patient_id", "name", "phone", "aadhaar", "remarks"}.isdisjoint(released.columns)
    assert set(LEFT) <= set(released.columns)


def test_no_row_is_left(original: pl.DataFrame, released: pl.DataFrame) -> None:
    assert len(released) == len(original)
    same = [name for name in LEFT if name not in ("age", "bill", "admitted")]
    in_place = (original.select(same) == released.select(same)).min_horizontal().mean()
    by_chance = (
        original.select(same) == original.select(same).sample(fraction=1, shuffle=True, seed=1)
    ).min_horizontal()
    assert in_place <= by_chance.mean() + 0.01
    exact = original.select(LEFT).with_columns(pl.all().cast(pl.String))
    assert exact.join(released.select(LEFT).with_columns(pl.all().cast(pl.String)), on=LEFT).is_empty()


def test_categories_keep_their_numbers_and_sums_are_blurred(original: pl.DataFrame, released: pl.DataFrame) -> None:
    assert sorted(original["diagnosis"]) == sorted(released["diagnosis"])
    assert set(original["bill"]).isdisjoint(released["bill"])


def test_nested_and_unknown_texts_are_taken_out() -> None:
    table = pl.DataFrame({"tags": [["a"], ["b"]], "free": ["x" * 80, "x" * 80], "kind": ["a", "a"]})
    policy = heavy_policy(table)
    assert {name: one.is_suppressed for name, one in policy.attributes.items()} == {
        "tags": True, "free": True, "kind": False,
    }  # fmt: skip
