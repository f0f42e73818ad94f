"""Hybrid data: each real record merged with the synthetic one nearest to it (Dandekar, Domingo-Ferrer and Sebé 2002).

Of two numbers a weighted mean is taken, of two categories one at random, the real one as often as the weight says. So
the table stays closer to the real one than a synthetic one does. Extremes and rare values are cut as for a model
before they are merged, and constraints hold in every record.

**Risk:** each row is a real person's, blurred. The larger the weight, the more of the person is in it, and a row may
come out as it was.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import FieldName, InputError
from shoal.kernels.arrays import Integers
from shoal.randomness import Randomness
from shoal.synth.column_codes import CategoryCodes, NumberCodes
from shoal.synth.method import FitOptions
from shoal.synth.methods.sequential import SequentialModel, fit_sequential
from shoal.synth.mixed_table import MixedTable
from shoal.synth.table_coding import Places, TableDescription, read_table

_COMPARED: Final = 2_048
"""Real records that are compared with as many synthetic ones: the work grows with the rows, not their square."""


def hybrid(
    frame: pl.DataFrame, description: TableDescription, randomness: Randomness, weight: float = 0.5
) -> MixedTable:
    """The table merged with synthetic records. ``weight`` is the share of the real one."""
    if not 0 < weight < 1:
        raise InputError("has to lie between 0 and 1, as 0.5", field=FieldName("weight"))
    model = fit_sequential(frame, FitOptions(description=description))
    coding = model.coding
    table = coding.enforcement.reduced(read_table(frame, coding.shapes))
    codes = coding.encode(frame)
    parts = []
    for first in range(0, frame.height, _COMPARED):
        real = codes[first : first + _COMPARED]
        drawn = model.codes(len(real), randomness, first)
        near = drawn[_nearest(real, drawn, model)]
        places = np.arange(first, first + len(real), dtype=np.uint64)
        merged = {
            name: _merged(one, table[name][first : first + _COMPARED], real[:, at], near[:, at], mix)
            for at, (name, one) in enumerate(coding.codes.items())
            for mix in [_Mix(randomness, name, places, weight)]
        }
        parts.append(coding.written(coding.enforcement.restored(pl.DataFrame(merged)), places))
    whole = pl.concat(parts)
    whole = whole.with_columns(whole[name].cast(frame[name].dtype, strict=False) for name in frame.columns)
    same = _unchanged(frame, whole)
    anew = (
        "rare values and extremes were cut before they were merged",
        "identifiers are made anew, free text is left empty",
    )
    told = _statement(weight, same, frame.height)
    return MixedTable(whole, dict.fromkeys(frame.columns, frame.height), told, made_anew=anew)


class _Mix:
    """What is left to chance in one column of some records."""

    def __init__(self, randomness: Randomness, name: str, places: Places, weight: float) -> None:
        stream = randomness.stream("synth", "hybrid", name)
        self.weight = weight
        self.takes_real: NDArray[np.bool_] = stream.uniform(places) < weight
        self.value = stream.uniform(places, lane=1)


def _merged(
    one: NumberCodes | CategoryCodes, values: pl.Series, real: Integers, near: Integers, mix: _Mix
) -> pl.Series:
    chosen = one.decode(np.where(mix.takes_real, real, near), mix.value)
    if isinstance(one, CategoryCodes) or not one.lows:
        return chosen
    numbers = one.size - len(one.lows)
    both = (real >= numbers) & (near >= numbers)
    own = np.clip(values.fill_null(one.lows[0]).to_numpy(), one.lows[0], one.highs[-1])
    other = one.decode(near, mix.value).fill_null(one.lows[0]).to_numpy()
    mean = mix.weight * (own - one.lows[0]) + (1 - mix.weight) * (other - one.lows[0])
    blurred = one.lows[0] + np.rint(mean / one.step).astype(np.int64) * one.step
    return chosen.set(pl.Series(both), None).fill_null(pl.Series(blurred).set(pl.Series(~both), None))


def _nearest(real: Integers, drawn: Integers, model: SequentialModel) -> Integers:
    """For each real record the drawn one that differs least, by ranks of what has an order, and else by being alike."""
    apart = np.zeros((len(real), len(drawn)), dtype=np.float32)
    for at, one in enumerate(model.coding.codes.values()):
        if one.ordered:
            scaled = [codes[:, at].astype(np.float32) / max(1, one.size - 1) for codes in (real, drawn)]
            apart += np.abs(scaled[0][:, None] - scaled[1])
        else:
            apart += real[:, at][:, None] != drawn[:, at]
    found: Integers = np.argmin(apart, axis=1).astype(np.int64)
    return found


def _unchanged(frame: pl.DataFrame, whole: pl.DataFrame) -> int:
    same = [frame[name].eq_missing(whole[name]).alias(str(at)) for at, name in enumerate(frame.columns)]
    return int(pl.DataFrame(same).select(pl.all_horizontal(pl.all()).sum()).item())


def _statement(weight: float, same: int, rows: int) -> tuple[str, ...]:
    return (
        f"each row is a real person's, merged with a synthetic one: {weight:.0%} of it is the person's own",
        f"{same:,} of {rows:,} rows came out as they were",
        "the larger that share, the more of the person is in the row; this is not synthetic data of nobody",
    )
