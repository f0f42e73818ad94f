"""All figures of usefulness of a release beside its original, in one go."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.errors import BugError, DataError
from shoal.measurement.usefulness.attribute_pairs import AttributeKind, AttributePair, Recode, make_comparable
from shoal.measurement.usefulness.base import MeasuredFigures, TableComparison, UsefulnessMeasure, measures
from shoal.measurement.usefulness.purposes import figures_for
from shoal.measurement.usefulness.queries import QueryError
from shoal.measurement.usefulness.row_sampling import look_aligned
from shoal.randomness import Randomness
from shoal.schema.circumstances import Purpose

if TYPE_CHECKING:
    from shoal.measurement.usefulness.associations import Association
    from shoal.measurement.usefulness.distances import DistributionDistance
    from shoal.measurement.usefulness.numeric_distortion import Masking

_NO_REASON = "no attribute of that kind"


@dataclass(frozen=True)
class Usefulness:
    """What the release is good for. ``figures`` are named as measures declare them."""

    rows_original: int
    rows_released: int
    aligned: bool
    """Whether row i of both tables was taken for the same record."""
    purpose: Purpose | None
    figures: Mapping[str, float | None]
    reasons: Mapping[str, str]
    """Why a figure is missing."""
    distances: tuple[DistributionDistance, ...]
    associations: tuple[Association, ...]
    masking: Masking
    queries: QueryError = field(default_factory=QueryError)
    unchanged: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What was sampled or left out by intention."""

    @property
    def for_purpose(self) -> tuple[str, ...]:
        """The figures that matter for the declared purpose and could be had; all of them if none was declared."""
        wanted = tuple(self.figures) if self.purpose is None else figures_for(self.purpose)
        return tuple(name for name in wanted if self.figures[name] is not None)

    def to_dict(self) -> dict[str, Any]:
        """Flat figures, then what is behind them; what is no number is None."""
        moments = {moment.attribute: asdict(moment) for moment in self.masking.moments}
        attributes = {
            distance.attribute: {
                **_without(asdict(distance), "attribute"),
                **_without(moments.get(distance.attribute, {}), "attribute"),
                "unchanged": self.unchanged.get(distance.attribute),
            }
            for distance in self.distances
        }
        whole = {
            **self.figures,
            "rows_original": self.rows_original,
            "rows_released": self.rows_released,
            "aligned": self.aligned,
            "purpose": self.purpose,
            "for_purpose": list(self.for_purpose),
            "attributes": attributes,
            "queries": {
                "number": self.queries.queries,
                "mean_interval": self.queries.mean_interval,
                "median_interval": self.queries.median_interval,
            },
            "associations": [asdict(one) | {"difference": one.difference} for one in self.associations],
            "reasons": dict(self.reasons),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }
        cleaned: dict[str, Any] = _finite(whole)
        return cleaned


def measure_usefulness(  # noqa: PLR0913 - two tables and what is known of them
    original: pl.DataFrame,
    released: pl.DataFrame,
    *,
    attributes: Sequence[str],
    randomness: Randomness,
    target: str | None = None,
    purpose: Purpose | None = None,
    recode: Recode | None = None,
    aligned: bool | None = None,
    kinds: Mapping[str, AttributeKind] | None = None,
) -> Usefulness:
    """Compare the attributes, and the target, of both tables.

    ``aligned`` says whether row i is the same record in both; None looks at the tables. ``kinds`` overrules what a
    column looks like (a postal code is digits, but no number).
    """
    names = _common(original, released, attributes, target)
    recode, kinds = recode or {}, kinds or {}
    pairs = [
        make_comparable(name, original[name], released[name], recode=recode.get(name), kind=kinds.get(name))
        for name in names
    ]
    if aligned is None:
        aligned = look_aligned(pairs)
    elif aligned and original.height != released.height:
        raise DataError("tables that don't have the same number of rows can't stand in the same order")
    seen = [pair for pair in pairs if pair.name in set(attributes)]
    comparison = TableComparison(original, released, pairs, seen, target, aligned, randomness)
    found = {one.key: _evaluated(one(), comparison) for one in measures()}
    figures = {name: value for one in found.values() for name, value in one.figures.items()}
    reasons = {name: told for one in found.values() for name, told in one.reasons.items()}
    return Usefulness(
        original.height,
        released.height,
        aligned,
        purpose,
        figures,
        {name: reasons.get(name, _NO_REASON) for name in figures if figures[name] is None},
        warnings=tuple(_warnings(pairs, original, released, attributes)),
        notes=tuple(note for one in found.values() for note in one.notes),
        **{name: detail for one in found.values() for name, detail in one.details.items()},
    )


def _evaluated(measure: UsefulnessMeasure, comparison: TableComparison) -> MeasuredFigures:
    lacking = next((need for need in sorted(measure.needs) if not comparison.has(need)), None)
    if lacking is not None:
        return measure.missing(lacking)
    found = measure.evaluate(comparison)
    if found.figures.keys() != measure.readings.keys():
        raise BugError(f"the measure '{measure.key}' has to give the figures that it declares")
    return found


def _common(original: pl.DataFrame, released: pl.DataFrame, attributes: Sequence[str], target: str | None) -> list[str]:
    """The names that both tables have, the target last."""
    wanted = list(dict.fromkeys([*attributes, *([] if target is None else [target])]))
    unknown = [name for name in wanted if name not in original.columns]
    if unknown:
        raise DataError(f"the original has no column '{unknown[0]}'", advice="name columns of the original table")
    names = [name for name in wanted if name in released.columns]
    if not set(names) & set(attributes):
        raise DataError("the release has none of the named columns of the original, so they don't belong together")
    if not original.height or not released.height:
        empty = "original" if not original.height else "release"
        raise DataError(f"the {empty} has no records, so there is nothing to compare")
    return names


def _warnings(
    pairs: Sequence[AttributePair], original: pl.DataFrame, released: pl.DataFrame, attributes: Sequence[str]
) -> Iterable[str]:
    for pair in pairs:
        if pair.problem is not None:
            yield f"column '{pair.name}': {pair.problem}"
        elif pair.numeric and _apart(pair):
            yield f"column '{pair.name}': no released number lies in the range of the original"
        if not pair.single_labelled:
            yield f"column '{pair.name}': a value went to several labels; it is compared by its leaves, or left out"
    for name in attributes:
        if name not in released.columns:
            yield f"column '{name}': is not in the release"
    if released.height > original.height:
        yield "the release has more records than the original"


def _apart(pair: AttributePair) -> bool:
    (low, high), (least, greatest) = ((np.nanmin(side), np.nanmax(side)) for side in pair.numbers())
    return bool(greatest < low or least > high)


def _without(figures: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in figures.items() if key != name}


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
