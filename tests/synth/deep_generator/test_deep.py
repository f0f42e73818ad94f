"""The method as users meet it: close to the table, steered by its code, safe at a small ε."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.errors import InputError
from shoal.randomness import Randomness
from shoal.synth.column_shapes import ColumnShape, ShapeKind
from shoal.synth.method import BLOCK, FitOptions, batches, synthesis_method
from shoal.synth.methods.deep import DeepModel, fit_deep
from shoal.synth.model_files import load_model, save_model
from shoal.synth.table_coding import TableDescription

pytestmark = pytest.mark.requirement("T-25")


def people(rows: int = 2_000, seed: int = 1) -> pl.DataFrame:
    """Two kinds of people, who differ in almost everything."""
    chance = np.random.default_rng(seed)
    kind = chance.random(rows) < 0.5
    return pl.DataFrame(
        {
            "sex": np.where(chance.random(rows) < np.where(kind, 0.9, 0.1), "f", "m"),
            "job": np.where(kind, "nurse", chance.choice(["smith", "clerk"], rows)),
            "town": chance.choice(["Pune", "Kochi", "Delhi"], rows, p=[0.5, 0.3, 0.2]),
            "band": np.where(kind, chance.integers(4, 8, rows), chance.integers(0, 4, rows)),
        }
    )


PUBLIC = TableDescription(
    columns={
        "sex": ColumnShape(kind=ShapeKind.CATEGORY, categories=("f", "m")),
        "job": ColumnShape(kind=ShapeKind.CATEGORY, categories=("nurse", "smith", "clerk")),
        "town": ColumnShape(kind=ShapeKind.CATEGORY, categories=("Pune", "Kochi", "Delhi")),
        "band": ColumnShape(kind=ShapeKind.WHOLE, lowest=0, highest=7),
    }
)


@pytest.fixture(autouse=True)
def _torch() -> None:
    pytest.importorskip("torch", reason="training a network needs PyTorch (extra deep)")


@cache
def model() -> DeepModel:
    return fit_deep(people(), FitOptions(randomness=Randomness(2)))


@cache
def private(epsilon: float = 3.0) -> DeepModel:
    return fit_deep(people(), FitOptions(epsilon=epsilon, description=PUBLIC))


def apart(first: pl.DataFrame, second: pl.DataFrame, names: list[str]) -> float:
    """Total variation."""
    shares = [frame.group_by(names).agg(share=pl.len() / frame.height) for frame in (first, second)]
    both = shares[0].join(shares[1], on=names, how="full", nulls_equal=True).fill_null(0)
    return float((both["share"] - both["share_right"]).abs().sum()) / 2


def test_pairs_are_kept_with_and_without_noise() -> None:
    for made, off in ((model(), 0.06), (private(), 0.2)):
        drawn = made.sample(4_000, Randomness(1))
        assert drawn.schema == people().schema
        assert apart(people(), drawn, ["sex", "job"]) < off
        assert apart(people(), drawn, ["job", "band"]) < off + 0.05
    shuffled = people().with_columns(pl.col("job").shuffle(seed=1))
    assert apart(people(), shuffled, ["sex", "job"]) > 0.3, "columns that go apart would be seen"


def test_the_code_steers_what_it_is_said_to() -> None:
    """The strongest column of ``inspect`` is one of those in which the two kinds of people differ; the town is not."""
    about = model().inspect()["latent_codes"]["group"]
    told = {one["column"]: one["information"] for one in about["steers"]}
    assert max(told.values()) > 0.5
    assert told.get("town", 0.0) < max(told.values()) / 3
    strongest = about["steers"][0]["column"]
    by_group = [model().sample(2_000, Randomness(1), codes={"group": value}) for value in about["values"]]
    most = max(apart(one, other, [strongest]) for one in by_group for other in by_group)
    assert most > 0.7


def test_codes_that_there_are_not_are_refused() -> None:
    for codes in ({"mood": 1.0}, {"group": 9}, {"group": 0.5}, {"slide": 0.0}):
        with pytest.raises(InputError, match=r"there is no code|the group is one of"):
            model().sample(5, Randomness(1), codes=codes)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    again = fit_deep(people(), FitOptions(randomness=Randomness(2)))
    paths = [tmp_path / "first", tmp_path / "second"]
    for path, one in zip(paths, (model(), again), strict=True):
        save_model(one, path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    rows = BLOCK + 50
    whole = model().sample(rows, Randomness(4))
    assert whole.equals(pl.concat(batches(model(), rows, Randomness(4))))
    assert whole[1000:1100].equals(model().sample(100, Randomness(4), 1000))


def test_a_seed_does_not_repeat_noise() -> None:
    seeded = [
        fit_deep(people(300), FitOptions(epsilon=1.0, description=PUBLIC, randomness=Randomness(2))) for _ in "ab"
    ]
    assert not np.array_equal(seeded[0].weights["bias"], seeded[1].weights["bias"])


def test_a_saved_model_draws_the_same_without_pytorch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_model(private(), tmp_path / "model")
    monkeypatch.setitem(sys.modules, "torch", None)
    loaded = load_model(tmp_path / "model")
    assert isinstance(loaded, DeepModel)
    assert loaded.sample(500, Randomness(3)).equals(private().sample(500, Randomness(3)))
    assert loaded.inspect() == private().inspect()


def test_what_was_spent_is_within_the_budget_and_all_of_it() -> None:
    made = private()
    assert made.cost is not None
    assert made.budget is not None
    assert 0.9 * 3.0 < made.cost.epsilon(made.budget.delta_converting) <= 3.0
    method = synthesis_method("deep")
    assert method.guarantee(FitOptions(), made).epsilon == 3.0
    open_ = method.guarantee(FitOptions(), model())
    assert open_.epsilon is None
    assert "no formal guarantee" in open_.not_guaranteed[0]
    assert made.records != 2_000, "the number of records is told with noise"


def test_without_pytorch_the_way_to_get_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [one for one in sys.modules if one.startswith("shoal.synth.deep_generator")]:
        if name.endswith(("training", "clipped_gradients")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match="PyTorch") as refused:
        fit_deep(people(), FitOptions())
    assert refused.value.advice == 'pip install "shoal[deep]"'


def loss(made: DeepModel, frame: pl.DataFrame) -> np.ndarray:
    """Minus the log-likelihood of records by the network's own odds: what whoever has the model can compute."""
    network, at = made.architecture, made.weights
    codes = made.coding.coding.encode(frame)[:, made.order]
    groups = [made.coding.attributes[place].groups.of for place in made.order]
    codes = np.stack([of[codes[:, place]] for place, of in enumerate(groups)], axis=1)
    ones = np.zeros((len(codes), network.width))
    ones[np.arange(len(codes))[:, None], codes + network.starts[:-1]] = 1
    odds = at["bias"] + ones @ at["direct"] + np.tanh(ones @ at["inner"] + at["inner_bias"]) @ at["outer"]
    likelihoods = []
    for shift in at["group"]:
        parts = np.split(odds + shift, network.starts[1:-1], axis=1)
        logs = [part - np.log(np.exp(part).sum(axis=1, keepdims=True)) for part in parts]
        likelihoods.append((np.hstack(logs) * ones).sum(axis=1))
    return -np.logaddexp.reduce(likelihoods, axis=0)


