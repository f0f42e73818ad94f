"""Edit rules (ISO/IEC 20889, 9.7.3): how many records meet a condition that none should, in a streamed pass.

A record for which it can't be told is counted apart: one of the values is missing, is suppressed, or is no value of the
original (a label of several, a pseudonym). So generalising breaks no rule, and hides no breach that is there to see.

>>> table = pl.LazyFrame({"sex": ["male", "male", "*"], "ward": ["gynaecology", "surgery", "gynaecology"]})
>>> condition = Expression("sex = 'male' AND ward = 'gynaecology'", (Column("sex"), Column("ward")))
>>> known = {"sex": pl.Series(["male", "female"])}
>>> count_violations(table, {"no-male-gynaecology": condition}, known)
{'no-male-gynaecology': RuleCount(records=3, violations=1, undecided=1)}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from polars.exceptions import PolarsError

from shoal.errors import DataError
from shoal.schema.columns import Column
from shoal.schema.expressions import Expression
from shoal.schema.values import ValueType

KnownValues = Mapping[str, pl.Series]
"""By column of text, the values that the original has."""


@dataclass(frozen=True)
class RuleCount:
    records: int
    violations: int
    undecided: int
    """Records of which it can't be told."""


def known_values(original: pl.LazyFrame, columns: Mapping[str, Column]) -> dict[str, pl.Series]:
    """Distinct values of the columns of text, each in a streamed pass."""
    texts = [name for name, column in columns.items() if column.type is ValueType.TEXT]
    return {
        name: original.select(pl.col(name).cast(pl.String).drop_nulls().unique()).collect(engine="streaming")[name]
        for name in texts
    }


def count_violations(
    table: pl.LazyFrame, rules: Mapping[str, Expression], known: KnownValues | None = None
) -> dict[str, RuleCount]:
    """By the name of the rule. ``known`` says which values of text columns are the original's."""
    if not rules:
        return {}
    schema = table.collect_schema()
    readable = {one.meta.output_name(): one for rule in rules.values() for one in rule.readable(schema)}
    for name, values in (known or {}).items():
        if name in readable:
            readable[name] = pl.when(readable[name].is_in(values.implode())).then(readable[name]).alias(name)
    met = [rule.expression.alias(str(place)) for place, rule in enumerate(rules.values())]
    counted = [pl.len().alias("records")]
    for place in range(len(met)):
        outcome = pl.col(str(place))
        counted += [outcome.sum().alias(f"met {place}"), outcome.null_count().alias(f"open {place}")]
    chosen = list(readable.values())
    _refuse_uncomputable(pl.DataFrame(schema=schema).lazy().select(chosen).select(met), tuple(rules), tuple(readable))
    # Beside other columns: selected alone, a CASE with constants is worked out for one of its branches (Polars 2.1).
    row = table.select(chosen).with_columns(met).select(counted).collect(engine="streaming").row(0, named=True)
    return {
        name: RuleCount(row["records"], int(row[f"met {place}"] or 0), row[f"open {place}"])
        for place, name in enumerate(rules)
    }


def _refuse_uncomputable(nothing: pl.LazyFrame, names: Sequence[str], columns: Sequence[str]) -> None:
    """On no records: a rule is true or false of a record, and compares numbers with numbers and text with text."""
    try:
        kinds = nothing.collect().schema.values()
    except PolarsError:
        listed = ", ".join(f"'{name}'" for name in columns)
        raise DataError(f"rules: what is compared is of different types, in one of {listed}") from None
    for name, kind in zip(names, kinds, strict=True):
        if kind not in (pl.Boolean(), pl.Null()):
            raise DataError(f"rules: '{name}' is neither true nor false of a record")
