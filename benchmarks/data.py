"""A hospital-like table of any size, written in chunks: 11 columns, about 105 bytes a record as CSV."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

CHUNK = 1_000_000
EDUCATION = ("Bachelors", "Doctorate", "HS-grad", "Masters", "Primary", "Some-college")
DIAGNOSES = ("Asthma", "Diabetes", "Flu", "Hypertension", "Malaria")


def chunk(first: int, rows: int) -> pl.DataFrame:
    random = np.random.default_rng(first)

    def words(choices: tuple[str, ...]) -> pl.Series:
        return pl.Series(np.array(choices)[random.integers(0, len(choices), rows)])

    def digits(low: int, high: int) -> pl.Series:
        return pl.Series(random.integers(low, high, rows)).cast(pl.String)

    return pl.DataFrame(
        {
            "id": np.arange(first, first + rows),
            "name": "Person " + digits(0, 50_000),
            "aadhaar": digits(10**11, 2 * 10**11),
            "age": random.integers(0, 100, rows),
            "sex": words(("F", "M")),
            "postal": digits(110_000, 112_000),
            "education": words(EDUCATION),
            "diagnosis": words(DIAGNOSES),
            "visit": pl.Series(random.integers(15_000, 20_000, rows).astype(np.int32)).cast(pl.Date),
            "salary": np.round(random.lognormal(10, 1, rows), 2),
            "remarks": "ward " + digits(1, 60) + " bed " + digits(1, 400) + " file " + digits(0, 10**9),
        }
    )


def written(path: Path, rows: int, made: Callable[[int, int], pl.DataFrame]) -> Path:
    """The file, written chunk by chunk where it isn't there yet; ``made`` gets the first row and how many."""
    if not path.exists():
        partial = path.with_suffix(".partial")
        with partial.open("wb") as file:
            for first in range(0, rows, CHUNK):
                made(first, min(CHUNK, rows - first)).write_csv(file, include_header=first == 0)
        partial.rename(path)
    return path


def csv_of(folder: Path, rows: int) -> Path:
    return written(folder / f"people-{rows}.csv", rows, chunk)


def quoted_csv_of(folder: Path, rows: int) -> Path:
    """The same records with a column of text that holds commas, so that every record has a quoted cell."""
    path = folder / f"quoted-{rows}.csv"
    if not path.exists():
        remarks = pl.col("remarks").str.replace(" bed ", ", bed ", literal=True)
        pl.scan_csv(csv_of(folder, rows), infer_schema=False).with_columns(remarks).sink_csv(path)
    return path


def parquet_of(folder: Path, rows: int) -> Path:
    path = folder / f"people-{rows}.parquet"
    if not path.exists():
        pl.scan_csv(csv_of(folder, rows), try_parse_dates=True, schema_overrides=TEXT).sink_parquet(path)
    return path


TEXT = {"aadhaar": pl.String(), "postal": pl.String()}

POLICY = """\
shoal: 1
name: bench
attributes:
  id: {role: insensitive}
  name: {role: direct, technique: suppress}
  aadhaar: {role: direct, technique: {mask: {keep_last: 4, char: "x"}}}
  age: {role: quasi, hierarchy: {intervals: {widths: [5, 10, 20]}}}
  sex: {role: insensitive}
  postal: {role: quasi, hierarchy: {redact: {side: right, char: "x"}}}
  education: {role: insensitive}
  diagnosis: {role: sensitive}
  visit: {role: insensitive}
  salary: {role: insensitive, technique: {noise: {laplace: {scale: 50}}}}
  remarks: {role: insensitive}
solve:
  levels: {age: 2, postal: 3}
"""
