"""Records on a condition and balanced groups: as the model has them, and never without end."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest

from shoal.errors import InputError
from shoal.randomness import Randomness
from shoal.synth.conditional_sampling import batches_balanced, batches_where
from shoal.synth.method import BLOCK, Arrays, SynthesisModel
from shoal.synth.methods.sequential import SequentialModel, fit_sequential

pytestmark = pytest.mark.requirement("T-25")


def people(rows: int = 20_000, seed: int = 1) -> pl.DataFrame:
    numbers = np.random.default_rng(seed)
    job = numbers.choice(["nurse", "clerk", "judge"], rows, p=[0.6, 0.38, 0.02])
    age = numbers.integers(20, 80, rows) + np.where(job == "judge", 10, 0)
    town = numbers.choice(["Pune", "Mumbai", "Kochi"], rows)
    pay = np.where(job == "judge", 9_000, 3_000) + 20 * age + numbers.normal(0, 100, rows)
    return pl.DataFrame(
        {
            "job": job,
            "age": age,
            "town": town,
            "state": pl.Series(town).replace_strict({"Pune": "MH", "Mumbai": "MH", "Kochi": "KL"}),
            "pay": pay.round(0),
            "sick": pl.Series(numbers.random(rows) < 0.3).set(pl.Series(age > 60), None),
        }
    )


@cache
def model() -> SequentialModel:
    return fit_sequential(people())


class Plain:
    """A model of another method."""

    method = "plain"

    def sample(self, rows: int, randomness: Randomness, first: int = 0) -> pl.DataFrame:
        return model().sample(rows, randomness, first)

    def inspect(self) -> dict[str, object]:
        return {}

    def saved(self) -> tuple[dict[str, object], Arrays]:
        return {}, {}


def sample_where(found: SynthesisModel, where: str, rows: int, randomness: Randomness) -> pl.DataFrame:
    return pl.concat(batches_where(found, where, rows, randomness))


def balanced(
    found: SynthesisModel, column: str, rows: int, randomness: Randomness, where: str | None = None
) -> pl.DataFrame:
    return pl.concat(batches_balanced(found, column, rows, randomness, where))


CONDITIONS = [
    "job = 'judge'",
    "job = 'judge' AND state = 'KL'",
    "age > 75 AND pay > 4000 AND town = 'Pune'",
    "job = 'judge' OR age < 22",
    "sick IS NULL AND age < 70",
    "pay > 100 * age",
    "town IN ('Pune', 'Kochi') AND age BETWEEN 30 AND 31",
]


@pytest.mark.parametrize("where", CONDITIONS)
def test_records_are_those_that_would_be_left_of_many(where: str) -> None:
    drawn = sample_where(model(), where, 800, Randomness(2))
    assert drawn.height == 800
    many = model().sample(400_000, Randomness(3)).filter(pl.sql_expr(where))
    assert drawn.filter(pl.sql_expr(where)).height == 800
    assert drawn["pay"].mean() == pytest.approx(many["pay"].mean(), rel=0.03)
    assert drawn["age"].mean() == pytest.approx(many["age"].mean(), rel=0.04)
    assert (drawn["town"] == "Pune").mean() == pytest.approx((many["town"] == "Pune").mean(), abs=0.07)
    assert drawn["sick"].null_count() / 800 == pytest.approx(many["sick"].null_count() / many.height, abs=0.07)
    assert drawn.equals(sample_where(model(), where, 800, Randomness(2)))


def test_a_rare_condition_takes_a_few_blocks_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """One record in 150: thirty blocks of plain draws."""
    blocks: list[int] = []
    plain = SequentialModel.sample

    def counted(own: SequentialModel, rows: int, randomness: Randomness, first: int = 0) -> pl.DataFrame:
        blocks.append(rows)
        return plain(own, rows, randomness, first)

    monkeypatch.setattr(SequentialModel, "sample", counted)
    drawn = sample_where(model(), "job = 'judge' AND state = 'KL'", 10_000, Randomness(1))
    assert drawn.height == 10_000
    assert len(blocks) <= 1, "the draw is steered"
    assert drawn.unique().height > 2_000


@pytest.mark.parametrize("made", [model, Plain])
@pytest.mark.parametrize("where", ["age > 500", "job = 'pope'", "pay < 0 AND job = 'judge'"])
def test_what_nobody_meets_is_told_soon(made: type[Plain], where: str) -> None:
    found: SynthesisModel = made()
    with pytest.raises(InputError, match="hardly a record"):
        sample_where(found, where, 5_000, Randomness(1))


def test_any_model_will_do() -> None:
    drawn = sample_where(Plain(), "town = 'Kochi'", 30_000, Randomness(1))
    assert set(drawn["state"]) == {"KL"}


@pytest.mark.parametrize("made", [model, Plain])
def test_a_minority_is_drawn_as_often_as_the_others(made: type[Plain]) -> None:
    found: SynthesisModel = made()
    drawn = balanced(found, "job", 1_000, Randomness(1))
    assert sorted(drawn["job"].value_counts()["count"]) == [333, 333, 334]
    pay = dict(drawn.group_by("job").agg(pl.col("pay").mean()).iter_rows())
    assert pay["judge"] > 1.5 * pay["nurse"]
    assert drawn["job"].head(50).n_unique() == 3, "they are mixed"


def test_what_is_looked_up_or_true_or_false_can_be_balanced() -> None:
    assert sorted(balanced(model(), "state", 400, Randomness(1))["state"].value_counts()["count"]) == [200, 200]
    assert sorted(balanced(model(), "sick", 400, Randomness(1))["sick"].value_counts()["count"]) == [200, 200]


def test_what_can_not_be_balanced_is_said() -> None:
    with pytest.raises(InputError, match="did you mean 'job'"):
        balanced(model(), "jobs", 100, Randomness(1))
    with pytest.raises(InputError, match="categories: it takes 2"):
        balanced(model(), "pay", 100, Randomness(1))


def test_more_records_than_the_source_on_a_condition() -> None:
    assert sample_where(model(), "job = 'nurse'", 70_000, Randomness(1)).height == 70_000


@pytest.mark.parametrize("made", [model, Plain])
def test_categories_are_balanced_among_those_who_meet_a_condition(made: type[Plain]) -> None:
    found: SynthesisModel = made()
    drawn = balanced(found, "town", 100, Randomness(1), "state = 'MH' AND age > 60")
    assert dict(drawn["town"].value_counts().iter_rows()) == {"Pune": 50, "Mumbai": 50}
    assert drawn["age"].min() > 60


def test_many_balanced_records_come_block_by_block() -> None:
    found = list(batches_balanced(model(), "job", BLOCK + 101, Randomness(1)))
    assert [one.height for one in found] == [BLOCK, 101]
    every = pl.concat(found)["job"].value_counts()["count"]
    assert max(every) - min(every) <= 1
    assert found[1]["job"].n_unique() == 3
