"""What a table of test data is made of (``schema.yaml``): a generator for each column, and how many rows.

shoal: 1
rows: 1000
columns:
  person: {nric: {}, unique: true}
  name: {name: {cultures: [chinese_singaporean, malay_singaporean]}}
  mobile: {phone: SG, missing: 0.05}
  ward: {category: [A, B, C]}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from shoal.dp.description import DescribedFile
from shoal.schema.parameters import Parameters
from shoal.schema.registry_choices import item
from shoal.synth.test_data.base import Generator, registered_generators

OneGenerator: Any = item("OneGenerator", registered_generators)
MOST_ROWS = 10**12
MOST_COLUMNS = 10_000
_OWN = frozenset({"generator", "unique", "missing"})


class ColumnSchema(Parameters):
    """What one column is filled with. A generator may stand by its key alone: ``aadhaar``, ``{phone: SG}``."""

    generator: OneGenerator
    unique: bool = Field(default=False, description="No value comes twice.")
    missing: float = Field(default=0.0, ge=0, le=1, description="The share of rows without a value.")

    @model_validator(mode="before")
    @classmethod
    def _by_key(cls, given: object) -> object:
        if isinstance(given, str | Generator):
            return {"generator": given}
        if isinstance(given, Mapping) and "generator" not in given:
            chosen = {key: value for key, value in given.items() if key not in _OWN}
            return {**{key: value for key, value in given.items() if key in _OWN}, "generator": chosen}
        return given

    @model_validator(mode="after")
    def _can_be_unique(self) -> Self:
        if self.unique and not self.generator.distinct:
            raise ValueError(f"values of '{self.generator.key}' repeat by chance: they can't be unique")
        return self


class TableSchema(DescribedFile):
    """A whole schema. ``TableSchema.load`` reads a file and reports every problem at once.

    >>> TableSchema.of({"shoal": 1, "columns": {"id": "aadhar"}})
    Traceback (most recent call last):
    shoal.errors.PolicyError: description: columns.id: unknown generator 'aadhar'; did you mean 'aadhaar'?
    """

    shoal: Literal[1]
    rows: int = Field(default=1000, ge=0, le=MOST_ROWS)
    columns: dict[str, ColumnSchema] = Field(min_length=1, max_length=MOST_COLUMNS)