def advantage(made: DeepModel, members: pl.DataFrame, others: pl.DataFrame) -> float:
    """Of guessing that records of small loss were learnt from: the share of pairs that it puts right, above half."""
    inside, outside = loss(made, members), loss(made, others)
    return float((inside[:, None] < outside).mean() + (inside[:, None] == outside).mean() / 2) - 0.5


def noise_table(rows: int, seed: int) -> tuple[pl.DataFrame, TableDescription]:
    """Twelve columns of chance: whoever tells members from others has learnt them by heart."""
    chance = np.random.default_rng(seed)
    names = [f"c{place}" for place in range(12)]
    frame = pl.DataFrame({name: chance.choice(["a", "b", "c"], rows) for name in names})
    shape = ColumnShape(kind=ShapeKind.CATEGORY, categories=("a", "b", "c"))
    return frame, TableDescription(columns=dict.fromkeys(names, shape), find_constraints=False)


def test_members_are_told_from_others_without_noise_and_not_at_a_small_epsilon() -> None:
    members, said = noise_table(120, 1)
    others, _ = noise_table(120, 2)
    learnt = fit_deep(members, FitOptions(description=said, randomness=Randomness(1)))
    assert advantage(learnt, members, others) > 0.3
    kept = fit_deep(members, FitOptions(epsilon=1.0, description=said))
    assert abs(advantage(kept, members, others)) < 0.15
