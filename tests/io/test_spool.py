"""The working copy of a database: read as often as wanted, unreadable to others, gone with the process."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from shoal.errors import SourceError
from shoal.io.databases.spool import Spool

pytestmark = pytest.mark.requirement("D-01")

FRAMES = [pl.DataFrame({"name": [f"secret{start + row}" for row in range(100)]}) for start in range(0, 1000, 100)]
WHOLE = pl.concat(FRAMES)


def test_the_same_rows_in_the_same_order_as_often_as_wanted() -> None:
    spool = Spool(FRAMES, "db")
    assert spool.rows == 1000
    with ThreadPoolExecutor(4) as pool:
        for frame in pool.map(lambda _: spool.scan().collect(engine="streaming"), range(8)):
            assert frame.equals(WHOLE)
    assert spool.scan().filter(pl.col("name") == "secret7").collect().height == 1
    assert spool.scan().head(3).collect().height == 3


def test_an_empty_frame_tells_the_columns() -> None:
    spool = Spool([WHOLE.clear()], "db")
    assert spool.rows == 0
    assert spool.scan().collect().schema == WHOLE.schema


def test_nothing_can_be_read_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    spool = Spool([WHOLE, WHOLE], "db")
    assert list(tmp_path.iterdir()) == []
    assert Path(f"/proc/self/fd/{spool._handle}").readlink().parent == tmp_path, "it lies where TMPDIR says"
    stored = os.pread(spool._handle, 10_000_000, 0)
    assert len(stored) > 1000
    assert b"secret" not in stored
    assert b"ARROW" not in stored
    half = len(stored) // 2
    assert stored[:half] != stored[half:], "equal frames do not look equal"


def test_no_room_for_it() -> None:
    code = """
import resource
import polars as pl
from shoal.io.databases.spool import Spool
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    Spool([pl.DataFrame({"a": pl.int_range(100_000, eager=True).hash()})], "db")
except Exception as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    expected = "SourceError db: there is no room to keep a working copy (TMPDIR can name a folder on another disk)"
    assert done.stdout.strip() == expected


def test_it_goes_with_the_last_who_reads_it() -> None:
    def handles() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = handles()
    scan = Spool(FRAMES, "db").scan()
    assert handles() == before + 1
    assert scan.collect().equals(WHOLE)
    del scan
    gc.collect()
    assert handles() == before


def test_errors_of_the_database_pass_through() -> None:
    def failing() -> Iterator[pl.DataFrame]:
        yield WHOLE
        raise SourceError("db: the connection was lost")

    with pytest.raises(SourceError, match="the connection was lost"):
        Spool(failing(), "db")
