"""Files made to harm: every command ends with one line and exit code 2, and no process grows beyond its limit."""

from __future__ import annotations

import resource
import sqlite3
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.hostile import seeds
from tests.hostile.calls import Done, called
from tests.hostile.files import DOCUMENTS, TABLES, without_sheets

from shoal import documents
from shoal.cli import app
from shoal.errors import DataError, SourceError, printable
from shoal.hierarchy.kinds.csv_file import CsvHierarchy
from shoal.io import explained, open_source, parse_source
from shoal.io.json_files import read_json
from shoal.policy import Policy
from shoal.release import anonymise

pytestmark = pytest.mark.requirement("V-05", "D-01")
POLICY = """\
shoal: 1
name: anything
attributes: {"*": suppress}
"""
MOST_MB = 2048


@pytest.fixture(autouse=True)
def little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_READER_SECONDS", "3")


@pytest.mark.parametrize("name", TABLES)
def test_a_hostile_table_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(TABLES[name]())
    with pytest.raises(SourceError) as raised:
        source = open_source(parse_source({"path": str(path)}))
        with explained(source):
            source.scan().collect(engine="streaming")
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)
    assert "Asha" not in str(raised.value)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_hostile_document_is_refused_or_harmless(tmp_path: Path, name: str) -> None:
    path, target = tmp_path / name, tmp_path / f"new-{name}"
    path.write_bytes(DOCUMENTS[name]())
    carrier = documents.open(path, documents.DocumentOptions(unreadable="cover", dots=40))
    try:
        for _ in carrier.texts(path):
            pass
        carrier.rewrite(path, target, str)
    except SourceError as error:
        assert "\n" not in str(error)
        assert [one.name for one in tmp_path.iterdir()] == [name]
    largest = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    assert largest >> 10 < MOST_MB


@pytest.mark.parametrize(
    ("view", "said"),
    [
        ("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n WHERE x < 0", "too long"),
        ("SELECT hex(zeroblob(60000000)) AS x", "more than 64 MB"),
    ],
)
def test_a_view_that_never_ends_or_makes_a_huge_value_is_refused(tmp_path: Path, view: str, said: str) -> None:
    with sqlite3.connect(tmp_path / "a.db") as there:
        there.execute(f"CREATE VIEW v AS {view}")
    there.close()
    with pytest.raises(SourceError, match=said):
        open_source(parse_source({"url": f"sqlite:///{tmp_path}/a.db", "table": "v"})).scan()


def test_a_sqlite_file_whose_schema_is_no_text_is_refused(tmp_path: Path) -> None:
    (seed,) = seeds.TABLES["sqlite"]
    (tmp_path / "a.db").write_bytes(
        seed().replace(b"CREATE INDEX i ON t (name)", b"CREATE INDEX i ON t (\xa8\xff\xff\xff)")
    )
    with pytest.raises(SourceError, match=r"a\.db#t: "):
        open_source(parse_source({"url": f"sqlite:///{tmp_path}/a.db", "table": "t"})).scan()


def test_a_workbook_without_a_sheet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(without_sheets())
    with pytest.raises(SourceError, match=r"a\.xlsx: "):
        open_source(parse_source({"path": str(path)}))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("hostile")
    (made / "policy.yaml").write_text(POLICY)
    for name in ("damaged.parquet", "far.xlsx", "deep.json", "star.csv"):
        (made / name).write_bytes(TABLES[name]())
    (made / "deep.docx").write_bytes(DOCUMENTS["deep.docx"]())
    (made / "good.csv").write_text("age\n1\n2\n")
    pl.DataFrame({"age": [1, 2]}).write_parquet(made / "good.parquet")
    bad = made / "release"
    bad.mkdir()
    (bad / "release.json").write_text("[" * 100_000)
    return made


GOOD = ("measure", "good.parquet", "--qi", "age")
COMMANDS = (
    ("profile", "damaged.parquet"),
    ("suggest", "damaged.parquet", "-o", "new.yaml"),
    ("check", "policy.yaml", "--input", "damaged.parquet"),
    ("run", "policy.yaml", "--input", "damaged.parquet", "--output", "out"),
    ("measure", "damaged.parquet", "--qi", "age"),
    ("attack", "good.csv", "--original", "damaged.parquet", "--qi", "age"),
    ("normalise", "damaged.parquet", "--person", "age", "-o", "new.csv"),
    ("profile", "far.xlsx"),
    ("run", "policy.yaml", "--input", "far.xlsx", "--output", "out"),
    ("profile", "deep.json"),
    ("run", "policy.yaml", "--input", "star.csv", "--output", "out"),
    ("scrub", "deep.docx", "-o", "new.docx"),
    ("measure", "release", "--qi", "age"),
    ("shares", "sum", "damaged.parquet"),
    ("shares", "sum", "deep.json"),
    ("check", "alias.yaml"),
    ("check", "deep.yaml"),
)


