"""Inference by the nearest synthetic record: whoever knows all else of a person reads the one attribute from it.

Right is the same label, or a number within a twentieth of the true one. Guessing says the most frequent label, or the
median number, of the synthetic table. What is true of the population is inferred of strangers as well, so only what
goes beyond them is the table's doing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import polars as pl

from shoal.attack.registry import Try
from shoal.attack.result import Attack, Rate
from shoal.attack.synthetic.registry import synthetic_attack
from shoal.attack.synthetic.scene import SyntheticScene
from shoal.kernels.arrays import Floats, as_floats

WITHIN = 0.05
MOST_SECRETS = 3


def neighbour_inference(scene: SyntheticScene, secret: str) -> Attack:
    known = [name for name in scene.people.columns if name != secret]
    nearest = scene.nearest(scene.people, scene.records, known, ties=f"inference {secret}").places[:, 0]
    truth, records = scene.people[secret], scene.records[secret]
    members, strangers = scene.split(_right(records.gather(nearest), truth))
    guess = _simplest(records).gather(np.zeros(len(truth), dtype=np.int64))
    baseline, _ = scene.split(_right(guess, truth))
    return Attack(
        "inference",
        "Inference by the nearest record",
        f"{len(known)} other attributes of people",
        Rate(float(members.sum()), len(members)),
        Rate(float(baseline.sum()), len(baseline)),
        Rate(float(strangers.sum()), len(strangers)) if len(strangers) else None,
        attribute=secret,
    )


def _right(said: pl.Series, truth: pl.Series) -> Floats:
    if truth.dtype.is_float() or truth.dtype.is_integer():
        guess, true = as_floats(said), as_floats(truth)
        near = np.abs(guess - true) <= WITHIN * np.abs(true)
        return (near | (np.isnan(guess) & np.isnan(true))).astype(np.float64)
    same: Floats = said.eq_missing(truth).to_numpy().astype(np.float64)
    return same


def _simplest(records: pl.Series) -> pl.Series:
    if records.dtype.is_float() or records.dtype.is_integer():
        return pl.Series([records.median()], dtype=pl.Float64)
    return records.mode().sort()[:1]


def _secrets(scene: SyntheticScene) -> Sequence[str]:
    """What was said; else a few of the attributes that vary, by lot."""
    if scene.tables.targets:
        return scene.tables.targets
    varied = [name for name in scene.people.columns if scene.tables.original[name].n_unique() > 1]
    return [varied[place] for place in scene.stream("inference").permutation(len(varied))[:MOST_SECRETS]]


def _tried(scene: SyntheticScene, secret: str) -> list[Attack]:
    return [neighbour_inference(scene, secret)]


@synthetic_attack("inference", order=50)
def tries_neighbour_inference(scene: SyntheticScene) -> Iterator[tuple[str, Try]]:
    if len(scene.people.columns) < 2:
        return
    for secret in _secrets(scene):
        yield f"inference of {secret}", partial(_tried, scene, secret)
