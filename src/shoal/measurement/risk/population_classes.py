"""The classes of a released table beside a population that was generalised in the same way."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.errors import DataError
from shoal.privacy import Classes
from shoal.privacy.classes import PeopleIn

_CLASS, _PEOPLE = "__shoal_class", "__shoal_population"


def with_population(classes: Classes, cells: pl.DataFrame, population: pl.DataFrame) -> Classes:
    """The same classes, each with its records of the population, then those that only the population has.

    ``cells`` are the released values of each class; ``population`` has the same columns as text, and ``records``.
    """
    names = classes.attributes
    mine = cells.select(pl.col(names).cast(pl.String)).with_row_index(_CLASS)
    theirs = population.select(*names, pl.col("records").alias(_PEOPLE)).group_by(names).agg(pl.col(_PEOPLE).sum())
    both = mine.join(theirs, on=names, how="full", coalesce=True, nulls_equal=True).sort(_CLASS, nulls_last=True)
    there = both[_PEOPLE].fill_null(0).cast(pl.Int64).to_numpy()
    absent = len(there) - len(classes)
    nobody = np.zeros(absent, dtype=np.int64)
    number = len(there)
    return Classes(
        np.concatenate((classes.records, nobody)),
        np.concatenate((classes.people, nobody)),
        {name: histograms.beside_empty(number) for name, histograms in classes.sensitive.items()},
        there,
        names,
        None if classes.cells is None else np.concatenate((classes.cells, np.full((absent, len(names)), -1))),
        None if classes.shared_people is None else _among(classes.shared_people, len(classes)),
        classes.pairs,
    )


def need_enough_people(people: int, population: pl.DataFrame) -> None:
    """Refuse a population of fewer people than the table has: they can't all be among them."""
    there = int(population["records"].sum())
    if there < people:
        raise DataError(
            f"the population table has {there} people, the table {people}: it was not drawn from them",
            advice="give a table of everybody, one record for each, those of the table included",
        )


def _among(people_in: PeopleIn, first: int) -> PeopleIn:
    """Counting people where only the first classes have any."""
    return lambda groups, number: people_in(groups[:first], number)