@pytest.fixture(scope="module")
def done(folder: Path) -> dict[tuple[str, ...], Done]:
    lists = "\n".join(f"a{one}: &a{one} [{', '.join([f'*a{one - 1}'] * 9)}]" for one in range(1, 10))
    (folder / "alias.yaml").write_text(f"shoal: 1\na0: &a0 [x]\n{lists}\n")
    (folder / "deep.yaml").write_text("shoal: 1\nname: " + "[" * 100_000 + "\n")
    return dict(zip(COMMANDS, called(COMMANDS, folder), strict=True))


def test_the_same_process_reads_a_file_that_is_whole(folder: Path) -> None:
    """Else all the others might be refused for another reason."""
    (found,) = called([GOOD], folder)
    assert found.code == 0, found.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_says_one_line_and_ends_with_two(done: dict[tuple[str, ...], Done], command: tuple[str, ...]) -> None:
    found = done[command]
    assert found.code == 2, found.stderr
    assert len(found.stderr.splitlines()) == 1
    assert "Traceback" not in found.stderr


def test_a_scan_names_the_files_that_it_could_not_read(folder: Path) -> None:
    (found,) = called([("scan", str(folder), "--json")], folder)
    assert found.code in (0, 2)
    assert "damaged.parquet" in found.stdout
    assert "far.xlsx" in found.stdout


def test_nothing_is_left_by_commands_that_were_refused(folder: Path, done: dict[tuple[str, ...], Done]) -> None:
    assert done
    assert not {"new.yaml", "new.csv", "new.docx", "out"} & {one.name for one in folder.iterdir()}
    assert not [one.name for one in folder.iterdir() if one.name.startswith(".")]


class PanicException(BaseException):
    """As each library that is written in Rust has one."""


def test_a_library_that_breaks_down_in_this_process_is_one_line_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(**_: object) -> None:
        raise PanicException("Asha")

    monkeypatch.setattr(app, "app", breaks)
    monkeypatch.setattr(sys, "argv", ["shoal", "profile"])
    with pytest.raises(SystemExit) as ended:
        app.main()
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert len(said.splitlines()) == 1
    assert "Asha" not in said


def test_a_panic_in_a_pass_over_a_source_is_an_error_of_the_data(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n2\n")
    source = open_source(parse_source({"path": str(tmp_path / "a.csv")}))
    with pytest.raises(DataError, match="broke down") as raised, explained(source):
        raise PanicException("Asha")
    assert "Asha" not in str(raised.value)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_interrupt_is_no_panic(tmp_path: Path, error: type[BaseException]) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n2\n")
    source = open_source(parse_source({"path": str(tmp_path / "a.csv")}))
    with pytest.raises(error), explained(source):
        raise error


def test_a_frame_with_a_column_named_like_all_of_them_is_refused() -> None:
    policy = Policy.from_text(POLICY)
    for name in ("*", "^.*$"):
        with pytest.raises(DataError, match="stands for several columns"):
            anonymise(pl.DataFrame({name: ["Asha"] * 9, "age": range(9)}), policy)


def test_a_hierarchy_that_is_no_file_or_never_ends_is_refused() -> None:
    with pytest.raises(SourceError, match="is not a file"):
        CsvHierarchy(path=Path("/dev/zero")).load()


UNSEEN = {"return": "a\rb", "next line": "a\x85b", "escape": "a\x1b[2Jb", "separator": "a\u2028b", "bidi": "a\u202eb"}


@pytest.mark.parametrize("name", UNSEEN.values(), ids=UNSEEN)
def test_a_column_whose_name_moves_the_cursor_is_shown_as_what_it_is(folder: Path, name: str) -> None:
    pl.DataFrame({name: [1, 2], "age": [3, 4]}).write_csv(folder / "named.csv", line_terminator="\n")
    refused, shown = called([("measure", "named.csv", "--qi", "ab"), ("profile", "named.csv")], folder)
    assert refused.code == 2
    assert shown.code == 0
    assert len(refused.stderr.splitlines()) == 1
    assert name not in refused.stderr + shown.stdout
    assert "".join(printable(name).split()) in "".join(shown.stdout.split())


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "1e999", "-1e999"])
def test_a_manifest_with_a_number_that_is_none_is_refused(tmp_path: Path, number: str) -> None:
    path = tmp_path / "release.json"
    path.write_text(f'{{"records": {{"kept": {number}}}}}')
    with pytest.raises(ValueError, match="a number that is none"):
        read_json(path)
    path.write_text('{"records": {"kept": 1e30}}')
    assert read_json(path) == {"records": {"kept": 1e30}}
