"""The first half of a measurement: a table, and its original, counted into classes. What can't be is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from shoal.assess.comparison.compatibility import ReleaseProvenance, require_compatible
from shoal.assess.comparison.counting_unit import CountingUnit, choose_counting_unit
from shoal.assess.measure.linear_sensitivity import sensitive_groups
from shoal.assess.measure.missing_values import read_stars_by_policy
from shoal.assess.measure.options import AssessmentOptions
from shoal.assess.measure.population import PopulationComparison
from shoal.assess.measure.release_context import ReleaseContext
from shoal.assess.measure.request import MeasureRequest
from shoal.errors import DataError, FieldName, InputError
from shoal.hierarchy import BoundHierarchy
from shoal.hierarchy.value_order import ValueOrder
from shoal.measurement import Measurement, SensitiveKnowledge
from shoal.measurement.risk.equivalence_classes import classes_of, count_people
from shoal.measurement.risk.linear_sensitivity import SensitiveCells
from shoal.measurement.risk.wildcard_matches import WildcardMeasurement
from shoal.policy import Policy
from shoal.policy.checks import anatomised
from shoal.schema import Column, Columns, Counts
from shoal.schema.registry import did_you_mean
from shoal.schema.type_detection import detect


@dataclass(frozen=True)
class CountedTable:
    """All that figures are made of."""

    unit: CountingUnit
    columns: dict[str, Column]
    """The sensitive attributes."""
    measurement: Measurement
    before: Measurement | None
    """Of the original, where there is one."""
    sensitivity: dict[str, SensitiveCells]
    options: AssessmentOptions
    """With the size of the population that the table was drawn from."""
    not_measured: dict[str, str]
    """Models that compare with a population that can't be had, and why."""
    doubts: tuple[str, ...]
    """Whether the original and the table belong together."""


def count_table(
    frame: pl.LazyFrame,
    request: MeasureRequest,
    context: ReleaseContext | None,
    original: pl.LazyFrame | None,
    rows: tuple[int, int] | None = None,
) -> CountedTable:
    """``rows`` are those of the original and of the table, where they are known."""
    present = tuple(frame.collect_schema())
    request = _without_cut_off(request, present)
    _refuse_unknown(request, present)
    doubts = () if original is None else _together(frame, original, request, context, rows)
    unit = _counting_unit(frame, request, context, original)
    measurement, columns = _classes(unit, request)
    _refuse_nothing_to_measure(measurement, request, columns)
    records = None if context is None else context.records
    if records is not None:
        measurement = records.complete(measurement)
    if not len(measurement.classes):
        raise DataError("every record is suppressed: no class is left, so nothing can be measured")
    options = request.options.drawn_as(measurement)
    _refuse_estimates(unit, request, options)
    groups = sensitive_groups(unit.frame, request.quasi, columns, request.rules, unit.person) if request.rules else {}
    before = None
    if original is not None:
        before, _ = _classes(_likewise(original, request, unit), request, original=True)
        if records is None:
            measurement = _beside_source(measurement, before, request.policy)
    not_measured: dict[str, str] = {}
    if request.population is not None or any(model.population_table is not None for model in request.models):
        compare = PopulationComparison(request.quasi, request.models, request.policy, request.population)
        measurement, before, not_measured = compare.beside(measurement, before, unit)
    return CountedTable(unit, columns, measurement, before, groups, options, not_measured, doubts)


def _together(
    frame: pl.LazyFrame,
    original: pl.LazyFrame,
    request: MeasureRequest,
    context: ReleaseContext | None,
    rows: tuple[int, int] | None,
) -> tuple[str, ...]:
    names = (*request.quasi, *request.sensitive)
    _refuse_absent(names, tuple(original.collect_schema()), "the original")
    making = ReleaseProvenance.of(request.policy, None if context is None else context.folder)
    return require_compatible(original, frame, making, names, rows)


def _counting_unit(
    frame: pl.LazyFrame, request: MeasureRequest, context: ReleaseContext | None, original: pl.LazyFrame | None
) -> CountingUnit:
    if request.person is None or request.by_records:
        return CountingUnit(frame, by_records=True)
    return choose_counting_unit(
        frame,
        request.person,
        request.quasi,
        policy=request.policy,
        original=original,
        told=None if context is None else context.people,
    )


def _likewise(original: pl.LazyFrame, request: MeasureRequest, unit: CountingUnit) -> CountingUnit:
    """The original counted by the same column; it can't be missing there."""
    if unit.by_records or request.person is None:
        return CountingUnit(original, by_records=True)
    _refuse_absent((request.person,), tuple(original.collect_schema()), "the original")
    return CountingUnit(original, request.person)


