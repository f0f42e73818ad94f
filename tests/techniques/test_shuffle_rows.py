"""Reshuffling of records: the same records in a random order that an engine can reproduce by buckets."""

from __future__ import annotations

import pickle
from collections import Counter
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError
from scipy import stats

from shoal.randomness import Randomness
from shoal.schema import ROW
from shoal.techniques.base import Context, Scope
from shoal.techniques.randomisation.shuffle_rows import ShuffleRows, ShuffleRowsStep

pytestmark = pytest.mark.requirement("T-15")


def bound(seed: int = 1) -> ShuffleRowsStep:
    return ShuffleRows().bind(Context({}, Randomness(seed).stream("shuffle")))


def table(rows: int) -> pl.DataFrame:
    return pl.DataFrame({ROW: pl.Series(range(rows), dtype=pl.UInt64), "x": range(rows)})


def test_records_stay_whole_and_every_order_is_equally_likely():
    drawn = Counter(tuple(bound(seed).apply(table(4))["x"]) for seed in range(1200))
    assert set(drawn) == set(permutations(range(4)))
    assert stats.chisquare(list(drawn.values())).pvalue > 0.01
    shuffled = bound().apply(table(500))
    assert (shuffled["x"] == shuffled[ROW]).all()
    assert shuffled.sort(ROW).equals(table(500))
    assert not shuffled.equals(table(500))


def test_buckets_by_the_key_give_the_same_order():
    step, frame = bound(), table(1000)
    key = step.order_key(frame[ROW].to_numpy())
    buckets = (key >> np.uint64(61)).astype(int)
    parts = [step.apply(frame.filter(pl.Series(buckets == bucket))) for bucket in range(8)]
    assert pl.concat(parts).equals(step.apply(frame))


def test_the_switch():
    assert ShuffleRows.model_validate(True).enabled
    assert ShuffleRows.model_validate({}).enabled
    assert not ShuffleRows.model_validate(False).enabled
    for wrong in ("yes", 1, {"on": True}):
        with pytest.raises(ValidationError):
            ShuffleRows.model_validate(wrong)


def test_pickling_the_empty_frame_and_what_it_reads():
    step = bound()
    assert pickle.loads(pickle.dumps(step)).apply(table(50)).equals(step.apply(table(50)))  # noqa: S301
    assert step.apply(table(0)).equals(table(0))
    assert (step.reads, step.scope, ShuffleRows().columns(None)) == ((), Scope.ORDER, ())


@pytest.mark.requirement("T-28")
def test_facts():
    assert ShuffleRows.facts.truthful
    assert ShuffleRows.facts.random
