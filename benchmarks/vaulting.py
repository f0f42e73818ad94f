"""A million names into the vault and out again, against a plain insert of the same bytes; memory for ten million.

The yardstick is ``executemany`` of the very rows that the vault has written, in the same order, into a table without
keys or indices, in the same mode of the database (write-ahead log, every commit flushed).
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl

from benchmarks.result import Result, paired, seconds
from shoal.errors import BugError
from shoal.pseudonyms.formats.base32 import Base32
from shoal.vault import Passphrase, Vault

NAMES = 1_000_000
MANY = 10_000_000
ROUNDS = 3
ANYBODY = Passphrase("bench", "only for the benchmark")
PEAK = """
import sys
from pathlib import Path
from benchmarks.vaulting import issue
issue(Path(sys.argv[1]), int(sys.argv[2]))
status = Path("/proc/self/status").read_text()
print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")))
"""


def run(folder: Path, _rows: int) -> list[Result]:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        return [*_compared(Path(place)), _memory(Path(place))]


def _compared(place: Path) -> list[Result]:
    vault = filled(place, NAMES)
    rows = _rows_of(place)
    names = names_of(NAMES)

    def new() -> float:
        fresh = _empty(place)
        return seconds(lambda: fresh.issue("people", names, Base32()))

    known = min(seconds(lambda: vault.issue("people", names, Base32())) for _ in range(ROUNDS))
    ratio, mine, theirs = paired(new, lambda: _plain(place, rows), ROUNDS)
    plain = f"plain executemany {theirs:.2f} s"
    return [
        Result(f"vault: {NAMES:,} new names", f"{mine:.2f} s", plain, ratio, 3.0),
        Result(
            f"vault: {NAMES:,} known names",
            f"{known:.2f} s",
            f"{NAMES / known:,.0f} a second",
            known * 1e6 / NAMES,
            10.0,
            "µs",
        ),
    ]


def _memory(place: Path) -> Result:
    room = place / "many"
    room.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(room), str(MANY)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])},
    )
    peak = int(done.stdout) / 1e6
    return Result(f"vault: peak memory, {MANY:,} names", f"{peak:.2f} GB", "", peak, 2.0, "GB")


def names_of(count: int) -> pl.Series:
    number = pl.int_range(count).cast(pl.String).str.zfill(9)
    return pl.select(pl.format("Person {} of Somewhere", number)).to_series()


def filled(place: Path, count: int) -> Vault:
    vault, issued = issue(place, count)
    if issued.n_unique() != count:
        raise BugError("two people have one pseudonym")
    return vault


def issue(place: Path, count: int) -> tuple[Vault, pl.Series]:
    vault = _empty(place)
    return vault, vault.issue("people", names_of(count), Base32())


def _empty(place: Path) -> Vault:
    shutil.rmtree(place / "vault", ignore_errors=True)
    (place / "vault").mkdir()
    vault = Vault.create(place / "vault" / "v", ANYBODY, state=place / "vault")
    vault.add_domain("people")
    return vault


def _rows_of(place: Path) -> list[tuple[object, ...]]:
    with sqlite3.connect(place / "vault" / "v") as connection:
        return connection.execute("SELECT * FROM shoal_entry").fetchall()


def _plain(place: Path, rows: list[tuple[object, ...]]) -> float:
    path = place / "plain"
    for old in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        old.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"CREATE TABLE plain ({', '.join(f'c{place}' for place in range(len(rows[0])))})")

    def insert() -> None:
        connection.executemany(f"INSERT INTO plain VALUES ({', '.join('?' * len(rows[0]))})", rows)  # noqa: S608
        connection.commit()

    taken = seconds(insert)
    connection.close()
    return taken
