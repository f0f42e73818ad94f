"""Records that a step adds: they go through all that comes after, wherever the batches end, and no place tells them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from tests.support.steps import Keeps, Rewrites, RewritesWhole

from shoal.engine.polars import PolarsEngine
from shoal.errors import BugError
from shoal.io import file_target, open_source, parse_source
from shoal.io.frames import FrameSource, FrameTarget
from shoal.randomness import Randomness
from shoal.schema import ROW, Scope, Step

pytestmark = pytest.mark.requirement("S-12")

STREAM = Randomness(seed=3).stream("insert")


@dataclass(frozen=True)
class Counted(FrameSource):
    """A source that knows how many records it has."""

    rows: int | None = None


@dataclass(frozen=True)
class Inserts(Step):
    """Adds the records that it is given."""

    records: pl.DataFrame
    mixed: bool = False
    scope: ClassVar[Scope] = Scope.INSERT

    @property
    def reads(self) -> tuple[str, ...]:
        return ()

    @property
    def inserts(self) -> pl.DataFrame:
        return self.records

    def order_key(self, rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return STREAM.words(rows)[:, 0] if self.mixed else rows

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame


class KeepsWhole(Keeps):
    scope: ClassVar[Scope] = Scope.TABLE


def scan(engine: PolarsEngine, **columns: list[object]):
    return engine.scan(FrameSource(pl.LazyFrame(columns)))


def written(engine: PolarsEngine, table) -> list[tuple[object, ...]]:
    target = FrameTarget()
    assert engine.sink(table, target) == target.frame.height
    return target.frame.rows()


@pytest.mark.parametrize("batch_rows", [1, 3, 100])
class TestAnyBatches:
    def test_steps_before_do_not_touch_them_and_steps_after_do(self, batch_rows: int) -> None:
        engine = PolarsEngine(batch_rows=batch_rows)
        table = engine.map(scan(engine, a=[1, 2, 3, 4], b=list("wxyz")), [Rewrites(("a",), pl.col("a") * 10)])
        table = engine.shuffle(table, Inserts(pl.DataFrame({"b": ["+"], "a": [7]})))
        assert written(engine, table) == [(10, "w"), (20, "x"), (30, "y"), (40, "z"), (7, "+")]
        later = [Rewrites(("a",), pl.col("a") + 1), Keeps(("a",), pl.col("a") != 21)]
        assert written(engine, engine.map(table, later)) == [(11, "w"), (31, "y"), (41, "z"), (8, "+")]

    def test_they_are_counted_and_described_like_others(self, batch_rows: int) -> None:
        engine = PolarsEngine(batch_rows=batch_rows)
        table = engine.scan(Counted(pl.LazyFrame({"a": ["1", "2"], "b": ["x", "y"]}), rows=2))
        table = engine.shuffle(table, Inserts(pl.DataFrame({"a": ["1"], "b": ["z"]})))
        assert engine.counts(table, ("a",)).records.tolist() == [2, 1]
        assert engine.counts(table, ()).total_records == 3
        assert engine.describe(table, ["a"], {})["a"].rows == 3
        assert table.at_most == 3

    def test_their_positions_come_after_the_last_of_the_source(self, batch_rows: int) -> None:
        engine = PolarsEngine(batch_rows=batch_rows)
        table = engine.map(scan(engine, a=[1, 2, 3, 4]), [Keeps(("a",), pl.col("a") < 3)])
        table = engine.shuffle(table, Inserts(pl.DataFrame({"a": [8, 9]})))
        table = engine.shuffle(table, Inserts(pl.DataFrame({"a": [0]})))
        shown = engine.map(table, [Rewrites((), pl.col(ROW).alias("place"))])
        assert written(engine, shown) == [(1, 0), (2, 1), (8, 4), (9, 5), (0, 6)]

    def test_a_whole_table_step_after_it_sees_them(self, batch_rows: int) -> None:
        engine = PolarsEngine(batch_rows=batch_rows)
        table = scan(engine, a=[1, 2, 3], b=["x", "y", "x"])
        table = engine.shuffle(table, Inserts(pl.DataFrame({"a": [9], "b": ["+"]})))
        table = engine.shuffle(table, RewritesWhole(("a",), pl.col("a").reverse()))
        table = engine.shuffle(table, KeepsWhole(("b",), pl.col("b") != "y"))
        assert written(engine, table) == [(9, "x"), (2, "x"), (1, "+")]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_same_bytes_for_any_batches(tmp_path: Path, ending: str) -> None:
    outputs = set()
    for batch_rows in (1, 7, 100_000):
        engine = PolarsEngine(batch_rows=batch_rows)
        table = scan(engine, a=list(range(50)))
        table = engine.shuffle(table, Inserts(pl.DataFrame({"a": [100, 101, 102]}), mixed=True))
        target = file_target(tmp_path / f"out{batch_rows}.{ending}")
        assert engine.sink(table, target) == 53
        outputs.add(target.path.read_bytes())
    assert len(outputs) == 1


def test_types_are_those_of_the_table() -> None:
    engine = PolarsEngine()
    table = engine.map(scan(engine, a=[1, 2]), [Rewrites(("a",), pl.col("a").cast(pl.String))])
    table = engine.shuffle(table, Inserts(pl.DataFrame({"a": [7]})))
    assert written(engine, table) == [("1",), ("2",), ("7",)]


@pytest.mark.parametrize("columns", [["a"], ["a", "b", "c"]])
def test_other_columns_than_the_tables_are_our_bug(columns: list[str]) -> None:
    engine = PolarsEngine()
    with pytest.raises(BugError, match="columns"):
        engine.shuffle(scan(engine, a=[1], b=[2]), Inserts(pl.DataFrame({name: [1] for name in columns})))


def test_text_that_needs_quotes_gets_them(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a,b\nx,y\n", encoding="utf-8")

    engine = PolarsEngine()
    source = open_source(parse_source(str(tmp_path / "in.csv")))
    table = engine.shuffle(engine.scan(source), Inserts(pl.DataFrame({"a": ["1,5"], "b": ["z"]})))
    target = file_target(tmp_path / "out", like=source)
    assert target.specials
    engine.sink(table, target)
    assert target.path.read_text(encoding="utf-8") == 'a,b\nx,y\n"1,5",z\n'
