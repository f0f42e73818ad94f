"""Records that meet a condition, and tables in which small groups are as large as others.

A condition steers the draw: codes of a column with which it can't be true, whatever the other columns are, are not
drawn, and records go on in proportion to the chance of those codes that are left (sequential importance resampling).
What is left to several columns together is met by drawing again. Either way the work is bounded, a condition that
hardly anybody meets is told after a few blocks, and memory does not grow with the number of records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Final

import numpy as np
import polars as pl

from shoal.errors import FieldName, InputError
from shoal.kernels.arrays import Integers, Mask
from shoal.randomness import Randomness
from shoal.schema.expressions import Expression, names_in, of_one_record
from shoal.schema.registry import did_you_mean
from shoal.schema.type_detection import detect
from shoal.synth.column_codes import CategoryCodes
from shoal.synth.constraints import looked_up
from shoal.synth.graphical_model.drawing import systematic
from shoal.synth.method import BLOCK, SynthesisModel, blocks
from shoal.synth.methods.sequential import SequentialModel
from shoal.synth.table_coding import TableCoding

_TRIED: Final = 16
"""Blocks after which it is judged how many more a condition would take."""
_MOST: Final = 256
"""Blocks that are drawn at most where few records are asked for, …"""
_LONGEST: Final = 64
"""… and how many times as many as would do if all records met the condition."""
_MOST_GROUPS: Final = 50
"""That are balanced."""
_PROBED: Final = 16
"""Values of a range that a condition is tried on."""
_ALIKE: Final = 4
"""Records of a block that may go back to the same beginning, on average."""
_ABOUT_NULLS: Final = re.compile(r"(?i)\bnull|coalesce|\bcase\b")

Possible = Mapping[int, Mask]
"""Of columns of codes, by their place, the codes that may be drawn."""
Draw = Callable[[int], pl.DataFrame]
"""Records of a block, by its number."""
Test = Callable[[pl.DataFrame], pl.Series]


@dataclass(frozen=True)
class DrawCondition:
    """Which records are wanted of those that a model draws."""

    where: str | None = None
    """What is true of each, …"""
    never: tuple[str, ...] = ()
    """… and what is not; of what can't be told, either may be."""

    @property
    def asked_by(self) -> str:
        return "edit_rules" if self.where is None else "where"


def batches_where(
    model: SynthesisModel, where: str | DrawCondition, rows: int, randomness: Randomness
) -> Iterator[pl.DataFrame]:
    """So many records of which an expression such as ``sex = 'F' AND age > 60`` is true."""
    wanted = DrawCondition(where) if isinstance(where, str) else where
    return _Condition.wanted(model, wanted, randomness, _some(rows)).batches(model, rows, randomness, wanted.asked_by)


def batches_balanced(
    model: SynthesisModel, column: str, rows: int, randomness: Randomness, where: str | DrawCondition | None = None
) -> Iterator[pl.DataFrame]:
    """So many records in which every category of a column is as frequent as any other, mixed; a missing value is none.
    All else is as among the records of that category, or those of them that meet a condition.
    """
    apart = randomness.derived("synth", "balanced")
    asked = where if isinstance(where, DrawCondition) else DrawCondition(where)
    every = _Condition.wanted(model, asked, apart, BLOCK)
    groups = _categories(model, column, pl.concat(every.batches(model, 1, apart, "where", whole=True)), every)
    supplies = [
        _Supply(
            (every & _Condition.equal(model, column, group)).batches(
                model, _share(rows, place, groups), part, "balance"
            )
        )
        for place, group in enumerate(groups)
        for part in [randomness.derived("synth", "balanced", str(place))]
    ]
    order, given = randomness.stream("synth", "balanced"), 0
    for lane, (first, size) in enumerate(blocks(rows)):
        until = first + size
        wanted = [_share(until, place, groups) - _share(given, place, groups) for place in range(len(groups))]
        given = until
        yield pl.concat([supply.take(one) for supply, one in zip(supplies, wanted, strict=True)])[
            order.permutation(size, lane)
        ]


def _share(rows: int, place: int, groups: list[object]) -> int:
    return rows // len(groups) + (place < rows % len(groups))


