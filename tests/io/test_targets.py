"""Files are written in the source's dialect, in a stream, the same bytes however the stream is cut."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from shoal.errors import DataError, TargetError
from shoal.io import FileTarget, file_target, open_source, open_target, parse_source, parse_target
from shoal.kernels.batch_streams import streamed

pytestmark = pytest.mark.requirement("D-01")

FRAME = pl.DataFrame(
    {
        "id": range(5000),
        "name": [f"a name that is long enough {number}" if number % 7 else None for number in range(5000)],
        "seen": [datetime.date(2024, 1, 1) + datetime.timedelta(number % 365) for number in range(5000)],
    }
)
NAMES = ["data.csv", "data.tsv", "data.parquet", "data.jsonl", "data.arrow", "data.xlsx"]


def in_batches(frame: pl.DataFrame, size: int) -> pl.LazyFrame:
    return streamed(lambda: (frame[start : start + size] for start in range(0, frame.height, size)), frame.schema)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_can_be_read(tmp_path: Path, name: str) -> None:
    target = open_target(parse_target(name), base=tmp_path)
    target.write(FRAME.lazy())
    expected = FRAME
    if name.endswith((".csv", ".tsv", ".xlsx")):
        expected = FRAME.select(pl.all().cast(pl.String))
    elif name.endswith(".jsonl"):
        expected = FRAME.with_columns(pl.col("seen").cast(pl.String))
    assert isinstance(target, FileTarget)
    assert target.scan().collect(engine="streaming").equals(expected)
    assert open_source(parse_source(name), base=tmp_path).scan().collect(engine="streaming").equals(expected)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", NAMES)
def test_bytes_do_not_depend_on_batches(tmp_path: Path, name: str) -> None:
    written = set()
    for size in (77, 1000, 5000):
        target = file_target(tmp_path / f"{size}-{name}")
        target.write(in_batches(FRAME, size))
        written.add(target.path.read_bytes())
    assert len(written) == 1


def test_the_dialect_of_the_source_is_kept(tmp_path: Path) -> None:
    text = "\ufeff'name';'note'\r\n'a;b';'it''s'\r\n;''\r\n"
    (tmp_path / "in.csv").write_bytes(text.encode())
    source = open_source(parse_source(str(tmp_path / "in.csv")))
    target = file_target(tmp_path / "out", like=source)
    target.write(source.scan())
    assert target.path == tmp_path / "out.csv"
    assert target.path.read_bytes() == "\ufeffname;note\r\n'a;b';'it''s'\r\n;''\r\n".encode()
    assert target.scan().collect().rows() == source.scan().collect().rows()


def test_other_encodings_become_utf8(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes("name;code\nÉlise;1\n".encode("cp1252"))
    source = open_source(parse_source({"path": str(tmp_path / "in.csv"), "encoding": "cp1252"}))
    target = file_target(tmp_path / "out", like=source)
    target.write(source.scan())
    assert target.path.read_text(encoding="utf-8") == "name;code\nÉlise;1\n"


@pytest.mark.parametrize("name", NAMES)
def test_the_format_of_the_source_is_kept(tmp_path: Path, name: str) -> None:
    file_target(tmp_path / name).write(FRAME.lazy())
    source = open_source(parse_source(str(tmp_path / name)))
    assert file_target(tmp_path / "v1.2 release", like=source).path.name == "v1.2 release" + Path(name).suffix


def test_a_target_without_a_source_or_with_another_format(tmp_path: Path) -> None:
    assert file_target(tmp_path / "out").path.name == "out.parquet"
    assert open_target(parse_target({"path": "out", "format": "tsv"}), base=tmp_path).label == str(tmp_path / "out.tsv")
    (tmp_path / "in.csv").write_text("a;b\n1;2\n")
    source = open_source(parse_source(str(tmp_path / "in.csv")))
    target = file_target(tmp_path / "out.tsv", like=source)
    target.write(source.scan())
    assert target.path.read_text() == "a\tb\n1\t2\n"


def test_an_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("x")
    with pytest.raises(TargetError, match="exists already"):
        file_target(tmp_path / "out.csv")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="can't be written"):
        file_target(tmp_path / "no" / "out.csv").write(FRAME.lazy())


@pytest.mark.parametrize("name", NAMES)
def test_an_error_on_the_way_leaves_nothing_and_stays_what_it_is(tmp_path: Path, name: str) -> None:
    def failing() -> Iterator[pl.DataFrame]:
        yield FRAME
        raise DataError("a rule is broken")

    with pytest.raises(DataError, match="a rule is broken"):
        file_target(tmp_path / name).write(streamed(failing, FRAME.schema))
    assert list(tmp_path.iterdir()) == []
