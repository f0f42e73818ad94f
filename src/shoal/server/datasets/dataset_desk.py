"""Datasets of the studio: described by who owns the table, asked by the analysts whom the description names.

A description here names no place: its table is the source that it was made of, its budget lies in the home folder. Who
asks is who is signed in; nobody asks without a budget of their own beside the dataset's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import yaml
from fastapi import HTTPException
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import insert, select

from shoal.errors import InputError
from shoal.randomness import now
from shoal.server.access.sessions import Principal
from shoal.server.home import StudioHome
from shoal.server.jobs.job_queue import JobKind
from shoal.server.store.database import new_id
from shoal.server.store.tables import DATASETS, JOBS, SOURCES
from shoal.server.web.parts import StudioParts
from shoal.server.web.shared_rows import SharedRows

if TYPE_CHECKING:
    from shoal.curator.curator import Curator

OPEN: Final = "FILL IN"
LONGEST: Final = 200_000
LINE: Final = 320
EDGE: Final = 10
"""Of the drawing of an interval."""
_PLACES: Final = ("source", "ledger", "tables", "analysts_only")
"""What a description says elsewhere, and the studio says itself here."""


class DatasetRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    source: str
    description: str = Field(max_length=LONGEST)
    """YAML as `shoal query` reads it, without source and ledger."""


class DatasetQuestion(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sql: str = Field(min_length=1, max_length=10_000)
    epsilon: str = Field(min_length=1, max_length=30)


def curator_of(home: StudioHome, row: Mapping[str, Any]) -> Curator:
    from shoal.curator.curator import Curator

    with home.database.reading() as connection:
        name = connection.execute(select(SOURCES.c.name).where(SOURCES.c.id == row["source"])).scalar()
    folder = home.dataset(row["id"])
    place = home.upload(row["source"]) / "data" / (name or "deleted.csv")
    told = {**yaml.safe_load(row["description"]), "source": {"path": str(place)}, "analysts_only": True}
    return Curator({**told, "ledger": str(folder / "dataset.budget")})


def drafted_description(name: str, profile: Mapping[str, Any], analyst: str) -> str:
    """From what was found in the table, which says types; bounds and categories are for people to fill in."""
    lines = ["shoal: 1", f"name: {name}", "# person: the column that names the person, if one has several rows"]
    lines.append("columns:  # bounds and categories are public knowledge, never taken from the data")
    for column in profile["columns"]:
        if column["role"] != "direct":
            kind = column["kind"]
            number = kind in ("discrete", "continuous", "date")
            told = f", bounds: [{OPEN}, {OPEN}]" if number else f", categories: [{OPEN}]"
            shape = {"discrete": "integer", "continuous": "number", "date": "date"}.get(kind, "category")
            written = yaml.safe_dump(column["name"], default_flow_style=True, width=10_000).removesuffix("\n...\n")
            lines.append(f"  {written.strip()}: {{type: {shape}{told}}}")
    lines += ["budget: {epsilon: 1.0}", "analysts:  # names of accounts", f"  {analyst}: {{epsilon: 1.0}}", ""]
    return "\n".join(lines)


@dataclass(frozen=True)
class DatasetDesk:
    parts: StudioParts

    def make(self, who: Principal, wanted: DatasetRequest) -> dict[str, str]:
        """A budget is begun with it: what is spent of it stays spent, whatever is made anew."""
        self.parts.own(SOURCES, who, wanted.source)
        told = _read(wanted.description)
        analysts = sorted(told.get("analysts") or {})
        identifier = new_id()
        row = {"id": identifier, "owner": who.account.id, "source": wanted.source, "analysts": analysts}
        row |= {"description": yaml.safe_dump(told, allow_unicode=True, sort_keys=False), "name": str(told.get("name"))}
        curator = curator_of(self.parts.home, row)
        if not curator.description.analysts:
            raise InputError("names nobody who may ask", field="analysts")
        with self.rows.making(self.parts.home.dataset(identifier), analysts) as connection:
            curator.begin()
            connection.execute(insert(DATASETS).values(**row, created=now().timestamp()))
        return {"dataset": identifier}

    @property
    def rows(self) -> SharedRows:
        return SharedRows(self.parts, DATASETS, "analysts")

    def of(self, who: Principal, *, most: int = 50, before: float | None = None) -> list[dict[str, Any]]:
        return [_told(who, row) for row in self.rows.of(who, most=most, before=before)]

    def row(self, who: Principal, dataset: str) -> dict[str, Any]:
        return self.rows.row(who, dataset)

    def get(self, who: Principal, dataset: str) -> dict[str, Any]:
        """With its columns, which are public, and the budgets that the asker may see."""
        row = self.row(who, dataset)
        curator = curator_of(self.parts.home, row)
        owns = row["owner"] == who.account.id
        first = curator.description.name
        budgets = [
            {"whose": name, "epsilon": float(limit), "spent": float(spent), "left": float(left)}
            for name, limit, spent, left in curator.accounts()
            if owns or name in (first, who.account.name)
        ]
        columns = {name: one.model_dump(mode="json", exclude_none=True) for name, one in _columns(curator)}
        asks = who.account.name in row["analysts"]
        return {**_told(who, row), "columns": columns, "budgets": budgets, "asks": asks}

    def ask(self, who: Principal, dataset: str, asked: DatasetQuestion) -> dict[str, str]:
        """A job; whether the question is understood, and the budget bears it, is known before."""
        row = self._asking(who, dataset)
        price = curator_of(self.parts.home, row).price(asked.sql, asked.epsilon, analyst=who.account.name)
        if not price.sufficient:
            raise InputError(f"is more than is left: ε {price.epsilon_left:g}", field="epsilon")
        with self.parts.home.database.transaction() as connection:
            told = {"dataset": dataset, "sql": asked.sql, "epsilon": asked.epsilon, "analyst": who.account.name}
            return {"job": self.parts.queue.add(connection, who.account.id, JobKind.QUERY, row["source"], told)}

    def price(self, who: Principal, dataset: str, asked: DatasetQuestion) -> dict[str, Any]:
        """What it would cost and how far off it would be. Nothing is read or spent."""
        curator = curator_of(self.parts.home, self._asking(who, dataset))
        return curator.price(asked.sql, asked.epsilon, analyst=who.account.name).to_dict()

    def _asking(self, who: Principal, dataset: str) -> dict[str, Any]:
        row = self.row(who, dataset)
        if not self.rows.names(who, row):
            raise HTTPException(403, "the description names you as no analyst")
        return row

    def answers(self, who: Principal, dataset: str, most: int = 10) -> list[dict[str, Any]]:
        """Theirs, the latest first."""
        mine = (JOBS.c.owner == who.account.id, JOBS.c.kind == JobKind.QUERY)
        with self.parts.home.database.reading() as connection:
            rows = connection.execute(select(JOBS).where(*mine).order_by(JOBS.c.created.desc()).limit(100)).mappings()
            return [row for row in map(dict, rows) if row["request"]["dataset"] == dataset][:most]


def _columns(curator: Curator) -> list[tuple[str, Any]]:
    return [pair for table in curator.description.described_tables.values() for pair in table.columns.items()]


def _read(text: str) -> dict[str, Any]:
    try:
        told = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError):
        raise InputError("is no YAML", field="description") from None
    if not isinstance(told, dict):
        raise InputError("is no description", field="description")
    if OPEN in text:
        raise InputError(f"has something open: {OPEN}", field="description")
    if named := [one for one in _PLACES if one in told]:
        raise InputError(f"says {', '.join(named)}, which the studio says", field="description")
    return told


def _told(who: Principal, row: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: row[name] for name in ("id", "name", "created")}
    return told | ({"analysts": row["analysts"], "source": row["source"]} if row["owner"] == who.account.id else {})


def as_bars(answer: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Estimates with their intervals, as places on a line from the least to the greatest."""
    rows = [] if answer is None else answer["rows"]
    names = [name for name in (rows[0] if rows else ()) if f"{name}_low" in rows[0]]
    beside = {f"{name}{end}" for name in names for end in ("", "_low", "_high", "_error")}
    charts = ({"name": name, "bars": _bars(rows, name, beside)} for name in names)
    return [chart for chart in charts if chart["bars"]]


def _bars(rows: Sequence[Mapping[str, Any]], name: str, beside: set[str]) -> list[dict[str, Any]]:
    low, high = f"{name}_low", f"{name}_high"
    told = [row for row in rows if all(isinstance(row[one], int | float) for one in (low, name, high))]
    least = min((row[low] for row in told), default=0)
    width = max((row[high] for row in told), default=0) - least or 1

    def place(value: float) -> float:
        return round(EDGE + (value - least) / width * (LINE - 2 * EDGE), 1)

    return [
        {
            "group": ", ".join(str(value) for key, value in row.items() if key not in beside),
            "places": [place(row[one]) for one in (low, name, high)],
            "value": row[name],
            "from": row[low],
            "to": row[high],
        }
        for row in told
    ]
