"""CSV and TSV: what is found out, what is read, and everything that can be wrong with a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import SourceError
from shoal.io import explained, file_target, open_source, parse_source
from shoal.io.formats.delimited.reader import DelimitedSource
from shoal.io.formats.delimited.record_shape import BLOCK_BYTES

pytestmark = pytest.mark.requirement("D-01")

PEOPLE = "name,code,note\nAsha,007,\nÉlise,010,x y\n"
ROWS = [("Asha", "007", None), ("Élise", "010", "x y")]


def opened(folder: Path, data: bytes | str, name: str = "data.csv", **options: object) -> DelimitedSource:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    source = open_source(parse_source({"path": str(path), **options}))
    assert isinstance(source, DelimitedSource)
    return source


def rows(source: DelimitedSource) -> list[tuple[str | None, ...]]:
    return source.scan().collect(engine="streaming").rows()


def refusal(folder: Path, data: bytes | str, name: str = "data.csv", **options: object) -> str:
    with pytest.raises(SourceError) as caught:
        opened(folder, data, name, **options)
    said = str(caught.value)
    assert "\n" not in said
    assert str(folder / name) in said
    return said


def test_every_cell_is_text_and_empty_cells_are_missing(tmp_path: Path) -> None:
    source = opened(tmp_path, PEOPLE)
    assert rows(source) == ROWS
    assert set(source.scan().collect_schema().dtypes()) == {pl.String()}
    assert source.rows == 2


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_separators_and_line_ends_are_found(tmp_path: Path, separator: str, line_end: str) -> None:
    source = opened(tmp_path, PEOPLE.replace(",", separator).replace("\n", line_end))
    assert (source.dialect.separator, source.dialect.line_end) == (separator, line_end)
    assert rows(source) == ROWS


@pytest.mark.parametrize("last", ["", "\n", "\n\n", "\r\n\r\n\n"])
def test_empty_lines_at_either_end_are_no_records(tmp_path: Path, last: str) -> None:
    source = opened(tmp_path, "\n\r\n" + PEOPLE.rstrip("\n") + last)
    assert rows(source) == ROWS
    assert source.rows == 2


def test_commas_in_the_text_of_a_semicolon_file_do_not_mislead(tmp_path: Path) -> None:
    source = opened(tmp_path, "id;remark, if any\n1;a, b, c\n2;d\n")
    assert source.columns == ("id", "remark, if any")


def test_a_tsv_is_cut_at_tabs(tmp_path: Path) -> None:
    source = opened(tmp_path, "a,b\tc\n1,2\t3\n", "data.tsv")
    assert source.columns == ("a,b", "c")
    assert source.format == "tsv"


def test_a_single_column_needs_no_separator_and_may_have_gaps(tmp_path: Path) -> None:
    assert rows(opened(tmp_path, "a\n1\n\n3\n")) == [("1",), (None,), ("3",)]


def test_quotes(tmp_path: Path) -> None:
    text = 'a,b\n"x, ""y""\nz",2\n"",\n'
    assert rows(opened(tmp_path, text)) == [('x, "y"\nz', "2"), ("", None)]
    assert rows(opened(tmp_path, "'a','b'\n'x,y',2\n")) == [("x,y", "2")]
    assert rows(opened(tmp_path, 'a,b\n1,5" or 6"\n')) == [("1", '5" or 6"')]
    assert rows(opened(tmp_path, 'a,b\n5" pipe,"\n', quote="")) == [('5" pipe', '"')]


@pytest.mark.parametrize(
    ("encoding", "mark"), [("utf-8-sig", True), ("utf-16", True), ("utf-32", True), ("utf-8", False)]
)
def test_marks_tell_the_encoding(tmp_path: Path, encoding: str, *, mark: bool) -> None:
    source = opened(tmp_path, PEOPLE.encode(encoding))
    assert rows(source) == ROWS
    assert source.dialect.mark is mark


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16-le", "utf-16-be", "cp1250"])
def test_other_encodings_are_declared(tmp_path: Path, encoding: str) -> None:
    source = opened(tmp_path, PEOPLE.encode(encoding), encoding=encoding)
    assert rows(source) == ROWS
    assert source.scan().select("name").filter(pl.col("name") != "Asha").collect().item() == "Élise"
    assert source.scan().head(1).collect().height == 1


@pytest.mark.parametrize(
    ("encoding", "text"), [("shift_jis", "名前,住所\n山田,表示ソ能\n"), ("gb18030", "姓名,地址\n张伟,北京|市\n")]
)
def test_multibyte_encodings_do_not_confuse_the_shape(tmp_path: Path, encoding: str, text: str) -> None:
    assert rows(opened(tmp_path, text.encode(encoding), encoding=encoding)) == [tuple(text.split("\n")[1].split(","))]


def test_a_long_file_in_another_encoding_is_cut_between_records(tmp_path: Path) -> None:
    lines = [f'é{number},"a\nb, {number}"' for number in range(BLOCK_BYTES * 40 // 24)]
    text = "name,note\n" + "\n".join(lines) + "\n\n"
    source = opened(tmp_path, text.encode("cp1252"), encoding="cp1252")
    frame = source.scan().collect(engine="streaming")
    assert frame.height == source.rows == len(lines)
    assert frame["name"].to_list() == [f"é{number}" for number in range(len(lines))]
    assert frame["note"][-1] == f"a\nb, {len(lines) - 1}"


def test_null_values_are_declared_beside_empty_cells(tmp_path: Path) -> None:
    assert rows(opened(tmp_path, "a,b\nNA,-99\n,x\n", null_values=["NA", -99])) == [(None, None), (None, "x")]
    assert rows(opened(tmp_path, "a,b\nNA,é\n".encode("cp1252"), null_values="NA", encoding="cp1252")) == [(None, "é")]


def test_names_with_wildcards_are_names(tmp_path: Path) -> None:
    (tmp_path / "data1.csv").write_text("other\n1\n")
    assert opened(tmp_path, PEOPLE, "data[1]*.csv").columns == ("name", "code", "note")
    assert rows(opened(tmp_path, PEOPLE, "data[1]*.csv")) == ROWS


def test_relative_paths_start_at_the_base(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(PEOPLE)
    source = open_source(parse_source("data.csv"), base=tmp_path)
    assert source.label == "data.csv"
    assert source.scan().collect().height == 2


TEXTS = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=("Cs",)), max_size=8)  # type: ignore[arg-type]
NAMES = st.text(alphabet="abcdefgh ,;\"'\n", min_size=1, max_size=8).filter(str.strip)


@given(
    data=st.lists(NAMES, min_size=2, max_size=4, unique=True).flatmap(
        lambda names: st.lists(st.tuples(*[st.none() | TEXTS.filter(bool) for _ in names]), min_size=1, max_size=8).map(
            lambda records: pl.DataFrame(records, schema=dict.fromkeys(names, pl.String()), orient="row")
        )
    ),
    separator=st.sampled_from([",", ";", "\t", "|"]),
)
@settings(max_examples=80, deadline=None)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, data: pl.DataFrame, separator: str
) -> None:
    path = tmp_path_factory.mktemp("round") / "data.csv"
    data.write_csv(path, separator=separator)
    source = open_source(parse_source({"path": str(path), "separator": separator}))
    copied = file_target(path.with_name("copy.csv"), like=source)
    copied.write(source.scan())
    assert source.scan().collect().equals(data)
    assert copied.scan().collect().equals(data)


def test_missing_file(tmp_path: Path) -> None:
    (tmp_path / "patients.csv").write_text(PEOPLE)
    with pytest.raises(SourceError, match=r"patient\.csv: there is no such file; did you mean 'patients\.csv'\?"):
        open_source(parse_source(str(tmp_path / "patient.csv")))
    with pytest.raises(SourceError, match="there is no such file"):
        open_source(parse_source(str(tmp_path / "patients.csv" / "x.csv")))


def test_folder_pipe_and_nonsense_instead_of_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is a folder, not a file"):
        open_source(parse_source(str(tmp_path)))
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(SourceError, match="not a regular file"):
        open_source(parse_source(str(tmp_path / "pipe.csv")))
    with pytest.raises(SourceError, match="can't be read"):
        open_source(parse_source("a\0b"))
    with pytest.raises(SourceError, match="can't be read"):
        open_source(parse_source("x" * 300 + ".csv"))


@pytest.mark.parametrize("data", ["", "\n\r\n", "   "])
def test_empty_file(tmp_path: Path, data: str) -> None:
    assert "is empty" in refusal(tmp_path, data)


@pytest.mark.parametrize("data", ["a,b\n", "a,b", "a,b\n\n\n", "a\n"])
def test_header_only(tmp_path: Path, data: str) -> None:
    assert "there is a header but no records" in refusal(tmp_path, data)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("a,b,c\n1,2,3\n4,5\n", "1 row(s) have more or fewer cells than the header's 3 (line 3)"),
        ("a,b,c\n1,2,3\n4,5,6,7\n", "1 row(s) have more or fewer cells than the header's 3 (line 3)"),
        ("a,b,c\n1,2,3\n\n4,5,6\n", "1 row(s) have more or fewer cells than the header's 3 (line 3)"),
        ('a,b\n"x\ny",2\n3\n4\n5\n6\n', "4 row(s) have more or fewer cells than the header's 2 (line 4, 5, 6 …)"),
    ],
)
def test_ragged_rows(tmp_path: Path, data: str, said: str) -> None:
    assert said in refusal(tmp_path, data)
    assert said in refusal(tmp_path, data.encode("utf-16"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_ragged_rows_that_cancel_out_are_found_while_reading(tmp_path: Path, encoding: str) -> None:
    source = opened(tmp_path, "a,b,c\n1,2,3,secret\n4,5\n".encode(encoding))
    with pytest.raises(SourceError, match=r"2 row\(s\) have .* \(line 2, 3\)") as caught, explained(source):
        source.scan().collect(engine="streaming")
    assert "secret" not in str(caught.value)


def test_a_quote_that_is_never_closed(tmp_path: Path) -> None:
    said = refusal(tmp_path, 'a,b\n1,"secret\n3,4\n')
    assert "never closed" in said
    assert 'quote=""' in said


def test_a_quote_in_the_wrong_place_shows_no_value(tmp_path: Path) -> None:
    source = opened(tmp_path, 'a,b\n1,"secret"y\n3,4\n')
    with pytest.raises(SourceError, match="a quotation mark stands where none may be") as caught, explained(source):
        source.scan().collect(engine="streaming")
    assert "secret" not in str(caught.value)


def test_wrong_separator(tmp_path: Path) -> None:
    said = refusal(tmp_path, "a;b;c\n1;2;3\n", separator=",")
    assert "with ',' as separator there is one column; ';' gives 3" in said
    assert "a tab" in refusal(tmp_path, "a\tb\n1\t2\n", separator=";")


def test_not_utf8_names_the_likely_encoding(tmp_path: Path) -> None:
    said = refusal(tmp_path, PEOPLE.encode("cp1252"))
    assert "is not text in UTF-8" in said
    assert "encoding=cp1252" in said
    assert "Élise" not in said
    assert "which encoding" in refusal(tmp_path, "имя,город\nИван,Москва\n".encode("cp1251"))
    assert "utf-16-le" in refusal(tmp_path, PEOPLE.encode("utf-16-le"))
    assert "utf-16-be" in refusal(tmp_path, PEOPLE.encode("utf-16-be"))


def test_not_utf8_far_into_the_file(tmp_path: Path) -> None:
    source = opened(tmp_path, b"a,b\n" + b"x,y\n" * 300_000 + "Zoé,y\n".encode("latin-1"))
    with pytest.raises(SourceError, match=r"not text in UTF-8 throughout .*encoding") as caught, explained(source):
        source.scan().collect(engine="streaming")
    assert "Zo" not in str(caught.value)


def test_declared_encoding_that_does_not_fit(tmp_path: Path) -> None:
    assert "is not text in the declared encoding utf-8" in refusal(tmp_path, PEOPLE.encode("cp1252"), encoding="utf-8")
    late = b"a,b\n" + b"x,y\n" * 300_000 + b"\x81,y\n"
    assert "is not text in cp1252 throughout" in refusal(tmp_path, late, encoding="cp1252")


def test_names_of_columns(tmp_path: Path) -> None:
    assert "1 column(s) have a name that another has (column 3)" in refusal(tmp_path, "a,b,a\n1,2,3\n")
    assert "2 column(s) have no name" in refusal(tmp_path, "a,, \n1,2,3\n")
    assert "reserved" in refusal(tmp_path, "a,__shoal_row__\n1,2\n")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"a,b\n1,\x00\n", "holds binary data"),
        (bytes(range(1, 256)) * 40, "is not text in UTF-8"),
        (b"PK\x03\x04rest", "an Excel workbook"),
        (b"PAR1\x15\x04", "a Parquet file (say format=parquet)"),
        (b"\x1f\x8b\x08\0", "compressed"),
        (b"SQLite format 3\0", "a SQLite database"),
        (b"%PDF-1.7", "a PDF document"),
    ],
)
def test_binary_garbage(tmp_path: Path, data: bytes, said: str) -> None:
    assert said in refusal(tmp_path, data)


def test_options_that_mean_nothing_for_a_csv(tmp_path: Path) -> None:
    assert "sheet can't be said of a file in the format csv" in refusal(tmp_path, PEOPLE, sheet="one")


def test_a_file_that_changes_between_two_passes(tmp_path: Path) -> None:
    source = opened(tmp_path, PEOPLE)
    assert source.scan().collect().equals(source.scan().collect())
    (tmp_path / "data.csv").write_text(PEOPLE + "Zoe,1,2\n")
    with pytest.raises(SourceError, match="was changed while it was being read"):
        source.scan()
    (tmp_path / "data.csv").unlink()
    with pytest.raises(SourceError, match="was changed"):
        source.scan()


def test_no_right_to_read(open_folder: Path, unprivileged: Callable[[str], str]) -> None:
    path = open_folder / "data.csv"
    path.write_text(PEOPLE)
    code = f"open_source(parse_source({str(path)!r}))"
    assert unprivileged(code) == "done"
    path.chmod(0)
    assert unprivileged(code) == f"SourceError: {path}: there is no right to read it"
