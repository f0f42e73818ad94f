"""The first records of a text file: the same ones as a whole reading has, and no more of the file is read for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.io import FileOptions, FileTarget, beginning, file_target, open_source, parse_source
from shoal.io.formats.delimited import reader, record_shape
from shoal.io.formats.delimited.reader import DelimitedSource
from shoal.io.frames import FrameSource
from shoal.release import run as running

pytestmark = pytest.mark.requirement("D-01")

CELLS = st.text(alphabet="ab é0;',\"\n", max_size=5)
TABLES = st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=30)


def source_of(path: Path, **options: object) -> DelimitedSource:
    source = open_source(parse_source({"path": str(path), "separator": ",", **options}))
    assert isinstance(source, DelimitedSource)
    return source


def cell(text: str, *, quoted: bool) -> str:
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if quoted else text.translate(dict.fromkeys(map(ord, ',"\n')))


@given(
    rows=TABLES,
    quoted=st.booleans(),
    end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "cp1252", "utf-16"]),
    before=st.sampled_from(["", "\n"]),
    after=st.sampled_from(["", "\n", "\n\n\n"]),
    wanted=st.integers(1, 35),
    block=st.integers(1, 40),
    part=st.integers(1, 60),
)
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_first_records_are_those_of_a_whole_reading(
    tmp_path: Path,
    rows: list[tuple[str, str]],
    quoted: bool,
    end: str,
    encoding: str,
    before: str,
    after: str,
    wanted: int,
    block: int,
    part: int,
) -> None:
    lines = [f"x{cell(one, quoted=False)},{cell(two, quoted=quoted)}" for one, two in rows]
    path = tmp_path / "table.csv"
    path.write_bytes((before + end.join(["one,two", *lines]) + after.replace("\n", end)).encode(encoding))
    source = source_of(path, quote='"', encoding=None if encoding == "utf-8-sig" else encoding)
    whole = source.scan().collect()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(record_shape, "BLOCK_BYTES", block)
        patched.setattr(reader, "_BEGINNING_BYTES", part)
        first = source.beginning(wanted)
    assert first is not None
    assert first.equals(whole.head(wanted), null_equal=True)


def test_no_more_is_read_than_what_they_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.csv"
    pl.DataFrame({"one": range(400_000), "two": "some words"}).write_csv(path)
    source, read = source_of(path, quote='"'), 0
    blocks: Callable[..., Iterator[bytes]] = record_shape.utf8_blocks

    def watched(*given: object) -> Iterator[bytes]:
        nonlocal read
        for block in blocks(*given):
            read += len(block)
            yield block

    monkeypatch.setattr(reader, "utf8_blocks", watched)
    monkeypatch.setattr(reader, "scan_delimited", None)
    first = beginning(source, 1000).collect()
    assert first["one"].to_list() == [str(place) for place in range(1000)]
    assert 0 < read <= 2 * reader._BEGINNING_BYTES < path.stat().st_size / 3


def test_numbers_are_read_in_the_notation_of_the_source(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('fee,name\n"1.234,56",x\n"7,5",y\n', encoding="utf-8")
    source = open_source(FileOptions(path=str(path), decimal=","))
    assert beginning(source, 1).collect().rows() == [("1234.56", "x")]


def test_what_hands_out_no_beginning_is_scanned(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("one\n1\n\n2\n", encoding="utf-8")
    single = source_of(path, quote='"')
    assert single.beginning(2) is None
    assert beginning(single, 2).collect().rows() == [("1",), (None,)]
    table = pl.DataFrame({"one": [1, 2, 3]})
    assert beginning(FrameSource(table.lazy()), 2).collect().equals(table.head(2))


@pytest.mark.parametrize("escape", [False, True])
@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet"])
def test_what_was_written_begins_as_it_is_read(tmp_path: Path, name: str, escape: bool) -> None:
    table = pl.DataFrame({"sum": [f"=1+{place}" for place in range(9)], "name": [f"n,{place}" for place in range(9)]})
    target = file_target(tmp_path / name, escape_formulas=escape)
    assert isinstance(target, FileTarget)
    target.write(table.lazy())
    first = target.beginning(4)
    assert (first is None) == (name == "out.parquet")
    assert beginning(target, 4).collect().equals(target.scan().head(4).collect())


POLICY = """
shoal: 1
name: pay
attributes:
  age: {role: quasi, hierarchy: {intervals: {widths: [10]}}}
  pay: {role: insensitive, technique: {noise: {laplace: {scale: 50}}}}
solve: {levels: {age: 1}}
"""


def test_a_run_scans_no_text_file_for_its_first_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "people.csv"
    records = 30_000
    pl.DataFrame({"age": [20 + place % 40 for place in range(records)], "pay": range(1000, 1000 + records)}).write_csv(
        path
    )
    cut: list[int] = []
    head = pl.LazyFrame.head

    def watched(frame: pl.LazyFrame, n: int = 5) -> pl.LazyFrame:
        if "CSV SCAN" in frame.explain().upper():
            cut.append(n)
        return head(frame, n)

    monkeypatch.setattr(pl.LazyFrame, "head", watched)
    policy = shoal.Policy.from_text(POLICY)
    release = running.release_folder(policy, tmp_path / "release", data=str(path), seed=1)
    assert release.manifest.data.rows == records
    assert not cut
    assert head(pl.scan_csv(path), 1).collect().height == 1
    pl.scan_csv(path).head(1)
    assert cut == [1]
