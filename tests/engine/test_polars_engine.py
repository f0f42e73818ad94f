"""The Polars engine by itself: what it reads, what it leaves out, what it promises whatever the batches."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl
import pytest
from polars.io.plugins import register_io_source
from tests.support.steps import Keeps, Rewrites, RewritesWhole

from shoal.engine.polars import PolarsEngine
from shoal.engine.polars.record_order import reordered
from shoal.errors import BugError, DataError, TargetError
from shoal.io.frames import FrameSource, FrameTarget
from shoal.io.targets import file_target
from shoal.randomness import Randomness
from shoal.schema import ROW, Column, Scope, Step, ValueType
from shoal.techniques import Context
from shoal.techniques.randomisation.noise.noise import Noise
from shoal.techniques.randomisation.shuffle_rows import ShuffleRowsStep

STREAM = Randomness(seed=5).stream("test")


def scan(engine: PolarsEngine, **columns: list[object]):
    return engine.scan(FrameSource(pl.LazyFrame(columns)))


def written(engine: PolarsEngine, table) -> pl.DataFrame:
    target = FrameTarget()
    assert engine.sink(table, target) == target.frame.height
    return target.frame


@dataclass(frozen=True)
class Fails(Step):
    """Fails on the first record that it gets."""

    attribute: str
    error: BaseException

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.attribute,)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        if frame.height:
            raise self.error
        return frame


class KeepsInSecret(Keeps):
    drops_records: ClassVar[bool] = False


class KeepsWhole(Keeps):
    scope: ClassVar[Scope] = Scope.TABLE
    drops_records: ClassVar[bool] = False


@dataclass(frozen=True)
class Drops(Step):
    attribute: str
    scope: ClassVar[Scope] = Scope.TABLE

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.attribute,)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.drop(self.attribute, strict=False)


@dataclass(frozen=True)
class Sums(Step):
    """The sum of one column for each value of another."""

    by: str
    what: str
    scope: ClassVar[Scope] = Scope.REDUCE

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.by, self.what)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.group_by(self.by).agg(pl.col(self.what).sum()).sort(self.by)

    def finish(self, partial: pl.DataFrame) -> pl.DataFrame:
        return self.apply(partial)


TAG = Rewrites(("who",), (pl.col("who").hash(1).alias("__shoal_tag"),))


class TestLiveness:
    def test_a_step_that_touches_nothing_wanted_is_not_applied(self) -> None:
        engine = PolarsEngine()
        table = engine.map(scan(engine, a=["x", "y", "x"], b=[1, 2, 3]), [Fails("b", DataError("b was touched"))])
        assert engine.counts(table, ("a",)).records.tolist() == [2, 1]
        with pytest.raises(DataError, match="b was touched"):
            engine.counts(table, ("b",))
        with pytest.raises(DataError, match="b was touched"):
            engine.sink(table, FrameTarget())

    def test_a_step_is_applied_when_something_wanted_is_made_of_what_it_makes(self) -> None:
        engine = PolarsEngine()
        steps = [
            Rewrites(("b",), (pl.col("b") * 10,)),
            Rewrites(("b",), (pl.col("b").alias("c"),)),
            Rewrites(("c",), (pl.col("c") + 1,)),
        ]
        table = engine.map(scan(engine, a=["x"], b=[1]), steps)
        assert engine.columns(table) == ("a", "b", "c")
        assert engine.counts(table, ("c",)).values[0].to_list() == [11]

    @pytest.mark.parametrize("wanted", [("a",), ("b",), ("a", "b"), ()])
    def test_source_columns_that_nothing_needs_are_not_read(self, wanted: tuple[str, ...]) -> None:
        asked: list[set[str]] = []
        whole = pl.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 6], "d": [7, 8]})

        def produce(columns: list[str] | None, *_: object) -> Iterator[pl.DataFrame]:
            asked.append(set(columns or whole.columns))
            yield whole.select(columns or whole.columns)

        engine = PolarsEngine()
        table = engine.scan(FrameSource(register_io_source(produce, schema=whole.schema)))
        needs = Keeps(("c",), pl.col("c") > 5)
        assert engine.counts(engine.map(table, [needs]), wanted).total_records == 1
        assert asked == [{*wanted, "c"}]

    def test_a_step_that_drops_records_is_always_applied(self) -> None:
        engine = PolarsEngine()
        table = engine.map(scan(engine, a=["x", "y", "x"], b=[1, 2, 3]), [Keeps(("b",), pl.col("b") < 3)])
        assert engine.counts(table, ("a",)).records.tolist() == [1, 1]
        assert engine.counts(table, ()).total_records == 2

    def test_a_column_that_is_overwritten_unread_does_not_pass_by(self) -> None:
        engine = PolarsEngine()
        table = engine.map(scan(engine, a=["x", "y"], b=[1, 2]), [Rewrites((), (pl.lit("*").alias("a"),))])
        assert engine.counts(table, ("a",)).values[0].to_list() == ["*"]
        assert written(engine, table)["a"].to_list() == ["*", "*"]

    def test_dropping_records_without_saying_so_is_our_bug(self) -> None:
        engine = PolarsEngine()
        table = engine.map(scan(engine, a=["x", "y"]), [KeepsInSecret(("a",), pl.col("a") == "x")])
        with pytest.raises(BugError, match="KeepsInSecret"):
            engine.counts(table, ("a",))

    def test_a_dropped_column_is_neither_read_nor_written(self) -> None:
        engine = PolarsEngine()
        steps = [Fails("name", DataError("name was read")), Drops("name")]
        table = engine.map(scan(engine, name=["x", "y"], a=[1, 2]), steps)
        assert engine.columns(table) == ("a",)
        assert written(engine, table).to_dict(as_series=False) == {"a": [1, 2]}


@pytest.mark.parametrize("batch_rows", [1, 3, 100])
class TestWholeTableSteps:
    def test_values_come_back_to_the_records_they_belong_to(self, batch_rows: int) -> None:
        engine = PolarsEngine(batch_rows=batch_rows)
        table = scan(engine, a=list(range(10)), b=list(range(10)))
        table = engine.map(table, [Keeps(("b",), pl.col("b") % 3 != 0)])
        table = engine.shuffle(table, RewritesWhole(("a",), (pl.col("a").reverse(),)))
        table = engine.map(table, [Rewrites(("a",), (pl.col("a") * 10,))])
        assert written(engine, table).rows() == [(80, 1), (70, 2), (50, 4), (40, 5), (20, 7), (10, 8)]

    @pytest.mark.parametrize("needs", [(), ("a",)])
    def test_records_that_it_drops_are_gone_everywhere(self, batch_rows: int, needs: tuple[str, ...]) -> None:
        engine = PolarsEngine(batch_rows=batch_rows)
        table = scan(engine, a=list("abcdef"), b=[1, 2, 1, 2, 1, 2])
        table = engine.shuffle(table, KeepsWhole(needs, pl.col(ROW).is_in([1, 2, 5])))
        assert written(engine, table).rows() == [("b", 2), ("c", 1), ("f", 2)]
        assert engine.counts(table, ("b",)).records.tolist() == [1, 2]
        assert engine.counts(table, ()).total_records == 3

    def test_all_records_dropped(self, batch_rows: int) -> None:
        engine = PolarsEngine(batch_rows=batch_rows)
        table = engine.shuffle(scan(engine, a=[1, 2, 3]), KeepsWhole(("a",), pl.col("a") > 3))
        assert written(engine, table).height == 0
        assert engine.counts(table, ("a",)).size == 0

    def test_columns_that_it_drops_are_gone(self, batch_rows: int) -> None:
        engine = PolarsEngine(batch_rows=batch_rows)
        table = engine.shuffle(scan(engine, a=[1, 2], b=[3, 4]), Drops("a"))
        assert written(engine, table).to_dict(as_series=False) == {"b": [3, 4]}

    def test_partial_results_become_one(self, batch_rows: int) -> None:
        engine = PolarsEngine(batch_rows=batch_rows)
        table = engine.map(scan(engine, a=["x", "y"] * 5, b=list(range(10))), [Keeps(("b",), pl.col("b") > 0)])
        reduced = engine.reduce(table, Sums("a", "b"))
        assert written(engine, reduced).rows() == [("x", 20), ("y", 25)]

    def test_a_table_without_records(self, batch_rows: int) -> None:
        engine = PolarsEngine(batch_rows=batch_rows)
        table = engine.map(scan(engine, a=["x"], b=[1]), [Keeps(("b",), pl.col("b") > 1)])
        assert written(engine, engine.reduce(table, Sums("a", "b"))).schema == {"a": pl.String, "b": pl.Int64}
        shuffled = engine.shuffle(table, RewritesWhole(("a",), (pl.col("a").reverse(),)))
        assert written(engine, shuffled).schema == {"a": pl.String, "b": pl.Int64}


def test_a_whole_table_step_that_changes_the_order_is_our_bug() -> None:
    engine = PolarsEngine()
    with pytest.raises(BugError, match="order"):
        engine.shuffle(scan(engine, a=[1, 2]), RewritesWhole((), (pl.col(ROW).reverse(),)))


def _noise() -> Step:
    column = Column("n", ValueType.INTEGER, storage=pl.Int64())
    context = Context(columns={"n": column}, stream=STREAM)
    return Noise.model_validate({"laplace": {"scale": 3}}).bind(column, context)


def _noised(engine: PolarsEngine, rows: int):
    """Noise, a whole-table step, a filter and a random order over one generated table."""
    table = scan(engine, n=list(range(rows)), city=[f"c{row % 7}" for row in range(rows)])
    table = engine.map(table, [_noise(), Keeps(("city",), pl.col("city") != "c3")])
    table = engine.shuffle(table, RewritesWhole(("city",), (pl.col("city").reverse(),)))
    return engine.shuffle(table, ShuffleRowsStep(STREAM))


@pytest.mark.requirement("T-15")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_any_batch_size_gives_the_same_bytes(tmp_path: Path, ending: str) -> None:
    outputs = set()
    for batch_rows in (1, 7, 100_000):
        engine = PolarsEngine(batch_rows=batch_rows)
        target = file_target(tmp_path / f"out{batch_rows}.{ending}")
        assert engine.sink(_noised(engine, 100), target) == 86
        outputs.add(target.path.read_bytes())
    assert len(outputs) == 1


THREADS = """
import sys
from pathlib import Path
import polars as pl
from shoal.engine.polars import PolarsEngine
from shoal.io.targets import file_target
from shoal.randomness import Randomness
from shoal.schema import Column, ValueType
from shoal.techniques import Context
from shoal.techniques.randomisation.noise.noise import Noise

