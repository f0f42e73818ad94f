"""Datasets with a budget, on SQLite and on a real PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from tests.servers import postgres, postgres_url
from tests.support.server_tables import without_tables

from shoal.curator.budget_tables import budget_metadata
from shoal.curator.curator import Curator

__all__ = ["postgres", "postgres_url"]

Describe = Callable[..., Path]


@pytest.fixture
def described(tmp_path: Path) -> Describe:
    """Writes a description, and the table beside it."""

    def write(rows: list[dict[str, Any]] | None = None, **changes: Any) -> Path:
        people = rows or [{"who": f"p{place}", "age": place % 90, "region": "north"} for place in range(200)]
        pl.DataFrame(people, infer_schema_length=None).write_csv(tmp_path / "people.csv")
        given = {
            "shoal": 1,
            "name": "people",
            "source": "people.csv",
            "person": "who",
            "rows_per_person": 1,
            "columns": {
                "age": {"type": "integer", "bounds": [0, 100]},
                "region": {"type": "category", "categories": ["north", "south"]},
            },
            "budget": {"epsilon": 1},
            **changes,
        }
        path = tmp_path / "dataset.yaml"
        path.write_text(yaml.safe_dump(given))
        return path

    return write


@pytest.fixture
def curator(described: Describe) -> Curator:
    return Curator(described())


@pytest.fixture
def file_place(tmp_path: Path) -> str:
    return str(tmp_path / "people.budget")


@pytest.fixture
def server_place(postgres_url: str) -> Iterator[str]:
    with without_tables(postgres_url, budget_metadata("people")):
        yield postgres_url


@pytest.fixture(params=["file_place", pytest.param("server_place", marks=pytest.mark.server)])
def place(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(request.param)
    return found
