"""What the Spark engine is made of, without Spark: types, errors on their way, what it says where it can't run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from shoal.engine.spark import ParquetFiles, SparkEngine
from shoal.engine.spark.error_transport import TransportedError, receiving_errors, sending_errors
from shoal.engine.spark.executor_tasks import RewriteTask, TypeTally
from shoal.engine.spark.output_staging import StagedPartition, collected, put_together, refuse_unseen, remove
from shoal.engine.spark.session import require_java
from shoal.engine.spark.type_mapping import carried, ddl
from shoal.engine.step_pipeline import Operation
from shoal.errors import BugError, DataError, InputError, ShoalError, SourceError
from shoal.schema import ROW
from shoal.schema.type_detection import TypeCandidates

ROOT = Path(__file__).resolve().parents[2]
QUOTED = "Asha Rao"


def test_importing_the_engine_does_not_import_spark() -> None:
    code = "import sys, shoal.engine.spark; print([name for name in sys.modules if name in ('pyspark', 'py4j')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_without_pyspark_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(InputError, match=r"needs PySpark \(pip install \"shoal\[spark\]\"\)"):
        SparkEngine()


class TestJava:
    ADVICE = "apt-get install openjdk-17-jre-headless"

    @pytest.fixture
    def home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        (tmp_path / "bin").mkdir()
        return tmp_path

    def _install(self, home: Path, script: str) -> None:
        java = home / "bin" / "java"
        java.write_text(f"#!/bin/sh\n{script}\n")
        java.chmod(0o755)

    @pytest.mark.parametrize("version", ["17.0.15", "21", "25-ea"])
    def test_a_version_that_spark_runs_on(self, home: Path, version: str) -> None:
        self._install(home, f"echo 'openjdk version \"{version}\" 2025-04-15' >&2")
        require_java()

    @pytest.mark.parametrize(("version", "said"), [("1.8.0_302", "8"), ("11.0.20", "11"), ("16.0.2", "16")])
    def test_too_old(self, home: Path, version: str, said: str) -> None:
        self._install(home, f"echo 'openjdk version \"{version}\"' >&2")
        with pytest.raises(InputError, match=f"this is version {said} ") as caught:
            require_java()
        assert self.ADVICE in str(caught.value)

    @pytest.mark.parametrize("script", ["echo nothing useful", "exit 3"])
    def test_something_else_of_that_name(self, home: Path, script: str) -> None:
        self._install(home, script)
        with pytest.raises(InputError, match="its version can't be told"):
            require_java()

    def test_none_where_java_home_points(self, home: Path) -> None:
        with pytest.raises(InputError, match="there is none") as caught:
            require_java()
        assert self.ADVICE in str(caught.value)

    def test_none_anywhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("JAVA_HOME", raising=False)
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(InputError, match="there is none"):
            require_java()


class TestTypes:
    def test_every_value_survives_the_journey(self) -> None:
        frame = pl.DataFrame(
            {
                "u8": pl.Series([0, 255, None], dtype=pl.UInt8),
                "u16": pl.Series([0, 2**16 - 1, None], dtype=pl.UInt16),
                "u32": pl.Series([0, 2**32 - 1, None], dtype=pl.UInt32),
                "u64": pl.Series([0, 2**64 - 1, None], dtype=pl.UInt64),
                "word": pl.Series(["a", "b", None], dtype=pl.Categorical),
                "enum": pl.Series(["a", "b", None], dtype=pl.Enum(["a", "b"])),
                "time": pl.Series([0, 1_500, None]).cast(pl.Datetime("ms")),
                "zone": pl.Series([0, 1_500, None]).cast(pl.Datetime("us", "Asia/Kolkata")),
                "price": pl.Series(["1.50", "2.25", None]).cast(pl.Decimal(10, 2)),
            }
        )
        there = frame.cast(carried(frame.schema))
        assert there.cast(frame.schema).equals(frame)
        assert ddl(there.schema) == (
            "`u8` smallint, `u16` int, `u32` bigint, `u64` decimal(20,0), `word` string, `enum` string, "
            "`time` timestamp_ntz, `zone` timestamp, `price` decimal(10,2)"
        )

    def test_names_are_no_paths(self) -> None:
        assert ddl(pl.Schema({"a.b": pl.Int8(), "c`d": pl.Date()})) == "`a.b` tinyint, `c``d` date"

    def test_a_type_that_spark_lacks_is_named_with_its_column(self) -> None:
        with pytest.raises(DataError, match="column 'spent': Spark has no type for Duration"):
            ddl(pl.Schema({"spent": pl.Duration("us")}))


class TestErrorsOnTheirWay:
    @pytest.mark.parametrize(
        "error", [DataError("column 'a': 3 value(s)", advice="look"), SourceError('it\'s "gone"\n{}'), BugError("ours")]
    )
    def test_an_error_of_ours_arrives_as_it_left(self, error: ShoalError) -> None:
        from pyspark.errors import PySparkException

        with pytest.raises(TransportedError) as left, sending_errors():
            raise error
        # What Spark makes of it: text, with a trace before and after.
        text = f"Traceback\n  File x\n{type(left.value).__name__}: {left.value}\n\n\tat org.apache.spark"
        with pytest.raises(type(error)) as arrived, receiving_errors():
            raise PySparkException(text)
        assert (arrived.value.message, arrived.value.advice) == (error.message, error.advice)

    def test_of_any_other_error_only_the_kind_is_told(self) -> None:
        with pytest.raises(TransportedError) as left, sending_errors():
            raise ValueError(QUOTED)
        assert QUOTED not in str(left.value)
        assert left.value.__cause__ is None
        assert left.value.__suppress_context__

    def test_of_sparks_own_errors_only_the_condition_is_told(self) -> None:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        for error in (PySparkException(QUOTED), Py4JError(QUOTED)):
            with pytest.raises(InputError, match="Spark could not finish") as arrived, receiving_errors():
                raise error
            assert QUOTED not in str(arrived.value)
            assert arrived.value.__suppress_context__

    def test_ctrl_c_stays_ctrl_c(self) -> None:
        """PySpark cancels its jobs then, and while it does so it raises that one was cancelled."""
        from pyspark.errors import PySparkException

        def cancelled() -> None:
            try:
                raise KeyboardInterrupt
            finally:
                raise PySparkException("cancelled")

        with pytest.raises(KeyboardInterrupt), receiving_errors():
            cancelled()

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("ModuleNotFoundError: No module named 'shoal'", "has no shoal"),
            ("ModuleNotFoundError: No module named 'polars.x'", "has no polars"),
            ("[PYTHON_VERSION_MISMATCH] Python in worker …", "has another version than here"),
        ],
    )
    def test_executors_that_are_not_prepared(self, text: str, told: str) -> None:
        from pyspark.errors import PySparkException

        with pytest.raises(InputError, match=f"the Python of the executors {told}"), receiving_errors():
            raise PySparkException(f"Traceback\n{text}\n")


class TestShipped:
    BATCH = pa.record_batch({"0": ["x", None], "1": [5, 6]})

    def test_columns_come_by_position_and_leave_by_name(self) -> None:
        before = pl.Schema({"a.b": pl.String(), ROW: pl.UInt64()})
        number = Operation("number", lambda frame: frame.with_columns(pl.col(ROW).alias("n")), frozenset({"n"}), False)
        rewrite = RewriteTask((number,), before, pl.Schema({"n": pl.Decimal(20, 0), "a.b": pl.String()}))
        (result,) = rewrite(iter([self.BATCH]))
        assert result.schema.names == ["n", "a.b"]
        assert pl.DataFrame(pl.from_arrow(result)).cast({"n": pl.Int64}).rows() == [(5, "x"), (6, None)]

    def test_a_step_that_fails_tells_nothing(self) -> None:
        def fails(frame: pl.DataFrame) -> pl.DataFrame:
            raise ValueError(QUOTED)

        before = pl.Schema({"a": pl.String(), ROW: pl.UInt64()})
        rewrite = RewriteTask((Operation("fails", fails, frozenset(), False),), before, before)
        with pytest.raises(TransportedError) as caught:
            list(rewrite(iter([self.BATCH])))
        assert QUOTED not in str(caught.value)

    def test_a_value_that_does_not_fit_tells_nothing(self) -> None:
        rewrite = RewriteTask((), pl.Schema({"a": pl.String(), ROW: pl.UInt64()}), pl.Schema({"a": pl.Int64()}))
        with pytest.raises(TransportedError) as caught:
            list(rewrite(iter([pa.record_batch({"0": [QUOTED], "1": [5]})])))
        assert QUOTED not in str(caught.value)

    def test_each_batch_gives_its_facts_in_the_order_that_was_announced(self) -> None:
        tally = TypeTally(
            pl.Schema({"a": pl.String(), "b": pl.Int64()}), {"a": TypeCandidates(integer=True), "b": TypeCandidates()}
        )
        batches = [pa.record_batch({"0": ["1", None], "1": [5, 6]}), pa.record_batch({"0": ["x"], "1": [7]})]
        facts = [dict(zip(tally.facts(), batch.to_pylist()[0].values(), strict=True)) for batch in tally(iter(batches))]
        assert [(one["a|rows"], one["a|missing"], one["a|integer"], one["b|integer"]) for one in facts] == [
            (2, 1, 1, 2),
            (1, 0, 0, 1),
        ]


class TestStaging:
    SCHEMA = pl.Schema({"a": pl.UInt8()})

    def _staged(self, folder: Path, *numbers: int) -> tuple[StagedPartition, ...]:
        for number in numbers:
            part = pl.DataFrame({"a": pl.Series([number], dtype=pl.Int16)})
            part.write_parquet(folder / f"{number}.parquet")
            part.rename({"a": "b"}).write_ipc(folder / f"{number}.parquet.arrow")
        return tuple(StagedPartition(folder / f"{number}.parquet", 1, "") for number in numbers)

    def test_files_are_read_in_their_order_and_hidden_columns_likewise(self, tmp_path: Path) -> None:
        staged = self._staged(tmp_path, 1, 0)
        assert collected(staged, self.SCHEMA).collect().equals(pl.DataFrame({"a": [1, 0]}, schema=self.SCHEMA))
        put_together(staged, pl.Schema({"b": pl.Int16()}), tmp_path / "aside.arrow")
        assert pl.read_ipc(tmp_path / "aside.arrow")["b"].to_list() == [1, 0]

    def test_no_files_are_a_table_without_records(self, tmp_path: Path) -> None:
        assert collected((), self.SCHEMA).collect().equals(pl.DataFrame(schema=self.SCHEMA))
        put_together((), self.SCHEMA, tmp_path / "aside.arrow")
        assert pl.read_ipc(tmp_path / "aside.arrow").schema == self.SCHEMA

    def test_files_that_lie_on_another_machine_are_missed(self, tmp_path: Path) -> None:
        staged = self._staged(tmp_path, 0)
        refuse_unseen(staged)
        with pytest.raises(InputError, match="a folder that all machines share"):
            refuse_unseen((*staged, StagedPartition(tmp_path / "elsewhere.parquet", 1, "")))

    def test_a_folder_goes_with_all_that_is_in_it(self, tmp_path: Path) -> None:
        (tmp_path / "a" / "b").mkdir(parents=True)
        (tmp_path / "a" / "b" / "c").touch()
        remove(tmp_path / "a")
        remove(tmp_path / "a")
        assert list(tmp_path.iterdir()) == []


class TestParquetFiles:
    def test_by_name_and_only_data(self, tmp_path: Path) -> None:
        for name in ("b.parquet", "a.parquet", "_c.parquet", ".d.parquet", "e.csv"):
            (tmp_path / name).touch()
        found = ParquetFiles.under(tmp_path)
        assert [path.name for path in found.paths] == ["a.parquet", "b.parquet"]
        assert found.label == str(tmp_path)

    def test_none(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="no Parquet files"):
            ParquetFiles.under(tmp_path)
