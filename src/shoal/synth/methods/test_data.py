"""Test data: format only, by a schema or by the names of columns. Not a value of any data is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from shoal.errors import InputError
from shoal.randomness import Randomness
from shoal.synth.method import (
    Arrays,
    FitOptions,
    GuaranteeStatement,
    SynthesisMethod,
    SynthesisModel,
    synthesis_methods,
)
from shoal.synth.test_data.base import Standing
from shoal.synth.test_data.derivation import schema_of_types
from shoal.synth.test_data.rows import rows_between
from shoal.synth.test_data.table_schema import TableSchema

_NAME: Final = "test-data"


@dataclass(frozen=True)
class SchemaModel:
    """A schema, and nothing else."""

    schema: TableSchema
    method: str = _NAME

    @property
    def rows(self) -> int:
        return self.schema.rows

    def sample(self, rows: int, randomness: Randomness, first: int = 0) -> pl.DataFrame:
        return rows_between(self.schema, first, first + rows, randomness)

    def inspect(self) -> dict[str, Any]:
        told = {
            name: {
                "generator": column.generator.key,
                "standing": str(column.generator.assurance.standing),
                "because": column.generator.assurance.because,
            }
            for name, column in self.schema.columns.items()
        }
        return {"method": _NAME, "records": 0, "columns": told, "shapes": told, "constraints": {}}

    def saved(self) -> tuple[dict[str, Any], Arrays]:
        return {"schema": self.schema.model_dump(mode="json")}, {}


def _load(state: Mapping[str, Any], _arrays: Arrays) -> SchemaModel:
    return SchemaModel(TableSchema.model_validate(state["schema"]))


def _fit(frame: pl.DataFrame, options: FitOptions) -> SchemaModel:
    if isinstance(options.description, TableSchema):
        return SchemaModel(options.description)
    if not frame.width:
        raise InputError("test data needs a schema, or a table whose columns it can name", field="description")
    return SchemaModel(schema_of_types(frame.schema).schema)


def _guarantee(_options: FitOptions, model: SynthesisModel) -> GuaranteeStatement:
    kept = model.schema.columns.items() if isinstance(model, SchemaModel) else ()
    coinciding = [name for name, one in kept if one.generator.assurance.standing is Standing.MAY_COINCIDE]
    perhaps = f"values of {', '.join(coinciding)} pass every check and may be somebody's by chance"
    return GuaranteeStatement(
        guaranteed=(
            "no value of any data was read: nothing in the table is about anybody",
            "identifiers come from ranges that are kept free, or have a wrong check character on purpose",
        ),
        not_guaranteed=(
            "it tells nothing about any real table: neither frequencies nor what goes together are real",
            *((perhaps,) if coinciding else ()),
        ),
    )


synthesis_methods.add(_NAME, SynthesisMethod(_fit, _load, _guarantee, needs_data=False, description_type=TableSchema))
