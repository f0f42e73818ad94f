"""Sampling: the exact size, every subset equally likely, strata in proportion, people whole."""

from __future__ import annotations

import pickle
from collections import Counter
from itertools import combinations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy import stats

from shoal.randomness import Randomness
from shoal.schema import ROW
from shoal.techniques.base import Context, Scope, Step
from shoal.techniques.statistical.sample import Sampling

pytestmark = pytest.mark.requirement("T-17")


def bound(fraction: float, *, within: tuple[str, ...] = (), person: str | None = None, seed: int = 17) -> Step:
    stream = Randomness(seed).stream("sample")
    return Sampling(fraction=fraction, within=within).bind(Context({}, stream, person=person))


def table(rows: int, **columns: object) -> pl.DataFrame:
    return pl.DataFrame({ROW: pl.Series(range(rows), dtype=pl.UInt64), **columns})


@pytest.mark.parametrize(
    ("fraction", "rows", "size"), [(0.5, 5, 3), (0.1, 4, 0), (0.285, 100, 29), (0.3, 10, 3), (1, 7, 7)]
)
def test_the_size_is_exact_and_halves_round_up(fraction, rows, size):
    sampled = bound(fraction).apply(table(rows, x=range(rows)))
    assert sampled.height == size
    assert sampled[ROW].is_sorted()
    assert (sampled["x"] == sampled[ROW]).all()
    assert sampled[ROW].n_unique() == size


def test_every_subset_is_equally_likely():
    drawn = Counter(tuple(bound(0.5, seed=seed).apply(table(4))[ROW]) for seed in range(1200))
    assert set(drawn) == set(combinations(range(4), 2))
    assert stats.chisquare(list(drawn.values())).pvalue > 0.01


@given(strata=st.lists(st.sampled_from(["a", "b", None]), max_size=60), fraction=st.sampled_from([0.1, 0.25, 0.5, 0.9]))
@settings(max_examples=50)
def test_each_stratum_gives_its_own_share(strata, fraction):
    frame = table(len(strata), s=pl.Series(strata, dtype=pl.String))
    kept = Counter(bound(fraction, within=("s",)).apply(frame)["s"])
    for stratum, size in Counter(strata).items():
        assert kept[stratum] == int(fraction * size + 0.5)


@given(people=st.lists(st.sampled_from(["p1", "p2", "p3", "p4", "p5", None]), max_size=40), seed=st.integers(0, 99))
@settings(max_examples=60)
def test_people_are_sampled_whole(people, seed):
    frame = table(len(people), who=pl.Series(people, dtype=pl.String))
    sampled = bound(0.5, person="who", seed=seed).apply(frame)
    named = set(people) - {None}
    staying = set(sampled["who"].drop_nulls())
    for person in staying:
        assert sampled.filter(pl.col("who") == person).equals(frame.filter(pl.col("who") == person))
    nameless = people.count(None)
    assert len(staying) + sampled["who"].null_count() == int((len(named) + nameless) * 0.5 + 0.5)
    assert sampled[ROW].is_sorted()


def test_a_person_of_many_records_is_as_likely_as_one_of_few():
    people = ["often"] * 97 + ["b", "c", "d"]
    stays = [
        "often" in set(bound(0.5, person="who", seed=seed).apply(table(100, who=people))["who"]) for seed in range(600)
    ]
    assert stats.binomtest(sum(stays), len(stays), 0.5).pvalue > 0.01


def test_a_person_belongs_to_the_stratum_of_their_first_record():
    frame = table(6, who=["p", "q", "p", "q", "r", "s"], s=["a", "a", "b", "b", "b", "b"])
    for seed in range(20):
        sampled = bound(0.5, within=("s",), person="who", seed=seed).apply(frame)
        assert len({"p", "q"} & set(sampled["who"])) == 1
        assert len({"r", "s"} & set(sampled["who"])) == 1


def test_pickling_the_empty_frame_and_what_it_reads():
    step = bound(0.4, within=("s",), person="who")
    frame = table(50, who=[str(at % 9) for at in range(50)], s=[at % 2 for at in range(50)])
    assert pickle.loads(pickle.dumps(step)).apply(frame).equals(step.apply(frame))  # noqa: S301
    assert step.apply(frame.clear()).equals(frame.clear())
    assert step.apply(frame.clear()).schema == step.apply(frame).schema
    assert (step.reads, step.scope) == (("s", "who"), Scope.TABLE)
    assert bound(0.4, within=("who",), person="who").reads == ("who",)


@pytest.mark.parametrize("fraction", [0, -0.1, 1.01, float("nan")])
def test_wrong_fractions(fraction):
    with pytest.raises(ValidationError):
        Sampling(fraction=fraction)
