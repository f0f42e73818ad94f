"""A driver for ``test_spark_failures``: one table written again and again, while things go wrong on the executors.

``python disturbed.py MASTER INPUT OUTPUT``. Attempts at a task leave a mark each, so that it can be seen that there
were several.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from shoal.engine.spark import ParquetFiles, SparkEngine
from shoal.errors import ShoalError
from shoal.io import parts_target
from shoal.io.targets import file_target
from shoal.randomness import Randomness
from shoal.schema import ROW, Column, Step, ValueType
from shoal.techniques import Context
from shoal.techniques.randomisation.noise.noise import Noise

SEED = 9
SLOW = 200
FILES, ROWS = 5, 120_000
"""Executors get 100,000 records at a time, so that of each file something is written before things go wrong."""


def noise() -> Step:
    column = Column("pay", ValueType.DECIMAL, storage=pl.Float64(), scale=2)
    context = Context({"pay": column}, Randomness(SEED).stream("attribute", "pay"))
    return Noise.model_validate({"laplace": {"scale": 50}}).bind(column, context)


@dataclass(frozen=True)
class Disturbed(Step):
    """Changes no record. What happens to the first partition is told by its name.

    The mark of an attempt says which executor made it.
    """

    how: str
    marks: str

    @property
    def reads(self) -> tuple[str, ...]:
        return ("name",)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        from pyspark import TaskContext

        task = TaskContext.get()
        second = frame.height > 0 and frame[ROW][-1] % ROWS == ROWS - 1
        if second and task is not None:
            first = not list(Path(self.marks).glob(f"{self.how}-{task.partitionId()}-*"))
            mark = Path(self.marks, f"{self.how}-{task.partitionId()}-{task.taskAttemptId()}")
            mark.with_name(f".{mark.name}").write_text(str(_parent(_parent(os.getpid()))))
            mark.with_name(f".{mark.name}").rename(mark)
            if task.partitionId() == 0 and (first or self.how == "fails-always"):
                self._disturb(frame["name"][0])
        return frame

    def _disturb(self, value: str) -> None:
        if self.how.startswith("fails"):
            raise ValueError(value)
        if self.how in ("slow", "killed"):
            time.sleep(SLOW)


def _parent(pid: int) -> int:
    """An executor starts a process that starts one for each task."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(master: str, source: Path, output: Path) -> None:
    marks = output / "marks"
    marks.mkdir()
    engine = SparkEngine(master=master)
    table = engine.map(engine.scan(ParquetFiles.under(source)), [noise()])
    for how in ("undisturbed", "fails-once", "slow", "killed", "fails-always"):
        folder = output / how
        folder.mkdir()
        target = parts_target(file_target(folder / "data.parquet"))
        started = time.monotonic()
        try:
            records = engine.sink(engine.map(table, [Disturbed(how, str(marks))]), target)
            say(f"{how}: {records} records")
        except ShoalError as error:
            say(f"{how}: {error}")
        if time.monotonic() - started > SLOW:
            say(f"{how}: nobody took over")
    engine.sink(table, file_target(output / "one.parquet"))
    say("done")
    engine.session.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
