"""Measuring a table that lies somewhere: a file, a release folder, a database, a frame in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from math import inf

import polars as pl

from shoal.assess.comparison.compatibility import ReleaseProvenance, require_compatible
from shoal.assess.comparison.counting_unit import CountingUnit, DeclaredPeople, choose_counting_unit
from shoal.assess.comparison.paired_tables import TablePair
from shoal.assess.measure.linear_sensitivity import sensitive_groups
from shoal.assess.measure.missing_values import read_missing_as_asked
from shoal.assess.measure.population import PopulationComparison
from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.risk_assessment import AssessmentOptions, assess_table, attackers_in
from shoal.assess.measure.thresholds import ThresholdEvidence
from shoal.assess.measure.usefulness import cells_beside, measure_pair
from shoal.assess.read_back.file_comparison import read_back_files
from shoal.errors import DataError, FieldName, InputError
from shoal.hierarchy import BoundHierarchy
from shoal.hierarchy.value_order import ValueOrder
from shoal.io import Source, explained
from shoal.io.frames import as_lazy, source_at
from shoal.kernels.group_counts import count_groups
from shoal.measurement import Measurement, SensitiveKnowledge, measure_classes
from shoal.measurement.formal_models import FormalFigures, measure_formal
from shoal.measurement.read_back import ReadBack
from shoal.policy import Policy
from shoal.policy.anatomy_checks import anatomised
from shoal.privacy import Classes, ModelFinding
from shoal.results.measured_table import CellFigures, MeasuredTable
from shoal.results.release_folder import ReleaseFolder
from shoal.results.risk_assessment import RiskAssessment
from shoal.schema import Column, Columns, Role
from shoal.schema.registry import did_you_mean
from shoal.schema.type_detection import detect


def measure_data(
    data: str | ReleaseFolder | Source, request: MeasureRequest, *, original: str | Source | None = None
) -> MeasuredTable:
    """A table that lies somewhere; a source is taken as it is, without a manifest."""
    source, folder = _opened(data)
    if folder is not None:
        request = _with_manifest(request, folder)
    with explained(source):
        if original is None:
            return _measure(source.scan(), request, None)
        before = source_at(original) if isinstance(original, str) else original
        with explained(before):
            request = replace(request, making=ReleaseProvenance.of(request.policy, folder))
            return _measure(source.scan(), request, before.scan())


def _opened(data: str | ReleaseFolder | Source) -> tuple[Source, ReleaseFolder | None]:
    folder = ReleaseFolder.around(data) if isinstance(data, str) else data
    return (source_at(folder.data), folder) if isinstance(folder, ReleaseFolder) else (folder, None)


def _with_manifest(request: MeasureRequest, folder: ReleaseFolder) -> MeasureRequest:
    """With what the manifest of a release says, where there is one."""
    told = DeclaredPeople.of(folder)
    if told is not None:
        request = replace(request, told=told, person=request.person or told.person)
    return replace(request, records=folder.records, read_back=_read_back_told(folder, request))


def _read_back_told(folder: ReleaseFolder, request: MeasureRequest) -> ReadBack | None:
    """What the manifest says, unless it is of another file or of other quasi-identifiers."""
    manifest = folder.manifest
    if manifest is None or manifest.read_back is None or folder.changed:
        return None
    return manifest.read_back.read_back() if set(manifest.with_role(Role.QUASI)) == set(request.quasi) else None


def measure(
    data: object, *, quasi: Sequence[str], sensitive: str | Sequence[str] = (), person: str | None = None
) -> MeasuredTable:
    """Risk figures of a table: a path, or a pandas, Polars or PyArrow table."""
    listed = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
    return _measure(as_lazy(data), MeasureRequest(tuple(quasi), listed, person), None)


def _measure(frame: pl.LazyFrame, request: MeasureRequest, original: pl.LazyFrame | None) -> MeasuredTable:
    present = tuple(frame.collect_schema())
    request = _without_cut_off(request, present)
    _refuse_unknown(request, present)
    doubts = () if original is None else _together(frame, original, request)
    whom = _whom(frame, request, original)
    columns = _columns(frame, request)
    measurement = _classes(whom, request, columns)
    _refuse_nothing_to_measure(measurement, request, columns)
    if request.records is not None:
        measurement = request.records.complete(measurement)
    if not len(measurement.classes):
        raise DataError("every record is suppressed: no class is left, so nothing can be measured")
    wanted = request.wanted.drawn_as(measurement)
    _refuse_estimates(whom, request, wanted)
    groups = sensitive_groups(whom.frame, request.quasi, columns, request.rules, whom.person)
    before, useful, cells, attackers, told = None, None, CellFigures(), None, request.read_back
    if original is not None:
        before = _classes(_likewise(original, request, whom), request, _columns(original, request), original=True)
        if request.records is None:
            measurement = _beside_source(measurement, before, request.policy)
    compare = PopulationComparison(request.quasi, request.models, request.policy, request.population)
    measurement, before, unmeasured = compare.beside(measurement, before, whom)
    if original is not None and before is not None:
        attackers = attackers_in(before, wanted)
        pair = TablePair.of(original, frame)
        useful = measure_pair(pair, request.wanted.circumstances, request.policy)
        cells = cells_beside(measurement, before, request.policy)
        told = read_back_files(whom, original, request.quasi, request.policy, measurement.k)
    assessed = assess_table(frame, measurement, request.quasi, wanted)
    formal = measure_formal(_with_population(measurement), columns)
    figures = _figures(measurement, assessed, formal) | ({} if told is None else {"k_effective": float(told.k)})
    evidence = ThresholdEvidence(figures, measurement.classes, formal, columns, groups, assessed.not_assessed)
    findings = [*measurement.find(request.models), *_verdict(assessed)]
    findings += [finding for threshold in request.require for finding in threshold.check(evidence)]
    return MeasuredTable(
        measurement,
        tuple(findings),
        before,
        assessed,
        useful,
        cells,
        formal,
        groups,
        attackers,
        doubts,
        whom.counted,
        unmeasured,
        told,
    )


def _verdict(assessed: RiskAssessment) -> tuple[ModelFinding, ...]:
    """The threshold of the declared harm is required by declaring it."""
    found = assessed.assessment
    return (
        () if found is None else (ModelFinding("reidentification", found.threshold, found.probability, found.within),)
    )


def _together(frame: pl.LazyFrame, original: pl.LazyFrame, request: MeasureRequest) -> tuple[str, ...]:
    names = (*request.quasi, *request.sensitive)
    _refuse_absent(names, tuple(original.collect_schema()), "the original")
    return require_compatible(original, frame, request.making, names)


def _whom(frame: pl.LazyFrame, request: MeasureRequest, original: pl.LazyFrame | None) -> CountingUnit:
    if request.person is None or request.by_records:
        return CountingUnit(frame, by_records=True)
    return choose_counting_unit(
        frame, request.person, request.quasi, policy=request.policy, original=original, told=request.told
    )


def _with_population(measurement: Measurement) -> Classes:
    """The classes of the table alone, not those that only the population has."""
    if measurement.population is None:
        return measurement.classes
    beside = measurement.beside_population()
    return beside.only(beside.records > 0)


def _likewise(original: pl.LazyFrame, request: MeasureRequest, whom: CountingUnit) -> CountingUnit:
    """The original counted by the same column; it can't be missing there."""
    if whom.by_records or request.person is None:
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


