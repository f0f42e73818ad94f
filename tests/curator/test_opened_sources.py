"""However a table is written: one record changes its own figures, and never how the others are read."""

from __future__ import annotations

import datetime
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import Engine, create_engine, make_url
from tests.servers import mariadb, mariadb_url, postgres, postgres_url

from shoal.curator.curator import Curator
from shoal.errors import DataError, SourceError

__all__ = ["mariadb", "mariadb_url", "postgres", "postgres_url"]
pytestmark = pytest.mark.requirement("C-01")

Record = Mapping[str, Any]
COLUMNS = ("who", "code", "flag", "pay", "born")
OTHERS: list[Record] = [
    {"who": 2**53 + place, "code": 1 + place % 2, "flag": place % 2, "pay": "1.000,5", "born": "2000-01-01"}
    for place in range(20)
]
USUAL = {"who": 1, "code": 1, "flag": 1, "pay": "7", "born": "2000-01-01"}
ODD: dict[str, Record] = {
    "a name among numbers": {**USUAL, "who": "Mary Major"},
    "a broken number among names": {**USUAL, "who": 99.5},
    "a broken code": {**USUAL, "code": 1.5},
    "a word for a code": {**USUAL, "code": "x"},
    "half a truth": {**USUAL, "flag": 0.5},
    "a word for a truth": {**USUAL, "flag": "yes"},
    "a word for a number": {**USUAL, "pay": "much"},
    "a number for a day": {**USUAL, "born": 5},
    "a moment for a day": {**USUAL, "born": datetime.datetime.fromisoformat("2000-01-01T12:30")},
    "nothing": {"who": 1},
}
QUESTIONS = {
    "SELECT code, COUNT(*) FROM t GROUP BY code": 1,
    "SELECT COUNT(*) FROM t WHERE flag": 1,
    "SELECT SUM(pay) FROM t": 2000,
    "SELECT COUNT(born) FROM t WHERE born = DATE '2000-01-01'": 1,
    "SELECT COUNT(DISTINCT who) FROM t": 1,
}
"""With what one person may change, in the unit of the figure."""


def as_csv(records: Sequence[Record], place: Path) -> object:
    rows = (";".join(str(record.get(name) or "") for name in COLUMNS) for record in records)
    place.write_text("\n".join([";".join(COLUMNS), *rows, ""]))
    return {"path": str(place), "separator": ";", "decimal": ","}


def as_excel(records: Sequence[Record], place: Path) -> object:
    from xlsxwriter import Workbook

    path = place.with_suffix(".xlsx")
    with Workbook(path, {"default_date_format": "yyyy-mm-dd hh:mm:ss"}) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, COLUMNS)
        for row, record in enumerate(records, 1):
            for column, name in enumerate(COLUMNS):
                value = record.get(name)
                if name == "born" and isinstance(value, str):
                    value = datetime.datetime.fromisoformat(value)
                if value is not None:
                    sheet.write(row, column, str(value) if name == "who" else value)
    return {"path": str(path), "decimal": ","}


def as_sqlite(records: Sequence[Record], place: Path) -> object:
    path = place.with_suffix(".db")
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE people (who, code, flag BOOLEAN, pay, born DATE)")
    told = [
        [str(value) if isinstance(value := record.get(name), datetime.datetime) else value for name in COLUMNS]
        for record in records
    ]
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, REPLACE(REPLACE(?, '.', ''), ',', '.'), ?)", told)
    connection.commit()
    connection.close()
    return {"url": f"sqlite:///{path}", "table": "people"}


def as_parquet(records: Sequence[Record], place: Path) -> object:
    told = {name: [None if record.get(name) is None else str(record[name]) for record in records] for name in COLUMNS}
    told["pay"] = [pay and pay.replace(".", "").replace(",", ".") for pay in told["pay"]]
    path = place.with_suffix(".parquet")
    pl.DataFrame(told, schema=dict.fromkeys(COLUMNS, pl.String())).write_parquet(path)
    return str(path)


def described(source: object, folder: Path) -> dict[str, Any]:
    return {
        "shoal": 1,
        "name": "people",
        "source": source,
        "person": "who",
        "rows_per_person": 1,
        "columns": {
            "code": {"type": "category", "categories": [1, 2]},
            "flag": {"type": "boolean"},
            "pay": {"type": "integer", "bounds": [0, 2000]},
            "born": {"type": "date", "bounds": ["1900-01-01", "2026-01-01"]},
        },
        "budget": {"epsilon": 1},
        "ledger": str(folder / "people.budget"),
    }


def exact(description: object, questions: Iterable[str]) -> list[list[int]]:
    """The figures of each question before noise."""
    curator, found = Curator(description), []
    for sql in questions:
        plan = curator.planned(sql, "1")
        sources = curator.opened(*plan.plans)
        (table,) = curator.tabulated(plan, [curator.described_frames(one, sources) for one in plan.plans], sources)
        found.append(list(table.figures[0]))
    return found


