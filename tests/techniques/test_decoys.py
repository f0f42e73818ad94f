"""Decoy records: every class reaches k, the real records are all there, and nothing tells who is which."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy import stats

from shoal.engine.polars import PolarsEngine
from shoal.errors import BugError, DataError
from shoal.io import file_target
from shoal.io.frames import FrameSource, FrameTarget
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.randomness import Randomness
from shoal.schema import ROW, Counts, Scope
from shoal.solve import Ladder, Solution, build_problem
from shoal.solve.decoys import fill_up
from shoal.techniques import Context, Step
from shoal.techniques.synthetic.decoys import LONE_SHARE, Decoys, DecoysStep, lone_share

pytestmark = pytest.mark.requirement("S-12")

QUASI = ("age", "city")
PERSON = "__shoal_person__"
K = 4


def table(pairs: list[tuple[int, str | None]]) -> pl.DataFrame:
    """Two quasi-identifiers, and three columns in which hardly anyone has a value of their own."""
    rows = len(pairs)
    quasi = pl.DataFrame(pairs, schema={"age": pl.Int16, "city": pl.String}, orient="row")
    return quasi.with_columns(
        ward=pl.Series([("A", "B", None)[row % 3] for row in range(rows)], dtype=pl.Categorical),
        bill=pl.Series([row % 2 * 2.5 for row in range(rows)], dtype=pl.Float64),
        seen=pl.Series([row % 4 for row in range(rows)]).cast(pl.Date),
    )


def solved(engine: PolarsEngine, scanned, limit: float, person: str | None = None) -> tuple[Solution, pl.DataFrame]:
    """The classes as they are, those below k filled up as far as the limit goes; the cells of the decoys."""
    counts = engine.counts(scanned, QUASI, person)
    ladders = [
        Ladder(name, (np.arange(size),), (np.zeros(size),), 0, 1, size)
        for name, size in ((name, len(counts.values_of(name))) for name in QUASI)
    ]
    problem = build_problem(counts, ladders, [KAnonymity(k=K)], suppression_limit=1.0)
    withheld = counts.people_in(np.arange(counts.size), counts.size) < K
    nothing = Solution(dict.fromkeys(QUASI, 0), 0.0, 0.0, True, 1, 1, int(counts.records[withheld].sum()), withheld)
    solution = fill_up(problem, nothing, limit)
    filling = np.zeros(counts.size, dtype=np.int64) if solution.filling is None else solution.filling
    return solution, counts.frame()[np.repeat(np.arange(counts.size), filling)]


def bound(engine: PolarsEngine, scanned, cells: pl.DataFrame, seed: int = 1, person: str | None = None) -> DecoysStep:
    decoys = Decoys(limit=1)
    wanted = decoys.wants(engine.columns(scanned), QUASI)
    counts = {want: engine.counts(scanned, want) for want in wanted}
    return decoys.bind(cells, Context({}, Randomness(seed).stream("decoys"), counts, person=person))


def released(frame: pl.DataFrame, limit: float, *, seed: int = 1, batch_rows: int = 100_000):
    engine = PolarsEngine(batch_rows=batch_rows)
    scanned = engine.scan(FrameSource(frame.lazy()))
    solution, cells = solved(engine, scanned, limit)
    step = bound(engine, scanned, cells, seed)
    target = FrameTarget()
    engine.sink(engine.shuffle(scanned, step), target)
    return solution, step, target.frame


pairs = st.lists(st.tuples(st.integers(20, 22), st.sampled_from(["Pune", "Delhi", None])), min_size=8, max_size=30)


@settings(max_examples=40)
@given(pairs.map(table), st.sampled_from([0.1, 0.5, 1.0]))
def test_every_class_reaches_k_and_nobody_is_lost(frame: pl.DataFrame, limit: float) -> None:
    solution, step, output = released(frame, limit)
    assert output.height - frame.height == solution.decoys <= limit * frame.height
    assert output.schema == frame.schema
    assert Counter(output.rows()) - Counter(step.inserts.select(frame.columns).rows()) == Counter(frame.rows())
    sizes = Counter(output.select(QUASI).rows())
    before = Counter(frame.select(QUASI).rows())
    assert sizes.keys() == before.keys()
    assert sum(before[key] for key, size in sizes.items() if size < K) == solution.suppressed
    for name in ("ward", "bill", "seen"):
        assert set(step.inserts[name]) <= set(frame[name])


def test_without_need_there_are_none() -> None:
    solution, step, output = released(table([(20, "Pune")] * 10), 1.0)
    assert (solution.decoys, step.inserts.height, output.height) == (0, 0, 10)


MIXED = table([(20 + row % 7, "Pune") for row in range(60)] + [(40, "Delhi"), (41, "Delhi"), (41, None), (42, None)])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_same_seed_same_bytes_whatever_the_batches(tmp_path: Path, ending: str) -> None:
    outputs = []
    for seed, batch_rows in ((1, 1), (1, 7), (1, 100_000), (2, 100_000)):
        engine = PolarsEngine(batch_rows=batch_rows)
        scanned = engine.scan(FrameSource(MIXED.lazy()))
        _, cells = solved(engine, scanned, 1.0)
        target = file_target(tmp_path / f"{seed}-{batch_rows}.{ending}")
        assert engine.sink(engine.shuffle(scanned, bound(engine, scanned, cells, seed)), target) == 76
        outputs.append(target.path.read_bytes())
    assert outputs[0] == outputs[1] == outputs[2] != outputs[3]


def test_a_table_in_memory_goes_the_same_way() -> None:
    _, step, output = released(MIXED, 1.0)
    placed = MIXED.with_columns(pl.int_range(MIXED.height, dtype=pl.UInt64).alias(ROW))
    assert step.apply(placed).drop(ROW).equals(output)
    assert pickle.loads(pickle.dumps(step)).apply(placed).equals(step.apply(placed))  # noqa: S301


@pytest.mark.requirement("D-09")
def test_a_decoy_counts_as_a_person_of_its_own() -> None:
    engine = PolarsEngine()
    who = pl.Series(PERSON, [row // 2 for row in range(MIXED.height)], dtype=pl.UInt64)
    scanned = engine.scan(FrameSource(MIXED.with_columns(who).lazy()))
    solution, cells = solved(engine, scanned, 1.0, PERSON)
    assert solution.decoys
    filled = engine.shuffle(scanned, bound(engine, scanned, cells, person=PERSON))
    counts = engine.counts(filled, QUASI, PERSON)
    assert counts.people_in(np.arange(counts.size), counts.size).min() == K
    assert engine.counts(filled, (), PERSON).total_people == engine.counts(scanned, (), PERSON).total_people + len(
        cells
    )
    assert engine.columns(filled) == engine.columns(scanned)


def counted(name: str, **records: int) -> Counts:
    return Counts.from_frame(pl.DataFrame({name: [*records], "n": [*records.values()]}), (name,), "n")


def many(decoys: int = 6000) -> pl.DataFrame:
    """Decoys of two classes, drawn from two columns."""
    cells = pl.DataFrame({"age": [30, 40] * (decoys // 2)})
    counts = {("ward",): counted("ward", A=5, B=3, C=2), ("ill",): counted("ill", flu=6, cold=2)}
    step = Decoys(limit=1).bind(cells, Context({}, Randomness(4).stream("many"), counts))  # type: ignore[arg-type]
    return step.inserts


@pytest.mark.parametrize(
    ("name", "shares"), [("ward", {"A": 0.5, "B": 0.3, "C": 0.2}), ("ill", {"flu": 0.75, "cold": 0.25})]
)
def test_values_are_as_frequent_as_in_the_table(name: str, shares: dict[str, float]) -> None:
    drawn = Counter(many()[name])
    found = [drawn[value] for value in shares]
    assert stats.chisquare(found, [6000 * share for share in shares.values()]).pvalue > 0.01
    wrong = [6000 * share for share in (0.45, *list(shares.values())[1:-1], 0)]
    wrong[-1] = 6000 - sum(wrong)
    assert stats.chisquare(found, wrong).pvalue < 1e-6


@pytest.mark.parametrize(("one", "other"), [("ward", "ill"), ("age", "ward"), ("age", "ill")])
def test_columns_are_drawn_without_regard_to_each_other_or_the_class(one: str, other: str) -> None:
    crossed = many().group_by(one, other).len().pivot(on=other, index=one, values="len").drop(one).to_numpy()
    assert stats.chi2_contingency(crossed).pvalue > 0.01


def test_places_tell_nothing() -> None:
    """The places of decoys in the output are spread evenly, and real records are mixed too."""
    frame = pl.DataFrame({"age": pl.Series([30], dtype=pl.Int64).new_from_index(0, 5000), "ward": ["A", "B"] * 2500})
    frame = frame.with_columns(pl.int_range(5000, dtype=pl.UInt64).alias(ROW))
    counts = {("ward",): counted("ward", A=2500, B=2500)}
    cells = pl.DataFrame({"age": [30] * 500})
    step = Decoys(limit=1).bind(cells, Context({}, Randomness(9).stream("places"), counts))  # type: ignore[arg-type]
    rows = step.apply(frame)[ROW].to_numpy()
    assert stats.kstest(np.flatnonzero(rows >= 5000) / 5500, "uniform").pvalue > 0.01
    real = rows[rows < 5000]
    assert abs(stats.spearmanr(np.arange(5000), real).statistic) < 0.05


@pytest.mark.parametrize(("alone", "refused"), [(5, False), (6, True)])
def test_values_of_ones_own_are_refused(alone: int, refused: bool) -> None:
    bills = {f"b{number}": 1 for number in range(alone)}
    counts = {("bill",): counted("bill", common=100 - alone, **bills), ("ward",): counted("ward", A=60, B=40)}
    assert lone_share(counts["bill",]) == alone / 100
    context = Context({}, Randomness(1).stream("lone"), counts)  # type: ignore[arg-type]
    cells = pl.DataFrame({"age": [30]})
    if not refused:
        assert alone / 100 == LONE_SHARE
        assert Decoys(limit=1).bind(cells, context).inserts.height == 1
        return
    with pytest.raises(DataError, match=r"'bill' \(6\.0% of the records\) \(round") as raised:
        Decoys(limit=1).bind(cells, context)
    assert "ward" not in str(raised.value)


def test_columns_together_count() -> None:
    few = {f"b{number}": 1 for number in range(3)}
    counts = {(name,): counted(name, common=97, **few) for name in ("bill", "fee")}
    with pytest.raises(DataError, match=r"'bill' .*, 'fee'"):
        Decoys(limit=1).bind(pl.DataFrame({"age": [30]}), Context({}, Randomness(1).stream("lone"), counts))  # type: ignore[arg-type]


def test_a_column_is_drawn_or_given() -> None:
    context = Context({}, Randomness(1).stream("x"), {("age",): counted("age", x=9)})
    with pytest.raises(BugError):
        Decoys(limit=1).bind(pl.DataFrame({"age": ["x"]}), context)


def test_nothing_is_shown_of_a_decoy() -> None:
    _, step, _ = released(MIXED, 1.0)
    assert "Delhi" not in repr(step)
    assert (step.reads, step.scope, isinstance(step, Step)) == ((), Scope.INSERT, True)


@pytest.mark.parametrize("limit", [0, -0.1, 1.01, "much"])
def test_limits_of_the_limit(limit: object) -> None:
    with pytest.raises(ValidationError):
        Decoys.model_validate({"limit": limit})
    assert Decoys.model_validate({"limit": 1}).limit == 1


@pytest.mark.requirement("T-28")
def test_facts() -> None:
    assert not Decoys.facts.truthful
    assert Decoys.facts.random