def _beside_source(measurement: Measurement, before: Measurement, policy: Policy | None) -> Measurement:
    """Without a manifest: records that the table lacks were left out by a policy that draws no sample."""
    absent = before.rows - measurement.rows
    if absent <= 0:
        return replace(measurement, invented=-absent)
    suppressed = policy is not None and "sample" not in policy.table_steps
    return replace(measurement, dropped=absent) if suppressed else replace(measurement, not_sampled=absent)


def _refuse_estimates(unit: CountingUnit, request: MeasureRequest, options: AssessmentOptions) -> None:
    """Fewer people make sums and samples look safer, so they are not told from the fewest that there can be."""
    if request.rules:
        unit.need_everyone(FieldName("rules"))
    if options.circumstances.population_size is not None:
        unit.need_everyone("the size of the population")
    for model in request.models:
        if getattr(model, "population_size", None) is not None:
            unit.need_everyone(model.key)


def _without_cut_off(request: MeasureRequest, present: tuple[str, ...]) -> MeasureRequest:
    """A release that the policy anatomises has its sensitive columns in another file."""
    technique = None if request.policy is None else anatomised(request.policy)
    if technique is None:
        return request
    kept = (name for name in request.sensitive if name in present or name not in technique.sensitive)
    return request.model_copy(update={"sensitive": tuple(kept)})


def _refuse_unknown(request: MeasureRequest, present: tuple[str, ...]) -> None:
    _refuse_absent((*request.quasi, *request.sensitive), present, "the data")
    if request.policy is not None:
        return
    named = (*request.quasi, *request.sensitive)
    if twice := [name for place, name in enumerate(named) if name in named[:place]]:
        raise InputError(f"column '{twice[0]}' is named twice", advice="quasi-identifier or sensitive, once")


def _refuse_absent(names: Sequence[str], present: tuple[str, ...], what: str) -> None:
    for name in names:
        if name not in present:
            raise DataError(f"{what} has no column '{name}'{did_you_mean(name, present)}")


def _refuse_nothing_to_measure(measurement: Measurement, request: MeasureRequest, columns: Columns) -> None:
    """A table without records; one record, or a named column without any value, by which nothing can be told."""
    if not measurement.rows:
        raise DataError("the table has no records")
    if measurement.rows == 1:
        raise DataError("the table has one record: there is nobody to hide among, so nothing can be measured")
    if request.policy is not None:
        return
    empty = [name for name in request.quasi if measurement.released[name].is_null().all()]
    empty += [name for name, column in columns.items() if column.missing == column.rows]
    if empty:
        raise DataError(f"column '{empty[0]}' has no values at all", advice="leave it out")


def _classes(
    unit: CountingUnit, request: MeasureRequest, *, original: bool = False
) -> tuple[Measurement, dict[str, Column]]:
    """In one pass over the table: what its sensitive attributes are is told by the values that were counted."""
    counts = count_people(unit.frame, (*request.quasi, *request.sensitive), unit.person)
    columns = _columns(counts, request)
    known = {
        name: SensitiveKnowledge(ValueOrder(column, _bound(counts, request.policy, column)))
        for name, column in columns.items()
    }
    measurement = classes_of(counts, request.quasi, request.sensitive, known, original=original)
    return _with_missing_read(unit.people(measurement), request), columns


def _with_missing_read(measurement: Measurement, request: MeasureRequest) -> Measurement:
    """As the caller says, to whom a star and an empty cell are both missing; else as the policy reads its stars."""
    if request.options.missing is None:
        return measurement if request.policy is None else read_stars_by_policy(measurement, request.policy)
    return WildcardMeasurement.of(measurement, empty_too=True) if request.options.missing == "wildcard" else measurement


def _columns(counts: Counts, request: MeasureRequest) -> dict[str, Column]:
    """The value types of the sensitive attributes: as the policy declares those that its models look at, else as found.

    What no model looks at may have been changed before it was released; what was declared need not fit it any more.
    """
    policy = request.policy
    modelled = () if policy is None else policy.modelled
    declared = {} if policy is None else {name: policy.attributes[name].declared(name) for name in modelled}
    known = {name: column for name, column in declared.items() if column is not None}
    return {name: _column(counts.value_counts(name), name, known) for name in request.sensitive}


def _column(counted: pl.DataFrame, name: str, declared: Columns) -> Column:
    """A type that all distinct values have is the type of the column."""
    column = detect(counted.lazy().select(pl.col("value").alias(name)), [name], declared)[name]
    missing = counted.filter(pl.col("value").is_null())["records"].sum()
    return replace(column, rows=int(counted["records"].sum()), missing=int(missing))


def _bound(counts: Counts, policy: Policy | None, column: Column) -> BoundHierarchy | None:
    """The hierarchy of an attribute that the policy's models look at."""
    if policy is None or column.name not in policy.modelled:
        return None
    hierarchy = policy.attributes[column.name].hierarchy
    if hierarchy is None:
        return None
    return hierarchy.resolve(policy.folder).bind(column, counts.value_counts(column.name))