@pytest.mark.parametrize("write", [as_csv, as_excel, as_sqlite, as_parquet])
def test_one_record_changes_nothing_but_its_own_figures(
    write: Callable[[Sequence[Record], Path], object], tmp_path: Path
) -> None:
    without = exact(described(write(OTHERS, tmp_path / "without"), tmp_path), QUESTIONS)
    assert without == [[10, 10], [10], [20 * 1000], [20], [20]]
    for number, (name, record) in enumerate(ODD.items()):
        having = exact(described(write([*OTHERS, record], tmp_path / f"with{number}"), tmp_path), QUESTIONS)
        for one, other, most in zip(without, having, QUESTIONS.values(), strict=True):
            assert sum(abs(a - b) for a, b in zip(one, other, strict=True)) <= most, name


def as_typed(records: Sequence[Record], place: Path, write: Callable[[pl.DataFrame, Path], object]) -> str:
    """Days and moments as numbers, of which a file can hold any."""
    frame = pl.DataFrame(
        {
            "who": [str(record["who"]) for record in records],
            "born": pl.Series([record.get("born", 0) for record in records], dtype=pl.Int32).cast(pl.Date),
            "seen": pl.Series([record.get("seen", 0) for record in records], dtype=pl.Int64).cast(pl.Datetime("us")),
        }
    )
    write(frame, place)
    return str(place)


DATED = (
    "SELECT COUNT(*) FROM t",
    "SELECT COUNT(*) FROM t WHERE YEAR(born) = 1970",
    "SELECT seen, COUNT(DISTINCT who) FROM t GROUP BY seen",
    "SELECT DATE_TRUNC('month', born) AS m, COUNT(*) FROM t WHERE born = '1970-01-01' GROUP BY m",
)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "parts"])
@pytest.mark.parametrize("odd", [{"born": 2**31 - 1}, {"born": -(2**31)}, {"seen": 2**63 - 1}, {"seen": -(2**63)}])
def test_a_date_that_is_none_is_no_error(ending: str, odd: Record, tmp_path: Path) -> None:
    """An error would say that such a record is there."""

    def write(frame: pl.DataFrame, place: Path) -> None:
        if ending == "arrow":
            frame.write_ipc(place)
            return
        if ending == "parts":
            place.mkdir()
            place = place / "part-0.parquet"
        frame.write_parquet(place)

    columns = {
        "born": {"type": "date", "bounds": ["1900-01-01", "2026-01-01"]},
        "seen": {"type": "category", "categories": ["1970-01-01 00:00:00.000000"]},
    }
    found = []
    for number, more in enumerate(([], [{"who": "mary", **odd}])):
        source = as_typed([{"who": place} for place in range(20)] + more, tmp_path / f"{number}.{ending}", write)
        found.append([sum(one) for one in exact({**described(source, tmp_path), "columns": columns}, DATED)])
    assert found[0] == [20] * len(DATED)
    assert all(20 <= one <= 21 for one in found[1])


