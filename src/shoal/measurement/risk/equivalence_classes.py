"""Equivalence classes of a table and the risk of re-identification they leave (PDPC annex D; ISO/IEC 20889, 7.2).

Prosecutor: the attacker knows that the person is in the table; the chance is 1 ÷ the class size. Journalist: the
attacker knows it of nobody; without a population table the table itself is taken for the population, so the figure is
the prosecutor's (an upper bound). Marketer: the share of people that would be picked rightly on average; likewise.
Averages are over people: somebody who is in several classes is at the risk of the smallest of them, and counts once.

A record of a release whose quasi-identifiers are all ``*`` is suppressed: it belongs to no class. If that is so for
every record, nothing tells the records apart and they are one class. In an original a star is a value like others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import Self

import numpy as np
import polars as pl

from shoal.errors import BugError
from shoal.hierarchy.value_order import ValueOrder
from shoal.kernels.arrays import Integers, Mask, places_among
from shoal.kernels.group_counts import count_groups
from shoal.measurement.risk.attacker_risks import attackers_of
from shoal.measurement.risk.population_classes import with_population
from shoal.privacy import Classes, Histograms, ModelFinding, PrivacyModel
from shoal.schema import Column, Counts
from shoal.schema.packed_counts import count_combinations

SUPPRESSED = "*"
_PERSON = "__shoal_measured_person"


@dataclass(frozen=True)
class Risk:
    k: int
    prosecutor_max: float
    prosecutor_average: float
    journalist_max: float
    marketer: float
    uniques: int

    @classmethod
    def of(cls, classes: Classes) -> Risk:
        """The risk that classes leave where nothing is known of a population."""
        found = attackers_of(replace(classes, population=None)).prosecutor
        smallest = int(classes.people.min()) if len(classes) else 0
        return cls(smallest, found.max, found.average, found.max, found.average, int(found.uniques))


@dataclass(frozen=True)
class Measurement:
    rows: int
    suppressed: int
    classes: Classes
    people: int = 0
    """All of them, suppressed ones too."""
    diversity: Mapping[str, int] = field(default_factory=dict)
    """Per sensitive attribute, the fewest distinct values that any class holds."""
    released: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False, compare=False)
    """The distinct combinations of quasi-identifying values, starred ones too, with their ``records``."""
    starred: pl.Series = field(default_factory=pl.Series, repr=False, compare=False)
    """Which of them are suppressed."""

    population: pl.DataFrame | None = field(default=None, repr=False, compare=False)
    """The population in the released table's words, with its ``records``, for models that compare with it."""
    dropped: int = 0
    """Suppressed records of the source that the table lacks."""
    not_sampled: int = 0
    """Records of the source that no sample drew."""
    invented: int = 0
    """Records of the table that are nobody's."""

    @property
    def source_records(self) -> int:
        return self.rows - self.invented + self.dropped + self.not_sampled

    @property
    def suppressed_records(self) -> int:
        """Of the source: starred as a whole, or left out."""
        return self.suppressed + self.dropped

    @property
    def kept_records(self) -> int:
        """Of the source: in a class of the table."""
        return int(self.classes.records.sum()) - self.invented

    @property
    def people_in_classes(self) -> int:
        """Each once, however many classes they are in."""
        return (
            int(self.classes.people_in(np.zeros(len(self.classes), dtype=np.int64), 1)[0]) if len(self.classes) else 0
        )

    def nobody_kept(self) -> Self:
        """The same where every record is known to be suppressed, so that there is no class."""
        nobody = self.classes.only(np.zeros(len(self.classes), dtype=bool))
        return replace(self, suppressed=self.rows, classes=nobody, starred=pl.Series(np.ones(len(self.starred), bool)))

    def find(self, models: Sequence[PrivacyModel]) -> tuple[ModelFinding, ...]:
        """What the models say of the table. One that compares with a population can't be met where there is none."""
        models = [model.for_table(self.people) for model in models]
        compared = any(model.population_table for model in models)
        classes = self.beside_population() if compared else self.classes
        return tuple(
            ModelFinding(model.key, model.required, nan, met=False)
            if model.population_table and self.population is None
            else model.find(classes)
            for model in models
        )

    def beside_population(self) -> Classes:
        """The classes with the population's records in them, where there is a population."""
        if self.population is None:
            return self.classes
        return with_population(self.classes, self.cells, self.population)

    @property
    def cells(self) -> pl.DataFrame:
        """The released values of each class."""
        return self.released.select(self.classes.attributes).filter(~self.starred)

    @property
    def risk(self) -> Risk:
        found = Risk.of(self.classes)
        if self.population is None:
            return found
        attackers = attackers_of(self.beside_population())
        return replace(found, journalist_max=attackers.journalist.max, marketer=attackers.marketer)

    @property
    def k(self) -> int:
        return self.risk.k


