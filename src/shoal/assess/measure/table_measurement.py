"""Measuring a table that lies somewhere: a file, a release folder, a database, a frame in memory.

A request is counted, the counts become figures, the figures are held against what was required.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from math import inf

import polars as pl

from shoal.assess.comparison.paired_tables import held
from shoal.assess.measure.counting import CountedTable, count_table
from shoal.assess.measure.release_context import ReleaseContext
from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.risk_assessment import assess_table, attackers_in
from shoal.assess.measure.thresholds import ThresholdEvidence
from shoal.assess.measure.usefulness import cells_beside, measure_pair
from shoal.assess.read_back.file_comparison import ComparedRecords, read_back_files
from shoal.io import Source, explained
from shoal.io.frames import as_lazy, source_at
from shoal.io.sources import bytes_of
from shoal.measurement import Measurement
from shoal.measurement.formal_models import FormalFigures, measure_formal
from shoal.privacy import Classes, ModelFinding
from shoal.results.measured_table import MeasuredTable
from shoal.results.release_folder import ReleaseFolder
from shoal.results.risk_assessment import RiskAssessment
from shoal.schema.progress import Monitor


def measure(
    data: object, *, quasi: Sequence[str], sensitive: str | Sequence[str] = (), person: str | None = None
) -> MeasuredTable:
    """Risk figures of a table: a path, or a pandas, Polars or PyArrow table."""
    listed = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
    request = MeasureRequest(quasi=tuple(quasi), sensitive=listed, person=person)
    return _measure(as_lazy(data), request, None, None)


def measure_data(
    data: str | ReleaseFolder | Source,
    request: MeasureRequest,
    *,
    original: str | Source | None = None,
    monitor: Monitor | None = None,
) -> MeasuredTable:
    """A table that lies somewhere; a source is taken as it is, without a manifest. ``monitor`` hears of the phases."""
    source, context = _opened(data, request)
    if context is not None and context.people is not None and request.person is None:
        request = request.model_copy(update={"person": context.people.person})
    with explained(source):
        if original is None:
            return _measure(source.scan(), request, context, None, monitor, bytes_of(source))
        before = source_at(original) if isinstance(original, str) else original
        with explained(before):
            reads = [size for each in (source, before) if (size := bytes_of(each)) is not None]
            (frame, rows), (was, rows_before) = held(source), held(before)
            whole = sum(reads) if len(reads) == 2 else None
            return _measure(frame, request, context, was, monitor, whole, (rows_before, rows))


def _opened(data: str | ReleaseFolder | Source, request: MeasureRequest) -> tuple[Source, ReleaseContext | None]:
    """The table, and what its manifest says where it is a release."""
    folder = ReleaseFolder.around(data) if isinstance(data, str) else data
    if not isinstance(folder, ReleaseFolder):
        return folder, None
    context = None if folder.manifest is None else ReleaseContext.of(folder, request.quasi)
    return source_at(folder.data), context


def _measure(  # noqa: PLR0913, PLR0917  # two tables, what is asked of them, who listens
    frame: pl.LazyFrame,
    request: MeasureRequest,
    context: ReleaseContext | None,
    original: pl.LazyFrame | None,
    monitor: Monitor | None = None,
    reads: int | None = None,
    rows: tuple[int, int] | None = None,
) -> MeasuredTable:
    """``rows`` are those of the original and of the table, where they are known."""
    monitor = monitor or Monitor()
    with monitor.phase("count", reads):
        counted = count_table(frame, request, context, original, rows)
    found = MeasuredTable(
        counted.measurement,
        models=(),
        before=counted.before,
        sensitivity=counted.sensitivity,
        doubts=counted.doubts,
        counted=counted.unit.counted,
        not_measured=counted.not_measured,
        read_back=None if context is None else context.read_back,
    )
    if original is not None and counted.before is not None:
        with monitor.phase("compare", reads):
            compared = ComparedRecords.of(original, counted.unit.frame, rows)
            found = _compared(found, counted, counted.before, original, compared, request)
    with monitor.phase("assess"):
        assessed = assess_table(frame, counted.measurement, request.quasi, counted.options)
        formal = measure_formal(_with_population(counted.measurement), counted.columns)
    found = replace(found, assessed=assessed, formal=formal)
    return replace(found, models=_findings(found, assessed, formal, counted, request))


def _compared(  # noqa: PLR0913, PLR0917  # two tables, and what was found in them
    found: MeasuredTable,
    counted: CountedTable,
    before: Measurement,
    original: pl.LazyFrame,
    compared: ComparedRecords,
    request: MeasureRequest,
) -> MeasuredTable:
    """With what was lost on the way from the original to the table, and what the original gives back."""
    attackers = attackers_in(before, counted.options)
    k = counted.measurement.k
    return replace(
        found,
        attackers_before=attackers,
        usefulness=measure_pair(compared.pair, request.options.circumstances, request.policy),
        cells=cells_beside(counted.measurement, before, request.policy),
        read_back=read_back_files(counted.unit, original, request.quasi, request.policy, k, compared=compared),
    )


def _findings(
    found: MeasuredTable,
    assessed: RiskAssessment,
    formal: FormalFigures,
    counted: CountedTable,
    request: MeasureRequest,
) -> tuple[ModelFinding, ...]:
    """The policy's models, the threshold of the declared harm, what else was required."""
    findings = (*counted.measurement.find(request.models), *_verdict(assessed))
    if not request.require:
        return findings
    figures = _figures(counted.measurement, assessed, formal)
    if found.k_effective is not None:
        figures["k_effective"] = float(found.k_effective)
    evidence = ThresholdEvidence(
        figures, counted.measurement.classes, formal, counted.columns, counted.sensitivity, assessed.not_assessed
    )
    return (*findings, *(finding for threshold in request.require for finding in threshold.check(evidence)))


def _verdict(assessed: RiskAssessment) -> tuple[ModelFinding, ...]:
    """The threshold of the declared harm is required by declaring it."""
    found = assessed.assessment
    return (
        () if found is None else (ModelFinding("reidentification", found.threshold, found.probability, found.within),)
    )


def _with_population(measurement: Measurement) -> Classes:
    """The classes of the table alone, not those that only the population has."""
    if measurement.population is None:
        return measurement.classes
    beside = measurement.beside_population()
    return beside.only(beside.records > 0)


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
