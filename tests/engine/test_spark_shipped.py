"""What travels to executors for steps that see the whole table, called here as an executor calls it, without Spark."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from shoal.engine.spark import executor_tasks
from shoal.engine.spark.error_transport import TransportedError
from shoal.engine.spark.executor_tasks import (
    KEY,
    LiteralFrameTask,
    OrderKeyTask,
    PartialReduceTask,
    RankCutoff,
    WholePartitionTask,
    unsealed,
)
from shoal.engine.spark.table_steps import TableStepStrategy
from shoal.engine.spark.type_mapping import from_spark
from shoal.engine.step_pipeline import fitting
from shoal.errors import BugError, DataError
from shoal.randomness import Randomness
from shoal.schema import ROW, Scope, Step
from shoal.schema.steps import FirstRecordRule, RankRule

pytestmark = pytest.mark.requirement("L-04")

BEFORE = pl.Schema({"a": pl.Int64(), ROW: pl.UInt64()})
AFTER = pl.Schema({"a": pl.Int64(), ROW: pl.Int64()})
BATCHES = [pa.record_batch({"0": [1, 2], "1": [5, 7]}), pa.record_batch({"0": [4], "1": [9]})]


@dataclass(frozen=True)
class Does(Step):
    what: Callable[[pl.DataFrame], pl.DataFrame]
    scope: ClassVar[Scope] = Scope.TABLE

    @property
    def reads(self) -> tuple[str, ...]:
        return ("a",)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        return self.what(frame)

    def merge(self, partial: pl.DataFrame) -> pl.DataFrame:
        return partial.select(pl.col("all").list.explode().implode())

    def order_key(self, rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return np.array([0, 2**63, 2**64 - 1, 2**63 - 1], dtype=np.uint64)[rows.astype(np.int64) % 4]


def arrived(function: Callable[..., object], batches: list[pa.RecordBatch] = BATCHES) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(pa.Table.from_batches(list(function(iter(batches))))))  # type: ignore[call-overload]


class TestWhole:
    def test_all_records_of_the_partition_at_once(self) -> None:
        totals = Does(lambda frame: frame.with_columns(pl.col("a").sum()))
        assert arrived(WholePartitionTask(totals, BEFORE, AFTER)).rows() == [(7, 5), (7, 7), (7, 9)]

    def test_large_results_leave_in_batches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(executor_tasks, "BATCH_RECORDS", 2)
        sent = list(WholePartitionTask(Does(lambda frame: frame), BEFORE, AFTER)(iter(BATCHES)))
        assert [batch.num_rows for batch in sent] == [2, 1]

    def test_no_record_is_a_partition_too(self) -> None:
        assert list(WholePartitionTask(Does(lambda frame: frame), BEFORE, AFTER)(iter([]))) == []

    @pytest.mark.parametrize(
        ("what", "said"),
        [(lambda frame: frame[::-1], "the order of the records"), (lambda frame: frame[:1], "the number of records")],
    )
    def test_what_a_step_must_not_do_is_noticed(self, what: Callable[[pl.DataFrame], pl.DataFrame], said: str) -> None:
        with pytest.raises(TransportedError, match=said):
            arrived(WholePartitionTask(Does(what), BEFORE, AFTER))


class TestKeys:
    FRAME = pl.DataFrame({"a": [1, 2, 3, 4], ROW: pl.Series(range(4), dtype=pl.UInt64)})

    def test_they_sort_as_the_steps_own(self) -> None:
        keyed = OrderKeyTask(Does(lambda frame: frame))(self.FRAME)
        assert keyed.schema[KEY] == pl.Int64()
        assert keyed.sort(KEY)["a"].to_list() == [1, 4, 2, 3]

    def test_a_cut_takes_the_last_one_in(self) -> None:
        keyed = OrderKeyTask(Does(lambda frame: frame))
        key, row = keyed(self.FRAME).select(KEY, ROW).row(1)
        assert RankCutoff(keyed, key, row)(self.FRAME)["a"].to_list() == [1, 2, 4]

    def test_of_equal_keys_the_position_decides(self) -> None:
        frame = self.FRAME.with_columns(pl.col(ROW) * 4)
        keyed = OrderKeyTask(Does(lambda frame: frame))
        key = keyed(frame)[KEY][0]
        assert RankCutoff(keyed, key, 4)(frame)["a"].to_list() == [1, 2]
        assert RankCutoff(keyed, key, -1)(frame).is_empty()


class TestPartial:
    STEP = Does(lambda frame: frame.select(pl.col("a").cast(pl.Decimal(38, 0)).alias("all").implode()))

    def test_one_for_each_partition_whatever_its_columns_are(self) -> None:
        (sent,) = PartialReduceTask(self.STEP, BEFORE)(iter(BATCHES))
        result = unsealed(sent["partial"][0].as_buffer())
        assert result["all"].to_list() == [[1, 2, 4]]

    def test_none_for_no_records(self) -> None:
        assert list(PartialReduceTask(self.STEP, BEFORE)(iter([]))) == []


def test_a_given_frame_comes_once_for_the_one_batch() -> None:
    frame = pl.DataFrame({"a": [1, 2]})
    give = pickle.loads(pickle.dumps(LiteralFrameTask(frame)))  # noqa: S301  # our own
    assert arrived(give, [pa.record_batch({"id": [0]})]).equals(frame)


def test_a_step_goes_the_first_way_that_it_allows() -> None:
    @dataclass(frozen=True)
    class Told(Does):
        apart: tuple[str, ...] | None = None  # type: ignore[assignment]
        ranks: RankRule | None = None  # type: ignore[assignment]
        leads: FirstRecordRule | None = None  # type: ignore[assignment]

    plain = Does(lambda frame: frame)
    what = plain.what
    assert TableStepStrategy.of(plain) is TableStepStrategy.WHOLE
    assert TableStepStrategy.of(Told(what, apart=("a",))) is TableStepStrategy.STRATA
    assert TableStepStrategy.of(Told(what, apart=("a",), leads=FirstRecordRule("a", plain))) is TableStepStrategy.FIRSTS
    assert (
        TableStepStrategy.of(Told(what, leads=FirstRecordRule("a", plain), ranks=RankRule(("a",))))
        is TableStepStrategy.RANKS
    )


def test_records_to_insert_have_the_columns_of_the_table() -> None:
    schema = pl.Schema({"a": pl.Int64(), "b": pl.String()})
    assert fitting(pl.DataFrame({"b": ["x"], "a": pl.Series([1], dtype=pl.Int8)}), schema).schema == schema
    with pytest.raises(BugError, match="columns of the table"):
        fitting(pl.DataFrame({"b": ["x"]}), schema)


class TestTypesOfSpark:
    def test_those_of_single_values(self) -> None:
        told = {"a": "bigint", "b": "varchar(3)", "c": "string collate UNICODE_CI", "d": "timestamp", "e": "void"}
        assert from_spark(told, "frame") == {
            "a": pl.Int64(),
            "b": pl.String(),
            "c": pl.String(),
            "d": pl.Datetime("us", "UTC"),
            "e": pl.String(),
        }

    @pytest.mark.parametrize("told", ["array<int>", "struct<a:int>", "binary", "interval day", "variant", "time(6)"])
    def test_all_others_are_named(self, told: str) -> None:
        with pytest.raises(DataError, match=r"^frame: column 'x' is of Spark's type \w+, not one of single values$"):
            from_spark({"x": told}, "frame")


def test_a_stream_of_randomness_travels_with_its_step() -> None:
    stream = Randomness(seed=1).stream("a")
    rows = np.arange(3, dtype=np.uint64)
    assert (pickle.loads(pickle.dumps(stream)).words(rows) == stream.words(rows)).all()  # noqa: S301  # our own
