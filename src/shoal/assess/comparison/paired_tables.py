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
from shoal.schema import Column
from shoal.schema.registry import did_you_mean
from shoal.schema.type_detection import detect

MEASURING = Randomness(20889)
"""Fixed, so that the same tables give the same figures whenever they are measured; it protects nothing."""
MOST_ROWS = 1_000_000
"""Of larger tables every second, third … record is compared."""
_ROW = "__shoal_row"


def held(source: Source) -> pl.LazyFrame:
    """A table that will be compared whole, and so is held in memory in any case, read from its file once for all.

    Of a larger one, each question reads what it needs.
    """
    frame = source.scan()
    rows = getattr(source, "rows", None)
    if rows is None:
        rows = int(frame.select(pl.len()).collect(engine="streaming").item())
    return frame.collect(engine="streaming").lazy() if rows <= MOST_ROWS else frame


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
    def of(cls, original: pl.LazyFrame, released: pl.LazyFrame, most: int = MOST_ROWS) -> TablePair:
        """The columns that both have; of large tables the same part, row by row if they are equally long."""
        names = tuple(released.collect_schema())
        common = [name for name in names if name in original.collect_schema()]
        if not common:
            raise DataError("the original and the release have no column in common: they can't belong together")
        rows = _height(original, "original"), _height(released, "release")
        step = -(-max(rows) // most)
        first = int(MEASURING.stream("compared rows").words(np.zeros(1, dtype=np.uint64))[0, 0] % step)
        before, after = (_every(frame.select(common), step, first) for frame in (original, released))
        return cls(typed(before), typed(after), *rows)


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


def _height(frame: pl.LazyFrame, whose: str) -> int:
    rows = int(frame.select(pl.len()).collect(engine="streaming").item())
    if not rows:
        raise DataError(f"the {whose} has no records")
    return rows


def _every(frame: pl.LazyFrame, step: int, first: int) -> pl.DataFrame:
    """Each record whose number leaves that rest; all of them where the step is one."""
    if step > 1:
        frame = frame.with_row_index(_ROW).filter(pl.col(_ROW) % step == first).drop(_ROW)
    return frame.collect(engine="streaming")


def _read(values: pl.Series, column: Column) -> pl.Series:
    if column.is_number and values.dtype.is_float():
        return values.set(~values.is_finite(), None)
    if column.is_number:
        return column.numbers(values)
    return column.dates(values) if column.is_date else values
