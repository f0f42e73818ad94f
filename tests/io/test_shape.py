from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.io.formats.delimited.dialect import Dialect
from shoal.io.formats.delimited.record_shape import Census, census, ragged

pytestmark = pytest.mark.requirement("D-01")

CELLS = st.text(alphabet='ab,;"\n é', max_size=6)
TABLES = st.lists(st.lists(CELLS, min_size=2, max_size=5), min_size=1, max_size=12)


def written(rows: list[list[str]]) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue().encode()


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@given(rows=TABLES, size=st.integers(1, 200))
@settings(max_examples=150)
def test_counts_are_those_of_a_parser_however_the_file_is_cut(rows: list[list[str]], size: int) -> None:
    found = census(cut(written(rows), size), Dialect())
    assert found.separators == sum(len(row) - 1 for row in rows)
    assert found.lines == len(rows)
    assert not found.open_quote
    assert not found.open_end


@given(rows=TABLES)
@settings(max_examples=100)
def test_ragged_rows_are_found_exactly(rows: list[list[str]]) -> None:
    columns = len(rows[0])
    wrong = sum(len(row) != columns for row in rows)
    said = ragged([written(rows)], Dialect(), columns)
    assert said.startswith(f"{wrong} row(s)") if wrong else said == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"a,b\n1,2", Census(1, 2, 0, open_end=True, open_quote=False)),
        (b"a,b\n1,2\n\n\r\n", Census(4, 2, 2, open_end=False, open_quote=False)),
        (b"\n\r\na,b\n1,2\n", Census(2, 2, 0, open_end=False, open_quote=False)),
        (b'a,b\n1,"2\n', Census(1, 2, 0, open_end=False, open_quote=True, quotes=True)),
        (b'a,b\n1,"x""y,"\n', Census(2, 2, 0, open_end=False, open_quote=False, quotes=True)),
        (b"", Census(0, 0, 0, open_end=False, open_quote=False)),
    ],
)
def test_ends_and_quotes(text: bytes, expected: Census) -> None:
    assert census([text], Dialect()) == expected
    assert census(cut(text, 1), Dialect()) == expected


def test_long_quoted_stretches_cross_words_and_blocks() -> None:
    inside = b"," * 1000 + b"\n" * 1000
    text = b'a,b\n"' + inside + b'",2\n3,4\n'
    for size in (1, 63, 64, 65, 1000, 5000):
        assert census(cut(text, size), Dialect()) == Census(3, 3, 0, open_end=False, open_quote=False, quotes=True)


def test_other_dialects() -> None:
    assert census([b"a;b\r1;2\r"], Dialect(separator=";", line_end="\r")).lines == 2
    assert census([b'a,b\n1,2"\n'], Dialect(quote=None)) == Census(2, 2, 0, open_end=False, open_quote=False)
    assert census([b"a,b\n'1,1',2\n"], Dialect(quote="'")).separators == 2


def test_the_lines_of_ragged_rows_are_named() -> None:
    text = b'\na,b\n1,2\n"x\ny",2\n3\n\n4,5,6\n7\n8\n\n\n'
    assert ragged([text], Dialect(), 2) == "5 row(s) have more or fewer cells than the header's 2 (line 6, 7, 8 …)"
