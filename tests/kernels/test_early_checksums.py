"""A checksum that was begun early is that of the file as it is now, or none."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.io import sha256_of
from shoal.kernels import early_checksums
from shoal.kernels.early_checksums import begin_checksum, begun_checksum

CONTENT = b"name,age\nAsha,34\n" * 1000


@pytest.fixture(autouse=True)
def small_files_count(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(early_checksums, "LEAST_BYTES", 1)
    yield
    early_checksums._begun.clear()


def made(folder: Path) -> Path:
    path = folder / "people.csv"
    path.write_bytes(CONTENT)
    begin_checksum(path)
    return path


def test_what_was_begun_is_taken_by_whoever_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path)
    assert begun_checksum(path) == hashlib.sha256(CONTENT).hexdigest()
    begun = early_checksums._begun[early_checksums.FileState.of(path)]  # type: ignore[index]  # the file is there
    monkeypatch.setattr(begun, "_digest", "as it was begun")
    assert sha256_of(path) == "as it was begun"


def test_a_file_that_was_not_begun_is_read(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(CONTENT)
    assert begun_checksum(path) is None
    assert sha256_of(path) == hashlib.sha256(CONTENT).hexdigest()


def test_a_file_that_changed_is_read_anew(tmp_path: Path) -> None:
    path = made(tmp_path)
    before = path.stat()
    path.write_bytes(CONTENT.replace(b"34", b"35"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # whoever hides it can't turn back the time of change
    assert sha256_of(path) == hashlib.sha256(CONTENT.replace(b"34", b"35")).hexdigest()


def test_another_file_in_its_place_is_read(tmp_path: Path) -> None:
    path = made(tmp_path)
    other = tmp_path / "other"
    other.write_bytes(b"x" * len(CONTENT))
    other.replace(path)
    assert sha256_of(path) == hashlib.sha256(b"x" * len(CONTENT)).hexdigest()


@pytest.mark.parametrize("name", ["nothing", "", "postgresql://host/table", "a\0b"])
def test_what_is_no_file_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    begin_checksum(Path(name))
    assert begun_checksum(Path(name)) is None
    assert not early_checksums._begun


def test_a_small_file_is_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_checksums, "LEAST_BYTES", len(CONTENT) + 1)
    assert begun_checksum(made(tmp_path)) is None
