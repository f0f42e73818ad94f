"""Executors that are killed, tasks that fail or run twice: the output is the same, and nothing is in it twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.engine.disturbed import FILES, ROWS, noise
from tests.support.clusters import PATIENCE, SHORT_RUN, Cluster, driver, require_spark, until
from tests.support.processes import family

from shoal.cli.terminal.signals import INTERRUPTED
from shoal.schema import ROW

pytestmark = [pytest.mark.spark, pytest.mark.requirement("L-04")]

TABLE = pl.DataFrame(
    {
        "name": [f"OKAPI-{row}" for row in range(FILES * ROWS)],
        "pay": [row * 10.25 for row in range(FILES * ROWS)],
        "small": pl.Series([row % 250 for row in range(FILES * ROWS)], dtype=pl.UInt8),
    }
)
SETTINGS = {
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.sql.files.maxPartitionBytes": "4194304",
    "spark.speculation": "true",
    "spark.speculation.interval": "200ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.minTaskRuntime": "2s",
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    for number in range(FILES):
        TABLE[number * ROWS : (number + 1) * ROWS].write_parquet(folder / f"{number}.parquet")
    return folder


@pytest.fixture(scope="module")
def output(cluster: Cluster, source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the driver wrote, with an executor killed on its way; what it said is in ``said``."""
    folder = tmp_path_factory.mktemp("output")
    script = Path(__file__).with_name("disturbed.py")
    disturbed = driver(cluster, [str(script), cluster.master, str(source), str(folder)], folder, SETTINGS)
    try:
        _kill_an_executor(cluster, folder / "marks", disturbed)
        said, _ = disturbed.communicate(timeout=PATIENCE)
    finally:
        disturbed.kill()
    (folder / "said").write_text(said)
    return folder


def _kill_an_executor(running: Cluster, marks: Path, disturbed: subprocess.Popen[str]) -> None:
    """The one that sits on the first partition, with something written and more to come."""
    until(lambda: disturbed.poll() is not None or list(marks.glob("killed-0-*")), 2 * PATIENCE)
    for mark in marks.glob("killed-0-*"):
        assert int(mark.read_text()) in running.executors()
        os.kill(int(mark.read_text()), signal.SIGKILL)


def killed(output: Path) -> int:
    """How many of the executors that worked on the first partition were killed on the way."""
    told = [line for line in (output / "said").read_text().splitlines() if "Lost executor" in line]
    return len(told)


def said(output: Path) -> list[str]:
    return [line for line in (output / "said").read_text().splitlines() if ": " in line and "Spark" not in line]


def expected() -> pl.DataFrame:
    positions = TABLE.with_columns(pl.int_range(TABLE.height, dtype=pl.UInt64).alias(ROW))
    return noise().apply(positions).drop(ROW)


def attempts(output: Path, how: str) -> int:
    return len(list((output / "marks").glob(f"{how}-0-*")))


@pytest.mark.parametrize("how", ["undisturbed", "fails-once", "slow", "killed"])
def test_whatever_happens_every_record_is_written_once(output: Path, how: str) -> None:
    assert f"{how}: {TABLE.height} records" in said(output), (output / "said").read_text()
    folder = output / how
    assert [path.name for path in folder.iterdir()] == ["data.parquet"]
    parts = sorted((folder / "data.parquet").iterdir())
    assert [path.name for path in parts] == [f"part-{number:05}.parquet" for number in range(len(parts))]
    assert len(parts) == FILES
    assert_frame_equal(pl.concat([pl.read_parquet(path) for path in parts]), expected(), check_row_order=False)


@pytest.mark.parametrize(("how", "least"), [("fails-once", 2), ("slow", 2), ("killed", 2), ("fails-always", 4)])
def test_it_did_happen(output: Path, how: str, least: int) -> None:
    assert attempts(output, "undisturbed") == 1
    assert attempts(output, how) >= least
    assert not [line for line in said(output) if "nobody took over" in line]


def test_an_executor_was_lost_and_only_one(output: Path) -> None:
    assert killed(output) == 1


def test_what_fails_for_good_leaves_nothing_and_tells_no_value(output: Path) -> None:
    assert "fails-always: a step failed on an executor with ValueError" in said(output)
    assert list((output / "fails-always").iterdir()) == []
    assert "OKAPI" not in (output / "said").read_text()


def test_one_file_is_written_from_what_many_wrote(output: Path) -> None:
    assert_frame_equal(pl.read_parquet(output / "one.parquet"), expected(), check_row_order=False)
    assert not [path.name for path in output.iterdir() if path.name.startswith(".")]


POLICY = """
shoal: 1
name: interrupted
attributes:
  name: {role: direct, technique: [{pseudonymise: {}}, {pseudonymise: {}}]}
  pay: {role: insensitive}
  small: {role: insensitive}
"""


RUN = (
    *("run", "policy.yaml", "--input", "table.parquet", "--output", "out/release"),
    *("--engine", "spark", "--master", "local[1]", "--parts"),
)


def environment(pid: int) -> bytes:
    """What a process was started with; nothing if it has ended by now."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/environ").read_bytes()
    return b""


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    """Neither files nor processes; and while they run, none of them has what the vault is opened with."""
    require_spark()
    rows = 3_000_000
    table = pl.select(name=pl.int_range(rows).cast(pl.String), pay=pl.int_range(rows), small=pl.lit(1))
    table.write_parquet(tmp_path / "table.parquet")
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "temporary").mkdir()
    run = subprocess.Popen(
        [sys.executable, "-m", "shoal", *RUN],
        cwd=tmp_path,
        env={
            **os.environ,
            "SHOAL_VAULT_PASSPHRASE": "OKAPI-7731",
            "JDK_JAVA_OPTIONS": SHORT_RUN,
            "TMPDIR": str(tmp_path / "temporary"),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        until(lambda: run.poll() is not None or list((tmp_path / "out").glob(".release.partial-*/.spark-*/parts*/*")))
        started = family(run.pid)
        assert len(started) > 1
        assert not [pid for pid in started if pid != run.pid and b"OKAPI" in environment(pid)]
        os.killpg(run.pid, signal.SIGINT)
        said, _ = run.communicate(timeout=PATIENCE)
    finally:
        run.kill()
        run.wait()
        if run.stdout is not None:
            run.stdout.close()
    assert run.returncode == INTERRUPTED, said
    assert "Traceback" not in said
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in started))
    left = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")]
    assert sorted(left) == ["policy.yaml", "table.parquet", "temporary"]
