"""Single records of a text file, without parsing it: the same ones as a whole reading has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.io import FileOptions, FileTarget, file_target, open_source
from shoal.io.formats.delimited import line_picking, reader, record_shape
from shoal.io.formats.delimited.reader import DelimitedSource

CELLS = st.text(alphabet="ab é0;'", max_size=4)
TABLES = st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=30)


def source_of(path: Path) -> DelimitedSource:
    source = open_source(FileOptions(path=str(path), separator=",", quote='"', encoding="utf-8"))
    assert isinstance(source, DelimitedSource)
    return source


@given(
    rows=TABLES,
    end=st.sampled_from(["\n", "\r\n"]),
    mark=st.booleans(),
    closed=st.booleans(),
    block=st.integers(1, 40),
    data=st.data(),
)
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_records_are_those_of_a_whole_reading(
    tmp_path: Path, rows: list[tuple[str, str]], end: str, mark: bool, closed: bool, block: int, data: st.DataObject
) -> None:
    text = end.join(["one,two", *(f"x{one},{two}" for one, two in rows)]) + (end if closed else "")
    path = tmp_path / "table.csv"
    path.write_bytes((b"\xef\xbb\xbf" if mark else b"") + text.encode())
    source = source_of(path)
    places = np.array(sorted(data.draw(st.sets(st.integers(0, len(rows) - 1), min_size=1))))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(record_shape, "BLOCK_BYTES", block)
        picked = source.pick(places)
    assert picked is not None
    assert picked.equals(source.scan().collect()[places], null_equal=True)


@given(
    rows=TABLES,
    end=st.sampled_from(["\n", "\r\n"]),
    before=st.sampled_from(["", "\ufeff", "\n", "\r\n\n"]),
    after=st.sampled_from(["", "\n", "\n\n\n"]),
    stretch=st.integers(6, 20),
    stretches=st.integers(1, 4),
    data=st.data(),
)
@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_few_records_are_found_without_reading_the_whole(
    tmp_path: Path,
    rows: list[tuple[str, str]],
    end: str,
    before: str,
    after: str,
    stretch: int,
    stretches: int,
    data: st.DataObject,
) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes((before + end.join(["one,two", *(f"x{one},{two}" for one, two in rows)]) + after).encode())
    places = np.array(sorted(data.draw(st.sets(st.integers(0, len(rows) - 1), min_size=1))))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(record_shape, "BLOCK_BYTES", stretch * stretches)
        for module in (record_shape, line_picking):
            patched.setattr(module, "STRETCH_BYTES", stretch)
        source = source_of(path)
        picked = source.lines and source.lines.lines_at(path, source.dialect, places)
    if before:
        assert not picked
    else:
        whole = source.scan().collect()[places]
        assert isinstance(picked, bytes)
        assert pl.read_csv(picked, has_header=False, schema=whole.schema).equals(whole, null_equal=True)


def test_of_a_long_file_a_few_stretches_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.csv"
    pl.DataFrame({"one": range(400_000), "two": "some words"}).write_csv(path)
    source = source_of(path)
    monkeypatch.setattr(reader, "lines_at", None)
    picked = source.pick(np.array([0, 7, 399_999]))
    assert picked is not None
    assert picked["one"].to_list() == ["0", "7", "399999"]
    assert source.pick(np.array([400_000])) is None


@pytest.mark.parametrize(
    ("text", "places"),
    [('a,b\n1,"x"\n2,y\n', [1]), ("a\n1\n2\n", [1]), ("a,b\n1,x\n", [1]), ("a,b\n1,x\n", [])],
    ids=["a quotation mark", "a single column", "no such record", "none"],
)
def test_where_only_reading_would_tell_nothing_is_picked(tmp_path: Path, text: str, places: list[int]) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    assert source_of(path).pick(np.array(places, dtype=np.int64)) is None


@pytest.mark.parametrize("escape", [False, True])
@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet"])
def test_what_was_written_is_picked_as_it_is_read(tmp_path: Path, name: str, escape: bool) -> None:
    table = pl.DataFrame({"sum": [f"=1+{place}" for place in range(9)], "name": [f"n{place}" for place in range(9)]})
    target = file_target(tmp_path / name, escape_formulas=escape)
    assert isinstance(target, FileTarget)
    target.write(table.lazy())
    picked = target.pick(np.array([0, 3, 8]))
    assert (picked is None) == (name == "out.parquet")
    assert picked is None or picked.equals(target.scan().collect()[[0, 3, 8]])