def _refuse_estimates(whom: CountingUnit, request: MeasureRequest, wanted: AssessmentOptions) -> None:
    """Fewer people make sums and samples look safer, so they are not told from the fewest that there can be."""
    if request.rules:
        whom.need_everyone(FieldName("rules"))
    if wanted.circumstances.population_size is not None:
        whom.need_everyone("the size of the population")
    for model in request.models:
        if getattr(model, "population_size", None) is not None:
            whom.need_everyone(model.key)


def _without_cut_off(request: MeasureRequest, present: tuple[str, ...]) -> MeasureRequest:
    """A release that the policy anatomises has its sensitive columns in another file."""
    technique = None if request.policy is None else anatomised(request.policy)
    if technique is None:
        return request
    kept = (name for name in request.sensitive if name in present or name not in technique.sensitive)
    return replace(request, sensitive=tuple(kept))


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


def _classes(whom: CountingUnit, request: MeasureRequest, columns: Columns, *, original: bool = False) -> Measurement:
    frame = whom.frame
    known = {
        name: SensitiveKnowledge(ValueOrder(column, _bound(frame, request.policy, column)))
        for name, column in columns.items()
    }
    measurement = measure_classes(frame, request.quasi, whom.person, request.sensitive, known, original=original)
    return read_missing_as_asked(whom.people(measurement), request.policy, request.wanted.missing)


def _columns(frame: pl.LazyFrame, request: MeasureRequest) -> dict[str, Column]:
    """The value types of the sensitive attributes: as the policy declares those that its models look at, else as found.

    What no model looks at may have been changed before it was released; what was declared need not fit it any more.
    """
    if not request.sensitive:
        return {}
    policy = request.policy
    modelled = () if policy is None else policy.modelled
    declared = {} if policy is None else {name: policy.attributes[name].declared(name) for name in modelled}
    known = {name: column for name, column in declared.items() if column is not None}
    return detect(frame, request.sensitive, known)


def _bound(frame: pl.LazyFrame, policy: Policy | None, column: Column) -> BoundHierarchy | None:
    """The hierarchy of an attribute that the policy's models look at."""
    if policy is None or column.name not in policy.modelled:
        return None
    hierarchy = policy.attributes[column.name].hierarchy
    if hierarchy is None:
        return None
    counted = count_groups(frame, [column.name], "records").rename({column.name: "value"})
    return hierarchy.resolve(policy.folder).bind(column, counted)


def _figures(measurement: Measurement, assessed: RiskAssessment, formal: FormalFigures) -> dict[str, float]:
    sizes = measurement.classes.people
    chance = assessed.assessment
    return {
        "records_above": assessed.attackers.prosecutor.above,
        "strict_average": assessed.attackers.prosecutor.strict_average,
        "reidentification": inf if chance is None else chance.probability,
        **formal.whole,
        **asdict(measurement.risk),
        "class_size_min": float(sizes.min(initial=0) if not len(sizes) else sizes.min()),
        "class_size_average": float(sizes.mean()) if len(sizes) else 0.0,
        "suppressed": measurement.suppressed_records / max(1, measurement.source_records),
    }
