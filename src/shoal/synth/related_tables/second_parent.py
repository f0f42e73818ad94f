"""A second parent: of an order its article, of a visit its doctor.

A record draws what its second parent is like, given the record; then it chooses one that is, among those drawn. How
often each is chosen is drawn too, given what it is like, so that a few have many as before. Where none is quite like
it, the last attributes are let go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from shoal.kernels.arrays import Floats, Integers
from shoal.randomness import Randomness
from shoal.synth.column_shapes import ColumnShape, ShapeKind
from shoal.synth.conditional_model import (
    ConditionalModel,
    ContextCoding,
    KnownTable,
    conditional_model,
    fit_conditional,
)
from shoal.synth.conditional_tree import Arrays
from shoal.synth.table_coding import Places, TableDescription

_MOST_ATTRIBUTES: Final = 4
_NUMBER, _THERE = "number", "there"
_NAMED: Final = ColumnShape(kind=ShapeKind.CATEGORY, origin="found")


@dataclass(frozen=True)
class SecondParents:
    """Records that can be chosen: the codes of what they are like, and how often each is."""

    codes: Integers
    weights: Floats


@dataclass(frozen=True)
class SecondParentModel:
    table: str
    attributes: ContextCoding
    """What a second parent is told by, the least varied first."""
    likeness: ConditionalModel
    """Of a record, the codes of its second parent, and whether it has one."""
    numbers: ConditionalModel
    """Of a second parent, how many records it has."""

    def candidates(self, known: pl.DataFrame, randomness: Randomness, purpose: str, places: Places) -> SecondParents:
        numbers = self.numbers.draw(known, randomness, (purpose, "often"), places)[_NUMBER].fill_null(0)
        return SecondParents(self.attributes.encode(known), np.maximum(numbers.to_numpy(), 0).astype(np.float64))

    def chosen(
        self, known: pl.DataFrame, among: SecondParents, randomness: Randomness, purpose: str, places: Places
    ) -> pl.Series:
        """For each record the one that it has, by its row; missing where it has none."""
        drawn = self.likeness.draw(known, randomness, (purpose, "like"), places)
        wanted = [drawn[name].cast(pl.Int64).fill_null(0).to_numpy() for name in self.attributes.codes]
        codes = np.stack(wanted, axis=1) if wanted else np.zeros((known.height, 0), dtype=np.int64)
        chance = randomness.stream("synth", purpose, "second parent").uniform(places)
        found = _like(codes, among, chance)
        nobody = drawn[_THERE].to_numpy() != "yes" if _THERE in drawn.columns else np.zeros(len(found), dtype=bool)
        return pl.Series(found).set(pl.Series((found < 0) | nobody), None)

    def saved(self, prefix: str) -> tuple[dict[str, Any], Arrays]:
        likeness, first = self.likeness.saved(f"{prefix}.likeness")
        numbers, second = self.numbers.saved(f"{prefix}.numbers")
        attributes = self.attributes.model_dump(mode="json")
        state = {"table": self.table, "attributes": attributes, "likeness": likeness, "numbers": numbers}
        return state, {**first, **second}


def second_parent_model(state: Mapping[str, Any], arrays: Arrays, prefix: str) -> SecondParentModel:
    """A model from what it ``saved``."""
    return SecondParentModel(
        state["table"],
        ContextCoding.model_validate(state["attributes"]),
        conditional_model(state["likeness"], arrays, f"{prefix}.likeness"),
        conditional_model(state["numbers"], arrays, f"{prefix}.numbers"),
    )


def fit_second_parent(
    known: KnownTable, rows: pl.Series, table: str, seconds: KnownTable, rare: int
) -> SecondParentModel:
    """``rows`` says which record of the second table each record refers to."""
    every = ContextCoding.of(seconds.table, seconds.shapes, rare, seconds.people).codes
    least = sorted(every, key=lambda name: every[name].size)[:_MOST_ATTRIBUTES]
    attributes = ContextCoding(codes={name: every[name] for name in least})
    at = rows.fill_null(0).to_numpy().astype(np.int64)
    codes = attributes.encode(seconds.table)[at]
    like = {name: pl.Series(codes[:, place]).cast(pl.String) for place, name in enumerate(least)}
    there = pl.Series(np.where(rows.is_not_null().to_numpy(), "yes", "no"))
    frame = pl.DataFrame({_THERE: there, **like})
    described = TableDescription(columns=dict.fromkeys(frame.columns, _NAMED), find_constraints=False, rare=rare)
    numbers = np.bincount(at[rows.is_not_null().to_numpy()], minlength=seconds.table.height).astype(np.int64)
    counted = ColumnShape(kind=ShapeKind.WHOLE, origin="found")
    return SecondParentModel(
        table,
        attributes,
        fit_conditional(frame, known, described),
        fit_conditional(
            pl.DataFrame({_NUMBER: numbers}),
            seconds,
            TableDescription(columns={_NUMBER: counted}, find_constraints=False, rare=rare),
        ),
    )


def _like(wanted: Integers, among: SecondParents, chance: Floats) -> Integers:
    """For each record one of those that agree with it on as many of the first attributes as any does; -1 for none."""
    found = np.full(len(wanted), -1, dtype=np.int64)
    usable = np.flatnonzero(among.weights > 0)
    for width in range(wanted.shape[1], -1, -1):
        left = np.flatnonzero(found < 0)
        if not len(left) or not len(usable):
            break
        both = np.concatenate([among.codes[usable, :width], wanted[left, :width]])
        group = np.unique(both, axis=0, return_inverse=True)[1].ravel() if width else np.zeros(len(both), dtype=int)
        own, asked = group[: len(usable)], group[len(usable) :]
        order = np.argsort(own, kind="stable")
        until = np.cumsum(among.weights[usable][order])
        starts, ends = np.searchsorted(own[order], asked, "left"), np.searchsorted(own[order], asked, "right")
        there = ends > starts
        low = np.concatenate([[0.0], until])[starts]
        high = until[np.maximum(ends, 1) - 1]
        picked = np.searchsorted(until, low + chance[left] * (high - low), side="right")
        picked = np.clip(picked, starts, np.maximum(ends, 1) - 1)
        found[left[there]] = usable[order[picked[there]]]
    return found
