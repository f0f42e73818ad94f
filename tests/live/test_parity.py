"""What a technique gives in a run and what its SQL gives on a real server is the same, for any value."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, create_engine, make_url

from shoal.hierarchy.base import parse_hierarchy
from shoal.live.served_tables import ServedTable
from shoal.live.servers.base import LiveServer, pads_of
from shoal.live.servers.mariadb import MariaDBServer
from shoal.live.servers.postgresql import PostgreSQLServer
from shoal.live.view_compiler import Pads, ViewCompiler
from shoal.policy import Policy
from shoal.randomness import Randomness
from shoal.schema.columns import ROW
from shoal.schema.steps import Step
from shoal.techniques import Context
from shoal.vault import Vault

pytestmark = [pytest.mark.requirement("L-01"), pytest.mark.requirement("L-04"), pytest.mark.server]

EXAMPLES = settings(max_examples=6)
SPECIAL = [
    "",
    " ",
    "*",
    "\\*",
    "\\\\*",
    "a*",
    "a@b.co",
    "asha.k@example.org",
    "a b@c.d",
    "x@y@z.com",
    "x\u00a0y@z.de",
    "12.120.210.88",
    "12.1.1.1\n",
    "S1234567D",
    "ſ1234567K",
    "+65 6123 4567",
    "(65) 6123-4567",
    "4111 1111 1111 1111",
    "2345 6789 1234",
    "560001",
    "SMF 12-34",
    "Pune",
    "pune",
    "Pune ",
    "Goa",
    "e\u0301",
    "😀😀",
    'it\'s "q" \\ %s :x',
]
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20) | st.sampled_from(SPECIAL)
DIGITS = st.from_regex(r"[0-9 +().-]{0,20}", fullmatch=True)
WHOLE = st.integers(-(2**62) + 2**20, 2**62 - 2**20) | st.integers(-200, 200)
CENTS = st.integers(-(10**12), 10**12).map(lambda cents: cents / 100) | st.integers(-999, 999).map(lambda n: n / 100)
DAYS = st.dates(datetime.date(1, 1, 1), datetime.date(9999, 12, 31))
MOMENTS = st.datetimes(datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31))  # noqa: DTZ001
KINDS: Mapping[str, tuple[st.SearchStrategy[Any], pl.DataType, str, str]] = {
    "text": (TEXTS | DIGITS, pl.String(), "text", "LONGTEXT CHARACTER SET utf8mb4"),
    "whole": (WHOLE, pl.Int64(), "bigint", "BIGINT"),
    "decimal": (CENTS, pl.Float64(), "numeric(14,2)", "DECIMAL(14,2)"),
    "float": (CENTS, pl.Float64(), "double precision", "DOUBLE"),
    "date": (DAYS, pl.Date(), "date", "DATE"),
    "moment": (MOMENTS, pl.Datetime("us"), "timestamp", "DATETIME(6)"),
}
DIRECT, QUASI = "direct", "quasi"


def masks() -> Iterator[tuple[str, Mapping[str, Any], None]]:
    for parameters in (
        {},
        {"keep_last": 4, "char": "x"},
        {"keep_first": 2, "keep_last": 1, "char": "\\"},
        {"length": 8, "keep_last": 3},
        {"length": 5},
        {"keep_separators": True},
        {"keep_first": 1, "keep_last": 2, "keep_separators": True, "char": "é"},
        {"kind": "email", "keep_first": 1},
        {"kind": "email", "keep_domain": False},
        {"kind": "ipv4", "char": "#"},
        {"kind": "phone"},
        {"kind": "card"},
        {"kind": "aadhaar"},
        {"kind": "vid"},
        {"kind": "nric"},
        {"kind": "nric", "keep_last": 3},
        {"kind": "postal"},
        {"kind": "iu"},
    ):
        yield "text", {"role": DIRECT, "technique": {"mask": parameters}}, None
    yield "whole", {"role": DIRECT, "technique": {"mask": {"keep_last": 2}}}, None


def numbers() -> Iterator[tuple[str, Mapping[str, Any], int | None]]:
    for base in (1, 3, 10, 500):
        yield "whole", {"role": "insensitive", "technique": {"round": {"base": base}}}, None
    for kind in ("decimal", "float"):
        for given_base in (0.05, 0.1, 2.5, 100):
            yield kind, {"role": "insensitive", "technique": {"round": {"base": given_base}}}, None
        yield kind, {"role": "insensitive", "technique": {"code": {"top": 50.5, "bottom": -1}}}, None
        yield kind, {"role": QUASI, "hierarchy": {"intervals": {"widths": [0.25, 10], "low": -50, "high": 100.5}}}, 1
        yield kind, {"role": QUASI, "hierarchy": {"intervals": {"widths": [5, 100], "origin": 2.5}}}, 2
    tails = {"top": 90, "bottom": -7, "label": {"top": "≥ {value}", "bottom": "low"}}
    for code in ({"top": 50}, {"bottom": 3, "top": 90}, {"top": 50, "label": "50+"}, tails):
        yield "whole", {"role": "insensitive", "technique": {"code": code}}, None
    for intervals, level in (
        ([5, 10], 1),
        ([5, 10], 2),
        ([5, 10], 3),
        ({"widths": [7], "origin": 3}, 1),
        ([1], 1),
        ({"widths": [5, 10], "low": 18, "high": 92, "high_label": "*"}, 2),
        ({"widths": [10], "label": "{low}*{next}"}, 1),
    ):
        yield "whole", {"role": QUASI, "hierarchy": {"intervals": intervals}}, level
    yield "whole", {"role": QUASI, "hierarchy": {"redact": {"side": "left", "steps": [1, 2]}}}, 2


def others() -> Iterator[tuple[str, Mapping[str, Any], int | None]]:
    every = ["day", "month", "quarter", "year", "decade"]
    for kind in ("date", "moment"):
        yield from ((kind, {"role": QUASI, "hierarchy": {"dates": every}}, level) for level in range(7))
        yield kind, {"role": QUASI, "hierarchy": {"dates": ["week"]}}, 1
        coded = {"top": datetime.date(2020, 2, 29), "bottom": datetime.date(1900, 1, 1)}
        yield kind, {"role": "insensitive", "technique": {"code": coded}}, None
    labelled = {"top": datetime.date(2020, 2, 29), "label": "{value} or later"}
    yield "date", {"role": "insensitive", "technique": {"code": labelled}}, None
    for redact, level in (
        ({}, 3),
        ({"char": "*"}, 1),
        ({"side": "left", "char": "\\"}, 2),
        ({"keep_length": False, "char": "*"}, 4),
    ):
        yield "text", {"role": QUASI, "hierarchy": {"redact": redact}}, level
    yield "text", {"role": QUASI}, 0
    yield "text", {"role": QUASI}, 1
    tree = {"India": ["Pune", "Goa", "*"], "its": ['it\'s "q" \\ %s :x', "e\u0301"], "*": ["pune", ""]}
    yield "text", {"role": QUASI, "hierarchy": {"taxonomy": {"tree": tree}}}, 1
    for form in ("hex", "base32"):
        keyed = {"domain": "patients", "algorithm": "hmac_sha256", "format": form}
        yield "text", {"role": DIRECT, "technique": {"pseudonymise": keyed}}, None
        yield "whole", {"role": DIRECT, "technique": {"pseudonymise": keyed}}, None
    chain = [{"round": {"base": 10}}, {"code": {"top": 50, "label": "50+"}}]
    yield "whole", {"role": "insensitive", "technique": chain}, None
    own = {"generalise": {"hierarchy": {"intervals": [5, 10]}, "level": 2}}
    yield "whole", {"role": "insensitive", "technique": own}, None


CASES = [*masks(), *numbers(), *others()]


@dataclass
class Bench:
    """A connection to a server, and a table for each kind of column."""

    server: LiveServer
    connection: Connection
    vault: Vault
    made: dict[str, ServedTable] = field(default_factory=dict)

    def table(self, kind: str) -> ServedTable:
        if not self.made:
            for name, (_, _, postgres, mariadb) in KINDS.items():
                declared = postgres if isinstance(self.server, PostgreSQLServer) else mariadb
                self.connection.exec_driver_sql(f"DROP TABLE IF EXISTS parity_{name}")
                self.connection.exec_driver_sql(f"CREATE TABLE parity_{name} (n int, x {declared})")
            self.connection.commit()
            self.made = self.server.tables(self.connection)
        return self.made[f"parity_{kind}"]

    def compiled(self, policy: Policy, table: ServedTable, level: int | None) -> str:
        pads = {"patients": Pads(*(self._binary(half) for half in pads_of(self.vault.key("patients", "pseudonymise"))))}
        compiler = ViewCompiler(self.server.words, self.vault, pads)
        levels = {} if level is None else {"x": level}
        return compiler.compile("role", policy, table, levels).columns["x"]

    def _binary(self, half: bytes) -> str:
        return f"'\\x{half.hex()}'::bytea" if isinstance(self.server, PostgreSQLServer) else f"X'{half.hex()}'"

    def answers(self, sql: str, table: ServedTable, values: list[Any]) -> list[Any]:
        self.connection.exec_driver_sql(f"DELETE FROM {table.name}")
        cursor = self.connection.connection.cursor()
        cursor.executemany(f"INSERT INTO {table.name} VALUES (%s, %s)", list(enumerate(values)))
        asked = f"SELECT {sql} FROM {table.name} AS t ORDER BY t.n"
        found = [row[0] for row in self.connection.exec_driver_sql(asked.replace("%", "%%"), ()).fetchall()]
        self.connection.rollback()
        return found


@pytest.fixture(scope="module", params=["postgres_url", "mariadb_url"])
def bench(request: pytest.FixtureRequest, live_vault: Vault) -> Iterator[Bench]:
    url = make_url(str(request.getfixturevalue(request.param)))
    kind = PostgreSQLServer if url.drivername == "postgresql" else MariaDBServer
    server = kind(url, "server", None)
    engine = create_engine(server.url)
    with engine.connect() as connection:
        yield Bench(server, connection, live_vault)
        for name in KINDS:
            connection.exec_driver_sql(f"DROP TABLE IF EXISTS parity_{name}")
        connection.commit()
    engine.dispose()


def in_a_run(policy: Policy, table: ServedTable, values: pl.Series, level: int | None, vault: Vault) -> list[Any]:
    """The attribute's own technique objects, bound with all that a run knows, on a frame."""
    attribute, column = policy.attributes["x"], table.columns["x"].column
    frame = pl.DataFrame({"x": values, ROW: pl.Series(range(len(values)), dtype=pl.UInt64)})
    for technique in attribute.steps:
        own = getattr(technique, "hierarchy", None)
        bound = None if own is None else own.bind(column, distinct(frame["x"]))
        given = technique if bound is None else technique.model_copy(update={"hierarchy": None})
        context = Context({"x": column}, Randomness(1).stream("x"), hierarchy=bound, secrets=vault)
        step: Step = given.bind(column, context)
        frame, column = step.apply(frame), technique.leaves(column)
    if level is None:
        return frame["x"].to_list()
    hierarchy = attribute.hierarchy
    if hierarchy is None:
        from shoal.hierarchy.kinds.flat import FlatHierarchy

        hierarchy = FlatHierarchy()
    return hierarchy.bind(column, distinct(frame["x"])).generalise(frame["x"], level).to_list()


