"""Several rows per person → one (ISO/IEC 20889, annex D): a binary, a transposed or a combined view.

Attributes that are the same in all records of a person stay one column. For those that differ:

| view | a person's values become | kept | lost |
|---|---|---|---|
| binary | one column per value, 1 or 0 | who has which value | how often, in which order, which values go together |
| transposed | one column per record: ``month 1``, ``month 2`` … | order, and which values go together | nothing |
| combined | one cell: ``January;March`` | which values, in order of appearance | how often, and which go together |

Attributes whose relation has to survive can be joined into one first (``together``). The binary view has a column for
each value and the transposed one for each record, so both can get very wide: ``most`` is where they are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import polars as pl

from shoal.errors import DataError, FieldName, FieldText
from shoal.schema.registry import did_you_mean

MOST = 500
"""Columns of a view, at most."""


class NormalisedView(StrEnum):
    BINARY = "binary"
    TRANSPOSED = "transposed"
    COMBINED = "combined"


@dataclass(frozen=True)
class Normalised:
    """One record per person."""

    frame: pl.DataFrame
    records: int
    varying: tuple[str, ...]
    """Attributes of which somebody has several values."""

    def to_dict(self) -> dict[str, object]:
        return {
            "people": self.frame.height,
            "records": self.records,
            "columns": self.frame.width,
            "varying": list(self.varying),
        }


def normalise(  # noqa: PLR0913  # one argument per choice
    frame: pl.LazyFrame,
    person: str,
    view: NormalisedView,
    *,
    together: Sequence[str] = (),
    separator: str = ";",
    most: int = MOST,
) -> Normalised:
    """The view of a table with one record per person, people in the order in which they first appear.

    >>> visits = pl.LazyFrame({"id": [1, 1, 2], "sex": ["F", "F", "M"], "month": ["May", "June", "May"]})
    >>> normalise(visits, "id", NormalisedView.COMBINED).frame.rows()
    [(1, 'F', 'May;June'), (2, 'M', 'May')]
    >>> normalise(visits, "id", NormalisedView.TRANSPOSED).frame.columns
    ['id', 'sex', 'month 1', 'month 2']
    """
    _refuse_unknown(frame, (person, *together))
    table = _joined(frame, together, person)
    _refuse_nameless(table, person)
    varying = _varying(table, person)
    match view:
        case NormalisedView.BINARY:
            columns = list(_binary(table, varying, most))
        case NormalisedView.TRANSPOSED:
            columns = list(_transposed(table, person, varying, most))
        case NormalisedView.COMBINED:
            columns = list(_combined(table, varying, separator))
    _refuse_doubled(table, varying, columns)
    by_person = table.group_by(person, maintain_order=True).agg(_each(table, person, varying))
    shown = [name for name in table.collect_schema() if name not in varying]
    records = int(table.select(pl.len()).collect(engine="streaming").item())
    return Normalised(by_person.select(*shown, *columns).collect(engine="streaming"), records, varying)


def _refuse_unknown(frame: pl.LazyFrame, names: Sequence[str]) -> None:
    known = tuple(frame.collect_schema())
    for name in names:
        if name not in known:
            raise DataError(f"the data has no column '{name}'{did_you_mean(name, known)}")


def _joined(frame: pl.LazyFrame, together: Sequence[str], person: str) -> pl.LazyFrame:
    """Several attributes as one, at the place of the first."""
    if not together:
        return frame
    if person in together or len(set(together)) < 2:
        raise DataError("attributes that are put together are two or more, and none is the person")
    names = list(frame.collect_schema())
    name = " + ".join(together)
    if name in names:
        raise DataError(f"the data has a column '{name}' already")
    joined = pl.concat_str([pl.col(each).cast(pl.String) for each in together], separator=" ", ignore_nulls=True)
    any_value = pl.any_horizontal(pl.col(each).is_not_null() for each in together)
    place = min(names.index(each) for each in together)
    order = [name if at == place else each for at, each in enumerate(names) if at == place or each not in together]
    return frame.with_columns(pl.when(any_value).then(joined).alias(name)).select(order)


def _refuse_nameless(table: pl.LazyFrame, person: str) -> None:
    nameless = int(table.select(pl.col(person).null_count()).collect(engine="streaming").item())
    if nameless:
        raise DataError(f"{nameless:,} record(s) have no '{person}', so nobody knows whose they are")


def _varying(table: pl.LazyFrame, person: str) -> tuple[str, ...]:
    others = [name for name in table.collect_schema() if name != person]
    if not others:
        raise DataError(f"the data has no column besides '{person}'")
    counted = table.group_by(person).agg(pl.col(name).drop_nulls().n_unique().alias(name) for name in others)
    most = counted.select(pl.col(others).max()).collect(engine="streaming").row(0, named=True)
    return tuple(name for name in others if (most[name] or 0) > 1)


def _each(table: pl.LazyFrame, person: str, varying: Sequence[str]) -> Iterator[pl.Expr]:
    for name in table.collect_schema():
        if name in varying:
            yield pl.col(name)
        elif name != person:
            yield pl.col(name).drop_nulls().first()


def _binary(table: pl.LazyFrame, varying: Sequence[str], most: int) -> Iterator[pl.Expr]:
    values: dict[str, pl.Series] = {}
    wide = 0
    for name in varying:
        distinct = table.select(pl.col(name).drop_nulls().unique().sort().head(most + 1)).collect(engine="streaming")
        values[name] = distinct[name]
        wide += len(values[name])
        if wide > most:
            raise DataError(
                f"the binary view would have more than {most:,} columns, because of '{name}' among others",
                advice="generalise it first, leave it out, or take another view",
            )
    for name, kept in values.items():
        for value in kept:
            yield pl.col(name).list.contains(value).fill_null(value=False).cast(pl.Int8).alias(f"{name}: {value}")


def _transposed(table: pl.LazyFrame, person: str, varying: Sequence[str], most: int) -> Iterator[pl.Expr]:
    counted = table.group_by(person).len("records").select(pl.col("records").max()).collect(engine="streaming")
    longest = int(counted.item() or 0)
    if longest * len(varying) > most:
        raise DataError(
            f"the transposed view would have more than {most:,} columns: somebody has {longest:,} records",
            advice="leave attributes out, or take another view",
        )
    for name in varying:
        for place in range(longest):
            yield pl.col(name).list.get(place, null_on_oob=True).alias(f"{name} {place + 1}")


def _combined(table: pl.LazyFrame, varying: Sequence[str], separator: str) -> Iterator[pl.Expr]:
    if varying:
        texts = [pl.col(name).cast(pl.String) for name in varying]
        asked = table.select(text.str.contains(separator, literal=True).any() for text in texts)
        held = asked.collect(engine="streaming").row(0, named=True)
        for name in (name for name in varying if held[name]):
            raise DataError(
                f"values of '{name}' hold the separator",
                advice=FieldText("choose another with ", FieldName("separator")),
            )
    for name in varying:
        texts_of = pl.col(name).list.eval(pl.element().cast(pl.String).drop_nulls().unique(maintain_order=True))
        yield pl.when(texts_of.list.len() > 0).then(texts_of.list.join(separator)).alias(name)


def _refuse_doubled(table: pl.LazyFrame, varying: Sequence[str], columns: Sequence[pl.Expr]) -> None:
    names = [name for name in table.collect_schema() if name not in varying]
    names += [column.meta.output_name() for column in columns]
    if len(names) != len(set(names)):
        raise DataError(f"the view would have {len(names) - len(set(names))} column(s) of a name that another has")
