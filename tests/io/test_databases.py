"""SQLite, PostgreSQL and MariaDB, all real: the same tests for each, then what only one of them has."""

from __future__ import annotations

import datetime
import sqlite3
import traceback
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import adbc_driver_postgresql.dbapi as adbc
import polars as pl
import pymysql
import pytest
from sqlalchemy.engine import make_url

from shoal.errors import DataError, SourceError, TargetError
from shoal.io import open_source, open_target, parse_source, parse_target
from shoal.io.databases.base import BATCH_ROWS
from shoal.kernels.batch_streams import streamed

pytestmark = pytest.mark.requirement("D-01")

moment = datetime.datetime.fromisoformat
FRAME = pl.DataFrame(
    {
        "id": [3, 1, 2],
        "small number": pl.Series([7, None, -7], dtype=pl.Int16),
        "share": [0.1, None, -2.5e300],
        "name": ['Ünï "q" `b` %s :x \\ 100%', None, ""],
        "well": [True, None, False],
        "seen": [datetime.date(2024, 2, 29), None, datetime.date(1850, 1, 1)],
        "at": [moment("2024-02-29T12:30:15.000005"), None, moment("9999-12-31T23:59:59")],
        "price": pl.Series(["1.50", None, "-200.25"]).cast(pl.Decimal(12, 2)),
    }
)


