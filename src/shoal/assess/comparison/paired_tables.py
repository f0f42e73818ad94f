"""Tables in memory to be compared: an original and its release, their columns read as what they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from shoal.errors import DataError
from shoal.hierarchy import BoundHierarchy, FlatHierarchy
from shoal.io import Source
from shoal.kernels.group_counts import count_groups
from shoal.measurement.usefulness import Recode
from shoal.policy import Policy
from shoal.randomness import Randomness
from shoal.schema import ROW, Column
from shoal.schema.registry import did_you_mean
from shoal.schema.type_detection import detect

MEASURING = Randomness(20889)
"""Fixed, so that the same tables give the same figures whenever they are measured; it protects nothing."""
MOST_ROWS = 1_000_000
"""Of larger tables every second, third … record is compared."""


def height(frame: pl.LazyFrame) -> int:
    return int(frame.select(pl.len()).collect(engine="streaming").item())


def held(source: Source) -> tuple[pl.LazyFrame, int]:
    """A table to be compared, and its number of records. One that will be compared whole, and so is held in memory in
    any case, is read from its file once for all; of a larger one, each question reads what it needs.
    """
    frame = source.scan()
    rows = getattr(source, "rows", None)
    rows = height(frame) if rows is None else int(rows)
    return (frame.collect(engine="streaming").lazy() if rows <= MOST_ROWS else frame), rows


@dataclass(frozen=True)
class TablePair:
    original: pl.DataFrame = field(repr=False)
    released: pl.DataFrame = field(repr=False)
    rows_original: int
    rows_released: int

    @property
    def sampled(self) -> bool:
        return self.original.height < self.rows_original

    @classmethod
    def of(
        cls,
        original: pl.LazyFrame,
        released: pl.LazyFrame,
        most: int | None = None,
        *,
        rows: tuple[int, int] | None = None,
    ) -> TablePair:
        """The columns that both have; of large tables the same part, row by row if they are equally long."""
        rows = rows or (height(original), height(released))
        part = ComparedPart.of(original, released, rows, most)
        before, after = (part.of_table(frame).collect(engine="streaming") for frame in (original, released))
        return cls(typed(before), typed(after), *rows)


@dataclass(frozen=True)
class ComparedPart:
    """Which columns and rows of two tables are compared."""

    columns: tuple[str, ...]
    step: int
    first: int

    @classmethod
    def of(
        cls, original: pl.LazyFrame, released: pl.LazyFrame, rows: tuple[int, int], most: int | None = None
    ) -> ComparedPart:
        """The columns that both have; rows enough, but not more than ``most`` of the longer one."""
        present = original.collect_schema()
        common = tuple(name for name in released.collect_schema() if name in present)
        if not common:
            raise DataError("the original and the release have no column in common: they can't belong together")
        for records, whose in zip(rows, ("original", "release"), strict=True):
            if not records:
                raise DataError(f"the {whose} has no records")
        step = -(-max(rows) // (most or MOST_ROWS))
        first = int(MEASURING.stream("compared rows").words(np.zeros(1, dtype=np.uint64))[0, 0] % step)
        return cls(common, step, first)

    def has(self, row: pl.Expr) -> pl.Expr:
        """Whether a row of that number is among them."""
        return row % self.step == self.first

    def of_table(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        narrow = frame.select(self.columns)
        return narrow if self.step == 1 else narrow.with_row_index(ROW).filter(self.has(pl.col(ROW))).drop(ROW)


def typed(frame: pl.DataFrame) -> pl.DataFrame:
    """Numbers and dates that are stored as text, read as such where all values of a column can be."""
    found = detect(frame.lazy(), frame.columns)
    return frame.select(_read(frame[name], found[name]).alias(name) for name in frame.columns)


def bound_hierarchies(policy: Policy | None, original: pl.DataFrame) -> dict[str, tuple[BoundHierarchy, pl.Series]]:
    """By quasi-identifier, its hierarchy on the original's values, and these values."""
    found = {}
    for name in () if policy is None else policy.quasi_identifiers:
        if policy is not None and name in original.columns:
            counted = count_groups(original.lazy(), [name], "records").rename({name: "value"})
            try:
                bound = bound_hierarchy(policy, name, counted)
            except DataError as error:
                raise DataError(f"the original: {error}", advice="was that table generalised already?") from None
            if bound is not None:
                found[name] = bound, counted["value"]
    return found


def bound_hierarchy(policy: Policy, name: str, counted: pl.DataFrame) -> BoundHierarchy | None:
    """The hierarchy of an attribute on the original's values, given with their ``records``.

    None where a technique alters the attribute beforehand: the hierarchy is on other values then.
    """
    given = policy.attributes[name]
    if given.steps:
        return None
    column = detect(counted.lazy().select(pl.col("value").alias(name)), [name], _declared(policy, name))[name]
    return (given.hierarchy or FlatHierarchy()).resolve(policy.folder).bind(column, counted)


def recoded(policy: Policy | None, pair: TablePair) -> Recode:
    """For each quasi-identifier that has one level in the release, which label each original value became."""
    found = {
        name: recoded_labels(*hierarchy, pair.released[name])
        for name, hierarchy in bound_hierarchies(policy, pair.original).items()
    }
    return {name: recode for name, recode in found.items() if recode is not None}


def recoded_labels(bound: BoundHierarchy, values: pl.Series, released: pl.Series) -> pl.DataFrame | None:
    """The same for one attribute; None where several levels are in use."""
    shown = set(released.cast(pl.String).unique().to_list())
    for level in range(bound.height):
        labels = bound.generalise(values, level).cast(pl.String)
        if shown <= {*labels.to_list(), "*", None}:
            return pl.DataFrame({"value": values, "label": labels})
    return None


def known_labels(policy: Policy | None, original: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """By quasi-identifier, each value of the original and what its hierarchy may turn it into."""
    return {
        name: pl.DataFrame(
            [
                values.alias("value"),
                *(
                    bound.generalise(values, level).cast(pl.String).alias(f"{level}")
                    for level in range(bound.height + 1)
                    if level or not bound.generalise(values, 0).equals(values, null_equal=True)
                ),
            ]
        )
        for name, (bound, values) in bound_hierarchies(policy, original).items()
    }


def need_columns(frame: pl.DataFrame | pl.LazyFrame, names: Sequence[str], whose: str) -> None:
    present = tuple(frame.collect_schema())
    for name in names:
        if name not in present:
            raise DataError(f"{whose} has no column '{name}'{did_you_mean(name, present)}")


def _declared(policy: Policy, name: str) -> dict[str, Column]:
    said = policy.attributes[name].declared(name)
    return {} if said is None else {name: said}


def _read(values: pl.Series, column: Column) -> pl.Series:
    if column.is_number and values.dtype.is_float():
        return values.set(~values.is_finite(), None)
    if column.is_number and isinstance(values.dtype, pl.String):
        return column.numbers(values.set(~values.cast(pl.Float64, strict=False).is_finite(), None))
    if column.is_number:
        return column.numbers(values)
    return column.dates(values) if column.is_date else values