@dataclass(frozen=True)
class SensitiveKnowledge:
    """What the table itself doesn't show of a sensitive attribute."""

    reading: ValueOrder
    """How its values are ordered and grouped, for models that ask."""
    whole: pl.DataFrame | None = None
    """Its ``value``s and their ``records``, where the table lacks some."""


def measure_classes(  # noqa: PLR0913  # a table and what is known of it
    frame: pl.LazyFrame,
    quasi: tuple[str, ...],
    person: str | None = None,
    sensitive: tuple[str, ...] = (),
    known: Mapping[str, SensitiveKnowledge] | None = None,
    *,
    original: bool = False,
) -> Measurement:
    """Group the table by its quasi-identifiers, in one streaming pass, and read the figures off the classes."""
    return classes_of(count_people(frame, (*quasi, *sensitive), person), quasi, sensitive, known, original=original)


def classes_of(
    counts: Counts,
    quasi: tuple[str, ...],
    sensitive: tuple[str, ...] = (),
    known: Mapping[str, SensitiveKnowledge] | None = None,
    *,
    original: bool = False,
) -> Measurement:
    """The same of a table that was counted by its quasi-identifiers and sensitive attributes."""
    classes, where = counts.project(quasi)
    released = pl.DataFrame([*classes.frame(), pl.Series("records", classes.records)])
    starred = np.zeros(classes.size, dtype=bool) if original else _all_starred(classes)
    if starred.all():
        starred = ~starred
    everything = Classes(
        classes.records,
        classes.people_in(np.arange(classes.size), classes.size) if len(classes.shared) else classes.people,
        {name: _histograms(counts, where, classes.size, name, (known or {}).get(name)) for name in sensitive},
        None,
        quasi,
        classes.codes.astype(np.int64),
        classes.people_in if len(classes.shared) else None,
        classes.shared if len(classes.shared) else None,
    )
    kept = everything.only(~starred) if starred.any() else everything
    diversity = {name: int(kept.histograms(name).distinct().min()) if len(kept) else 0 for name in sensitive}
    suppressed = int(classes.records[starred].sum())
    return Measurement(
        classes.total_records, suppressed, kept, classes.total_people, diversity, released, pl.Series(starred)
    )


def count_people(frame: pl.LazyFrame, attributes: tuple[str, ...], person: str | None) -> Counts:
    """Distinct combinations with their records and people, in one streaming pass."""
    if not attributes:
        people = pl.len() if person is None else pl.col(person).n_unique()
        total = frame.select(pl.len().alias("records"), people.alias("people")).collect(engine="streaming")
        total = total.filter(pl.col("records") > 0)
        counts = Counts.from_frame(total, (), "records")
        return replace(counts, people=total["people"].cast(pl.Int64).to_numpy())
    if person is None:
        return count_combinations(frame, attributes)
    pairs = frame.select(*attributes, pl.col(person).alias(_PERSON))
    return Counts.from_pairs(count_groups(pairs, (*attributes, _PERSON), "records"), attributes, _PERSON, "records")


def _histograms(
    counts: Counts, where: Integers, classes: int, name: str, known: SensitiveKnowledge | None
) -> Histograms:
    values = counts.values_of(name)
    known = known or SensitiveKnowledge(ValueOrder(Column(name, storage=values.dtype)))
    reading, original = known.reading, known.whole
    codes = counts.codes[:, counts.attributes.index(name)].astype(np.int64)
    if original is None:
        original = counts.value_counts(name)
    else:
        codes = _places(values, original["value"])[codes]
    order = reading.order(original["value"])
    back = np.argsort(order)
    tree = tuple(groups[back] for groups in reading.tree(original["value"]))
    numbers = reading.numbers(original["value"])
    return Histograms(
        original["records"].to_numpy()[back],
        where,
        order[codes],
        counts.records,
        classes,
        tree,
        numbers=None if numbers is None else numbers[back],
    )


def _places(values: pl.Series, among: pl.Series) -> Integers:
    """Where each of the values stands among others, which have all of them."""
    found = places_among(values, among)
    if found.null_count():
        raise BugError("the released table has sensitive values that the original doesn't have")
    return found.to_numpy()


def _all_starred(classes: Counts) -> Mask:
    """The combinations of which every value is a star."""
    starred = np.full(classes.size, bool(classes.attributes))
    for place, values in enumerate(classes.values):
        stars = np.flatnonzero(values.cast(pl.String).eq_missing(SUPPRESSED))
        starred &= np.isin(classes.codes[:, place], stars) if len(stars) else False
    return starred
