"""``shoal measure`` on several tables: each by itself, and all of them joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

from shoal.assess.measure.options import AssessmentOptions
from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.table_measurement import measure_data
from shoal.assess.measure.thresholds import CELLS, NAMES, FigureThreshold
from shoal.assess.multi_table.joined_risk import JOINED_ALONE, JOINED_K, JoinedRisk
from shoal.assess.multi_table.table_set import TableSet, originals_of
from shoal.errors import InputError
from shoal.io import ReaderOptions
from shoal.measurement.formal_models import SENSITIVE
from shoal.privacy import ModelFinding
from shoal.results.measured_table import MeasuredTable
from shoal.results.measurement_result import MultiTableMeasurementResult
from shoal.schema import Role


@dataclass(frozen=True)
class MultiTableThresholds:
    """What is required of several tables."""

    of_each: tuple[FigureThreshold, ...] = ()
    of_table: Mapping[str, tuple[FigureThreshold, ...]] = field(default_factory=dict)
    of_joined: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def parse(cls, require: Sequence[str], tables: Sequence[str]) -> MultiTableThresholds:
        """``k=5`` is asked of every table that it can be measured of, ``visits.k=5`` of one, ``joined_k=5`` of all
        together."""
        each: list[FigureThreshold] = []
        single: dict[str, tuple[FigureThreshold, ...]] = {}
        joined: dict[str, float] = {}
        for text in require:
            name, _, rest = text.partition(".")
            if text.partition("=")[0] in (JOINED_K, JOINED_ALONE):
                joined[text.partition("=")[0]] = _bound(text)
            elif name in tables and name not in NAMES:
                single[name] = (*single.get(name, ()), FigureThreshold.parse(rest))
            else:
                each.append(FigureThreshold.parse(text))
        return cls(tuple(each), single, joined)

    def for_table(self, name: str, sensitive: Sequence[str]) -> tuple[FigureThreshold, ...]:
        return (*(one for one in self.of_each if _can_be_asked(one, sensitive)), *self.of_table.get(name, ()))

    def of_the_joined(self, risk: JoinedRisk) -> tuple[ModelFinding, ...]:
        found = []
        for name, bound in self.of_joined.items():
            if name == JOINED_K:
                found.append(risk.k_finding(bound))
            else:
                alone = float(risk.alone) if risk.counted else float("nan")
                found.append(ModelFinding(name, bound, alone, met=alone <= bound))
        return tuple(found)


def _bound(text: str) -> float:
    name, _, number = text.partition("=")
    least = 1 if name == JOINED_K else 0
    try:
        bound = float(number)
    except ValueError:
        bound = -1.0
    if not isfinite(bound) or bound < least:
        raise InputError(f"'{name}' needs a number from {least} on, as in {name}=5", field="require")
    return bound


def _can_be_asked(threshold: FigureThreshold, sensitive: Sequence[str]) -> bool:
    if threshold.name not in (*SENSITIVE, CELLS):
        return True
    return bool(sensitive) if threshold.attribute is None else threshold.attribute in sensitive


@dataclass(frozen=True)
class MultiTableMeasurement:
    joined: JoinedRisk
    tables: Mapping[str, MeasuredTable]
    without_quasi: tuple[str, ...]
    """Tables in which there is nothing to measure."""
    models: tuple[ModelFinding, ...]
    """All that is asked, of the joined tables first."""

    @property
    def doubts(self) -> tuple[str, ...]:
        return tuple(f"{name}: {doubt}" for name, measured in self.tables.items() for doubt in measured.doubts)

    def result(self) -> MultiTableMeasurementResult:
        return MultiTableMeasurementResult(
            joined=self.joined.result(),
            tables={name: measured.result() for name, measured in self.tables.items()},
            without_quasi_identifiers=self.without_quasi,
            models=self.models,
        )

    def to_dict(self) -> dict[str, Any]:
        return self.result().to_dict()


def measure_tables(  # noqa: PLR0913  # one argument per option of `shoal measure`
    tables: TableSet,
    require: Sequence[str] = (),
    *,
    options: AssessmentOptions | None = None,
    original: str | None = None,
    by_records: bool = False,
    reader: ReaderOptions | None = None,
) -> MultiTableMeasurement:
    thresholds = MultiTableThresholds.parse(require, tuple(tables.sources))
    originals = {} if original is None else originals_of(tables, original, reader)
    requests = {
        name: _request(tables, name, options or AssessmentOptions()).model_copy(update={"by_records": by_records})
        for name in tables.sources
    }
    joined = tables.joined()
    found: dict[str, MeasuredTable] = {}
    for name, request in requests.items():
        if not request.quasi:
            continue
        asked = request.model_copy(update={"require": thresholds.for_table(name, request.sensitive)})
        place = tables.sources[name] if tables.manifest is None else tables.folder(name)
        found[name] = measure_data(place, asked, original=originals.get(name))
    _refuse_unasked(thresholds, requests)
    of_tables = (
        replace(finding, name=f"{name}.{finding.name}") for name, one in found.items() for finding in one.models
    )
    models = (*joined.findings(), *thresholds.of_the_joined(joined), *of_tables)
    return MultiTableMeasurement(joined, found, tuple(name for name in requests if name not in found), models)


def _request(tables: TableSet, name: str, options: AssessmentOptions) -> MeasureRequest:
    policy = tables.policy(name)
    if policy is not None:
        return MeasureRequest.by_policy(policy, options=options)
    options.need_harm()
    manifest = tables.folder(name).manifest
    if manifest is None:
        return MeasureRequest(quasi=(), options=options)
    return MeasureRequest(
        quasi=manifest.with_role(Role.QUASI),
        sensitive=manifest.with_role(Role.SENSITIVE),
        person=None if manifest.person is None else manifest.person.attribute,
        options=options,
    )


def _refuse_unasked(thresholds: MultiTableThresholds, requests: Mapping[str, MeasureRequest]) -> None:
    """What could be asked of no table would be passed over."""
    measured = [request for request in requests.values() if request.quasi]
    for one in thresholds.of_each:
        if not any(_can_be_asked(one, request.sensitive) for request in measured):
            raise InputError(f"{one.name} can be measured of none of the tables", field="require")
    for name in thresholds.of_table:
        if not requests[name].quasi:
            raise InputError(f"the table '{name}' has no quasi-identifier to measure", field="require")
