"""The account of a copy: what was copied, what was done to each column, what was left out. No value, no secret."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from shoal.database_copy.copy_plan import CopyPlan, TablePlan
from shoal.io.database_schemas.schema_target import CopiedTable


@dataclass(frozen=True)
class CopiedColumn:
    column: str
    role: str
    techniques: tuple[str, ...]
    type: str | None
    """In the copy; None where the column is not in it."""


@dataclass(frozen=True)
class CopiedTableAccount:
    table: str
    rows: int
    columns: tuple[CopiedColumn, ...]

    @classmethod
    def of(cls, plan: TablePlan, done: CopiedTable) -> CopiedTableAccount:
        columns = tuple(
            CopiedColumn(name, str(one.role), tuple(step.key for step in one.steps), done.types.get(name))
            for name, one in plan.attributes.items()
        )
        return cls(plan.facts.name, done.rows, columns)

    @property
    def rewritten(self) -> int:
        return sum(1 for one in self.columns if one.techniques and one.type is not None)


@dataclass(frozen=True)
class CopyAccount:
    """What ``shoal copy`` says at the end and writes to a file."""

    version: str
    created: str
    name: str
    policy_sha256: str
    schema_sha256: str
    source: str
    target: str
    tables: tuple[CopiedTableAccount, ...]
    views: tuple[str, ...]
    not_copied: tuple[str, ...]
    cycles: tuple[str, ...]
    sample: float | None = None
    of: str | None = None
    resumed: bool = False
    """Whether it went on after an interruption."""

    @property
    def rows(self) -> int:
        return sum(one.rows for one in self.tables)

    def to_dict(self) -> dict[str, object]:
        return {
            "shoal": self.version,
            "kind": "copy",
            "created": self.created,
            "name": self.name,
            "policy_sha256": self.policy_sha256,
            "schema_sha256": self.schema_sha256,
            "source": self.source,
            "target": self.target,
            "rows": self.rows,
            "tables": [_table(one) for one in self.tables],
            "views": list(self.views),
            "not_copied": list(self.not_copied),
            "cycles": list(self.cycles),
            "sample": None if self.sample is None else {"of": self.of, "share": self.sample},
            "resumed": self.resumed,
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _table(one: CopiedTableAccount) -> dict[str, object]:
    columns = [
        {"column": each.column, "role": each.role, "techniques": list(each.techniques), "type": each.type}
        for each in one.columns
    ]
    return {"table": one.table, "rows": one.rows, "columns": columns}


def tables_of(plan: CopyPlan, done: dict[str, CopiedTable]) -> Sequence[CopiedTableAccount]:
    return [CopiedTableAccount.of(one, done[one.facts.name]) for one in plan.tables]
