"""What steps tell engines of themselves, so that a cluster can do without the whole table: it has to be true.

Each telling is carried out here in a few plain lines and compared with the step on the whole table.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from shoal.errors import DataError
from shoal.randomness import Randomness
from shoal.schema import ROW, Column, Step, ValueType
from shoal.techniques import Context, techniques
from shoal.techniques.randomisation.permute import Permute, PermuteStep
from shoal.techniques.statistical.aggregation.aggregate import Aggregate, AggregateStep
from shoal.techniques.statistical.sample import SampleStep, Sampling
from shoal.techniques.statistical.sample_traces import SampleTraces, SampleTracesStep
from shoal.techniques.strata import random_order
from shoal.techniques.suppression.cut_stays import CutStays, CutStaysStep
from shoal.techniques.trace_points import TraceTechnique

pytestmark = pytest.mark.requirement("L-04")

PAY = Column("pay", ValueType.INTEGER, storage=pl.Int64())


def permuted(**parameters: object) -> Step:
    return Permute.model_validate(parameters).bind(PAY, Context({}, Randomness(seed=2).stream("told")))


WHERE_AND_WHEN = {
    "north": Column("north", ValueType.DECIMAL, storage=pl.Float64()),
    "east": Column("east", ValueType.DECIMAL, storage=pl.Float64()),
    "at": Column("at", ValueType.DATETIME, storage=pl.Datetime("us")),
}


def traced(technique: type[TraceTechnique], **parameters: object) -> Step:
    told = {"latitude": "north", "longitude": "east", "time": "at", **parameters}
    return technique.model_validate(told).bind(Context(WHERE_AND_WHEN, Randomness(seed=2).stream("told"), person="who"))


def sampled(person: str | None = None, **parameters: object) -> Step:
    return Sampling.model_validate(parameters).bind(Context({}, Randomness(seed=2).stream("told"), person=person))


APART = {
    "permute": permuted(within=["town", "rate"]),
    "permute with": permuted(within=["town"], **{"with": ["who"]}),
    "derange": permuted(within=["town"], derange=True),
    "rank": permuted(within=["town"], rank=0.5),
    "rank and derange": permuted(within=["rate"], rank=0.8, derange=True),
    "sample": sampled(fraction=0.4, within=["town"]),
    "sample, two columns": sampled(fraction=0.5, within=["rate", "town"]),
    "traces, sampled": traced(SampleTraces, minutes=60),
    "traces, stays cut": traced(CutStays, places=1),
}
RANKS = {"permute": permuted(**{"with": ["town"]}), "sample": sampled(fraction=0.4), "nobody": sampled(fraction=0.01)}
LEADS = {"sample": sampled("who", fraction=0.5), "in strata": sampled("who", fraction=0.5, within=["town", "rate"])}
MERGES = (AggregateStep,)


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    """Records at positions with holes; few towns and people, missing ones too."""
    rows = sorted(draw(st.sets(st.integers(0, 2**40), max_size=30)))
    few = st.lists(st.sampled_from([None, "a", "b", "c"]), min_size=len(rows), max_size=len(rows))
    rates = st.lists(st.sampled_from([None, 0.0, -0.0, 1.5, float("nan")]), min_size=len(rows), max_size=len(rows))
    pays = st.lists(st.integers(0, 9), min_size=len(rows), max_size=len(rows))
    places = st.lists(st.sampled_from([None, 12.5, 12.5001, 12.501, 13.0]), min_size=len(rows), max_size=len(rows))
    moments = st.datetimes(datetime(2026, 1, 1), datetime(2026, 1, 2))  # noqa: DTZ001  # as tables have them
    times = st.lists(st.none() | moments, min_size=len(rows), max_size=len(rows))
    schema = {ROW: pl.UInt64(), "pay": pl.Int64(), "town": pl.String(), "who": pl.String(), "rate": pl.Float64()}
    schema |= {name: column.storage for name, column in WHERE_AND_WHEN.items()}
    drawn = [draw(one) for one in (pays, few, few, rates, places, places, times)]
    return pl.DataFrame([rows, *drawn], schema=schema)


def outcome(act: Callable[[], pl.DataFrame]) -> pl.DataFrame | str:
    """What comes out, or that it is refused; of what is refused, the parts of a table can't all know."""
    try:
        return act()
    except DataError:
        return "refused"


