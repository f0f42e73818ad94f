"""Cells that a spreadsheet would run: counted, escaped, read back as they were."""

from __future__ import annotations

import tempfile
from itertools import chain
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.io import file_target, parts_target, sha256_of
from shoal.io.formats.delimited import formula_bytes
from shoal.io.formats.delimited.dialect import Dialect
from shoal.io.formats.delimited.formula_bytes import digest_and_formulas
from shoal.io.formats.delimited.formula_escapes import count_formulas, escaped, is_formula, unescaped
from shoal.io.targets import FileTarget

pytestmark = pytest.mark.requirement("D-01")

RUN = [
    "=1+1", "=cmd|' /C calc'!A0", "=HYPERLINK(\"http://x/?\"&A1)", "+cmd|x", "-x", "@SUM(A1)", "\t=1", "\r=1", "\n=1",
    "-2+3+cmd|' /C calc'!A0", "＝1+1", "＋x", "－x", "＠x", "-1e", "+91 98450 12345;=x", "- none", "-5 °C",
]  # fmt: skip
NOT_RUN = [
    "", "-5", "+3.2", "-1,234.50", "-1e-5", "+1E6", "-", "--", "–5", "+91 98450 12345", "-10–-1", "+05:30", "-5%",
    "(3)", "'=1", "ward", "a=b", " =1", "*", "[20, 30)", "1-2", "−5",
]  # fmt: skip


@pytest.mark.parametrize("cell", RUN)
def test_what_a_spreadsheet_would_run(cell: str) -> None:
    frame = pl.DataFrame({"a": [cell]})
    assert is_formula(cell)
    assert count_formulas(frame.lazy()) == 1
    assert frame.select(escaped("a")).item() == f"'{cell}"


@pytest.mark.parametrize("cell", NOT_RUN)
def test_what_it_would_not(cell: str) -> None:
    frame = pl.DataFrame({"a": [cell]})
    assert not is_formula(cell)
    assert count_formulas(frame.lazy()) == 0
    assert frame.select(escaped("a")).item() in {cell, f"'{cell}" if cell.startswith("'") else cell}


@given(st.lists(st.one_of(st.none(), st.text(alphabet="'=+-@\t\r\n1.,e ＝－°x", max_size=8)), max_size=20))
def test_what_was_escaped_is_read_back(cells: list[str | None]) -> None:
    frame = pl.DataFrame({"a": pl.Series(cells, dtype=pl.String)})
    safe = frame.select(escaped("a"))
    assert count_formulas(safe.lazy()) == 0
    assert safe.select(unescaped("a")).equals(frame)
    assert sum(is_formula(cell) for cell in cells if cell is not None) == count_formulas(frame.lazy())


CELLS = st.text(alphabet="'=+-@\t1.e ＝－°x", max_size=6)


@given(
    st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=30),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.integers(1, 64),
)
def test_in_the_bytes_of_a_file_there_are_as_many(rows: list[tuple[str, str]], end: str, block: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(formula_bytes, "_BLOCK", block)
        path, dialect = Path(folder) / "data.csv", Dialect(separator=";", line_end=end)  # type: ignore[arg-type]
        path.write_bytes(end.join(["=a;+b", *map(";".join, rows), ""]).encode())
        digest, counted = digest_and_formulas(path, dialect)
        assert digest == sha256_of(path)
        assert counted == sum(map(is_formula, chain.from_iterable(rows)))


def test_where_only_parsing_tells_the_bytes_say_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.csv"
    path.write_text('a,b\n"x,=1",=2\n')
    monkeypatch.setattr(formula_bytes, "_BLOCK", 4)
    assert digest_and_formulas(path, Dialect()) == (sha256_of(path), None)
    assert digest_and_formulas(path, Dialect(quote=None))[1] == 2
    monkeypatch.setattr(formula_bytes, "MOST_CANDIDATES", 1)
    assert digest_and_formulas(path, Dialect(quote=None)) == (sha256_of(path), None)


def test_only_texts_count() -> None:
    frame = pl.LazyFrame({"a": [-1, None], "b": ["=x", None], "c": [-1.5, 2.0]})
    assert count_formulas(frame) == 1
    assert count_formulas(frame.drop("b")) == 0


FRAME = pl.LazyFrame({"a": ["=1", "-5", "'=1", None, "x"], "n": [1, -2, 3, -4, 5]})


@pytest.mark.parametrize("quote", ['"', "'"])
def test_a_text_file_with_escapes_reads_back_as_it_was(tmp_path: Path, quote: str) -> None:
    target = FileTarget(tmp_path / "a.csv", "csv", Dialect(quote=quote), "a.csv", plain=True, escape_formulas=True)
    assert target.specials is None
    target.write(FRAME)
    text = (tmp_path / "a.csv").read_text()
    assert "'=1,1\n" in text.replace("'''=1'", "'=1")
    assert target.scan().collect()["a"].to_list() == ["=1", "-5", "'=1", None, "x"]


def test_parts_and_other_formats(tmp_path: Path) -> None:
    parts = parts_target(file_target(tmp_path / "a.csv", escape_formulas=True))
    parts.write(FRAME)
    assert "'=1,1" in (tmp_path / "a.csv" / parts.parts[0].path).read_text()
    assert parts.scan().collect()["a"].to_list() == FRAME.collect()["a"].to_list()
    typed = file_target(tmp_path / "a.parquet", escape_formulas=True)
    typed.write(FRAME)
    assert pl.read_parquet(typed.path)["a"].to_list() == FRAME.collect()["a"].to_list()