def distinct(values: pl.Series) -> pl.DataFrame:
    return pl.DataFrame({"value": values.drop_nulls().unique()}).with_columns(records=pl.lit(1, pl.Int64))


def named(case: tuple[str, Mapping[str, Any], int | None]) -> str:
    kind, attribute, level = case
    said = attribute.get("technique", attribute.get("hierarchy", "flat"))
    return f"{kind}-{said}-{level}"[:90]


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_server_gives_what_a_run_gives(bench: Bench, case: tuple[str, Mapping[str, Any], int | None]) -> None:
    kind, attribute, level = case
    policy = Policy.of({"shoal": 1, "name": "parity", "attributes": {"x": dict(attribute), "n": "suppress"}})
    table = bench.table(kind)
    sql = bench.compiled(policy, table, level)
    strategy, dtype, _, _ = KINDS[kind]
    known = attribute.get("hierarchy") or {}
    if "taxonomy" in known:
        strategy = st.sampled_from(parse_hierarchy(known).listed() or ())
    longest = {"text": "0123456789abcdefghijklmnopqrstuvwxyz", "whole": 123456789}
    lasting = [longest[kind]] if "redact" in known else []

    @EXAMPLES
    @given(st.lists(st.none() | strategy, max_size=40))
    def same(found: list[Any]) -> None:
        values = [*found, *lasting]
        wanted = in_a_run(policy, table, pl.Series(values, dtype=dtype), level, bench.vault)
        assert bench.answers(sql, table, values) == wanted

    same()


