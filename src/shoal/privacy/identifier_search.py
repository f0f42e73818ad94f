"""Are values of a table's direct identifiers in other columns, or in what was written of it?

It knows nothing of how an output was made. Values are compared as letters and digits in small letters, whatever stands
between them, and each finding is held against chance:

- **In the same record.** A value of ``LONG`` signs or more is looked for anywhere in a cell, whole or by its first or
  last three quarters; one of three or four signs as a word of its own. By chance, that would be found of as many values
  as their form has room for (10 per digit, 26 per letter and place), and as often as *other* people's cells hold the
  value: a first name that is a town's, "male", a year. Whatever is beyond that stops the run: the chance that a table
  without a leak is stopped is at most ``FALSE_STOP``, all columns together. One name of eight letters in one of 10,000
  remarks is enough; values of fewer signs have to be found more often.
- **In the identifier's own column**, if it is released in another form, as ``near_identity`` measures it.
- **In any record**, which tells who is in the data: columns in which half of the cells are values of an identifier that
  nearly everybody has for themselves, beyond chance.

A value that more than ``COMMON`` of the records have names nobody, and is not looked for, unless the column is the one
that people are told apart by. At most ``LOOKED_AT`` records are looked at, evenly spread over larger tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from shoal.kernels.arrays import Floats
from shoal.privacy.near_identity import nearness

LOOKED_AT = 50_000
"""Records. A leak that is in one of 10,000 records of a larger table is missed with a chance of e⁻⁵, 0.7 %."""
LONG = 5
"""From so many signs on, a value is looked for inside words too."""
SHORTEST = 3
FALSE_STOP = 0.01
COMMON = 0.01
"""Share of records; and five records at least."""
SHARE = 0.5
"""Of the cells of a column, and of the records of an identifier that are somebody's own."""
LENGTHS = (3, 5, 7, 9, 12)
"""Short values are found by chance. So those from each length on are judged by themselves, too."""
ACROSS = 5_000
"""Cells of a column that are compared with everybody's values."""
ELSEWHERE = 2_000
"""Values that were not found, of which it is counted how often others have them, to tell what chance gives."""
COMPARED = 500
"""Records by which an identifier is compared with what became of it."""

_BETWEEN = "\x1f"
"""Between cells."""
_VALUE, _FIRST, _LAST, _LENGTH, _HELD, _PLACE = "value", "first", "last", "length", "held", "place"

Where = Literal["same record", "own column", "any record"]


@dataclass(frozen=True)
class IdentifierHit:
    """Values of an identifier that were found in a column: how many, never which."""

    identifier: str
    column: str
    values: int
    where: Where

    def __str__(self) -> str:
        found = f"{self.values:,} value{'' if self.values == 1 else 's'} of '{self.identifier}'"
        place = {"same record": " beside their own record", "own column": " nearly as they were", "any record": ""}
        return f"{found} in '{self.column}'{place[self.where]}"


@dataclass(frozen=True)
class LeakSearch:
    """What is looked for. ``person`` tells people apart; ``accepted`` are identifiers with columns that may tell them,
    for a reason that the policy gives."""

    identifiers: tuple[str, ...]
    person: str | None = None
    accepted: frozenset[tuple[str, str]] = frozenset()
    tests: int = 1
    """Among how many columns the chance of a false stop is shared."""


def find_leaks(
    paired: pl.DataFrame, source: Sequence[str], released: Sequence[str], looking: LeakSearch, rows: int
) -> list[IdentifierHit]:
    """``paired`` has, record beside record, the columns of the source under the names ``source`` (in the order of the
    identifiers) and those that were written under the names ``released``; ``rows`` is how many records there are."""
    cells = _joined(paired, released)
    some = {column: some_cells(paired[column]) for column in released}
    written = pl.concat([pl.Series([], dtype=pl.String), *some.values()]).unique().implode()
    share = paired.height / max(rows, 1)
    found: list[IdentifierHit] = []
    for identifier, name in zip(looking.identifiers, source, strict=True):
        values = _values(paired[name])
        among = [column for column in released if (identifier, column) not in looking.accepted]
        if identifier in among:
            found += _own_column(identifier, paired[name], paired[identifier], rows)
        is_person = identifier == looking.person
        rare = values if is_person else values.filter(pl.col(_HELD) <= max(5.0, COMMON * paired.height))
        found += _IdentifierSearch(identifier, rare, looking.tests).same_record(paired, cells, among)
        distinct = values[_VALUE].n_unique()
        if is_person or distinct >= SHARE * values.height:
            met = values[_VALUE].filter(values[_VALUE].is_in(written))
            for column in among:
                found += across(identifier, met, some[column], column, share=share, among=distinct)
    return list({(hit.identifier, hit.column): hit for hit in reversed(found)}.values())


