"""What an engine need not read twice, or at all; and that it makes no difference to the answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pytest
from tests.support.steps import Keeps, Rewrites

from shoal.engine.polars import PolarsEngine
from shoal.io import FileOptions, open_source
from shoal.kernels import group_counts
from shoal.kernels.batch_streams import streamed
from shoal.measurement.risk.equivalence_classes import count_people
from shoal.measurement.risk.identifier_uniqueness import count_with_uniques, unique_shares
from shoal.plan.binding_queries import SampleQuery
from shoal.plan.hidden_columns.original_values import KeepOriginals

PEOPLE = pl.DataFrame(
    {
        "name": [f"n{place:05}" for place in range(12_000)],
        "age": [str(place * 7 % 60) for place in range(12_000)],
        "seen": [f"2024-05-{place % 28 + 1:02}" if place % 9 else None for place in range(12_000)],
        "sum": [f"{place % 83}.5" for place in range(12_000)],
    }
)


@dataclass
class WatchedSource:
    """A table whose passes are counted where it is read."""

    label: str = "people"
    rows: int = PEOPLE.height
    passes: list[int] = field(default_factory=list)

    def scan(self) -> pl.LazyFrame:
        return streamed(self._batches, PEOPLE.schema)

    def _batches(self) -> Iterator[pl.DataFrame]:
        self.passes.append(0)
        for batch in PEOPLE.iter_slices(500):
            self.passes[-1] += batch.height
            yield batch


def passes_of(source: WatchedSource) -> int:
    """Those over all records: the beginning alone is looked at, too."""
    return sum(records == PEOPLE.height for records in source.passes)


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "in segments"])
@pytest.mark.parametrize("foreseen", [("age", "seen"), ("seen",), ("age", "seen", "sum"), ()])
def test_what_is_foreseen_is_described_and_counted_alike(
    monkeypatch: pytest.MonkeyPatch, foreseen: tuple[str, ...], at_once: bool
) -> None:
    monkeypatch.setattr(group_counts, "WHOLE_RECORDS", PEOPLE.height if at_once else 100)
    monkeypatch.setattr(group_counts, "BATCH_RECORDS", 700)
    names = ("age", "seen", "sum")
    plain, quick = PolarsEngine(), PolarsEngine()
    table = plain.scan(WatchedSource())
    watched = WatchedSource()
    other = quick.scan(watched)
    assert quick.describe(other, names, {}, foreseen) == plain.describe(table, names, {})
    before = passes_of(watched)
    assert before == 1
    counted = quick.counts(quick.map(other, [KeepOriginals(("age", "seen"))]), foreseen)
    assert passes_of(watched) == before + (not foreseen)
    expected = plain.counts(table, foreseen)
    assert counted.frame().equals(expected.frame())
    assert counted.records.tolist() == expected.records.tolist()


BETWEEN = [Rewrites(("age",), pl.col("age") + "x"), Keeps(("sum",), pl.col("sum") > "5")]


@pytest.mark.parametrize("step", BETWEEN, ids=["rewritten", "left out"])
def test_what_a_step_comes_between_is_counted_anew(step: Rewrites | Keeps) -> None:
    engine, plain = PolarsEngine(), PolarsEngine()
    table = engine.scan(WatchedSource())
    engine.describe(table, ("age",), {}, ("age",))
    counted = engine.counts(engine.map(table, [step]), ("age",))
    expected = plain.counts(plain.map(plain.scan(WatchedSource()), [step]), ("age",))
    assert counted.frame().equals(expected.frame())
    assert counted.records.tolist() == expected.records.tolist()


@pytest.mark.parametrize("every", [1, 7, 100, 250, 5_000])
@pytest.mark.parametrize("quoted", [False, True])
def test_a_sample_is_the_same_picked_or_read(tmp_path: Path, every: int, quoted: bool) -> None:
    path = tmp_path / "people.csv"
    PEOPLE.write_csv(path, quote_style="always" if quoted else "necessary")
    query, engine = SampleQuery(("name", "age"), every), PolarsEngine()
    read = query.answer(engine, engine.scan(WatchedSource()))
    assert query.answer(engine, engine.scan(open_source(FileOptions(path=str(path))))).equals(read)


@pytest.mark.parametrize("attributes", [("age",), ("age", "seen"), ()])
def test_classes_and_uniques_are_the_same_together_and_apart(attributes: tuple[str, ...]) -> None:
    frame = PEOPLE.lazy().with_columns(pl.col("name").str.slice(0, 5))
    counts, shares = count_with_uniques(frame, attributes, ["name", "sum"], None, PEOPLE.height)
    expected = count_people(frame, attributes, None)
    assert shares == unique_shares(frame, ["name", "sum"], None, PEOPLE.height)
    assert counts.frame().equals(expected.frame())
    assert counts.records.tolist() == expected.records.tolist()
