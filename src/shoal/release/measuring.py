"""Measuring a table that lies somewhere: a file, a release folder, a database, a frame in memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import DataError, InputError, SourceError
from shoal.hierarchy import BoundHierarchy
from shoal.hierarchy.reading import Reading
from shoal.io import explained
from shoal.measurement import Known, Measurement, measure_classes
from shoal.measurement.usefulness import class_figures
from shoal.policy import Policy
from shoal.privacy import Finding, PrivacyModel
from shoal.release.frames import as_lazy, source_at
from shoal.schema import Column, Role
from shoal.schema.detect import detect
from shoal.schema.grouping import count_groups
from shoal.schema.registry import did_you_mean

AT_LEAST = ("k", "class_size_min", "class_size_average")
AT_MOST = ("prosecutor_max", "prosecutor_average", "journalist_max", "marketer", "uniques", "suppressed")


@dataclass(frozen=True)
class Threshold:
    name: str
    bound: float

    @classmethod
    def parse(cls, text: str) -> Threshold:
        name, _, number = text.partition("=")
        if name not in (*AT_LEAST, *AT_MOST):
            raise InputError(f"--require: unknown figure '{name}'{did_you_mean(name, (*AT_LEAST, *AT_MOST))}")
        try:
            return cls(name, float(number))
        except ValueError:
            raise InputError(f"--require: '{name}' needs a number, as in {name}=5") from None

    def check(self, figures: dict[str, float]) -> Finding:
        achieved = figures[self.name]
        met = achieved >= self.bound if self.name in AT_LEAST else achieved <= self.bound
        return Finding(self.name, self.bound, achieved, met)


@dataclass(frozen=True)
class MeasureRequest:
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    person: str | None = None
    models: tuple[PrivacyModel, ...] = ()
    require: tuple[Threshold, ...] = ()
    policy: Policy | None = None

    @classmethod
    def of(
        cls, *, policy: Path | None, qi: str | None, sensitive: str | None, person: str | None, require: Sequence[str]
    ) -> MeasureRequest:
        thresholds = tuple(Threshold.parse(text) for text in require)
        if (policy is None) == (qi is None):
            raise InputError("say which attributes are quasi-identifiers: either --policy POLICY or --qi a,b,c")
        if policy is not None:
            chosen = Policy.load(policy)
            listed = tuple(dict.fromkeys((*(_names(sensitive) or chosen.with_role(Role.SENSITIVE)), *chosen.modelled)))
            return cls(chosen.quasi_identifiers, listed, person or chosen.person, chosen.models, thresholds, chosen)
        return cls(_names(qi), _names(sensitive), person, (), thresholds)


@dataclass(frozen=True)
class Measured:
    """A measurement with what was required of it."""

    measurement: Measurement
    models: tuple[Finding, ...]
    before: Measurement | None = None

    @property
    def k(self) -> int:
        return self.measurement.k

    @property
    def met(self) -> bool:
        return all(finding.met for finding in self.models)

    def to_dict(self) -> dict[str, Any]:
        sizes = self.measurement.classes.people
        result: dict[str, Any] = {
            "rows": self.measurement.rows,
            "suppressed": self.measurement.suppressed,
            "classes": len(sizes),
            "class_size": {
                "min": int(sizes.min()) if len(sizes) else 0,
                "average": float(sizes.mean()) if len(sizes) else 0.0,
                "max": int(sizes.max()) if len(sizes) else 0,
            },
            "risk": asdict(self.measurement.risk),
            "diversity": dict(self.measurement.diversity),
            "models": [finding.to_dict() for finding in self.models],
            "utility": class_figures(self.measurement),
        }
        if self.before is not None:
            result["risk_before"] = asdict(self.before.risk)
        return result


def measure_data(data: str, request: MeasureRequest, *, original: str | None = None) -> Measured:
    source = source_at(_data_file(data))
    with explained(source):
        if original is None:
            return _measure(source.scan(), request, None)
        before = source_at(original)
        with explained(before):
            return _measure(source.scan(), request, before.scan())


def measure(
    data: object, *, quasi: Sequence[str], sensitive: str | Sequence[str] = (), person: str | None = None
) -> Measured:
    """Risk figures of a table: a path, or a pandas, Polars or PyArrow table."""
    listed = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
    return _measure(as_lazy(data), MeasureRequest(tuple(quasi), listed, person), None)


def _measure(frame: pl.LazyFrame, request: MeasureRequest, original: pl.LazyFrame | None) -> Measured:
    present = tuple(frame.collect_schema())
    person = request.person if request.person in present else None
    measurement = _classes(frame, request, person)
    if not measurement.rows:
        raise DataError("the table has no records")
    before = None
    if original is not None:
        named = tuple(original.collect_schema())
        before = _classes(original, request, request.person if request.person in named else None)
    figures = _figures(measurement)
    findings = [*measurement.find(request.models)]
    findings += [threshold.check(figures) for threshold in request.require]
    return Measured(measurement, tuple(findings), before)


def _classes(frame: pl.LazyFrame, request: MeasureRequest, person: str | None) -> Measurement:
    present = tuple(frame.collect_schema())
    wanted = (*request.quasi, *request.sensitive)
    for name in wanted:
        if name not in present:
            raise DataError(f"the data has no column '{name}'{did_you_mean(name, present)}")
    return measure_classes(frame, request.quasi, person, request.sensitive, _known(frame, request.policy))


def _known(frame: pl.LazyFrame, policy: Policy | None) -> dict[str, Known]:
    """How the sensitive attributes that the policy's models look at are ordered and grouped."""
    if policy is None or not policy.modelled:
        return {}
    declared = {name: policy.attributes[name].declared(name) for name in policy.modelled}
    known = {name: column for name, column in declared.items() if column is not None}
    columns = detect(frame, policy.modelled, known)
    return {name: Known(Reading(columns[name], _bound(frame, policy, columns[name]))) for name in policy.modelled}


def _bound(frame: pl.LazyFrame, policy: Policy, column: Column) -> BoundHierarchy | None:
    hierarchy = policy.attributes[column.name].hierarchy
    if hierarchy is None:
        return None
    counted = count_groups(frame, [column.name], "records").rename({column.name: "value"})
    return hierarchy.resolve(policy.folder).bind(column, counted)


def _figures(measurement: Measurement) -> dict[str, float]:
    sizes = measurement.classes.people
    return {
        **asdict(measurement.risk),
        "class_size_min": float(sizes.min(initial=0) if not len(sizes) else sizes.min()),
        "class_size_average": float(sizes.mean()) if len(sizes) else 0.0,
        "suppressed": measurement.suppressed / measurement.rows if measurement.rows else 0.0,
    }


def _data_file(data: str) -> str:
    """The data file of a release folder; anything else as it is."""
    manifest = Path(data) / "release.json"
    if "://" in data or not manifest.is_file():
        return data
    try:
        return str(Path(data) / json.loads(manifest.read_text(encoding="utf-8"))["data"]["path"])
    except (ValueError, KeyError, TypeError):
        raise SourceError(f"{manifest}: is not the manifest of a release") from None


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip()) if text else ()