def same(found: pl.DataFrame | str, expected: pl.DataFrame | str) -> None:
    if isinstance(found, str) or isinstance(expected, str):
        assert found is expected
    else:
        assert_frame_equal(found, expected, check_exact=True)


@pytest.mark.parametrize("step", APART.values(), ids=APART.keys())
@given(table=tables(), parts=st.integers(1, 4), by=st.integers(0, 2**32))
def test_strata_in_any_parts_come_out_as_in_the_whole(step: Step, table: pl.DataFrame, parts: int, by: int) -> None:
    assert step.apart
    number = table.select(pl.struct(step.apart).rank("dense").fill_null(0).hash(by) % parts).to_series()

    def in_parts() -> pl.DataFrame:
        done = [step.apply(table.filter(number == part)) for part in range(parts)]
        return pl.concat(done).sort(ROW)

    same(outcome(in_parts), outcome(lambda: step.apply(table)))


@pytest.mark.parametrize("step", RANKS.values(), ids=RANKS.keys())
@given(table=tables())
def test_ranks_say_what_the_step_does(step: Step, table: pl.DataFrame) -> None:
    same(by_ranks(step, table), step.apply(table))


def by_ranks(step: Step, table: pl.DataFrame) -> pl.DataFrame:
    assert step.ranks is not None
    rows = table[ROW].to_numpy()
    by_key = np.lexsort((rows, step.order_key(rows)))
    if step.ranks.draws is not None:
        return table[by_key[: step.ranks.draws(table.height)]].sort(ROW)
    return table.with_columns(table[by_key].select(step.ranks.deals))


@pytest.mark.parametrize("step", LEADS.values(), ids=LEADS.keys())
@given(table=tables())
def test_the_first_record_of_a_person_leads_the_others(step: Step, table: pl.DataFrame) -> None:
    leads = step.leads
    assert leads is not None
    who = pl.col(leads.column)
    stay = leads.step.apply(table.filter(who.is_first_distinct() | who.is_null()))
    followed = table.filter(
        who.is_in(stay[leads.column].drop_nulls().implode()) | pl.col(ROW).is_in(stay[ROW].implode())
    )
    same(followed, step.apply(table))


@given(table=tables(), person=st.sampled_from([None, "who"]), cuts=st.sets(st.integers(0, 30), max_size=4))
def test_partial_results_may_be_merged_before_the_end(table: pl.DataFrame, person: str | None, cuts: set[int]) -> None:
    technique = Aggregate.model_validate(
        {
            "by": ["town"],
            "measures": {"n": "count", "sum": {"sum": "pay"}, "least": {"min": "pay"}},
            "minimum": 2,
            "dominance": {"largest": 2, "share": 0.6},
            "totals": True,
        }
    )
    step = technique.bind(Context({"pay": PAY}, Randomness(seed=2).stream("told"), person=person))
    edges = [0, *sorted(cuts), 40]
    partial = step.apply(table[:0])
    for start, end in pairwise(edges):
        partial = step.merge(pl.concat([partial, step.apply(table[start:end])]))
    same(step.finish(partial), step.finish(step.apply(table)))


def test_a_stratum_has_one_order_however_many_there_are() -> None:
    """Words that differ in their last bits only, where these are cut off to make room for the number of the stratum."""
    words = np.array([3, 1, 2, 0, 7, 5], dtype=np.uint64)
    strata = np.array([0, 0, 0, 1, 4, 4])
    assert random_order(strata, words).tolist() == [1, 2, 0, 3, 5, 4]
    assert random_order(strata[:3], words[:3]).tolist() == [1, 2, 0]


def every_step(kind: type[Step] = Step) -> Iterator[type[Step]]:
    for step in kind.__subclasses__():
        yield step
        yield from every_step(step)


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("apart", {type(step) for step in APART.values()}),
        ("ranks", {type(step) for step in RANKS.values()}),
        ("leads", {type(step) for step in LEADS.values()}),
        ("merge", set(MERGES)),
    ],
)
def test_nothing_is_told_that_is_not_shown_here(told: str, shown: set[type[Step]]) -> None:
    assert techniques.names(), "the files of the techniques have to be read"
    telling = {
        step
        for step in every_step()
        if step.__module__.startswith("shoal.") and told in vars(step) and not inspect.isabstract(step)
    }
    assert telling == shown
    assert {PermuteStep, SampleStep, AggregateStep, SampleTracesStep, CutStaysStep} >= shown
