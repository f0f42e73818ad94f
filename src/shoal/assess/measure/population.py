"""A table of the population in the words of a release, so that the two can be compared after the release was made.

A run knows which level each attribute was raised to. Whoever finds the release sees labels only. Where all labels of an
attribute are of one level of its hierarchy, everybody in the population can be put on that level too; of several levels
that fit, the lowest is taken, which puts the fewest people into a class. Where levels differ from record to record,
nobody can say where a person of the population would have been put.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from shoal.assess.comparison.counting_unit import CountingUnit
from shoal.assess.comparison.paired_tables import bound_hierarchy
from shoal.errors import DataError, FieldName, FieldText, InputError
from shoal.hierarchy import BoundHierarchy, FlatHierarchy
from shoal.hierarchy.labels import text_of
from shoal.io import Source, explained, open_source, parse_source
from shoal.io.frames import source_at
from shoal.kernels.group_counts import count_groups
from shoal.measurement import Measurement
from shoal.measurement.risk.population_classes import need_enough_people
from shoal.policy import Policy
from shoal.privacy import PrivacyModel
from shoal.schema.registry import did_you_mean
from shoal.schema.type_detection import detect

_RECORDS = "records"
_VALUE, _LABEL = "value", "__shoal_label"


@dataclass(frozen=True)
class PopulationComparison:
    """What is compared with a population, and where that lies."""

    quasi: tuple[str, ...]
    models: tuple[PrivacyModel, ...] = ()
    policy: Policy | None = None
    path: str | Source | None = None
    """As the caller says, relative to where they are; else the policy may name one."""

    def beside(
        self, measurement: Measurement, before: Measurement | None, whom: CountingUnit
    ) -> tuple[Measurement, Measurement | None, dict[str, str]]:
        """Both tables with the population, where one is named; else why models that compare with it are not measured.

        A population that only the policy names may be out of reach; all else can be measured without it.
        """
        compared = [model.key for model in self.models if model.population_table is not None]
        if self.path is None and not compared:
            return measurement, before, {}
        try:
            whom.need_everyone("a population")
            with explained(source := self._source()):
                population = count_population(source.scan(), self.quasi)
            now = replace(measurement, population=in_words_of(measurement, population, self.policy))
            was = None if before is None else replace(before, population=as_it_is(before, population))
        except InputError as error:
            if self.path is not None:
                raise
            return measurement, before, dict.fromkeys(compared, error.message)
        return now, was, {}

    def _source(self) -> Source:
        if self.path is not None:
            return source_at(self.path) if isinstance(self.path, str) else self.path
        if self.policy is None or self.policy.population is None:
            raise InputError("no table of the population is named")
        return open_source(parse_source(self.policy.population), base=self.policy.folder)


def count_population(population: pl.LazyFrame, quasi: tuple[str, ...]) -> pl.DataFrame:
    """The population by its own values, with its ``records``: one for each person."""
    present = tuple(population.collect_schema())
    for name in quasi:
        if name not in present:
            raise DataError(f"the population has no column '{name}'{did_you_mean(name, present)}")
    return count_groups(population, quasi, _RECORDS)


def in_words_of(measured: Measurement, population: pl.DataFrame, policy: Policy | None) -> pl.DataFrame:
    """The counted population on the levels that the release shows; refused where it can't be put there."""
    need_enough_people(measured.people, population)
    for name in measured.classes.attributes:
        counted = population.group_by(pl.col(name).alias(_VALUE), maintain_order=True).agg(pl.col(_RECORDS).sum())
        labels = _on_its_level(_hierarchy(policy, name, counted), counted[_VALUE], measured.cells[name])
        table = pl.DataFrame([counted[_VALUE].alias(name), labels.alias(_LABEL)])
        population = population.join(table, on=name, how="left", nulls_equal=True).drop(name).rename({_LABEL: name})
    return population


def as_it_is(measured: Measurement, population: pl.DataFrame) -> pl.DataFrame:
    """The counted population beside a table that nothing was done to."""
    need_enough_people(measured.people, population)
    cells = measured.cells
    return population.with_columns(
        _written_as(cells[name], text_of(population[name])).alias(name) for name in measured.classes.attributes
    )


def _hierarchy(policy: Policy | None, name: str, counted: pl.DataFrame) -> BoundHierarchy:
    if policy is None or name not in policy.attributes:
        return FlatHierarchy().bind(detect(counted.lazy().select(pl.col(_VALUE).alias(name)), [name])[name], counted)
    bound = bound_hierarchy(policy, name, counted)
    if bound is None:
        raise DataError(f"column '{name}': a technique alters it, so the population can't be put into the same words")
    return bound


def _on_its_level(hierarchy: BoundHierarchy, values: pl.Series, shown: pl.Series) -> pl.Series:
    wanted = set(text_of(shown).to_list())
    for level in range(hierarchy.height + 1):
        labels = text_of(hierarchy.generalise(values, level))
        if wanted <= set(labels.to_list()):
            return _written_as(shown, labels)
    raise DataError(
        f"column '{shown.name}': the population can't be put into the words of the release, as no level of the "
        "hierarchy has all its labels",
        advice=FieldText(
            "name its policy by ",
            FieldName("policy"),
            "; labels of several levels can only be compared by the run itself",
        ),
    )


def _written_as(shown: pl.Series, labels: pl.Series) -> pl.Series:
    """The labels as the other table writes them: 34 may be 34.0 there."""
    other = shown.unique().drop_nulls()
    return labels.replace(text_of(other), other.cast(pl.String))
