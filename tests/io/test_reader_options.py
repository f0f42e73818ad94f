"""Tables as people make them: titles above, numbers as a country writes them, formulas that nobody computed."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest
import xlsxwriter

from shoal.errors import FieldName, InputError, SourceError
from shoal.io import FileOptions, ReaderOptions, Source, open_source, parse_source
from shoal.io.frames import as_lazy, source_at, sources_at
from shoal.io.reading_notes import found_header_row, reading_notes

pytestmark = pytest.mark.requirement("D-01")

TABLE = "name;ward;age;fee\nAsha;B;34;1.234,56\nÉlise;C;51;7,5\nRavi;B;28;\n"
ROWS = [("Asha", "B", "34", "1.234,56"), ("Élise", "C", "51", "7,5"), ("Ravi", "B", "28", None)]
READ = [("Asha", "B", "34", "1234.56"), ("Élise", "C", "51", "7.5"), ("Ravi", "B", "28", None)]
TITLES = ["Visits 2026\n", "Visits\nmade on;2026-01-02\n\n", '"a title\nof two lines"\n']


def text_file(folder: Path, text: str, encoding: str = "utf-8", name: str = "data.csv") -> str:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return str(path)


def rows(source: Source) -> list[tuple[object, ...]]:
    return source.scan().collect(engine="streaming").rows()


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_titles_above_a_table_are_found(tmp_path: Path, title: str, encoding: str, end: str) -> None:
    path = text_file(tmp_path, (title + TABLE).replace("\n", end), encoding)
    told = {"encoding": "cp1252"} if encoding == "cp1252" else {}
    source = open_source(parse_source({"path": path, **told}))
    assert source.scan().collect_schema().names() == ["name", "ward", "age", "fee"]
    assert rows(source) == ROWS
    assert found_header_row(source) == (title + TABLE).split("name;")[0].count("\n") + 1


@pytest.mark.parametrize(
    "text",
    [
        "name\nAsha,B,x\nRavi,C,y\n",  # nothing tells names from values
        "name,ward\nAsha,34,1\nRavi,28,2\n",  # a name is missing
        "a\n1,2,3\n4,5,6\n",  # no names at all
        "Title\nname,name,age\nAsha,B,3\n",  # names that are not unique
    ],
)
def test_what_may_be_something_else_is_not_taken_for_a_title(tmp_path: Path, text: str) -> None:
    with pytest.raises(SourceError) as refused:
        open_source(parse_source(text_file(tmp_path, text)))
    assert "header_row=3" in str(refused.value)


def test_a_row_of_names_can_be_said(tmp_path: Path) -> None:
    path = text_file(tmp_path, "one,two\nname,ward\nAsha,B\n")
    assert rows(source_at({"path": path, "header_row": 2})) == [("Asha", "B")]
    assert rows(source_at({"path": path, "header_row": 1})) == [("name", "ward"), ("Asha", "B")]


def test_lines_are_counted_from_the_top_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"header's 2 \(line 4\)"):
        source_at({"path": text_file(tmp_path, "Title\na,b\n1,2\n3\n"), "header_row": 2})


def test_numbers_with_a_decimal_comma(tmp_path: Path) -> None:
    path = text_file(tmp_path, TABLE)
    assert rows(source_at({"path": path, "decimal": ","})) == READ
    assert rows(source_at(path)) == ROWS
    assert [note.styled(lambda field: f"<{field.name}>") for note in reading_notes(source_at(path))] == [
        f"{path}: fee: numbers with a decimal comma are read as text, unless you say <decimal>"
    ]


@pytest.mark.parametrize(
    ("decimal", "written", "read"),
    [
        (",", ["1.234.567,89", "-3,5", "12"], ["1234567.89", "-3.5", "12"]),
        (",", ["1 234,5", "1\u202f000"], ["1234.5", "1000"]),
        (",", ["1'234,5", "−7"], ["1234.5", "-7"]),
        (".", ["12,34,567.89", "5"], ["1234567.89", "5"]),
        (",", ["01.02.2026", "03.04.2026"], None),
        (",", ["1,2", "north"], None),
        (",", ["1,2,3", "4,5"], None),
        (",", ["007", "12"], None),
        (".", ["1.5", "2"], None),
    ],
)
def test_a_column_is_numbers_or_stays_as_it_is(
    tmp_path: Path, decimal: str, written: list[str], read: list[str] | None
) -> None:
    path = text_file(tmp_path, "id|value\n" + "".join(f"{n}|{cell}\n" for n, cell in enumerate(written)))
    found = [row[1] for row in rows(source_at({"path": path, "decimal": decimal}))]
    assert found == (written if read is None else read)


def test_parts_agree_on_what_is_a_number(tmp_path: Path) -> None:
    folder = tmp_path / "data.csv"
    folder.mkdir()
    text_file(folder, "id;value\n1;2,5\n", name="part-0.csv")
    text_file(folder, "id;value\n2;north\n", name="part-1.csv")
    assert [row[1] for row in rows(source_at({"path": str(folder), "decimal": ","}))] == ["2,5", "north"]


def workbook(path: Path, cells: list[list[object]]) -> str:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in cells:
        sheet.append(row)
    book.save(path)
    return str(path)


NAMES: list[object] = ["name", "ward", "age"]


@pytest.mark.parametrize(
    ("above", "row"), [([["Visits 2026"]], 2), ([["Visits"], ["on", "2 May"][:1], []], 4), ([[], []], 3)]
)
def test_titles_in_a_workbook(tmp_path: Path, above: list[list[object]], row: int) -> None:
    path = workbook(tmp_path / "book.xlsx", [*above, NAMES, ["Asha", "B", 34], ["Ravi", "C", 28]])
    source = source_at(path)
    assert source.scan().collect_schema().names() == NAMES
    assert rows(source) == [("Asha", "B", "34"), ("Ravi", "C", "28")]
    assert found_header_row(source) == row
    assert rows(source_at({"path": path, "header_row": row})) == rows(source)


def test_a_title_wider_than_the_table(tmp_path: Path) -> None:
    above: list[object] = ["Visits", None, None, None, "2026"]
    source = source_at(workbook(tmp_path / "book.xlsx", [above, NAMES, ["Asha", "B", 34]]), ReaderOptions(header_row=2))
    assert rows(source) == [("Asha", "B", "34")]


def test_a_column_without_a_name_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = workbook(tmp_path / "book.xlsx", [["name", None, "age"], ["Asha", "B", 34]])
    with pytest.raises(SourceError, match=r"1 column\(s\) have no name .*header_row=3"):
        source_at(path)


def test_a_sheet_by_its_number(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for title, word in (("2026", "old"), ("new", "young")):
        sheet = book.create_sheet(title)
        sheet.append(["word"])
        sheet.append([word])
    book.remove(book["Sheet"])
    book.save(tmp_path / "book.xlsx")
    for sheet_name, word in (("1", "old"), ("2", "young"), ("2026", "old")):
        assert rows(source_at({"path": str(tmp_path / "book.xlsx"), "sheet": sheet_name})) == [(word,)]


def test_formulas_that_nobody_computed_are_said(tmp_path: Path) -> None:
    path = workbook(tmp_path / "book.xlsx", [NAMES, ["Asha", "B", 34], ["Ravi", "C", "=C2*2"]])
    with pytest.raises(SourceError, match=r"column.* C of the sheet 'Sheet' hold formulas that were never computed"):
        source_at(path)


@pytest.mark.parametrize(("value", "refused"), [(0, True), (68, False), ("none", False)])
def test_a_computed_formula_is_its_value(tmp_path: Path, value: object, refused: bool) -> None:
    path = tmp_path / "book.xlsx"
    book = xlsxwriter.Workbook(str(path))
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, NAMES)
    sheet.write_row(1, 0, ["Asha", "B"])
    sheet.write_formula(1, 2, "=34*2", None, value)
    book.close()
    if refused:  # a library that can't compute writes 0 and asks the next program to do so
        with pytest.raises(SourceError, match="never computed"):
            source_at(str(path))
    else:
        assert rows(source_at(str(path))) == [("Asha", "B", str(value))]


def test_options_go_to_the_files_that_they_mean_something_for(tmp_path: Path) -> None:
    text = text_file(tmp_path, TABLE, "cp1252")
    as_lazy(source_at({"path": text, "encoding": "cp1252"}).scan()).collect().write_parquet(tmp_path / "b.parquet")
    places = {"before": text, "after": str(tmp_path / "b.parquet")}
    found = sources_at(places, ReaderOptions(encoding="cp1252"))
    assert rows(found["before"]) == rows(found["after"]) == ROWS
    with pytest.raises(InputError, match="can't be said of a file in the format csv parquet") as refused:
        sources_at(places, ReaderOptions(sheet="x"))
    assert refused.value.field == FieldName("sheet")


def test_python_takes_the_same_options(tmp_path: Path) -> None:
    path = text_file(tmp_path, TABLE, "cp1252")
    for given in ({"path": path, "encoding": "cp1252"}, FileOptions(path=path, encoding="cp1252")):
        assert as_lazy(given).collect().rows() == ROWS
