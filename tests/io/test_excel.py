"""Excel: every cell as text, one sheet, clear words for workbooks that can't be read."""

from __future__ import annotations

import datetime
from pathlib import Path

import polars as pl
import pytest
import xlsxwriter

from shoal.errors import SourceError, TargetError
from shoal.io import file_target, open_source, parse_source
from shoal.io.formats.excel import MAX_RECORDS, write_excel

moment = datetime.datetime.fromisoformat
pytestmark = pytest.mark.requirement("D-01")


def workbook(path: Path, sheets: dict[str, list[list[object]]]) -> Path:
    book = xlsxwriter.Workbook(str(path))
    date = book.add_format({"num_format": "yyyy-mm-dd"})
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        for row, cells in enumerate(rows):
            for column, value in enumerate(cells):
                if isinstance(value, datetime.datetime | datetime.time):
                    sheet.write_datetime(row, column, value, date)
                elif isinstance(value, str) and not value.startswith("="):
                    sheet.write_string(row, column, value)
                elif value is not None:
                    sheet.write(row, column, value)
    book.close()
    return path


PEOPLE: list[list[object]] = [
    ["name", "code", "visits", "share", "seen", "at", "hour", "well"],
    [
        "Asha",
        "007",
        3,
        0.1,
        moment("2024-02-29"),
        moment("2024-02-29T12:30"),
        datetime.time(9, 5),
        True,
    ],
    [None, "12", 1234567890123, 2.5, moment("1950-01-01"), moment("1950-01-01"), None, False],
]
READ = [
    ("Asha", "007", "3", "0.1", "2024-02-29", "2024-02-29 12:30:00", "09:05:00", "true"),
    (None, "12", "1234567890123", "2.5", "1950-01-01", "1950-01-01 00:00:00", None, "false"),
]


def test_cells_are_text_without_invented_digits(tmp_path: Path) -> None:
    source = open_source(parse_source(str(workbook(tmp_path / "book.xlsx", {"one": PEOPLE}))))
    frame = source.scan().collect()
    assert frame.rows() == READ
    assert set(frame.schema.dtypes()) == {pl.String()}
    assert source.scan().collect().equals(frame)


def test_sheets_by_name_and_number(tmp_path: Path) -> None:
    path = str(workbook(tmp_path / "book.xlsx", {"first": [["a"], [1]], "second": [["b"], [2]]}))
    assert open_source(parse_source(path)).scan().collect().columns == ["a"]
    assert open_source(parse_source({"path": path, "sheet": "second"})).scan().collect().columns == ["b"]
    assert open_source(parse_source({"path": path, "sheet": 2})).scan().collect().columns == ["b"]
    with pytest.raises(SourceError, match="there is no sheet 'secnd'; did you mean 'second'"):
        open_source(parse_source({"path": path, "sheet": "secnd"}))
    with pytest.raises(SourceError, match="there is no sheet number 3; there are 2"):
        open_source(parse_source({"path": path, "sheet": 3}))


def test_null_values_gaps_and_blank_rows_below(tmp_path: Path) -> None:
    rows: list[list[object]] = [["a", "b"], ["NA", 1], [None, None], [-99, "x"], ["", None], [None, None]]
    path = str(workbook(tmp_path / "book.xlsx", {"one": rows}))
    frame = open_source(parse_source({"path": path, "null_values": ["NA", -99]})).scan().collect()
    assert frame.rows()[:3] == [(None, "1"), (None, None), (None, "x")]
    assert frame.height <= 4


def test_error_cells_are_missing(tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(str(tmp_path / "book.xlsx"))
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ["a", "b"])
    sheet.write_formula(1, 0, "=NA()", None, "#N/A")
    sheet.write_formula(1, 1, "=1+1", None, 2)
    book.close()
    assert open_source(parse_source(str(tmp_path / "book.xlsx"))).scan().collect().rows() == [(None, "2")]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "is empty"),
        ([["a", "b"]], "has a header but no records"),
        ([["a", "a"], [1, 2]], "1 column(s) have a name that another has (column 2)"),
        ([["a", None, "c"], [1, 2, 3]], "1 column(s) have no name"),
    ],
)
def test_sheets_that_are_no_table(tmp_path: Path, rows: list[list[object]], said: str) -> None:
    with pytest.raises(SourceError) as caught:
        open_source(parse_source(str(workbook(tmp_path / "book.xlsx", {"one": rows}))))
    assert said in str(caught.value)


def test_broken_and_protected_workbooks(tmp_path: Path) -> None:
    path = workbook(tmp_path / "book.xlsx", {"one": PEOPLE})
    whole = path.read_bytes()
    for size in (4, 100, len(whole) - 30):
        path.write_bytes(whole[:size])
        with pytest.raises(SourceError, match="is not a whole Excel workbook"):
            open_source(parse_source(str(path)))
    # An encrypted workbook is an OLE container with a stream of this name.
    path.write_bytes(
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 1000 + "EncryptedPackage".encode("utf-16-le") + b"\0" * 600
    )
    with pytest.raises(SourceError, match="is protected by a password"):
        open_source(parse_source(str(path)))
    path.write_text("name,code\nAsha,7\n")
    with pytest.raises(SourceError, match="is not a whole Excel workbook"):
        open_source(parse_source(str(path)))


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "text <&>": ["007", "x", None, "=1+1", " a \n b\t", "\r\n", "\x01_x0041_", "é😀", '<b> & "c"'],
            "number": ["7", "-2.5", "1234567890123456", "0", "1e5", "1.50", "-0", "0.1", ".5"],
            "typed": [1, None, 3, 4, 5, 6, 7, 8, 9],
            "date": [datetime.date(2024, 1, 2)] * 9,
        }
    )
    target = file_target(tmp_path / "out.xlsx")
    target.write(frame.lazy())
    assert target.scan().collect().rows() == frame.select(pl.all().cast(pl.String)).rows()
    assert list(tmp_path.iterdir()) == [tmp_path / "out.xlsx"]


def test_numbers_become_number_cells(tmp_path: Path) -> None:
    target = file_target(tmp_path / "out.xlsx")
    target.write(pl.LazyFrame({"a": ["7", "007"]}))
    typed = pl.read_excel(tmp_path / "out.xlsx", engine_options={}, infer_schema_length=1)
    assert typed["a"].to_list()[0] == 7


def test_equal_data_gives_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        file_target(tmp_path / f"{name}.xlsx").write(pl.LazyFrame({"a": ["x"] * 50}))
    assert (tmp_path / "one.xlsx").read_bytes() == (tmp_path / "two.xlsx").read_bytes()


def test_limits_of_a_sheet(tmp_path: Path) -> None:
    target = file_target(tmp_path / "out.xlsx")
    with pytest.raises(TargetError, match="column 'a': an Excel cell can't hold more than 32,767 letters"):
        target.write(pl.LazyFrame({"a": ["x" * 40_000]}))
    big = pl.DataFrame({"a": pl.repeat(None, MAX_RECORDS + 1, dtype=pl.String, eager=True)})
    with pytest.raises(TargetError, match="can't hold more than 1,048,575 records"):
        write_excel(tmp_path / "big.xlsx", ["a"], [big])
    assert [path.name for path in tmp_path.iterdir() if path.name != "big.xlsx"] == []
