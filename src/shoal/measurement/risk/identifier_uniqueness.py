"""What is left of direct identifiers: whether it still tells people apart.

A part of a direct identifier that is no longer one, but still unique, is a pseudonym (ISO/IEC 20889, 9.3.2, note 1):
the four last digits of three Aadhaar numbers (MeitY, table 2.d) name nobody, and yet join whatever else has them.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.kernels.group_counts import grouped, is_grouped_at_once
from shoal.kernels.pass_listener import told
from shoal.measurement.risk.equivalence_classes import count_people
from shoal.schema import Counts

COUNTED = 2_000_000
"""Records. Of larger tables some of the values are counted, in all of their records, so that none looks rarer."""
_PART = "part"
_RECORDS = "__shoal_records"


def unique_shares(output: pl.LazyFrame, columns: Sequence[str], person: str | None, rows: int) -> dict[str, float]:
    """By column, the share of people (without ``person``, of records) whose value nobody else has.

    >>> table = pl.LazyFrame({"aadhaar": ["xxxx 7166", "xxxx 0856", "xxxx 0856", None]})
    >>> unique_shares(table, ["aadhaar"], None, 4)
    {'aadhaar': 0.3333333333333333}
    """
    counted = pl.collect_all([_counted(output, name, person, rows) for name in columns], engine="streaming")
    return _shares(columns, counted)


def count_with_uniques(
    output: pl.LazyFrame, attributes: tuple[str, ...], columns: Sequence[str], person: str | None, rows: int
) -> tuple[Counts, dict[str, float]]:
    """The combinations of attributes, and those shares. Of a table that is grouped at once, both in one pass.

    >>> table = pl.LazyFrame({"city": ["Pune", "Pune"], "aadhaar": ["xxxx 7166", "xxxx 0856"]})
    >>> counts, shares = count_with_uniques(table, ("city",), ["aadhaar"], None, 2)
    >>> counts.records.tolist(), shares
    ([2], {'aadhaar': 1.0})
    """
    if person is not None or not attributes or not is_grouped_at_once(rows):
        return count_people(output, attributes, person), unique_shares(output, columns, person, rows)
    # A scan is shared by queries that read the same columns of it.
    narrow = output.select(*dict.fromkeys((*attributes, *columns)))
    queries = [grouped(narrow, attributes, _RECORDS), *(_counted(narrow, name, None, rows) for name in columns)]
    ((found, *uniques),) = told([pl.collect_all(queries, engine="streaming")], lambda _: rows)
    return Counts.from_frame(found, attributes, _RECORDS), _shares(columns, uniques)


def _shares(columns: Sequence[str], counted: Sequence[pl.DataFrame]) -> dict[str, float]:
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