class Server:
    """A database of one kind, and a way around Shoal to put things in and look at them."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.kind = url.partition(":")[0]

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        connection = self._connect()
        try:
            for statement in statements:
                cursor = connection.cursor()
                cursor.execute(statement)
                if statement.lstrip().upper().startswith(("SELECT", "SHOW")):
                    rows = [tuple(row) for row in cursor.fetchall()]
                cursor.close()
            connection.commit()
        finally:
            connection.close()
        return rows

    def _connect(self) -> Any:
        url = make_url(self.url)
        if self.kind == "sqlite":
            return sqlite3.connect(str(url.database))
        if self.kind == "postgresql":
            return adbc.connect(self.url)
        return pymysql.connect(
            host=url.host, port=url.port or 0, user=url.username, password=url.password or "", database=url.database
        )

    def tables(self) -> set[str]:
        names = {
            "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table'",
            "postgresql": "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'",
            "mariadb": "SHOW TABLES",
        }
        return {row[0] for row in self.run(names[self.kind])}

    def read(self, **what: str) -> pl.DataFrame:
        return open_source(parse_source({"url": self.url, **what})).scan().collect(engine="streaming")

    def write(self, frame: pl.DataFrame | pl.LazyFrame, table: str, if_exists: str = "fail", **more: str) -> None:
        target = open_target(parse_target({"url": self.url, "table": table, "if_exists": if_exists, **more}))
        target.write(frame.lazy())


def _emptied(server: Server) -> Server:
    quote = "`" if server.kind == "mariadb" else '"'
    for table in server.tables():
        server.run(f"DROP TABLE {quote}{table.replace(quote, quote * 2)}{quote}")
    return server


@pytest.fixture
def sqlite(tmp_path: Path) -> Server:
    sqlite3.connect(tmp_path / "clinic.db").close()
    return Server(f"sqlite:///{tmp_path}/clinic.db")


@pytest.fixture
def postgresql(postgres_url: str) -> Server:
    return _emptied(Server(postgres_url))


@pytest.fixture
def maria(mariadb_url: str) -> Server:
    return _emptied(Server(mariadb_url))


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("postgresql", marks=pytest.mark.server),
        pytest.param("maria", marks=pytest.mark.server),
    ]
)
def server(request: pytest.FixtureRequest) -> Server:
    found: Server = request.getfixturevalue(request.param)
    return found


def said(attempt: Callable[[], object], error: type[Exception] = SourceError) -> str:
    """The message, after a look that nothing else of the error says more."""
    with pytest.raises(error) as caught:
        attempt()
    shown = "".join(traceback.format_exception(caught.value))
    assert "secret" not in shown
    assert "DatabaseError" not in shown
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ——— the same for all


def test_what_is_written_is_read_back(server: Server) -> None:
    for name in ("people", 'we"ird `t`% :x', "Table", "select"):
        server.write(FRAME, name)
        back = server.read(table=name)
        expected = FRAME if server.kind != "sqlite" else FRAME.with_columns(pl.col("price").cast(pl.String))
        assert back.rows() == expected.rows()
        assert back.columns == FRAME.columns
        for column in ("well", "seen", "at", "name", "share"):
            assert back.schema[column] == FRAME.schema[column]


def test_types_that_databases_do_not_have(server: Server) -> None:
    zoned = moment("2024-01-02T03:04:05+05:30")
    frame = pl.DataFrame(
        {
            "big": pl.Series([2**64 - 1, None], dtype=pl.UInt64),
            "byte": pl.Series([255, None], dtype=pl.UInt8),
            "hour": [datetime.time(9, 5), None],
            "kind": pl.Series(["a", None], dtype=pl.Categorical),
            "zoned": pl.Series([zoned, None], dtype=pl.Datetime("ms", "Asia/Kolkata")),
            "none": pl.Series([None, None], dtype=pl.Null),
        }
    )
    server.write(frame, "odd")
    back = server.read(table="odd")
    first = back.row(0, named=True)
    assert str(first["big"]) == str(2**64 - 1)
    assert (first["byte"], first["hour"], first["kind"], first["none"]) == (255, "09:05:00", "a", None)
    assert first["zoned"].replace(tzinfo=datetime.UTC) == zoned
    assert back.row(1) == (None,) * 6
    nested = pl.DataFrame({"a": [[1]], "b": [1]})
    assert "column(s) a hold lists" in said(lambda: server.write(nested, "nested"), TargetError)


def test_a_table_is_read_in_the_order_of_its_key(server: Server) -> None:
    server.run("CREATE TABLE visits (b INTEGER, a INTEGER, c INTEGER, PRIMARY KEY (a, b))")
    server.run("INSERT INTO visits VALUES (1, 2, 0), (9, 1, 0), (0, 2, 0), (3, 1, 0)")
    assert server.read(table="visits").select("a", "b").rows() == [(1, 3), (1, 9), (2, 0), (2, 1)]


def test_a_query_is_read_in_its_own_order(server: Server) -> None:
    server.run(
        "CREATE TABLE visits (a INTEGER, at VARCHAR(9))", "INSERT INTO visits VALUES (1, '12:30%'), (2, '12:45%')"
    )
    query = "SELECT a AS x, at FROM visits WHERE at LIKE '12:%' ORDER BY a DESC;  "
    assert server.read(query=query).rows() == [(2, "12:45%"), (1, "12:30%")]
    assert server.read(query="SELECT 1 AS a -- the end").rows() == [(1,)]


def test_both_passes_see_the_same_rows(server: Server) -> None:
    server.write(FRAME, "people")
    source = open_source(parse_source({"url": server.url, "table": "people"}))
    first = source.scan().collect()
    server.run("DELETE FROM people WHERE id = 3", "UPDATE people SET name = 'changed'")
    assert source.scan().collect().equals(first)
    assert server.read(table="people").height == 2


def test_many_rows_in_batches(server: Server) -> None:
    rows = 2 * BATCH_ROWS + 17
    frame = pl.DataFrame({"id": range(rows), "name": [f"n{number % 1000}" for number in range(rows)]})
    server.write(frame, "many")
    assert server.read(query="SELECT * FROM many ORDER BY id").equals(frame)


def test_existing_tables(server: Server) -> None:
    server.write(FRAME, "people")
    assert "the table exists already" in said(lambda: server.write(FRAME, "people"), TargetError)
    server.write(FRAME, "people", "append")
    assert server.read(table="people").height == 6
    server.write(FRAME.select("id", other=pl.lit("x")), "people", "replace")
    assert server.read(table="people").columns == ["id", "other"]
    server.write(FRAME, "new", "append")
    server.write(FRAME, "newer", "replace")
    assert server.tables() == {"people", "new", "newer"}


def test_an_error_on_the_way_leaves_everything_as_it_was(server: Server) -> None:
    def failing() -> Iterator[pl.DataFrame]:
        yield pl.concat([FRAME] * 400)
        raise DataError("a rule is broken")

    broken = streamed(failing, FRAME.schema)
    server.write(FRAME, "people")
    for table, if_exists in (("people", "replace"), ("people", "append"), ("new", "fail")):
        with pytest.raises(DataError, match="a rule is broken"):
            server.write(broken, table, if_exists)
    assert server.tables() == {"people"}
    assert server.read(table="people").height == 3


def test_rows_that_do_not_fit_are_refused_without_showing_them(server: Server) -> None:
    server.run(
        "CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(20))", "INSERT INTO people VALUES (1, 'secret')"
    )
    clash = pl.DataFrame({"id": [2, 1], "name": ["secret two", "secret one"]})
    assert "a row is there already (unique key)" in said(lambda: server.write(clash, "people", "append"), TargetError)
    foreign = pl.DataFrame({"id": [2], "nme": ["secret"]})
    said(lambda: server.write(foreign, "people", "append"), TargetError)
    assert server.run("SELECT * FROM people") == [(1, "secret")]


def test_unknown_tables(server: Server) -> None:
    server.write(FRAME, "patients")
    assert "there is no table 'patient'; did you mean 'patients'?" in said(lambda: server.read(table="patient"))


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELEC 1", "the query has a syntax error"),
        ("SELECT 1 FROM", "the query has a syntax error"),
        ("SELECT 'secret' FROM nowhere", "the query names a table that is not there"),
        ("SELECT secret_column FROM people", "the query names a column that is not there"),
        ("SELECT 1 AS a, 2 AS a", "name"),
        ("SELECT 1 AS a WHERE 1 = 0", "there are no records"),
        ("DELETE FROM people", "syntax error"),
    ],
)
def test_queries_that_do_not_work(server: Server, query: str, words: str) -> None:
    server.write(FRAME, "people")
    assert words in said(lambda: server.read(query=query))
    assert server.read(table="people").height == 3


def test_views_and_empty_tables(server: Server) -> None:
    server.write(FRAME, "people")
    server.run("CREATE VIEW few AS SELECT id FROM people WHERE id < 3")
    assert sorted(server.read(table="few")["id"]) == [1, 2]
    server.run("DROP VIEW few", "DELETE FROM people")
    assert "there are no records" in said(lambda: server.read(table="people"))


def test_labels_show_no_password(server: Server) -> None:
    server.write(FRAME, "people")
    source = open_source(parse_source({"url": server.url, "table": "people"}))
    target = open_target(parse_target({"url": server.url, "table": "other"}))
    assert "ss%40" not in f"{source!r} {source} {target!r} {source.label} {target.label}"
    assert source.label.endswith("#people")


# ——— servers


@pytest.fixture(params=["postgresql", "maria"])
def network(request: pytest.FixtureRequest) -> Server:
    found: Server = request.getfixturevalue(request.param)
    return found


@pytest.mark.server
def test_a_refused_password_is_never_shown(network: Server) -> None:
    wrong = make_url(network.url).set(password="secret")  # noqa: S106 - made up
    url = wrong.render_as_string(hide_password=False)
    expected = "the database refuses the user or the password"
    assert expected in said(lambda: open_source(parse_source({"url": url, "table": "t"})))
    assert expected in said(lambda: open_target(parse_target({"url": url, "table": "t"})), TargetError)


@pytest.mark.server
def test_a_password_from_the_environment(network: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    network.write(FRAME, "people")
    url = make_url(network.url)
    spelt = f"{network.kind}://{url.username}:${{CLINIC_SECRET}}@{url.host}:{url.port}/{url.database}"
    assert "CLINIC_SECRET is not set" in said(lambda: open_source(parse_source({"url": spelt, "table": "people"})))
    monkeypatch.setenv("CLINIC_SECRET", str(url.password))
    assert open_source(parse_source({"url": spelt, "table": "people"})).scan().collect().height == 3


@pytest.mark.server
def test_places_where_nothing_is(network: Server) -> None:
    url = make_url(network.url)
    for wrong, words in (
        (url.set(port=1), "nothing answers at that host and port"),
        (url.set(host="no-such-host.invalid"), "host"),
        (url.set(database="nowhere"), "there is no such database"),
    ):
        options = parse_source({"url": wrong.render_as_string(hide_password=False), "table": "t"})
        assert words in said(lambda options=options: open_source(options))  # type: ignore[misc]


# ——— PostgreSQL


@pytest.mark.server
def test_postgresql_types(postgresql: Server) -> None:
    postgresql.run(
        """CREATE TABLE kinds (i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, n numeric(10, 2), nn numeric, b bool,
        t text, vc varchar(9), c char(3), d date, ts timestamp, tz timestamptz, tm time, iv interval, u uuid, j jsonb,
        a int[], ip inet)""",
        """INSERT INTO kinds VALUES (1, 2, 3, 1.5, 2.5, 4.50, 1.2345, true, 'x', 'y', 'z', '2024-02-29',
        '2024-02-29 12:30', '2024-02-29 12:30+05:30', '09:05', '1 day', '00000000-0000-0000-0000-000000000001',
        '{"a": 1}', '{1,2}', '10.0.0.1')""",
        "INSERT INTO kinds (i2) VALUES (NULL)",
    )
    frame = postgresql.read(table="kinds")
    assert frame.row(0) == (
        *(1, 2, 3, 1.5, 2.5, Decimal("4.50"), Decimal("1.2345"), True, "x", "y", "z  "),
        *(datetime.date(2024, 2, 29), moment("2024-02-29T12:30"), moment("2024-02-29T07:00+00:00")),
        *("09:05:00", "1 day", "00000000-0000-0000-0000-000000000001", '{"a": 1}', "{1,2}", "10.0.0.1/32"),
    )
    assert frame.row(1) == (None,) * 20


@pytest.mark.server
@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT 'infinity'::date AS d", "column 'd': 1 value(s) are no dates in the years 1 to 9999"),
        ("SELECT 'infinity'::timestamp AS d", "column 'd': 1 value(s) are no dates"),
        ("SELECT 'NaN'::numeric AS n", "column 'n': 1 value(s) are no 38-digit numbers"),
        ("SELECT 1e50::numeric AS n", "column 'n': 1 value(s) are no 38-digit numbers"),
        ("SELECT 'x'::bytea AS b", "column(s) b hold binary data"),
        ("SELECT 'secret'::text::int AS i", "SQLSTATE 22P02"),
        ("SELECT (name || 'secret')::int AS i FROM people", "a value can't be read as what the query asks for"),
    ],
)
def test_postgresql_values_that_have_no_place(postgresql: Server, query: str, words: str) -> None:
    postgresql.run("CREATE TABLE people (name text)", "INSERT INTO people VALUES ('secret')")
    assert words in said(lambda: postgresql.read(query=query))


@pytest.mark.server
def test_postgresql_schemas(postgresql: Server) -> None:
    postgresql.run('DROP SCHEMA IF EXISTS "Other" CASCADE', 'CREATE SCHEMA "Other"')
    postgresql.write(FRAME, "people", schema="Other")
    postgresql.write(FRAME, "people", "append", schema="Other")
    assert postgresql.read(table="people", schema="Other").height == 6
    assert "people" not in postgresql.tables()
    assert "there is no table 'people'" in said(lambda: postgresql.read(table="people"))
    postgresql.run('DROP SCHEMA "Other" CASCADE')


@pytest.mark.server
def test_postgresql_appends_convert_to_the_types_of_the_table(postgresql: Server) -> None:
    postgresql.run("CREATE TABLE people (id int, seen date, price numeric(5, 1), extra text DEFAULT 'e')")
    postgresql.write(pl.DataFrame({"price": ["1.25"], "id": ["7"], "seen": ["2024-02-29"]}), "people", "append")
    assert postgresql.read(table="people").rows() == [(7, datetime.date(2024, 2, 29), Decimal("1.3"), "e")]
    wrong = pl.DataFrame({"id": ["secret"]})
    assert "SQLSTATE 22P02" in said(lambda: postgresql.write(wrong, "people", "append"), TargetError)
    foreign = pl.DataFrame({"nobody": [1]})
    assert "the table has no column(s) nobody" in said(
        lambda: postgresql.write(foreign, "people", "append"), TargetError
    )


@pytest.mark.server
def test_postgresql_a_query_can_not_change_anything(postgresql: Server) -> None:
    postgresql.write(FRAME, "people")
    postgresql.run(
        "CREATE OR REPLACE FUNCTION wipe() RETURNS int LANGUAGE sql AS 'DELETE FROM people; SELECT 1'",
    )
    assert "only reading is allowed" in said(lambda: postgresql.read(query="SELECT wipe() AS x"))
    assert postgresql.read(table="people").height == 3


@pytest.mark.server
def test_postgresql_a_table_with_a_view_on_it_stays(postgresql: Server) -> None:
    postgresql.write(FRAME, "people")
    postgresql.run("CREATE VIEW few AS SELECT id FROM people")
    words = said(lambda: postgresql.write(FRAME.head(1), "people", "replace"), TargetError)
    assert "depend on the table" in words
    assert postgresql.read(table="people").height == 3
    postgresql.run("DROP VIEW few")


# ——— MariaDB


@pytest.mark.server
def test_mariadb_types(maria: Server) -> None:
    maria.run(
        """CREATE TABLE kinds (t TINYINT, b BOOLEAN, w TINYINT(1), bt BIT(4), y YEAR, i INT UNSIGNED, g BIGINT, f FLOAT,
        d DOUBLE, n DECIMAL(10, 2), c CHAR(3), tx LONGTEXT, e ENUM('a', 'b'), j JSON, dt DATE, ts TIMESTAMP(6) NULL,
        h TIME)""",
        """INSERT INTO kinds VALUES (-1, TRUE, 2, b'101', 2024, 4000000000, -5, 1.5, 2.5, 4.50, 'z', 'é', 'b', '{}',
        '2024-02-29', '2024-02-29 12:30:15.000005', '-100:30:00')""",
        "INSERT INTO kinds (t) VALUES (NULL)",
    )
    frame = maria.read(table="kinds")
    assert frame.row(0) == (
        *(-1, True, 2, 5, 2024, 4_000_000_000, -5, 1.5, 2.5, Decimal("4.50"), "z", "é", "b", "{}"),
        *(datetime.date(2024, 2, 29), moment("2024-02-29T12:30:15.000005"), "-100:30:00"),
    )
    assert frame.row(1) == (None,) * 17
    assert frame.schema["b"] == pl.Boolean()


@pytest.mark.server
def test_mariadb_values_that_have_no_place(maria: Server) -> None:
    maria.run("CREATE TABLE odd (a BLOB)", "INSERT INTO odd VALUES (x'ff00')")
    assert "column 'a' holds values that are not String" in said(lambda: maria.read(table="odd"))
    maria.run("CREATE TABLE big (a BIGINT UNSIGNED)", "INSERT INTO big VALUES (18446744073709551615)")
    assert "column 'a' holds values that are not Int64" in said(lambda: maria.read(table="big"))
    maria.run("SET sql_mode = ''", "CREATE TABLE zero (a DATE)", "INSERT INTO zero VALUES ('0000-00-00')")
    assert "column 'a' holds values that are not Date" in said(lambda: maria.read(table="zero"))
    nan = pl.DataFrame({"a": [float("nan")]})
    said(lambda: maria.write(nan, "nan"), TargetError)
    assert "nan" not in maria.tables()


@pytest.mark.server
def test_mariadb_a_query_can_not_change_anything(maria: Server) -> None:
    maria.write(FRAME, "people")
    maria.run(
        "DROP FUNCTION IF EXISTS wipe",
        "CREATE FUNCTION wipe() RETURNS INT MODIFIES SQL DATA BEGIN DELETE FROM people; RETURN 1; END",
    )
    assert "only reading is allowed" in said(lambda: maria.read(query="SELECT wipe() AS x"))
    assert maria.read(table="people").height == 3


@pytest.mark.server
def test_mariadb_sweeps_what_a_killed_run_left(maria: Server) -> None:
    maria.run("CREATE TABLE _shoal_999999 (a INT)", "CREATE TABLE _shoal_999999_old (a INT)")
    maria.run("CREATE TABLE _shoal_888888 (a INT)", "CREATE TABLE _shoal_mine (a INT)")
    alive = maria._connect()
    with alive.cursor() as cursor:
        cursor.execute("SELECT GET_LOCK('_shoal_888888', 0)")
        maria.write(FRAME, "people")
        assert maria.tables() == {"people", "_shoal_888888", "_shoal_mine"}
    alive.close()


# ——— SQLite


def test_sqlite_kinds_are_those_that_occur(sqlite: Server) -> None:
    sqlite.run(
        """CREATE TABLE kinds (i INTEGER, r, m, b BOOLEAN, nb BOOLEAN, d DATE, nd DATE, dt DATETIME, e INTEGER,
        n NUMERIC)""",
        """INSERT INTO kinds VALUES (1, 1, 1, 1, 2, '2024-02-29', '29/02/2024', '2024-02-29 12:30:15', NULL, 1.5),
        (NULL, 2.5, 'x', NULL, 0, NULL, NULL, '2024-02-29 12:30:15.5', NULL, 2)""",
    )
    frame = sqlite.read(table="kinds")
    assert frame.rows() == [
        (1, 1.0, "1", True, 2, datetime.date(2024, 2, 29), "29/02/2024", moment("2024-02-29T12:30:15"), None, 1.5),
        (None, 2.5, "x", None, 0, None, None, moment("2024-02-29T12:30:15.5"), None, 2.0),
    ]
    assert frame.schema["e"] == pl.Int64()
    assert sqlite.read(query="SELECT d, m FROM kinds").schema == pl.Schema({"d": pl.String(), "m": pl.String()})


def test_sqlite_values_that_have_no_place(sqlite: Server) -> None:
    sqlite.run("CREATE TABLE odd (a, b)", "INSERT INTO odd VALUES (x'00', 1)")
    assert "column(s) a hold binary data" in said(lambda: sqlite.read(table="odd"))
    sqlite.run("CREATE TABLE text (a)", "INSERT INTO text VALUES (CAST(x'ff736563726574' AS TEXT))")
    assert "not in UTF-8" in said(lambda: sqlite.read(table="text"))


def test_sqlite_files(tmp_path: Path) -> None:
    missing = {"url": f"sqlite:///{tmp_path}/none.db", "table": "t"}
    assert "there is no such database file" in said(lambda: open_source(parse_source(missing)))
    assert list(tmp_path.iterdir()) == [], "reading creates nothing"
    (tmp_path / "none.db").write_text("this is no database, but a text of some length")
    assert "is not a SQLite database" in said(lambda: open_source(parse_source(missing)))
    assert "a database file is needed" in said(lambda: open_source(parse_source({"url": "sqlite://", "table": "t"})))
    nowhere = {"url": f"sqlite:///{tmp_path}/no/folder.db", "table": "t"}
    assert "there is no folder" in said(lambda: open_target(parse_target(nowhere)), TargetError)


def test_sqlite_paths_are_relative_to_the_policy(tmp_path: Path) -> None:
    target = open_target(parse_target({"url": "sqlite:///new file.db", "table": "t"}), base=tmp_path)
    assert list(tmp_path.iterdir()) == []
    target.write(FRAME.lazy())
    source = open_source(parse_source("sqlite:///new file.db#t"), base=tmp_path)
    assert source.scan().collect().height == 3


def test_sqlite_another_writer(sqlite: Server) -> None:
    sqlite.write(FRAME, "people")
    other = sqlite3.connect(str(make_url(sqlite.url).database))
    other.execute("BEGIN IMMEDIATE")
    options = parse_target({"url": f"{sqlite.url}?timeout=0.1", "table": "more"})
    assert "another program is writing" in said(lambda: open_target(options), TargetError)
    other.rollback()
    other.close()
