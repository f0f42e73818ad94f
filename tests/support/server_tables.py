"""Tables on a real server that a test begins and ends without."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Engine, MetaData, create_engine, make_url


@contextmanager
def without_tables(url: str, metadata: MetaData) -> Iterator[Engine]:
    """Nothing of what ``metadata`` describes is on the PostgreSQL server, before and after."""
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    metadata.drop_all(engine)
    yield engine
    metadata.drop_all(engine)
    engine.dispose()


def on_both(in_file: str, on_server: str) -> Any:
    """A fixture that is one of two others in turn, so that the same tests run on SQLite and on PostgreSQL."""

    @pytest.fixture(params=[in_file, pytest.param(on_server, marks=pytest.mark.server)])
    def either(request: pytest.FixtureRequest) -> object:
        return request.getfixturevalue(request.param)

    return either
