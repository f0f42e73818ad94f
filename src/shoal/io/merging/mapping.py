"""A mapping file: the columns of the merged table, and for each source what they are filled from.

Everything is said: a target column that a source doesn't have is ``absent``, a column that isn't wanted is in ``drop``.
Whatever is left unsaid is a finding, by its place in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from shoal.errors import SourceError
from shoal.io.formats.detection import check_names
from shoal.io.options import SourceOptions, parse_source
from shoal.schema.column_names import ColumnNames
from shoal.schema.parameters import Parameters
from shoal.schema.registry import did_you_mean
from shoal.schema.values import DATES, NUMBERS, ValueType

MappingFinding = tuple[tuple[str | int, ...], str]
"""Where in the file, and what is wrong there."""


def _text(value: object) -> object:
    """What YAML reads as a number or a truth value, as it would stand in a text file."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def _texts(value: object) -> object:
    return tuple(map(_text, value)) if isinstance(value, list | tuple) else value


def _text_values(value: object) -> object:
    return {key: _text(new) for key, new in value.items()} if isinstance(value, dict) else value


Text = Annotated[str, BeforeValidator(_text)]


class _MayBeText(Parameters):
    """A text stands for the one field that is mostly all there is to say."""

    shorthand: ClassVar[str]

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        return {cls.shorthand: value} if isinstance(value, str) else value


class TargetColumn(_MayBeText):
    """One column of the merged table."""

    shorthand = "type"

    type: ValueType = Field(default=ValueType.TEXT, description="What its values are read as, whatever the source.")
    values: Annotated[tuple[str, ...], BeforeValidator(_texts)] = Field(
        default=(), description="Of text: the only values that it may have."
    )
    required: bool = Field(default=False, description="Whether each record has to have a value.")

    @model_validator(mode="after")
    def _values_are_text(self) -> Self:
        if self.values and self.type is not ValueType.TEXT:
            raise ValueError("only a column of text can list its values")
        return self


class ColumnOrigin(_MayBeText):
    """What a column of the merged table is filled from, in one source."""

    shorthand = "from"

    column: str | None = Field(default=None, alias="from", min_length=1, description="The column of the source.")
    constant: Text | None = Field(default=None, description="The same value in each of its records.")
    absent: bool = Field(default=False, description="The source has no such column: its values are missing.")
    values: Annotated[dict[str, str | None] | None, BeforeValidator(_text_values)] = Field(
        default=None, min_length=1, description="What each value becomes, as {m: male, f: female, x: null}."
    )
    others: Literal["refuse", "keep", "missing"] = Field(
        default="refuse", description="What becomes of values that `values` doesn't list."
    )
    format: str | None = Field(default=None, pattern="%", description="strftime pattern of dates stored as text.")
    multiply: float = Field(default=1.0, description="What numbers are multiplied by: 0.4536 from pounds to kilograms.")
    add: float = Field(default=0.0, description="What is added after that.")
    decimals: int | None = Field(default=None, ge=0, le=15, description="To how many digits numbers are rounded.")

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if sum((self.column is not None, self.constant is not None, self.absent)) != 1:
            raise ValueError("say one of from, constant and absent: true")
        conversion = self.model_fields_set & {"values", "others", "format", "multiply", "add", "decimals"}
        if self.column is None and conversion - {"format"}:
            raise ValueError(f"{', '.join(sorted(conversion))}: goes with `from` only")
        if "others" in self.model_fields_set and self.values is None:
            raise ValueError("others: goes with `values` only")
        if self.multiply == 0:
            raise ValueError("multiply: by 0 leaves nothing of the values")
        return self

    @property
    def reckons(self) -> bool:
        """Whether numbers are changed."""
        return self.multiply != 1 or self.add != 0 or self.decimals is not None


class MappedSource(Parameters):
    """One source, or several files of the same shape, and what becomes of its columns."""

    source: Annotated[SourceOptions, BeforeValidator(parse_source, json_schema_input_type=str | SourceOptions)]
    keep: ColumnNames = Field(default=(), description="Columns that have the name of the merged table's already.")
    columns: dict[str, ColumnOrigin] = Field(
        default_factory=dict, description="By the name in the merged table: where it comes from."
    )
    drop: ColumnNames = Field(default=(), description="Columns of the source that are left out.")

    @property
    def origins(self) -> dict[str, ColumnOrigin]:
        """By the column of the merged table."""
        return {**{name: ColumnOrigin(column=name) for name in self.keep}, **self.columns}

    @property
    def used(self) -> tuple[str, ...]:
        """The columns of the source that are read."""
        return tuple(dict.fromkeys(one.column for one in self.origins.values() if one.column is not None))


class SourceMapping(Parameters):
    """A whole mapping file."""

    shoal: Literal[1]
    columns: dict[str, TargetColumn] = Field(description="The merged table, its columns in this order.")
    sources: tuple[MappedSource, ...] = Field(description="In the order of their records.")

    def findings(self) -> Iterator[MappingFinding]:
        """What is wrong with it beyond its shape, without a look at the data."""
        if not self.columns:
            yield ("columns",), "there is none"
        try:
            check_names(tuple(self.columns), "the merged table")
        except SourceError as error:
            yield ("columns",), error.message
        if not self.sources:
            yield ("sources",), "there is none"
        for place, source in enumerate(self.sources):
            yield from ((("sources", place, *path), said) for path, said in self._of_source(source))

    def _of_source(self, source: MappedSource) -> Iterator[MappingFinding]:
        known = tuple(self.columns)
        for name in (*source.keep, *source.columns):
            at = ("columns", name) if name in source.columns else ("keep",)
            if name not in self.columns:
                yield at, f"the merged table has no column '{name}'{did_you_mean(name, known)}"
            elif name in source.columns and name in source.keep:
                yield at, f"'{name}' stands in `keep` too"
        if not source.used:
            yield (), "no column of the source is used"
        for name in source.drop:
            if name in source.used:
                yield ("drop",), f"'{name}' is used and dropped"
        for name, column in self.columns.items():
            origin = source.origins.get(name)
            if origin is None:
                yield (
                    (),
                    f"nothing fills '{name}': say from which column, or `{name}: {{absent: true}}` below `columns`",
                )
            elif name in source.columns:
                yield from ((("columns", name), said) for said in _unfit(origin, column))


def _unfit(origin: ColumnOrigin, column: TargetColumn) -> Iterator[str]:
    """What of an origin makes no sense for the type of the column that it fills."""
    if origin.format is not None and column.type not in DATES:
        yield f"format: is of dates, and the merged column is {column.type}"
    if origin.reckons and column.type not in NUMBERS:
        yield f"multiply, add and decimals are of numbers, and the merged column is {column.type}"
    if origin.absent and column.required:
        yield "is required in the merged table, so it can't be absent"
    said = {*(origin.values or {}).values(), origin.constant} - {None}
    if column.values and not said <= set(column.values):
        yield "gives a value that the merged column doesn't list in `values`"
