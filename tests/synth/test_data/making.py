"""Values of a generator, as a schema would ask for them."""

from __future__ import annotations

import polars as pl

from shoal.discover.recognisers.recogniser_set import default_recognisers
from shoal.randomness import Randomness
from shoal.synth.test_data import TableSchema, rows_of

MADE = 2_000


def made(column: object, rows: int = MADE, seed: int = 7) -> pl.Series:
    schema = TableSchema.of({"shoal": 1, "columns": {"made": column}})
    return pl.concat(rows_of(schema, rows, Randomness(seed=seed)))["made"]


def recognised(column: object, recogniser: str) -> int:
    """How many of the values the recogniser takes for its own."""
    found = next(one for one in default_recognisers() if one.key == recogniser)
    return found.count(made(column))
