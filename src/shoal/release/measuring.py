"""Measuring a table that lies somewhere: a file, a release folder, a database, a frame in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import DataError, InputError
from shoal.hierarchy import BoundHierarchy
from shoal.hierarchy.reading import Reading
from shoal.io import explained
from shoal.measurement import Known, Measurement, measure_classes
from shoal.measurement.useful import Usefulness
from shoal.measurement.usefulness import class_figures
from shoal.policy import Policy
from shoal.privacy import Finding, PrivacyModel
from shoal.randomness import Randomness
from shoal.release.assessing import Assessed, Wanted, assess_table
from shoal.release.folder import data_file, names_in
from shoal.release.frames import as_lazy, source_at
from shoal.release.pairing import Pairing
from shoal.release.reading import as_policy_reads
from shoal.release.usefulness import loss_beside, measure_pair
from shoal.schema import Column, Role
from shoal.schema.detect import detect
from shoal.schema.grouping import count_groups
from shoal.schema.registry import did_you_mean

AT_LEAST = ("k", "class_size_min", "class_size_average")
AT_MOST = (
    "prosecutor_max",
    "prosecutor_average",
    "journalist_max",
    "marketer",
    "uniques",
    "suppressed",
    "records_above",
    "reidentification",
)


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
        if self.name == "reidentification" and achieved == inf:
            raise InputError("--require: the probability of re-identification needs the potential harm, as --harm high")
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
    wanted: Wanted = field(default_factory=Wanted)

    @classmethod
    def of(  # noqa: PLR0913  # one argument per option of `shoal measure`
        cls,
        *,
        policy: Path | None,
        qi: str | None,
        sensitive: str | None = None,
        person: str | None = None,
        require: Sequence[str] = (),
        wanted: Wanted | None = None,
    ) -> MeasureRequest:
        thresholds = tuple(Threshold.parse(text) for text in require)
        if (policy is None) == (qi is None):
            raise InputError("say which attributes are quasi-identifiers: either --policy POLICY or --qi a,b,c")
        wanted = wanted or Wanted()
        if policy is None:
            return cls(names_in(qi), names_in(sensitive), person, (), thresholds, None, wanted)
        chosen = Policy.load(policy)
        listed = tuple(dict.fromkeys((*(names_in(sensitive) or chosen.with_role(Role.SENSITIVE)), *chosen.modelled)))
        wanted = wanted.within(chosen.assess)
        quasi, person = chosen.quasi_identifiers, person or chosen.person
        return cls(quasi, listed, person, chosen.models, thresholds, chosen, wanted)


@dataclass(frozen=True)
class Measured:
    """A measurement with what was required of it."""

    measurement: Measurement
    models: tuple[Finding, ...]
    before: Measurement | None = None
    assessed: Assessed | None = None
    usefulness: Usefulness | None = None
    loss: float | None = None

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
        if self.loss is not None:
            result["utility"]["loss"] = self.loss
        if self.before is not None:
            result["risk_before"] = asdict(self.before.risk)
        if self.usefulness is not None:
            result["usefulness"] = self.usefulness.to_dict()
        return result if self.assessed is None else result | self.assessed.to_dict()


def measure_data(data: str, request: MeasureRequest, *, original: str | None = None) -> Measured:
    source = source_at(data_file(data))
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
    before, useful, loss = None, None, None
    if original is not None:
        randomness = Randomness()
        named = tuple(original.collect_schema())
        before = _classes(original, request, request.person if request.person in named else None)
        pair = Pairing.of(original, frame, randomness)
        useful = measure_pair(pair, request.wanted.circumstances, request.policy, randomness)
        loss = None if request.policy is None else loss_beside(measurement, pair.original, request.policy)
    assessed = assess_table(frame, measurement, request.quasi, request.wanted)
    figures = _figures(measurement, assessed)
    findings = [*measurement.find(request.models)]
    findings += [threshold.check(figures) for threshold in request.require]
    return Measured(measurement, tuple(findings), before, assessed, useful, loss)


def _classes(frame: pl.LazyFrame, request: MeasureRequest, person: str | None) -> Measurement:
    present = tuple(frame.collect_schema())
    wanted = (*request.quasi, *request.sensitive)
    for name in wanted:
        if name not in present:
            raise DataError(f"the data has no column '{name}'{did_you_mean(name, present)}")
    counted = measure_classes(frame, request.quasi, person, request.sensitive, _known(frame, request.policy))
    return as_policy_reads(counted, request.policy)


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


def _figures(measurement: Measurement, assessed: Assessed) -> dict[str, float]:
    sizes = measurement.classes.people
    chance = assessed.assessment
    return {
        "records_above": assessed.attackers.prosecutor.above,
        "reidentification": inf if chance is None else chance.probability,
        **asdict(measurement.risk),
        "class_size_min": float(sizes.min(initial=0) if not len(sizes) else sizes.min()),
        "class_size_average": float(sizes.mean()) if len(sizes) else 0.0,
        "suppressed": measurement.suppressed / measurement.rows if measurement.rows else 0.0,
    }
