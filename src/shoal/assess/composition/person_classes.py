"""Who is in which class of a release, by the table that it was made from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from shoal.assess.comparison.paired_tables import need_columns, typed
from shoal.attack.composition.linked_people import ABSENT, PEOPLE, Placement
from shoal.attack.composition.released_counts import RECORDS, ReleasedCounts
from shoal.errors import DataError
from shoal.hierarchy.labels import text_of
from shoal.io import Source, explained
from shoal.kernels.arrays import Integers, sums_by

_OWN: Final = "__shoal_class"


class PersonClasses(NamedTuple):
    people: pl.DataFrame
    """A row for each person who is in a class: a mark, and the class."""
    ambiguous: int
    """How many fit several, and got the smallest."""
    unfitted: int
    """Records of the release that fit nobody of the table."""


def classes_by_person(
    counts: ReleasedCounts,
    original: Source,
    person: str,
    *,
    released: int | None = None,
    mark: Callable[[pl.Series], pl.Series] | None = None,
) -> PersonClasses:
    """Who is in which class, and how far that is sure.

    Classes are numbered anew: somebody with records in several is alike with who is in the same ones. With the number
    of ``released`` records, those that are all stars are a class too, and DataError says that somebody's is a guess.
    People are marked by ``mark``, or by a hash.
    """
    quasi = list(counts.quasi)
    with explained(original):
        frame = original.scan()
        need_columns(frame, (person, *quasi), "the original")
        people = frame.select(person, *quasi).collect(engine="streaming")
    kinds = people.group_by(quasi, maintain_order=True).agg(pl.len().cast(pl.Int64).alias(PEOPLE))
    values = typed(kinds.select(quasi)).with_columns(kinds[PEOPLE])
    placement = Placement.by_values(counts, values)
    classes = placement.own
    if released is not None and not placement.ambiguous:
        classes = _settled(classes, kinds[PEOPLE].to_numpy(), counts, released)
    own = kinds.select(quasi).with_columns(pl.Series(_OWN, classes))
    placed = people.join(own, on=quasi, nulls_equal=True, maintain_order="left")[_OWN]
    held = pl.DataFrame([(mark or _hashed)(people[person]).alias("person"), placed.alias("class")])
    found = one_class_each(held.filter(people[person].is_not_null() & (placed != ABSENT)))
    return PersonClasses(found, placement.ambiguous, max(counts.records - int((placed != ABSENT).sum()), 0))


def told_by_person(frame: pl.LazyFrame, person: str, names: Sequence[str]) -> pl.DataFrame:
    """What columns say of each person, marked by ``known_alike``: all their values, where records have several."""
    told = frame.select(person, *names).collect(engine="streaming")
    named = pl.DataFrame([known_alike(told[person]).alias("person"), *(text_of(told[name]) for name in names)])
    all_of_them = (pl.col(name).unique().sort().implode().list.join("\0", ignore_nulls=True) for name in names)
    return named.filter(told[person].is_not_null()).group_by("person").agg(all_of_them)


def _hashed(names: pl.Series) -> pl.Series:
    return names.cast(pl.String).hash(0)


def known_alike(names: pl.Series) -> pl.Series:
    """A hash of who is meant, however a table writes it: as a number, with zeros before it, in other letters.

    Zeros go where nobody else of the table is meant without them.

    >>> marks = [known_alike(pl.Series(told))[0] for told in ([17], [17.0], ["017"], [" 17 "])]
    >>> len(set(marks))
    1
    """
    texts = text_of(names).str.normalize("NFKC").str.strip_chars().str.to_lowercase()
    texts = texts.str.replace(r"^(\d+)\.0+$", "$1")
    bare = texts.str.replace(r"^0+(\d+)$", "$1")
    return (bare if bare.n_unique() == texts.n_unique() else texts).hash(0)


def one_class_each(held: pl.DataFrame) -> pl.DataFrame:
    """From a row for each class that a person has a record in: who is in the same ones has the same number."""
    several = held.group_by("person").agg(pl.col("class").unique().sort().cast(pl.String))
    number = pl.col("class").list.join(",").rank("dense").cast(pl.Int64)
    return several.select("person", number.alias("class"))


def _settled(own: Integers, rows: Integers, counts: ReleasedCounts, released: int) -> Integers:
    """Every class has as many records as fit it, and as many are all stars as fit none, or all of those are missing."""
    sizes = counts.classes[RECORDS].to_numpy()
    there = own != ABSENT
    starred, unplaced = released - int(sizes.sum()), int(rows[~there].sum())
    if (sums_by(own[there], rows[there], len(sizes)) != sizes).any() or starred not in {0, unplaced}:
        raise DataError("its classes don't have the records of that table: it is a sample, or of another table")
    return np.where(there, own, len(sizes)) if starred else own


def joined_by_person(placed: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Everybody who is in any of them: a hash, and the class in each, or ``ABSENT``."""
    named = [each.rename({"class": f"{place}"}) for place, each in enumerate(placed)]
    whole = reduce(lambda left, right: left.join(right, on="person", how="full", coalesce=True), named)
    return whole.with_columns(pl.exclude("person").fill_null(ABSENT))
