"""Small datasets that questions are asked of: descriptions and plans in a line."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import polars as pl

from shoal.dp.description import DatasetDescription
from shoal.dp.query_plan import QueryPlan, planned
from shoal.dp.sql.question_reader import read_questions

COLUMNS: Mapping[str, Any] = {
    "age": {"type": "integer", "bounds": [0, 100]},
    "income": {"type": "number", "bounds": [-50.5, 1000.25]},
    "free": {"type": "number"},
    "region": {"type": "category", "categories": ["north", "south", "east"]},
    "town": {"type": "category"},
    "member": {"type": "boolean"},
    "seen": {"type": "date", "bounds": ["2025-01-01", "2026-12-31"]},
}


def described(rows_per_person: int | None = 2, **changes: Any) -> DatasetDescription:
    """One table by the name of ``people``; ``person`` names people where they have rows."""
    whose = {} if rows_per_person is None else {"person": "who", "rows_per_person": rows_per_person}
    given = {
        "shoal": 1,
        "name": "people",
        "source": "people.csv",
        "columns": dict(COLUMNS),
        "budget": {"epsilon": 10, "delta": "1e-5"},
        **whose,
        **changes,
    }
    return DatasetDescription.model_validate(given)


def two_tables(**changes: Any) -> DatasetDescription:
    given = {
        "shoal": 1,
        "name": "clinic",
        "person": "who",
        "tables": {
            "people": {"source": "p.csv", "rows_per_person": 1, "columns": {"region": COLUMNS["region"]}},
            "visits": {
                "source": "v.csv",
                "rows_per_person": 3,
                "columns": {"cost": {"type": "integer", "bounds": [0, 9]}},
            },
        },
        "budget": {"epsilon": 10, "delta": "1e-5"},
        **changes,
    }
    return DatasetDescription.model_validate(given)


def plan_of(
    sql: str, description: DatasetDescription | None = None, epsilon: str = "1", delta: str | None = None
) -> QueryPlan:
    chosen = description or described()
    (question,) = read_questions(sql, chosen)
    return planned(question, chosen, Decimal(epsilon), None if delta is None else Decimal(delta))


def table(rows: list[dict[str, Any]]) -> pl.LazyFrame:
    """Rows as a source gives them: text, as of a CSV file. A column that a row lacks is null."""
    names = ["who", *COLUMNS]
    cells = {name: [None if row.get(name) is None else str(row[name]) for row in rows] for name in names}
    return pl.DataFrame(cells, schema=dict.fromkeys(names, pl.String)).lazy()
