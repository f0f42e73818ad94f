"""A hospital of twelve tables on each kind of database, and empty places to copy it to."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import Engine, create_engine, make_url, text
from tests.database_copy.hospital import METADATA, fill
from tests.servers import mariadb, mariadb_url, postgres, postgres_url

__all__ = ["mariadb", "mariadb_url", "postgres", "postgres_url"]

_NUMBERS = itertools.count()
DRIVERS = {"postgresql": "postgresql+psycopg", "mariadb": "mysql+pymysql", "sqlite": "sqlite"}


def engine_of(url: str) -> Engine:
    parsed = make_url(url)
    return create_engine(parsed.set(drivername=DRIVERS[parsed.drivername]))


Empty = Callable[[str], str]


@pytest.fixture(scope="module")
def empty(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Empty]:
    """The address of a new, empty database of a kind; gone after the tests."""
    made: list[tuple[str, str]] = []
    folder = tmp_path_factory.mktemp("databases")

    def make(kind: str) -> str:
        name = f"copy_{next(_NUMBERS)}"
        if kind == "sqlite":
            return f"sqlite:///{folder / name}.db"
        server = request.getfixturevalue(f"{kind}_url")
        _on_server(server, f"CREATE DATABASE {name}")
        made.append((server, name))
        return f"{server.rpartition('/')[0]}/{name}"

    yield make
    for server, name in made:
        _on_server(server, f"DROP DATABASE {name}" + (" WITH (FORCE)" if server.startswith("postgres") else ""))


def _on_server(url: str, statement: str) -> None:
    engine = engine_of(url)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(statement))
    engine.dispose()


KINDS = [
    "sqlite",
    pytest.param("postgres", marks=pytest.mark.server),
    pytest.param("mariadb", marks=pytest.mark.server),
]


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def hospital(kind: str, empty: Empty) -> str:
    """The address of the hospital's database, which no test changes."""
    return hospital_at(empty(kind))


def hospital_at(url: str) -> str:
    engine = engine_of(url)
    METADATA.create_all(engine)
    fill(engine)
    engine.dispose()
    return url


@pytest.fixture
def small(empty: Empty) -> str:
    """A hospital of one's own."""
    return hospital_at(empty("sqlite"))
