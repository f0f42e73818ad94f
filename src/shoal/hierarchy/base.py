"""What every generalisation hierarchy is: parameters from the policy, bound to a column, a ladder of levels.

Level 0 is the value as it is, the highest level is always ``*``. A missing value is a group of its own on every level
below the top and becomes ``*`` there. Levels *nest*: two values with one label keep one label on every higher level.

A star in a release is always Shoal's. Where the data itself has the text ``*``, or a hierarchy a label ``*`` below its
top, it is released as ``\\*``; so as not to mix that up with data that has ``\\*``, that becomes ``\\\\*``, and so on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
from pydantic import GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from shoal.errors import DataError
from shoal.hierarchy.proposals import ColumnValues, HierarchyProposal
from shoal.kernels.arrays import Floats, Mask
from shoal.schema.columns import Column
from shoal.schema.field_docs import DocumentedFields
from shoal.schema.parameters import Parameters
from shoal.schema.registry import Registry

TOP = "*"
_LOOKS_LIKE_TOP = r"^\\*\*$"


def escape_top(labels: pl.Series) -> pl.Series:
    r"""Text that reads like the mark of a suppressed cell gets a backslash more; no two texts become one.

    >>> escape_top(pl.Series(["a*", "*", r"\*", None])).to_list()
    ['a*', '\\*', '\\\\*', None]
    """
    if labels.dtype != pl.String() or not labels.str.ends_with(TOP).any():
        return labels
    alike = labels.str.contains(_LOOKS_LIKE_TOP).fill_null(value=False)
    return (pl.Series(["\\"]) + labels).zip_with(alike, labels).alias(labels.name) if alike.any() else labels


class Hierarchy(DocumentedFields, Parameters, ABC):
    """Parameters of one kind of hierarchy, as written in a policy."""

    key: ClassVar[str]
    shorthand: ClassVar[str | None] = None
    """The parameter that a bare value stands for: ``csv: education.csv`` is ``csv: {path: education.csv}``."""
    turn: ClassVar[int | None] = None
    """When it is asked for proposals, the most telling kinds first; None for one that only people can choose."""

    data_independent: ClassVar[bool] = False
    """Whether levels and labels follow from the policy alone: no value's label depends on what other records hold."""

    @classmethod
    def propose(cls, values: ColumnValues) -> Iterator[HierarchyProposal]:  # noqa: ARG003  # what others go by
        """Parameters with which it fits a column, the best first."""
        return iter(())

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "key" in cls.__dict__:
            hierarchies.add(cls.key, cls)

    @model_validator(mode="before")
    @classmethod
    def _expand_shorthand(cls, given: object) -> object:
        if given is None:
            return {}
        if cls.shorthand is None or isinstance(given, Mapping | Hierarchy):
            return given
        return {cls.shorthand: given}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        full = super().__get_pydantic_json_schema__(core, handler)
        if cls.shorthand is None:
            return full
        return {"anyOf": [handler.resolve_ref_schema(full)["properties"][cls.shorthand], full]}

    def resolve(self, base: Path) -> Hierarchy:
        """The same hierarchy with relative paths taken from ``base``, the folder of the policy."""
        return self

    def listed(self) -> tuple[str, ...] | None:
        """All values that it knows; None where it is open (any number, any text)."""
        return None

    @abstractmethod
    def refuse(self, column: Column) -> str | None:
        """Why this hierarchy makes no sense on this column, or None."""

    @abstractmethod
    def bind(self, column: Column, distinct: pl.DataFrame) -> BoundHierarchy:
        """The hierarchy for one column. ``distinct`` has the columns ``value`` and ``records``.

        Values that the hierarchy doesn't know are a DataError that names the column and the number of distinct
        values and records, never a value.
        """

    def bind_uncounted(self, column: Column, values: pl.Series) -> BoundHierarchy:
        """The same where the records of the values are not known: with every label that a value may have been given."""
        return self.bind(column, pl.DataFrame({"value": values, "records": [1] * len(values)}))


