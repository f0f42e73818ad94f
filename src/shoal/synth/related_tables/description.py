"""What is said of tables that belong together (``tables.yaml``), in the words of a policy of several tables.

shoal: 1
name: hospital
tables:
  patients: {source: patients.csv, key: id}
  visits: {source: visits.csv, key: id, order: start}
references:
  - {from: visits.patient, to: patients.id}
constraints:
  - {lower: patients.born, upper: visits.start}

All else, such as the kinds of columns, is found unless it is declared.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from shoal.dp.description import DescribedFile
from shoal.policy.multi_table import TABLE_NAME, ReferenceEntry
from shoal.policy.references import ReferenceEnd
from shoal.schema.parameters import Parameters
from shoal.schema.registry import did_you_mean
from shoal.synth.column_shapes import ColumnShape
from shoal.synth.constraints import TableConstraints
from shoal.synth.shape_detection import RARE


class RelatedTable(Parameters):
    """One of the tables."""

    source: str | None = Field(default=None, description="Its file, relative to the folder of the description.")
    key: str | None = Field(default=None, description="The column that tells its records apart; made anew.")
    order: str | None = Field(
        default=None, description="The column by which the records of one parent follow each other: a date or a number."
    )
    columns: dict[str, ColumnShape] = Field(default_factory=dict, description="Shapes that are not to be found.")
    constraints: TableConstraints = Field(default_factory=TableConstraints)


class CrossTableInequality(Parameters):
    """That a column of one table is at most a column of another, of which one is a parent of the other."""

    lower: str = Field(description="As patients.born.")
    upper: str = Field(description="As visits.start.")


class RelatedTablesDescription(DescribedFile):
    """All of them. ``RelatedTablesDescription.load`` reads a file and reports every problem at once.

    >>> tables = {"patients": {"key": "id"}, "visits": {}}
    >>> RelatedTablesDescription.of(
    ...     {"shoal": 1, "tables": tables, "references": [{"from": "visit.who", "to": "patients.id"}]}
    ... )
    Traceback (most recent call last):
    shoal.errors.PolicyError: description: references: 'visit.who': there is no table 'visit'; did you mean 'visits'?
    """

    shoal: Literal[1]
    name: str = Field(default="tables", pattern=r"^[\w][\w .-]{0,99}$")
    tables: dict[str, RelatedTable] = Field(min_length=1, max_length=100)
    references: tuple[ReferenceEntry, ...] = ()
    constraints: tuple[CrossTableInequality, ...] = ()
    find_constraints: bool = True
    rare: int = Field(default=RARE, ge=1, description="Values of fewer people than this never reappear.")

    @field_validator("tables")
    @classmethod
    def _named(cls, tables: dict[str, RelatedTable]) -> dict[str, RelatedTable]:
        for name in tables:
            if not TABLE_NAME.match(name):
                raise ValueError(f"'{name}': a table's name has letters, digits, _ and -, at most 63")
        return tables

    @field_validator("references")
    @classmethod
    def _refer(cls, references: tuple[ReferenceEntry, ...], info: ValidationInfo) -> tuple[ReferenceEntry, ...]:
        _refuse_unknown((end for one in references for end in (one.child, one.parent)), info)
        tables = info.data.get("tables", {})
        taken: set[str] = set()
        for one in references:
            parent = ReferenceEnd.parse(one.parent)
            key = tables[parent.table].key if parent.table in tables else None
            if key is not None and key != parent.column:
                raise ValueError(f"'{one.parent}': the key of '{parent.table}' is '{key}'")
            if one.child in taken:
                raise ValueError(f"'{one.child}' refers to two tables")
            if not one.keep:
                raise ValueError(f"'{one.child}': what is not to be joined is left out here")
            taken.add(one.child)
        return references

    @field_validator("constraints")
    @classmethod
    def _compare(
        cls, constraints: tuple[CrossTableInequality, ...], info: ValidationInfo
    ) -> tuple[CrossTableInequality, ...]:
        _refuse_unknown((end for one in constraints for end in (one.lower, one.upper)), info)
        return constraints

    @model_validator(mode="after")
    def _one_key(self) -> Self:
        for one in self.references:
            end = ReferenceEnd.parse(one.parent)
            if self.key(end.table) != end.column:
                raise ValueError(f"references name two keys of '{end.table}'")
        return self

    def key(self, table: str) -> str | None:
        """As declared, or as the first reference to the table says."""
        ends = (ReferenceEnd.parse(one.parent) for one in self.references)
        return self.tables[table].key or next((end.column for end in ends if end.table == table), None)


def _refuse_unknown(ends: Iterable[str], info: ValidationInfo) -> None:
    tables = tuple(info.data.get("tables", {}))
    for text in ends if tables else ():
        end = ReferenceEnd.parse(text)
        if not end.column:
            raise ValueError(f"'{text}': needs a table and a column, as visits.patient")
        if end.table not in tables:
            raise ValueError(f"'{text}': there is no table '{end.table}'{did_you_mean(end.table, tables)}")