class _Supply:
    """Records from batches, so many at a time."""

    def __init__(self, source: Iterator[pl.DataFrame]) -> None:
        self._source = source
        self._left: pl.DataFrame | None = None

    def take(self, rows: int) -> pl.DataFrame:
        left = next(self._source) if self._left is None else self._left
        while left.height < rows:
            left = pl.concat([left, next(self._source)])
        self._left = left[rows:]
        return left[:rows]


@dataclass(frozen=True)
class _Condition:
    """Which codes may be drawn, and which records are kept of those that were."""

    possible: Possible = field(default_factory=dict)
    tests: tuple[Test, ...] = ()

    @classmethod
    def of(cls, model: SynthesisModel, where: str, randomness: Randomness, some: int) -> _Condition:
        drawn = model.sample(some, randomness, 0)
        expression = _bound(where, drawn)
        possible: dict[int, Mask] = {}
        if isinstance(model, SequentialModel) and not _ABOUT_NULLS.search(where):
            for column in expression.reads:
                possible |= _possible(model.coding, column, lambda values: _not_false(expression, values, drawn))
        return cls(possible, (lambda records: _met(expression, records),))

    @classmethod
    def never(cls, model: SynthesisModel, condition: str, randomness: Randomness, some: int) -> _Condition:
        """Records of which it is true are left out; what can't be told stays."""
        expression = _bound(condition, model.sample(some, randomness, 0), "edit_rules")
        return cls(tests=(lambda records: ~_met(expression, records),))

    @classmethod
    def wanted(cls, model: SynthesisModel, wanted: DrawCondition, randomness: Randomness, some: int) -> _Condition:
        every = cls() if wanted.where is None else cls.of(model, wanted.where, randomness, some)
        for condition in wanted.never:
            every &= cls.never(model, condition, randomness, some)
        return every

    @classmethod
    def equal(cls, model: SynthesisModel, column: str, value: object) -> _Condition:
        test = _equals(column, value)
        return cls(_possible(model.coding, column, test) if isinstance(model, SequentialModel) else {}, (test,))

    def __and__(self, other: _Condition) -> _Condition:
        both = {place: mask & self.possible.get(place, mask) for place, mask in other.possible.items()}
        return _Condition({**self.possible, **both}, self.tests + other.tests)

    def kept(self, drawn: pl.DataFrame) -> pl.DataFrame:
        for test in self.tests:
            drawn = drawn.filter(test(drawn))
        return drawn

    def batches(
        self, model: SynthesisModel, rows: int, randomness: Randomness, asked_by: str, *, whole: bool = False
    ) -> Iterator[pl.DataFrame]:
        """So many records, or ``whole`` blocks until there are as many."""
        draw, found = _draw_of(model, self.possible, randomness), 0
        for block in count():
            matching = self.kept(draw(block))
            matching = matching if whole else matching.head(rows - found)
            found += matching.height
            yield matching
            if found >= rows:
                return
            needed = (block + 1) * rows / max(found, 0.5)
            if block + 1 >= _TRIED and needed > _MOST + _LONGEST * rows / BLOCK:
                tried = f"{found:,} of {(block + 1) * BLOCK:,} that were drawn"
                raise InputError(f"hardly a record meets the condition: {tried}", field=FieldName(asked_by))


def _some(rows: int) -> int:
    return min(BLOCK, max(1_000, rows))


def _equals(column: str, group: object) -> Test:
    return lambda drawn: drawn[column] == group


def _categories(model: SynthesisModel, column: str, drawn: pl.DataFrame, every: _Condition) -> list[object]:
    """Of a column, those that a model without a condition has; else those of records that were drawn."""
    if column not in drawn.columns:
        near = did_you_mean(column, tuple(drawn.columns))
        raise InputError(f"there is no column '{column}'{near}", field=FieldName("balance"))
    found = drawn[column].drop_nulls().unique().sort().to_list()
    if isinstance(model, SequentialModel) and not every.tests:
        codes = model.coding.codes.get(column)
        if isinstance(codes, CategoryCodes):
            named = pl.DataFrame({column: codes.names})
            places = np.arange(named.height, dtype=np.uint64)
            found = model.coding.written(named, places, [column])[column].to_list()
    if not 2 <= len(found) <= _MOST_GROUPS:
        raise InputError(
            f"column '{column}' has {len(found):,} categories: it takes 2 to {_MOST_GROUPS}", field=FieldName("balance")
        )
    return found


