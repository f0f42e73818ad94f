"""Equivalence classes of a table and the risk of re-identification they leave (PDPC annex D; ISO/IEC 20889, 7.2).

Prosecutor: the attacker knows that the person is in the table; the chance is 1 ÷ the class size. Journalist: the
attacker knows it of nobody; without a population table the table itself is taken for the population, so the figure is
the prosecutor's (an upper bound). Marketer: the share of people that would be picked rightly on average.

A record whose quasi-identifiers are all ``*`` is suppressed: it belongs to no class. If that is so for every record,
nothing tells the records apart and they are one class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.privacy import Classes
from shoal.schema.grouping import count_groups

SUPPRESSED = "*"


@dataclass(frozen=True)
class Risk:
    k: int
    prosecutor_max: float
    prosecutor_average: float
    journalist_max: float
    marketer: float
    uniques: int

    @classmethod
    def of(cls, people: NDArray[np.int64]) -> Risk:
        """The risk that classes of these sizes leave."""
        if not len(people):
            return cls(0, 0.0, 0.0, 0.0, 0.0, 0)
        smallest = int(people.min())
        average = len(people) / int(people.sum())
        return cls(smallest, 1 / smallest, average, 1 / smallest, average, int((people == 1).sum()))


@dataclass(frozen=True)
class Measurement:
    rows: int
    suppressed: int
    classes: Classes
    diversity: Mapping[str, int] = field(default_factory=dict)
    """Per sensitive attribute, the fewest distinct values that any class holds."""
    released: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False, compare=False)
    """The distinct combinations of quasi-identifying values, starred ones too, with their ``records``."""

    @property
    def risk(self) -> Risk:
        return Risk.of(self.classes.people)

    @property
    def k(self) -> int:
        return self.risk.k


def measure_classes(
    frame: pl.LazyFrame, quasi: tuple[str, ...], person: str | None = None, sensitive: tuple[str, ...] = ()
) -> Measurement:
    """Group the table by its quasi-identifiers, in one streaming pass, and read the figures off the classes."""
    grouped = _grouped(frame, quasi, person, sensitive)
    starred = _all_starred(grouped, quasi)
    if starred.all():
        starred = ~starred
    kept = grouped.filter(~starred)
    suppressed = int(grouped.filter(starred)["records"].sum())
    sizes = Classes(kept["records"].cast(pl.Int64).to_numpy(), kept["people"].cast(pl.Int64).to_numpy())
    diversity = {name: int(kept[f"distinct {name}"].min() or 0) for name in sensitive}  # type: ignore[arg-type]
    released = grouped.select(*quasi, "records")
    return Measurement(int(sizes.records.sum()) + suppressed, suppressed, sizes, diversity, released)


def _grouped(
    frame: pl.LazyFrame, quasi: tuple[str, ...], person: str | None, sensitive: tuple[str, ...]
) -> pl.DataFrame:
    if quasi and person is None and not sensitive:
        return count_groups(frame, quasi, "records").with_columns(pl.col("records").alias("people"))
    records = pl.len().alias("records")
    people = (pl.len() if person is None else pl.col(person).n_unique()).alias("people")
    figures = [records, people, *(pl.col(name).n_unique().alias(f"distinct {name}") for name in sensitive)]
    if quasi:
        return frame.group_by(quasi).agg(figures).collect(engine="streaming")
    return frame.select(figures).collect(engine="streaming").filter(pl.col("records") > 0)


def _all_starred(grouped: pl.DataFrame, quasi: tuple[str, ...]) -> pl.Series:
    if not quasi:
        return pl.Series([False] * grouped.height, dtype=pl.Boolean)
    stars = (pl.col(name).cast(pl.String).eq_missing(SUPPRESSED) for name in quasi)
    return grouped.select(pl.all_horizontal(*stars).alias("starred"))["starred"]