def test_a_list_that_grew_is_suppressed_beyond_what_is_listed(bench: Bench) -> None:
    """A run stops at a value that a hierarchy doesn't know; a view shows none of it."""
    policy = Policy.of(
        {
            "shoal": 1,
            "name": "p",
            "attributes": {
                "x": {"role": "quasi", "hierarchy": {"taxonomy": {"tree": {"India": ["Pune"]}}}},
                "n": "suppress",
            },
        }
    )
    table = bench.table("text")
    assert bench.answers(bench.compiled(policy, table, 1), table, ["Pune", "pune", "Pune ", None]) == [
        "India",
        "*",
        "*",
        None,
    ]


def test_what_a_run_refuses_is_seen_by_nobody(bench: Bench) -> None:
    """No number, or one too large: a run stops there, a view shows nothing."""
    infinite = [float("nan"), float("inf"), float("-inf")] if isinstance(bench.server, PostgreSQLServer) else []
    table = bench.table("float")
    for technique, values in (({"round": {"base": 10}}, [1e300, *infinite]), ({"code": {"bottom": 3}}, infinite)):
        attribute = {"role": "insensitive", "technique": technique}
        policy = Policy.of({"shoal": 1, "name": "p", "attributes": {"x": attribute, "n": "suppress"}})
        assert bench.answers(bench.compiled(policy, table, None), table, values) == [None] * len(values)