def _bound(where: str, drawn: pl.DataFrame, asked_by: str = "where") -> Expression:
    try:
        named = names_in(of_one_record(where))
    except ValueError as error:
        raise InputError(str(error), field=FieldName(asked_by)) from None
    unknown = [name for name in named if name not in drawn.columns]
    if unknown:
        near = did_you_mean(unknown[0], tuple(drawn.columns))
        raise InputError(f"there is no column '{unknown[0]}'{near}", field=FieldName(asked_by))
    expression = Expression.bind(where, detect(drawn.lazy(), list(named)))
    if not isinstance(expression.evaluate(drawn).dtype, pl.Boolean):
        raise InputError("the expression is neither true nor false", field=FieldName(asked_by))
    return expression


def _met(expression: Expression, drawn: pl.DataFrame) -> pl.Series:
    return expression.evaluate(drawn).fill_null(value=False)


def _not_false(expression: Expression, values: pl.DataFrame, like: pl.DataFrame) -> pl.Series:
    """Whether a condition may be true where only one column is known: by SQL's logic it is false or unknown else."""
    others = [
        pl.lit(None, dtype=like.schema[name]).alias(name) for name in expression.reads if name not in values.columns
    ]
    return expression.evaluate(values.with_columns(others)).fill_null(value=True)


def _possible(coding: TableCoding, column: str, test: Test) -> dict[int, Mask]:
    """The codes some values of which pass a test. Nothing where the column is added up of others."""
    told = coding.enforcement.look_ups.get(column)
    source = column if told is None else told.determinant
    if source not in coding.codes or column in coding.enforcement.differences:
        return {}
    one, at = coding.codes[source], list(coding.codes).index(source)
    every = np.repeat(np.arange(one.size), _PROBED)
    values = one.decode(every, np.tile(np.linspace(0, 1 - 1e-9, _PROBED), one.size)).alias(source)
    if isinstance(one, CategoryCodes) and len(one.names) > one.size:
        return {}
    read = values if told is None else looked_up(values, told)
    places = np.zeros(len(every), dtype=np.uint64)
    passed = test(coding.written(read.alias(column).to_frame(), places, [column])).fill_null(value=False)
    possible: Mask = np.asarray(passed.to_numpy().reshape(one.size, _PROBED).any(axis=1), dtype=np.bool_)
    return {at: possible}


def _draw_of(model: SynthesisModel, possible: Possible, randomness: Randomness) -> Draw:
    if not isinstance(model, SequentialModel) or not possible:
        return lambda block: model.sample(BLOCK, randomness, block * BLOCK)
    return lambda block: _steered(model, possible, randomness, block * BLOCK)


def _steered(model: SequentialModel, possible: Possible, randomness: Randomness, first: int) -> pl.DataFrame:
    """Records of a block, none of whose codes is impossible; fewer where few beginnings lead there."""
    stream, chance = randomness.stream("synth", "where"), randomness.stream("synth", "where", "resampling")
    places = np.arange(first, first + BLOCK, dtype=np.uint64)
    codes = np.zeros((BLOCK, len(model.trees)), dtype=np.int64)
    beginning = np.arange(BLOCK)
    for lane, tree in enumerate(model.trees):
        shares, leaves = tree.shares.astype(np.float64), tree.leaves(codes)
        if tree.target in possible:
            left = shares * possible[tree.target]
            weights = (left.sum(axis=1) / shares.sum(axis=1))[leaves]
            if not weights.any():
                return model.coding.decode(codes[:0], randomness, first)
            chosen = _resampled(weights, float(chance.uniform(places[:1], lane)[0]))
            codes, beginning, leaves, shares = codes[chosen], beginning[chosen], leaves[chosen], left
        codes[:, tree.target] = systematic(shares, leaves, stream, places, lane)
    kept = np.sort(chance.permutation(BLOCK, len(model.trees))[: _ALIKE * len(np.unique(beginning))])
    return model.coding.decode(codes[kept], randomness, first)


def _resampled(weights: np.ndarray, start: float) -> Integers:
    until = np.cumsum(weights)
    points = (np.arange(len(weights)) + start) / len(weights) * until[-1]
    found: Integers = np.minimum(np.searchsorted(until, points, side="right"), len(weights) - 1).astype(np.int64)
    return found