@dataclass(frozen=True)
class BoundHierarchy(ABC):
    """A ladder for one column. Frozen and picklable: executors get the very same object."""

    column: Column
    marked: bool = field(default=False, kw_only=True)
    """Whether a star among the values is Shoal's own already, from a technique that generalised them."""

    @property
    @abstractmethod
    def height(self) -> int:
        """The highest level (its only value is ``*``); at least 1."""

    @abstractmethod
    def label(self, values: pl.Series, level: int) -> pl.Series:
        """Generalised values as text, for 0 < level < height; nulls stay null. An unknown value is a DataError."""

    @abstractmethod
    def share(self, values: pl.Series, level: int) -> Floats:
        """Loss of each value's cell at 0 < level < height, in [0, 1].

        (leaves under the generalised value − 1) ÷ (leaves of the attribute − 1), or range ÷ domain range for numbers.
        """

    def meaning(self, level: int) -> str:
        """What a level does to values, in words: none of it is a value of the data."""
        self._check(level)
        if level == 0:
            return "as it is"
        return "* (suppressed)" if level == self.height else self.describe(level)

    def describe(self, level: int) -> str:
        """The same for 0 < level < height."""
        return f"step {level} of {self.height}"

    @property
    def leaf_count(self) -> int | None:
        """How many values the hierarchy knows; None where it is open (any number, any text)."""
        return None

    def pooled(self, values: pl.Series) -> Mask | None:
        """The values whose label on level 1 says *none of those that keep their name*; None where no label does."""
        return None

    def bounds(self, values: pl.Series, level: int) -> tuple[pl.Series, pl.Series] | None:
        """Lowest and highest number or date under each generalised value (for midpoint or random output).

        None where the hierarchy isn't one of numbers or dates.
        """
        return None

    def generalise(self, values: pl.Series, level: int) -> pl.Series:
        """The values at a level: as they are at 0, all ``*`` at the top, and nothing else is ``*``."""
        self._check(level)
        if level == 0:
            return values if self.marked else escape_top(values)
        if level == self.height:
            return pl.Series(values.name, [TOP], dtype=pl.String).new_from_index(0, len(values))
        return escape_top(self.label(values, level).alias(values.name))

    def loss(self, values: pl.Series, level: int) -> Floats:
        """What is lost of each value at a level: 0 as it is, 1 at the top; a missing value loses only at the top."""
        self._check(level)
        if level in (0, self.height):
            return np.full(len(values), 0.0 if level == 0 else 1.0)
        return self.share(values, level)

    def _check(self, level: int) -> None:
        if not 0 <= level <= self.height:
            raise DataError(f"column '{self.column.name}': there is no level {level}, the highest is {self.height}")

    def unknown(self, distinct: int, records: int) -> DataError:
        return DataError(
            f"column '{self.column.name}': {distinct} distinct value(s), {records} record(s), are not in the hierarchy",
            advice="add them to the hierarchy, or suppress the records that have them",
        )


hierarchies: Registry[type[Hierarchy]] = Registry("shoal.hierarchy.kinds", "hierarchy", "shoal.hierarchies")


def parse_hierarchy(value: object) -> Hierarchy:
    """A hierarchy as a policy writes it: ``{intervals: {widths: [5, 10]}}``, or only the kind for its defaults.

    >>> parse_hierarchy({"intervals": [5, 10]}).key
    'intervals'
    """
    if isinstance(value, Hierarchy):
        return value
    entries = {value: None} if isinstance(value, str) else value
    if not isinstance(entries, Mapping) or len(entries) != 1:
        raise ValueError("a hierarchy is one kind with its parameters, e.g. {intervals: {widths: [5, 10]}}")
    ((key, given),) = entries.items()
    kind = hierarchies.get(str(key))
    if kind is None:
        raise ValueError(hierarchies.unknown(key))
    return kind.model_validate(given)


def quotient(numbers: pl.Series, divisor: float) -> pl.Series:
    """The float nearest to each quotient; Polars multiplies by the reciprocal instead, which can be one bit off."""
    return pl.Series(np.true_divide(numbers, divisor))
