"""What is left of direct identifiers: whether it still tells people apart.

A part of a direct identifier that is no longer one, but still unique, is a pseudonym (ISO/IEC 20889, 9.3.2, note 1):
the four last digits of three Aadhaar numbers (MeitY, table 2.d) name nobody, and yet join whatever else has them.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

COUNTED = 2_000_000
"""Records. Of larger tables some of the values are counted, in all of their records, so that none looks rarer."""
_PART = "part"


def unique_shares(output: pl.LazyFrame, columns: Sequence[str], person: str | None, rows: int) -> dict[str, float]:
    """By column, the share of people (without ``person``, of records) whose value nobody else has.

    >>> table = pl.LazyFrame({"aadhaar": ["xxxx 7166", "xxxx 0856", "xxxx 0856", None]})
    >>> unique_shares(table, ["aadhaar"], None, 4)
    {'aadhaar': 0.3333333333333333}
    """
    counted = pl.collect_all([_counted(output, name, person, rows) for name in columns], engine="streaming")
    return {name: _share(*one.row(0)) for name, one in zip(columns, counted, strict=True)}


def _counted(output: pl.LazyFrame, name: str, person: str | None, rows: int) -> pl.LazyFrame:
    value = pl.col(name).cast(pl.String)
    some = pl.col(_PART) % max(1, -(-rows // COUNTED)) == 0
    seen = output.filter(value.is_not_null()).select(value.hash().alias(_PART), *([person] if person else []))
    held = seen.filter(some).unique() if person else seen.filter(some)
    counted = held.group_by(_PART).len("people")
    return counted.select((pl.col("people") == 1).sum().alias("alone"), pl.col("people").sum())


def _share(alone: int, people: int) -> float:
    return alone / people if people else 0.0