@pytest.mark.parametrize("type_", ["category", "boolean"])
def test_a_span_of_time_is_refused_before_anything_is_paid(type_: str, tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pl.DataFrame({"who": ["a"], "stay": [datetime.timedelta(days=1)]}).write_parquet(path)
    curator = Curator({**described(str(path), tmp_path), "columns": {"stay": {"type": type_}}})
    with pytest.raises(DataError, match="the column 'stay' is described as"):
        curator.query("SELECT COUNT(*) FROM t WHERE stay IS NULL", 1)
    assert curator.left() == 1


SERVED: dict[str, Sequence[tuple[str, str]]] = {
    "postgresql": (
        ("a broken code", "(1, 1.5, true, 1000, '2000-01-01', '2000-01-01 12:30')"),
        ("a broken name", "(99.5, 1, true, 1000, '2000-01-01', '2000-01-01 12:30')"),
        ("no number", "(1, 'NaN', true, 'NaN', '2000-01-01', '2000-01-01 12:30')"),
        ("beyond all dates", "(1, 1, true, 1e50, 'infinity', '-infinity')"),
        ("before all dates", "(1, 1, true, 0, '4713-01-01 BC', '4713-01-01 BC')"),
        ("nothing", "(1, NULL, NULL, NULL, NULL, NULL)"),
    ),
    "mysql": (
        ("a broken code", "(1, 1.5, true, 1000, '2000-01-01', '2000-01-01 12:30')"),
        ("a third truth", "(1, 1, 2, 1000, '2000-01-01', '2000-01-01 12:30')"),
        ("dates that are none", "(1, 1, true, 1000, '0000-00-00', '2000-00-31 12:30')"),
        ("nothing", "(1, NULL, NULL, NULL, NULL, NULL)"),
    ),
}
"""By the server: one record more, as it is written there."""
NUMBERS = {"postgresql": "numeric", "mysql": "decimal(38, 4)"}
ON_SERVERS = {
    "SELECT code, COUNT(*) FROM t GROUP BY code": 1,
    "SELECT flag, COUNT(*) FROM t GROUP BY flag": 1,
    "SELECT COUNT(*) FROM t WHERE truth": 1,
    "SELECT SUM(pay) FROM t": 2000,
    "SELECT COUNT(*) FROM t WHERE born = DATE '2000-01-01' AND seen = DATE '2000-01-01'": 1,
    "SELECT COUNT(DISTINCT who) FROM t": 1,
}


@pytest.fixture(params=[pytest.param(one, marks=pytest.mark.server) for one in SERVED])
def server(request: pytest.FixtureRequest) -> Iterator[Engine]:
    scheme = {"postgresql": ("postgres_url", "postgresql+psycopg"), "mysql": ("mariadb_url", "mysql+pymysql")}
    fixture, driver = scheme[request.param]
    engine = create_engine(make_url(request.getfixturevalue(fixture)).set(drivername=driver))
    yield engine
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE IF EXISTS odd_people")
    engine.dispose()


def test_one_record_on_a_server_changes_nothing_but_its_own_figures(server: Engine, tmp_path: Path) -> None:
    kind = server.dialect.name.replace("mariadb", "mysql")
    whole, mark = NUMBERS[kind].replace(", 4", ", 0"), "`" if kind == "mysql" else '"'
    moment = "datetime" if kind == "mysql" else "timestamp"
    categories = {"code": [1, 2], "flag": [0, 1] if kind == "mysql" else ["true", "false"]}
    columns = {name: {"type": "category", "categories": known} for name, known in categories.items()}
    columns |= {"pay": {"type": "integer", "bounds": [0, 2000]}, "truth": {"type": "boolean"}}
    columns |= {name: {"type": "date", "bounds": ["1900-01-01", "2026-01-01"]} for name in ("born", "seen")}
    if kind == "mysql":
        categories["code"] = ["1.0000", "2.0000"]
        columns["code"] = {"type": "category", "categories": categories["code"]}
    base = [
        f"({9000 + one}, {1 + one % 2}, {one % 2} = 1, 1000, '2000-01-01', '2000-01-01 12:30')" for one in range(20)
    ]
    found = []
    for rows in (base, *([*base, odd] for _, odd in SERVED[kind])):
        with server.begin() as connection:
            for statement in (
                "SET sql_mode = ''" if kind == "mysql" else "SET datestyle TO 'German'",
                "DROP TABLE IF EXISTS odd_people",
                f"CREATE TABLE odd_people (who {NUMBERS[kind]}, code {NUMBERS[kind]}, flag boolean, pay {whole}, "
                f"born date, seen {moment})",
                f"INSERT INTO odd_people VALUES {', '.join(rows)}",  # noqa: S608
            ):
                connection.exec_driver_sql(statement)
        asked = f"SELECT *, flag AS truth FROM odd_people AS {mark}told{mark}"  # noqa: S608
        source = {"url": server.url.set(drivername=kind).render_as_string(hide_password=False), "query": asked}
        found.append(exact({**described(source, tmp_path), "columns": columns}, ON_SERVERS))
    assert found[0] == [[10, 10], [10, 10], [10], [20 * 1000], [20], [20]]
    for (name, _), having in zip(SERVED[kind], found[1:], strict=True):
        for one, other, most in zip(found[0], having, ON_SERVERS.values(), strict=True):
            assert sum(abs(a - b) for a, b in zip(one, other, strict=True)) <= most, name


def test_json_lines_are_refused_whatever_they_hold(tmp_path: Path) -> None:
    """Their types, and which columns there are, are found by a look at all records."""
    path = tmp_path / "people.jsonl"
    for record in ({**USUAL, "code": 1.5}, {**USUAL, "flag": True}, {"who": [1]}):
        path.write_text("".join(f"{json.dumps(one)}\n" for one in [*OTHERS, record]))
        with pytest.raises(DataError, match="such files name no types") as caught:
            Curator(described(str(path), tmp_path)).query("SELECT COUNT(*) FROM t", 1)
        assert caught.value.exit_code == 2
    assert not (tmp_path / "people.budget").exists()


@pytest.mark.parametrize("odd", [b"x,1,2,3,4\n", b"x\n", b"x\xff,1\n", b'x,"1\n'])
@pytest.mark.parametrize("first", [True, False])
def test_why_a_file_can_not_be_read_is_not_for_who_asks(odd: bytes, first: bool, tmp_path: Path) -> None:
    """Which line it is, and how many of them: somebody's record. The other way round, a file that isn't there is."""
    rows = b"p1,20\n" * 200
    (tmp_path / "people.csv").write_bytes(b"who,age\n" + (odd + rows if first else rows + odd))
    given = {
        "shoal": 1,
        "name": "people",
        "source": str(tmp_path / "people.csv"),
        "ledger": str(tmp_path / "people.budget"),
        "columns": {"age": {"type": "integer", "bounds": [0, 100]}},
        "budget": {"epsilon": 1},
    }
    with pytest.raises(SourceError) as raised:
        Curator(given).query("SELECT COUNT(*), SUM(age) FROM t", 1)
    assert str(raised.value).startswith(f"{tmp_path}/people.csv: can't be read as it is described (")
    (tmp_path / "people.csv").unlink()
    with pytest.raises(SourceError, match="no such file"):
        Curator(given).query("SELECT COUNT(*) FROM t", 1)
