"""Trees one after the other: close to the table, far from its records, the same for the same seed."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.errors import DataError, InputError, SourceError
from shoal.randomness import Randomness
from shoal.synth.conditional_sampling import batches_where
from shoal.synth.method import BLOCK, FitOptions, batches, synthesis_method, synthesis_methods
from shoal.synth.methods.sequential import SequentialModel, fit_sequential
from shoal.synth.model_files import load_model, save_model

pytestmark = pytest.mark.requirement("T-25")


def people(rows: int = 4_000, seed: int = 1) -> pl.DataFrame:
    numbers = np.random.default_rng(seed)
    sex = numbers.choice(["f", "m"], rows, p=[0.4, 0.6])
    age = numbers.integers(18, 80, rows)
    job = np.where(age > 62, "retired", np.where(numbers.random(rows) < 0.3, "teacher", "nurse"))
    pay = np.where(job == "retired", 20_000, 35_000 + 300 * age) * numbers.normal(1, 0.1, rows)
    children, unsaid = numbers.poisson(np.where(age > 30, 2, 0.3)), pl.Series(numbers.random(rows) < 0.1)
    return pl.DataFrame(
        {
            "sex": sex,
            "age": age,
            "job": job,
            "pay": pay.round(2),
            "children": pl.Series(children).set(unsaid, None),
        }
    )


@cache
def model() -> SequentialModel:
    return fit_sequential(people())


def apart(first: pl.DataFrame, second: pl.DataFrame, names: list[str]) -> float:
    """Total variation."""
    shares = [frame.group_by(names).agg(share=pl.len() / frame.height) for frame in (first, second)]
    both = shares[0].join(shares[1], on=names, how="full", nulls_equal=True).fill_null(0)
    return float((both["share"] - both["share_right"]).abs().sum()) / 2


def copied(drawn: pl.DataFrame, real: pl.DataFrame) -> float:
    return drawn.join(real.unique(), on=real.columns, how="semi", nulls_equal=True).height / drawn.height


def test_pairs_are_closer_to_the_table_than_another_sample_of_it() -> None:
    """Pay by bands: no two people have the same."""
    bands = pl.col("pay") // 10_000
    real, other = people().with_columns(bands), people(seed=2).with_columns(bands)
    drawn = model().sample(4_000, Randomness(1)).with_columns(bands)
    for pair in combinations(real.columns, 2):
        assert apart(real, drawn, list(pair)) < apart(real, other, list(pair)) + 0.01


def test_what_depends_on_others_still_does() -> None:
    drawn = model().sample(4_000, Randomness(1))
    pay = dict(drawn.group_by("job").agg(pl.col("pay").mean()).iter_rows())
    assert pay["retired"] == pytest.approx(20_000, rel=0.05)
    assert pay["nurse"] > 1.9 * pay["retired"]
    assert drawn.filter(pl.col("job") == "retired")["age"].min() > 55
    assert drawn["children"].null_count() / 4_000 == pytest.approx(0.1, abs=0.02)


def test_records_are_copied_no_more_often_than_strangers_are_alike() -> None:
    """Without pay, of which each record has its own, so that records can be alike by chance."""
    kept = ["sex", "age", "job", "children"]
    train, holdout = people().select(kept), people(seed=2).select(kept)
    drawn = model().sample(4_000, Randomness(1)).select(kept)
    assert copied(drawn, train) < copied(holdout, train) + 0.03
    assert copied(train.head(100), train) == 1, "the measure sees a copy"


def test_no_pay_is_copied() -> None:
    assert copied(model().sample(4_000, Randomness(1)), people()) < 0.001


def test_the_same_seed_gives_the_same_whether_in_one_go_or_in_blocks() -> None:
    rows = BLOCK + 500
    whole = model().sample(rows, Randomness(4))
    assert whole.equals(pl.concat(batches(model(), rows, Randomness(4))))
    assert whole.equals(model().sample(rows, Randomness(4)))
    assert not whole.equals(model().sample(rows, Randomness(5)))


def test_more_records_than_the_source_and_none() -> None:
    assert model().sample(50_000, Randomness(1)).height == 50_000
    nothing = model().sample(0, Randomness(1))
    assert (nothing.height, nothing.schema) == (0, people().schema)


def test_a_condition_holds_and_leaves_the_rest_as_it_is() -> None:
    drawn = pl.concat(batches_where(model(), "sex = 'f' AND age >= 65", 3_000, Randomness(1)))
    assert drawn.height == 3_000
    assert set(drawn["sex"]) == {"f"}
    assert drawn["age"].min() >= 65
    assert (drawn["job"] == "retired").mean() > 0.95
    assert drawn.equals(pl.concat(batches_where(model(), "sex = 'f' AND age >= 65", 3_000, Randomness(1))))


UNMET = {
    "town = 'Pune'": "no column 'town'",
    "age +": "not an expression",
    "age + 1": "neither true nor false",
    "age > 500": "hardly a record",
}


@pytest.mark.parametrize("where", UNMET)
def test_a_condition_that_can_not_be_met_is_told_in_one_line(where: str) -> None:
    with pytest.raises(InputError, match=UNMET[where]):
        list(batches_where(model(), where, 10, Randomness(1)))


def test_a_saved_model_draws_the_same_and_holds_no_record(tmp_path: Path) -> None:
    path, second = tmp_path / "people.model", tmp_path / "again.model"
    save_model(model(), path)
    loaded = load_model(path)
    assert loaded.sample(1_000, Randomness(2)).equals(model().sample(1_000, Randomness(2)))
    assert loaded.inspect() == model().inspect()
    save_model(loaded, second)
    assert second.read_bytes() == path.read_bytes()
    state, _ = model().saved()
    steps = {round(pay * 100) for pay in people()["pay"]}
    pay = state["coding"]["codes"]["pay"]
    assert len(steps & {*pay["lows"], *pay["highs"]}) < 5


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive", b"\x93NUMPY"])
def test_what_is_no_model_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.model").write_bytes(content)
    with pytest.raises(SourceError, match="no model"):
        load_model(tmp_path / "bad.model")


def test_a_pickle_in_a_model_is_never_opened(tmp_path: Path) -> None:
    with (tmp_path / "bad.model").open("wb") as file:
        np.savez(file, model=np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(SourceError, match="no model"):
        load_model(tmp_path / "bad.model")


def test_a_model_says_what_it_keeps() -> None:
    seen = model().inspect()
    assert seen["columns"]["pay"]["predicted_by"]
    assert seen["shapes"]["pay"] == {"kind": "decimal", "decimals": 2, "origin": "found"}
    assert seen["records"] == 4_000


def test_every_leaf_stands_for_at_least_ten_records() -> None:
    assert min(tree.shares.sum(axis=1).min() for tree in model().trees) >= 10


def test_methods_are_found_by_name() -> None:
    assert "sequential" in synthesis_methods.names()
    with pytest.raises(InputError, match="did you mean 'sequential'"):
        synthesis_method("sequental")


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"constant": ["x"] * 30, "nothing": pl.Series([None] * 30, dtype=pl.String)}),
        pl.DataFrame({"name": [f"name {number}" for number in range(100_000)]}),
        pl.DataFrame({f"c{number}": [number % 3, 1, 2] * 10 for number in range(60)}),
    ],
)
def test_odd_tables_are_drawn_all_the_same(frame: pl.DataFrame) -> None:
    drawn = synthesis_method("sequential").fit(frame, FitOptions()).sample(20, Randomness(1))
    assert (drawn.height, drawn.columns) == (20, frame.columns)


def test_ten_thousand_columns_are_refused_in_one_line() -> None:
    frame = pl.DataFrame({f"c{number}": [1, 2] * 10 for number in range(10_000)})
    with pytest.raises(DataError, match="too wide"):
        fit_sequential(frame)


PUBLIC = {"adult/adult.csv": 0.015, "fars/fars_subset.csv": 0.048}
"""Tables, and how far a plain resample of each lies from it: the mean over all pairs of columns."""


@pytest.mark.parametrize("path", PUBLIC)
def test_public_tables_are_nearer_than_a_resample_and_no_more_alike_than_strangers(shared: Path, path: str) -> None:
    table = pl.read_csv(shared / "data" / path, separator=";")
    drawn = fit_sequential(table).sample(table.height, Randomness(1))
    pairs = [apart(table, drawn, list(pair)) for pair in combinations(table.columns, 2)]
    assert np.mean(pairs) < PUBLIC[path]
    halves = table.sample(fraction=1, shuffle=True, seed=1).with_row_index()
    train, holdout = (halves.filter(pl.col("index") % 2 == half).drop("index") for half in (0, 1))
    drawn = fit_sequential(train).sample(train.height, Randomness(1))
    assert copied(drawn, train) < copied(holdout, train) + 0.015
    assert copied(drawn, train) < copied(drawn, holdout) + 0.03
