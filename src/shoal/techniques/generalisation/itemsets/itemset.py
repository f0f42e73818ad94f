"""k^m-anonymity of sets of items (Terrovitis, Mamoulis and Kalnis, 2008; MeitY annex 3): baskets, diagnoses, visits.

A cell holds a set, ``A;B;C``. Whoever knows some items of a person (a purchase, a diagnosis) can look for the records
that have them all. After this technique **every combination of at most m items that occurs, occurs in the records of
at least k people**: one who knows m items finds k people or none. One who knows more than m may still find fewer.

Two means, both of which leave what is said of a person true:

- with a ``hierarchy`` of the items, some are generalised, each to the same label in all records: see ``itemset_cut``;
- with ``suppress: true``, items are left out of single records, where a rare combination remains: see
  ``itemset_suppress``. So an item that isn't there isn't denied.

The least loss decides which and how far: see ``itemset_search``.

k counts people where the policy names a person column (records that name no one count as one person), otherwise
records. Items are released sorted and once each, so that neither order nor repetition tells anything. An empty set
stays empty, and so may others become. A missing value stays missing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from shoal.errors import DataError
from shoal.hierarchy.base import BoundHierarchy
from shoal.schema.columns import Column
from shoal.schema.roles import Role
from shoal.schema.values import ValueType
from shoal.techniques.base import EACH_PARTIALLY, Context, Scope, Step, table_a1
from shoal.techniques.generalisation.generalise import HierarchyTechnique, Inline
from shoal.techniques.generalisation.itemsets.baskets import Baskets
from shoal.techniques.generalisation.itemsets.hierarchy_cut import ItemTree
from shoal.techniques.generalisation.itemsets.least_loss import least_loss
from shoal.techniques.strata import stratum_codes


class Itemset(HierarchyTechnique):
    key = "itemset"
    facts = table_a1(
        "k^m-anonymity of sets",
        "9.3.3 and 9.6",
        EACH_PARTIALLY,
        types=frozenset({ValueType.TEXT, ValueType.INTEGER}),
        roles=frozenset({Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE}),
    )

    k: int = Field(ge=2, description="How many must have each combination: people where the policy names them.")
    m: int = Field(ge=1, le=10, description="How many items someone may know of a person.")
    separator: str = Field(default=";", min_length=1, description="Stands between the items of a set.")
    hierarchy: Inline | None = Field(default=None, description="Of the items, written in place.")
    suppress: bool = Field(default=True, description="Whether items may be left out of records.")

    @model_validator(mode="after")
    def _has_means(self) -> Self:
        if self.hierarchy is None and not self.suppress:
            raise ValueError("without a hierarchy items have to be left out: give one, or suppress: true")
        return self

    def refuse(self, column: Column) -> str | None:
        if self.hierarchy is not None and (reason := self.hierarchy.refuse(_item(column))):
            return reason
        return super().refuse(column)

    def bind(self, column: Column, context: Context) -> ItemsetStep:
        bound = None
        if self.hierarchy is not None:
            cells = context.counts[(column.name,)].value_counts(column.name)
            exploded = _exploded(cells["value"], self.separator).join(cells.with_row_index("record"), on="record")
            distinct = exploded.group_by("item").agg(pl.col("records").sum()).sort("item").rename({"item": "value"})
            bound = self.hierarchy.bind(_item(column), distinct)
        return ItemsetStep(column, self.k, self.m, self.separator, bound, self.suppress, context.person)

    def leaves(self, column: Column) -> Column:
        return _item(column)


@dataclass(frozen=True)
class ItemsetStep(Step):
    """
    >>> from shoal.randomness import Stream
    >>> frame = pl.DataFrame({"had": ["tea;cake", "cake;tea", "tea;rum", "", None]})
    >>> Itemset(k=2, m=2).bind(Column("had"), Context({}, Stream(bytes(32)))).apply(frame)["had"].to_list()
    ['cake;tea', 'cake;tea', 'tea', '', None]
    """

    scope: ClassVar[Scope] = Scope.TABLE

    column: Column
    k: int
    m: int
    separator: str
    hierarchy: BoundHierarchy | None
    suppress: bool
    person: str | None = None

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.column.name, *((self.person,) if self.person else ()))))

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        name = self.column.name
        cells = _exploded(frame[name], self.separator)
        items = cells["item"].unique().sort()
        people = stratum_codes(frame, (self.person,)) if self.person else np.arange(frame.height)
        codes = cells["item"].cast(pl.Enum(items)).to_physical().cast(pl.Int64).to_numpy()
        baskets = Baskets(cells["record"].cast(pl.Int64).to_numpy(), codes, np.ones(len(codes)), people)
        texts, tree = self._tree(items)
        release = least_loss(baskets, tree, self.k, self.m, may_leave_out=self.suppress)
        labels = texts.gather(tree.at(release.levels)[0][codes])
        sets = self._joined(cells.select("record", item=labels).filter(pl.Series(release.stays)))
        return frame.with_columns(self._beside(frame[name], sets).alias(name))

    def _tree(self, items: pl.Series) -> tuple[pl.Series, ItemTree]:
        """All labels as texts, and the items' hierarchy in numbers that point to them."""
        height = self.hierarchy.height if self.hierarchy else 0
        rungs = [items, *(self.hierarchy.generalise(items, level) for level in range(1, height + 1) if self.hierarchy)]
        texts = pl.concat(rungs).unique().sort()
        if self.hierarchy and texts.str.contains(self.separator, literal=True).any():
            raise DataError(
                f"column '{self.column.name}': labels of its hierarchy hold the separator of its items",
                advice="choose other labels",
            )
        labels = [rung.cast(pl.Enum(texts)).to_physical().cast(pl.Int64).to_numpy() for rung in rungs]
        losses = [self.hierarchy.loss(items, level) for level in range(1, height + 1) if self.hierarchy]
        return texts, ItemTree(np.array(labels, dtype=np.int64), np.array([np.zeros(len(items)), *losses]))

    def _joined(self, cells: pl.DataFrame) -> pl.DataFrame:
        distinct = cells.unique().sort("record", "item")
        return distinct.group_by("record", maintain_order=True).agg(pl.col("item").str.join(self.separator))

    def _beside(self, before: pl.Series, sets: pl.DataFrame) -> pl.Series:
        """Each record's set; empty where nothing is left, missing where it was."""
        left = pl.DataFrame({"missing": before.is_null()}).with_row_index("record")
        joined = left.join(sets, on="record", how="left", maintain_order="left")
        return joined.select(pl.when("missing").then(None).otherwise(pl.col("item").fill_null(""))).to_series()


def _item(column: Column) -> Column:
    """The column as one of items: always text."""
    return replace(column, type=ValueType.TEXT, storage=pl.String(), scale=0, date_format=None)


def _exploded(sets: pl.Series, separator: str) -> pl.DataFrame:
    """One line for each record (by its place) and item, sorted, none twice, without spaces around the items.

    >>> _exploded(pl.Series(["b; a;b", None, ";"]), ";").rows()
    [(0, 'a'), (0, 'b')]
    """
    split = pl.DataFrame({"item": sets.cast(pl.String).str.split(separator)}).with_row_index("record")
    items = split.explode("item").with_columns(pl.col("item").str.strip_chars())
    return items.filter(pl.col("item").is_not_null() & (pl.col("item") != "")).unique().sort("record", "item")
