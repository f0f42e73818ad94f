"""A population that people are drawn from, and synthesisers that give some of them away."""

from __future__ import annotations

import numpy as np
import polars as pl


def people(rows: int, seed: int) -> pl.DataFrame:
    """Six columns that go together, numbers with a long tail."""
    draw = np.random.default_rng(seed)
    age = np.clip(draw.gamma(6, 7, rows), 18, 95).round().astype(np.int64)
    odds = 1 / np.arange(1, 31)
    own = draw.integers(0, 9, rows)
    return pl.DataFrame(
        {
            "age": age,
            "town": draw.choice([f"town {number}" for number in range(30)], rows, p=odds / odds.sum()),
            "sex": draw.choice(["f", "m"], rows),
            "work": [f"work {number}" for number in np.where(draw.random(rows) < 0.7, age // 12, own)],
            "income": np.exp(draw.normal(10 + 0.01 * age, 0.6)).round(-2),
            "visits": draw.poisson(2 + 2 * (age > 60)),
        }
    )


def copying(original: pl.DataFrame, fresh: pl.DataFrame, share: float) -> pl.DataFrame:
    """Fresh records, and among them copies of a share of the original."""
    copies = int(share * original.height)
    return pl.concat([original[:copies], fresh[copies:]])


def copying_outliers(original: pl.DataFrame, fresh: pl.DataFrame, number: int) -> pl.DataFrame:
    """Fresh records, and the people with the largest incomes."""
    return pl.concat([original.sort("income", descending=True)[:number], fresh[number:]])


def overfitted(original: pl.DataFrame, seed: int, leaf: int = 2) -> pl.DataFrame:
    """Column by column from the people who are most alike so far, so few of them that they can be told."""
    draw = np.random.default_rng(seed)
    coded = np.column_stack(
        [original[name].rank("dense").to_numpy() / original[name].n_unique() for name in original.columns]
    )
    made = coded[draw.integers(0, len(coded), len(coded)), :1]
    rows = np.empty((len(coded), coded.shape[1]), dtype=np.int64)
    rows[:, 0] = [int(np.flatnonzero(coded[:, 0] == value[0])[0]) for value in made]
    for place in range(1, coded.shape[1]):
        apart = np.abs(made[:, None, :] - coded[None, :, :place]).sum(axis=2) + 1e-6 * draw.random(
            (len(made), len(coded))
        )
        nearest = np.argpartition(apart, leaf, axis=1)[:, :leaf]
        rows[:, place] = nearest[np.arange(len(made)), draw.integers(0, leaf, len(made))]
        made = np.column_stack((made, coded[rows[:, place], place]))
    return original.select(original[name].gather(rows[:, place]) for place, name in enumerate(original.columns))