def some_cells(cells: pl.Series) -> pl.Series:
    """Cells of a column, each once, as letters and digits; long ones only, since others meet by chance."""
    distinct = cells.drop_nulls().unique()
    written = plain(distinct.gather_every(max(1, len(distinct) // ACROSS))).unique()
    return written.filter(written.str.len_chars() >= LONG)


def across(  # noqa: PLR0913  # two of values, two of cells, and how many of them are known
    identifier: str, values: pl.Series, cells: pl.Series, column: str, *, share: float = 1.0, among: int | None = None
) -> Iterator[IdentifierHit]:
    """Whether half of a column's cells are values of an identifier, whosever they are. Both are given as letters and
    digits. Of the values only a ``share`` may be known, or only those that were met ``among`` so many."""
    if not len(cells):
        return
    found = int(cells.is_in(values.implode()).sum())
    if found < max(1.0, SHARE * share * len(cells)):
        return
    by_chance = min(float((_chances(cells) * (among or values.n_unique())).sum()), float(len(cells)))
    if at_least(found, by_chance) < FALSE_STOP / 100:
        yield IdentifierHit(identifier, column, found, "any record")


def at_least(number: int, expected: float) -> float:
    """The chance of so many findings or more, where that many are expected (Poisson).

    >>> round(at_least(1, 0.1), 4), round(at_least(3, 0.1), 6)
    (0.0952, 0.000155)
    """
    from scipy.special import gammainc

    return float(gammainc(number, expected)) if number else 1.0


def plain(values: pl.Series) -> pl.Series:
    """Letters and digits in small letters."""
    return values.cast(pl.String).str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", "")


def _joined(paired: pl.DataFrame, released: Sequence[str]) -> pl.Series:
    """All cells of a record as one text: words with a space around each, cells apart."""
    texts = [pl.col(name).cast(pl.String).fill_null("") for name in released]
    joined = paired.select(pl.concat_str(texts, separator=_BETWEEN).alias("cells"))["cells"]
    return _words(joined)


def _words(texts: pl.Series) -> pl.Series:
    apart = texts.str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}\x1f]+", " ")
    return " " + apart.str.replace_all(_BETWEEN, f" {_BETWEEN} ", literal=True) + " "


def _values(values: pl.Series) -> pl.DataFrame:
    """Of each record, what is looked for in it: up to two parts of its value, and how long they are.

    A short value is looked for as a word; so it has its spaces, and is looked for among words.
    """
    text = plain(values)
    part = (text.str.len_chars() * 3 / 4).ceil().cast(pl.Int64)
    part = pl.select(pl.when(part >= LONG).then(part).otherwise(text.str.len_chars())).to_series()
    looked = pl.DataFrame(
        {_VALUE: text, _FIRST: text.str.head(part), _LAST: text.str.tail(part), _LENGTH: text.str.len_chars()}
    )
    looked = looked.with_columns(pl.len().over(_VALUE).alias(_HELD)).with_row_index(_PLACE)
    return looked.filter(pl.col(_VALUE).is_not_null() & (pl.col(_LENGTH) >= SHORTEST))


def _own_column(identifier: str, before: pl.Series, after: pl.Series, rows: int) -> Iterator[IdentifierHit]:
    step = max(1, len(before) // COMPARED)
    was, now = (values.gather_every(step).cast(pl.String) for values in (before, after))
    numbers = was.cast(pl.Float64, strict=False), now.cast(pl.Float64, strict=False)
    readable = all(read.null_count() == text.null_count() for read, text in zip(numbers, (was, now), strict=True))
    near = nearness(was, now, numbers=numbers if readable else None, records=rows)
    if near.changes_nothing:
        yield IdentifierHit(
            identifier, identifier, math.ceil(max(near.told, near.elsewhere) * near.records), "own column"
        )


@dataclass(frozen=True)
class _IdentifierSearch:
    """For the values of one identifier, each in its own record."""

    identifier: str
    values: pl.DataFrame
    tests: int

    def same_record(self, paired: pl.DataFrame, cells: pl.Series, among: Sequence[str]) -> Iterator[IdentifierHit]:
        """What is left of an identifier in its own column is judged as such; here only whole values count in that."""
        suspects = self.values.filter(_holding(self.values, cells, (_FIRST, _LAST)))
        if suspects.is_empty():
            return
        for column in among:
            texts = _words(paired[column].cast(pl.String).fill_null(""))
            for parts in ((_VALUE,),) if column == self.identifier else ((_VALUE,), (_FIRST, _LAST)):
                own = suspects.filter(_holding(suspects, texts, parts))
                if own.height and self._beyond_chance(own, texts, parts):
                    yield IdentifierHit(self.identifier, column, own[_VALUE].n_unique(), "same record")

    def _beyond_chance(self, own: pl.DataFrame, texts: pl.Series, parts: Sequence[str]) -> bool:
        """Whether so many values would not be found by chance: by those from each length on."""
        everybody = self.values.unique(_VALUE, maintain_order=True)
        beside = own.group_by(_VALUE).agg(pl.len().alias("beside"))
        once = everybody.join(beside, on=_VALUE, how="inner", maintain_order="left")
        rest = everybody.join(beside, on=_VALUE, how="anti", maintain_order="left")
        some = rest.gather_every(max(1, rest.height // ELSEWHERE)).with_columns(pl.lit(0).alias("beside"))
        by_others = [(_elsewhere(once, texts, parts[0]), once, 1.0)]
        if some.height:
            by_others.append((_elsewhere(some, texts, parts[0]), some, rest.height / some.height))
        places = float(texts.str.len_chars().mean() or 0)  # type: ignore[arg-type]  # a number
        by_form = np.minimum(1.0, _chances(everybody[parts[0]]) * len(parts) * places)
        level = FALSE_STOP / (2 * max(self.tests, 1) * len(LENGTHS))
        for shortest in LENGTHS:
            number = int((once[_LENGTH] >= shortest).sum())
            expected = float(by_form[(everybody[_LENGTH] >= shortest).to_numpy()].sum())
            expected += sum(
                times * float(rates[(group[_LENGTH] >= shortest).to_numpy()].sum()) for rates, group, times in by_others
            )
            if number and at_least(number, expected) < level:
                return True
        return False


def _holding(values: pl.DataFrame, texts: pl.Series, parts: Sequence[str]) -> pl.Series:
    """Whether the text of each value's record holds one of its parts; a short value as a word."""
    words = texts.gather(values[_PLACE])
    frame = values.with_columns(words.alias("words"), words.str.replace_all(" ", "", literal=True).alias("signs"))
    as_word = pl.col("words").str.contains(" " + pl.col(_VALUE) + " ", literal=True)
    inside = pl.any_horizontal(pl.col("signs").str.contains(pl.col(part), literal=True) for part in parts)
    return frame.select(pl.when(pl.col(_LENGTH) >= LONG).then(inside).otherwise(as_word).alias("found"))["found"]


def _elsewhere(values: pl.DataFrame, texts: pl.Series, part: str) -> Floats:
    """Of each value, how often it would be found if its cells were other people's."""
    counted = texts.alias("words").value_counts(name="records")
    signs = counted["words"].str.replace_all(" ", "", literal=True)
    found = signs.str.extract_many(values[part].unique().to_list(), overlapping=True).list.unique()
    held = pl.DataFrame({part: found, "records": counted["records"]}).explode(part).drop_nulls()
    met = held.group_by(part).agg(pl.col("records").sum())
    joined = values.join(met, on=part, how="left", maintain_order="left")
    others = (joined["records"].fill_null(0).cast(pl.Int64) - joined["beside"].cast(pl.Int64)).clip(0)
    return (others / max(1, len(texts)) * joined[_HELD]).cast(pl.Float64).to_numpy()


def _chances(values: pl.Series) -> Floats:
    """That a value of the same form is this one: 10 per digit, 26 per letter."""
    digits = values.str.count_matches("[0-9]").cast(pl.Float64).to_numpy()
    letters = values.str.len_chars().cast(pl.Float64).to_numpy() - digits
    return np.asarray(10.0**-digits * 26.0**-letters)
