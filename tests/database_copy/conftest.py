"""A hospital of twelve tables on each kind of database, and empty places to copy it to."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

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


@pytest.fixture
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """The address of a new, empty database of a kind; gone after the test."""
    made: list[tuple[str, str]] = []

    def make(kind: str) -> str:
        name = f"copy_{next(_NUMBERS)}"
        if kind == "sqlite":
            return f"sqlite:///{tmp_path / name}.db"
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


KINDS = ["sqlite", pytest.param("postgres", marks=pytest.mark.server), pytest.param("mariadb", marks=pytest.mark.server)]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def hospital(kind: str, empty: Callable[[str], str]) -> str:
    """The address of the hospital's database."""
    url = empty(kind)
    engine = engine_of(url)
    METADATA.create_all(engine)
    fill(engine)
    engine.dispose()
    return url
