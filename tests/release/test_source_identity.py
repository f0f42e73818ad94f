"""The checksum of what a release is made from."""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl
import pytest

from shoal.errors import SourceError
from shoal.io.frames import FrameSource, source_at
from shoal.release.source_identity import SourceFingerprint


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_of_a_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "people of 2026" / f"data.{ending}"
    path.parent.mkdir()
    table = pl.DataFrame({"town": ["north", "south"]})
    {"csv": table.write_csv, "parquet": table.write_parquet, "xlsx": table.write_excel}[ending](path)
    found = SourceFingerprint(source_at(str(path))).identity()
    assert found is not None
    assert (found.name, found.sha256) == (path.name, hashlib.sha256(path.read_bytes()).hexdigest())


def test_of_a_folder_of_parts(tmp_path: Path) -> None:
    folder = tmp_path / "data.csv"
    folder.mkdir()
    for place in range(2):
        (folder / f"part-{place}.csv").write_text(f"town\n{place}\n")
    found = SourceFingerprint(source_at(str(folder))).identity()
    listed = "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(folder.iterdir())
    )
    assert found is not None
    assert (found.name, found.sha256) == ("data.csv", hashlib.sha256(listed.encode()).hexdigest())


def test_a_table_in_memory_has_none() -> None:
    assert SourceFingerprint(FrameSource(pl.LazyFrame({"town": ["north"]}))).identity() is None


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("town\nnorth\n")
    source = source_at(str(path))
    path.unlink()
    with pytest.raises(SourceError, match=r"data\.csv: can't be read any more"):
        SourceFingerprint(source).identity()