assert pl.thread_pool_size() == int(sys.argv[2])

class Frame:
    label = "frame"
    def scan(self):
        return pl.LazyFrame({"n": range(50_000), "text": [str(row % 97) for row in range(50_000)]})

engine = PolarsEngine(batch_rows=3_000)
column = Column("n", ValueType.INTEGER, storage=pl.Int64())
context = Context(columns={"n": column}, stream=Randomness(seed=1).stream("n"))
noise = Noise.model_validate({"laplace": {"scale": 3}}).bind(column, context)
table = engine.map(engine.scan(Frame()), [noise])
counts = engine.counts(table, ("text",), "n")
engine.sink(table, file_target(Path(sys.argv[1])))
print(counts.values[0].to_list(), counts.records.tolist(), counts.people.tolist())
"""


def test_any_number_of_threads_gives_the_same_bytes(tmp_path: Path) -> None:
    outputs = set()
    for threads in ("1", "4"):
        path = tmp_path / f"threads{threads}.parquet"
        run = subprocess.run(
            [sys.executable, "-c", THREADS, str(path), threads],
            env={**os.environ, "POLARS_MAX_THREADS": threads},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        outputs.add((path.read_bytes(), run.stdout))
    assert len(outputs) == 1


class TestErrors:
    @pytest.mark.parametrize(
        "error", [DataError("column 'a': 1 value(s)"), ValueError("plain"), pl.exceptions.ComputeError("inner")]
    )
    def test_they_arrive_as_they_were_raised(self, error: Exception) -> None:
        engine = PolarsEngine()
        table = engine.map(scan(engine, a=[1, 2], b=[3, 4]), [Fails("a", error)])
        for act in (
            lambda: engine.counts(table, ("a",)),
            lambda: engine.describe(table, ["a"], {}),
            lambda: engine.sink(table, FrameTarget()),
            lambda: engine.shuffle(table, Drops("a")),
            lambda: engine.reduce(table, Sums("b", "a")),
        ):
            with pytest.raises(type(error)) as caught:
                act()
            assert caught.value is error

    def test_even_where_the_target_takes_them_for_its_own(self) -> None:
        class Wary(FrameTarget):
            def write(self, frame: pl.LazyFrame) -> None:
                try:
                    super().write(frame)
                except Exception as error:
                    raise TargetError("can't be written") from error

        engine = PolarsEngine()
        table = engine.map(scan(engine, a=[1]), [Fails("a", DataError("the cause"))])
        with pytest.raises(DataError, match="the cause"):
            engine.sink(table, Wary())

    def test_those_of_the_target_stay_its_own(self) -> None:
        class Full(FrameTarget):
            def write(self, frame: pl.LazyFrame) -> None:
                raise TargetError("no room")

        engine = PolarsEngine()
        with pytest.raises(TargetError, match="no room"):
            engine.sink(scan(engine, a=[1]), Full())

    def test_an_interrupt_is_not_swallowed(self) -> None:
        engine = PolarsEngine()
        table = engine.map(scan(engine, a=[1, 2]), [Fails("a", KeyboardInterrupt())])
        with pytest.raises(KeyboardInterrupt):
            engine.sink(table, FrameTarget())
        with pytest.raises(KeyboardInterrupt):
            engine.counts(table, ("a",))

    def test_nothing_left_to_write(self) -> None:
        engine = PolarsEngine()
        with pytest.raises(DataError, match="no column"):
            engine.sink(engine.map(scan(engine, a=[1]), [Drops("a")]), FrameTarget())


class TestHiddenColumns:
    def test_they_are_put_aside_in_the_order_of_what_is_written(self, tmp_path: Path) -> None:
        engine = PolarsEngine(batch_rows=2)
        table = engine.map(scan(engine, who=["p", "q", "p", None], a=[1, 2, 3, 4]), [TAG])
        assert engine.columns(table) == ("who", "a")
        target, aside = FrameTarget(), tmp_path / "aside.arrow"
        assert engine.sink(table, target, aside=aside) == 4
        assert target.frame.columns == ["who", "a"]
        tags = pl.read_ipc(aside)
        expected = target.frame.select(TAG.what)
        assert tags.equals(expected)

    def test_in_a_random_order_too(self, tmp_path: Path) -> None:
        engine = PolarsEngine(batch_rows=3)
        table = engine.map(scan(engine, who=[f"p{row}" for row in range(20)]), [TAG])
        target, aside = FrameTarget(), tmp_path / "aside.arrow"
        engine.sink(engine.shuffle(table, ShuffleRowsStep(STREAM)), target, aside=aside)
        assert target.frame["who"].to_list() != [f"p{row}" for row in range(20)]
        assert pl.read_ipc(aside).equals(target.frame.select(TAG.what))

    def test_no_records_still_give_a_file(self, tmp_path: Path) -> None:
        engine = PolarsEngine()
        table = engine.map(scan(engine, who=["p"]), [TAG, Keeps(("who",), pl.col("who") == "q")])
        assert engine.sink(table, FrameTarget(), aside=tmp_path / "aside.arrow") == 0
        assert pl.read_ipc(tmp_path / "aside.arrow").schema == {"__shoal_tag": pl.UInt64}

    def test_they_are_not_made_when_nobody_wants_them(self) -> None:
        engine = PolarsEngine()
        hidden = Rewrites(("a",), (pl.lit(1).alias("__shoal_b"),))
        table = engine.map(scan(engine, a=[1]), [hidden, Fails("__shoal_b", DataError("made"))])
        assert written(engine, table).columns == ["a"]

    def test_people_are_counted_by_a_hidden_column(self) -> None:
        engine = PolarsEngine()
        table = engine.map(scan(engine, who=["p", "q", "p", None], a=[1, 1, 2, 2]), [TAG, Drops("who")])
        counts = engine.counts(table, ("a",), "__shoal_tag")
        assert counts.records.tolist() == [2, 2]
        assert counts.people.tolist() == [1, 1]
        assert counts.total_people == 3


class TestDescribe:
    def test_columns_that_steps_have_made_are_described_as_they_are_now(self) -> None:
        engine = PolarsEngine(batch_rows=2)
        made = Rewrites(("a",), ((pl.col("a") + ".5").alias("made"),))
        table = engine.map(scan(engine, a=["1", "2", None], b=["x", "y", "z"]), [made])
        found = engine.describe(table, ["made", "a", "b"], {})
        assert [column.type for column in found.values()] == [ValueType.DECIMAL, ValueType.INTEGER, ValueType.TEXT]
        assert (found["made"].rows, found["made"].missing, found["made"].scale) == (3, 1, 1)

    def test_what_is_declared_is_taken_as_said(self) -> None:
        engine = PolarsEngine()
        table = scan(engine, code=["1", "2"], seen=["01/02/2024", "03/04/2024"])
        declared = {"code": Column("code"), "seen": Column("seen", ValueType.DATE, date_format="%d/%m/%Y")}
        found = engine.describe(table, ["code", "seen"], declared)
        assert found["code"].type is ValueType.TEXT
        assert (found["seen"].type, found["seen"].date_format) == (ValueType.DATE, "%d/%m/%Y")

    def test_a_late_value_counts(self) -> None:
        engine = PolarsEngine(batch_rows=1000)
        table = scan(engine, a=["1"] * 20_000 + ["x"])  # type: ignore[arg-type]
        same = Rewrites(("a",), (pl.col("a"),))
        assert engine.describe(engine.map(table, [same]), ["a"], {})["a"].type is ValueType.TEXT


class TestCounts:
    @pytest.mark.requirement("D-09")
    def test_nothing_to_combine_is_the_whole_table(self) -> None:
        engine = PolarsEngine()
        table = scan(engine, who=["p", "q", "p", None, None])
        assert engine.counts(table, ()).people.tolist() == [5]
        assert engine.counts(table, (), "who").people.tolist() == [3]
        assert engine.counts(table, (), "who").total_records == 5

    def test_the_person_may_be_one_of_the_attributes(self) -> None:
        engine = PolarsEngine()
        counts = engine.counts(scan(engine, who=["p", "q", "p"]), ("who",), "who")
        assert counts.records.tolist() == [2, 1]
        assert counts.people.tolist() == [1, 1]


def test_progress_is_told_after_every_batch() -> None:
    told: list[int] = []
    engine = PolarsEngine(batch_rows=2, progress=lambda done, _: told.append(done))
    engine.sink(scan(engine, a=[1, 2, 3, 4, 5]), FrameTarget())
    assert told == [2, 4, 5]


@pytest.mark.requirement("T-15")
def test_a_random_order_is_the_same_in_memory_and_through_files(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": range(500), ROW: pl.Series(range(500), dtype=pl.UInt64)})

    def batches() -> Iterator[pl.DataFrame]:
        return frame.iter_slices(60)

    step = ShuffleRowsStep(STREAM)
    at_once = pl.concat(reordered(batches(), step.order_key, tmp_path))
    in_files = pl.concat(reordered(batches(), step.order_key, tmp_path, in_memory=100))
    assert at_once.equals(in_files)
    assert at_once["a"].to_list() != list(range(500))
    assert sorted(at_once["a"]) == list(range(500))
    assert not list(tmp_path.iterdir())
