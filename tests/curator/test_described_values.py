"""A column is read as it is described or refused by name, wherever it lies; its keeper is told what does not fit."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import Engine, create_engine, make_url, text
from tests.servers import mariadb, mariadb_url, postgres, postgres_url
from typer.testing import CliRunner

from shoal.cli.app import app
from shoal.curator.curator import Curator
from shoal.curator.described_values import described_values
from shoal.errors import DataError, SourceError

__all__ = ["mariadb", "mariadb_url", "postgres", "postgres_url"]
pytestmark = pytest.mark.requirement("C-01")

MOMENT = datetime.datetime.fromisoformat("2020-01-31T12:30:05")
NUMBERS, WORDS, TRUTHS, DAYS, MOMENTS, TIMES = "numbers", "words", "truths", "days", "moments", "times"
HELD: dict[str, object] = {
    NUMBERS: 1.0,
    WORDS: "much",
    TRUTHS: True,
    DAYS: MOMENT.date(),
    MOMENTS: MOMENT,
    TIMES: MOMENT.time(),
}
DESCRIBED: dict[str, dict[str, Any]] = {
    "integer": {"type": "integer", "bounds": [0, 9]},
    "number": {"type": "number", "bounds": [0, 9]},
    "category": {"type": "category", "categories": ["1", "much", "true", "2020-01-31"]},
    "boolean": {"type": "boolean"},
    "date": {"type": "date", "bounds": ["2020-01-31", "2030-01-01"]},
}
READ = {
    ("integer", NUMBERS),
    ("number", NUMBERS),
    ("category", NUMBERS),
    ("category", WORDS),
    ("category", TRUTHS),
    ("category", DAYS),
    ("boolean", NUMBERS),
    ("boolean", TRUTHS),
    ("date", DAYS),
    ("date", MOMENTS),
}
"""What is described so can be read of what is held so."""
ROWS = 4


def in_csv(value: object, place: Path) -> object:
    frame(value).write_csv(place)
    return {"path": str(place), "format": "csv"}


def in_parquet(value: object, place: Path) -> object:
    frame(value).write_parquet(place)
    return {"path": str(place), "format": "parquet"}


def in_excel(value: object, place: Path) -> object:
    path = place.with_suffix(".xlsx")
    frame(value).write_excel(path)
    return str(path)


def in_sqlite(value: object, place: Path) -> object:
    connection = sqlite3.connect(place)
    connection.execute("CREATE TABLE people (who, v)")
    plain = str(value) if isinstance(value, datetime.date | datetime.time) else value
    connection.executemany("INSERT INTO people VALUES (?, ?)", [(f"p{row}", plain) for row in range(ROWS)])
    connection.commit()
    connection.close()
    return {"url": f"sqlite:///{place}", "table": "people"}


def frame(value: object) -> pl.DataFrame:
    return pl.DataFrame({"who": [f"p{row}" for row in range(ROWS)], "v": [value] * ROWS})


def dataset(source: object, column: dict[str, Any], folder: Path) -> dict[str, Any]:
    return {
        "shoal": 1,
        "name": "people",
        "source": source,
        "person": "who",
        "rows_per_person": 1,
        "columns": {"v": column},
        "budget": {"epsilon": 1},
        "ledger": str(folder / "people.budget"),
    }


def counted(given: dict[str, Any]) -> int:
    """Rows that have a value, exactly."""
    curator = Curator(given)
    plan = curator.planned("SELECT COUNT(v) FROM t", "1")
    sources = curator.opened(*plan.plans)
    (table,) = curator.tabulated(plan, [curator.described_frames(one, sources) for one in plan.plans], sources)
    return int(table.figures[0][0])


@pytest.mark.parametrize("kind", DESCRIBED)
@pytest.mark.parametrize("write", [in_csv, in_parquet, in_excel, in_sqlite])
def test_values_of_every_type_are_read_or_counted_as_unlike(
    write: Callable[[object, Path], object], kind: str, tmp_path: Path
) -> None:
    for held, value in HELD.items():
        if write is in_csv and (kind, held) in {("category", NUMBERS), ("boolean", NUMBERS)}:
            value = 1  # noqa: PLW2901  # in a text, 1.0 is other letters than 1
        if write is in_sqlite and held == TRUTHS and kind in ("integer", "number", "category"):
            continue  # a truth is the number 1 there
        given = dataset(write(value, tmp_path / f"{held}.data"), DESCRIBED[kind], tmp_path)
        readable = (kind, held) in READ
        try:
            there = counted(given)
            (fit,) = described_values(given)
        except DataError as refused:
            assert not readable, held
            assert str(refused) == f"the column 'v' is described as {kind}, and the data has {held}"
            continue
        assert there == (ROWS if readable else 0), held
        assert fit.columns[0].unlike == ROWS - there, held


MOMENTS_AS_TEXT = (
    "2020-01-31T12:30:05",
    "2020-01-31 12:30",
    "2020-01-31 12:30:05.123456+02:00",
    "2020-01-31T23:59:59Z",
    " 2020-01-31 ",
    " 2020-01-31 00:00:00",
)
NO_MOMENTS = (
    "2020-01-31 BC",
    "2020-01-31 12:30 BC",
    "2020-01-31x",
    "2020-02-31T12:30",
    "31.01.2020",
    "2020-01-31 noon",
)


@pytest.mark.parametrize("write", [in_csv, in_parquet, in_excel, in_sqlite])
def test_a_moment_in_a_text_is_its_day(write: Callable[[object, Path], object], tmp_path: Path) -> None:
    day = {"type": "date", "bounds": ["2020-01-31", "2020-01-31"]}
    for place, value in enumerate((*MOMENTS_AS_TEXT, *NO_MOMENTS)):
        given = dataset(write(value, tmp_path / f"{place}.data"), day, tmp_path)
        (fit,) = described_values(given)
        wanted = ROWS if value in MOMENTS_AS_TEXT else 0
        assert (counted(given), fit.columns[0].unlike, fit.columns[0].beyond) == (wanted, ROWS - wanted, 0), value


def test_a_missing_column_is_named_wherever_the_table_lies(tmp_path: Path) -> None:
    for place, write in enumerate((in_csv, in_parquet, in_excel, in_sqlite)):
        given = dataset(write(1, tmp_path / str(place)), DESCRIBED["integer"], tmp_path)
        given["columns"] = {"gone": DESCRIBED["integer"], "v": DESCRIBED["integer"]}
        assert counted(given) == ROWS
        with pytest.raises(DataError, match="the data has no column 'gone', which is described"):
            Curator(given).query("SELECT COUNT(gone) FROM t", 1)
        with pytest.raises(DataError, match="the data has no column 'gone', which is described"):
            described_values(given)
    assert not (tmp_path / "people.budget").exists()


SERVED = {
    NUMBERS: ("numeric(4, 1)", "1"),
    WORDS: ("varchar(9)", "'much'"),
    TRUTHS: ("boolean", "true"),
    DAYS: ("date", "'2020-01-31'"),
    MOMENTS: ("timestamp", "'2020-01-31 12:30:05'"),
    TIMES: ("time", "'12:30:05'"),
}


@pytest.fixture(params=[pytest.param(one, marks=pytest.mark.server) for one in ("postgres_url", "mariadb_url")])
def server(request: pytest.FixtureRequest) -> Iterator[Engine]:
    url = make_url(request.getfixturevalue(request.param))
    driver = "postgresql+psycopg" if url.drivername.startswith("postgresql") else "mysql+pymysql"
    engine = create_engine(url.set(drivername=driver))
    yield engine
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE IF EXISTS fitting")
    engine.dispose()


def test_a_server_reads_or_refuses_by_name(server: Engine, tmp_path: Path) -> None:
    kind = server.dialect.name.replace("mariadb", "mysql")
    url = server.url.set(drivername=kind).render_as_string(hide_password=False)
    for held, (declared, value) in SERVED.items():
        if kind == "mysql" and held == TRUTHS:
            continue  # a truth is a number there
        with server.begin() as connection:
            connection.execute(text("DROP TABLE IF EXISTS fitting"))
            connection.execute(text(f"CREATE TABLE fitting (who varchar(9), v {declared}, other {declared})"))
            connection.execute(text(f"INSERT INTO fitting VALUES ('a', {value}, {value})"))  # noqa: S608
        for described, column in DESCRIBED.items():
            if held == NUMBERS and described in ("category", "boolean"):
                continue  # 1.0, as the server shows it
            given = dataset({"url": url, "table": "fitting"}, column, tmp_path)
            given["columns"]["gone"] = column
            if held == WORDS and described != "category":
                assert counted(given) == 0
                continue
            if (described, held) in READ:
                assert counted(given) == 1, (held, described)
                with pytest.raises(DataError, match="no column 'gone'"):
                    Curator(given).query("SELECT COUNT(gone) FROM t", 1)
            elif described != "category":
                with pytest.raises(DataError, match=f"the column 'v' is described as {described}, and the data has"):
                    counted(given)
    with pytest.raises(SourceError, match="there is no table 'fittin'; did you mean 'fitting'"):
        counted(dataset({"url": url, "table": "fittin"}, DESCRIBED["integer"], tmp_path))


def test_the_keeper_is_told_what_does_not_fit(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("who,v\na,5\na,500\nb,much\n,7\nc,\n")
    given = dataset("people.csv", DESCRIBED["integer"], tmp_path)
    (tmp_path / "people.yaml").write_text(str(given).replace("'", '"'))
    done = CliRunner().invoke(app, ["dp", "check", str(tmp_path / "people.yaml"), "--data"])
    assert done.exit_code == 0, done.output
    assert ["v", "4", "1", "1"] in [line.split() for line in done.stdout.splitlines()]
    assert "more rows than are used: 1" in done.stdout
    assert "name nobody, and count for nothing: 1" in done.stdout
    assert not (tmp_path / "people.budget").exists()
