"""How much of an original table a synthetic one still tells, as results have it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from shoal.results.base import Bounded, Number, ResultModel, Words

if TYPE_CHECKING:
    from shoal.measurement.fidelity import Fidelity
    from shoal.measurement.fidelity.predictions import Prediction


class BarResult(ResultModel):
    label: str
    original: Number
    """Share of its records."""
    synthetic: Number

    @classmethod
    def all_of(cls, bars: Iterable[tuple[str, float, float]]) -> tuple[BarResult, ...]:
        return tuple(cls(label=label, original=old, synthetic=new) for label, old, new in bars)


class ColumnFidelityResult(ResultModel):
    kind: str
    """number, date or category."""
    total_variation: Number | None
    """Share of records in the wrong place; numbers in bins of equally many records of the original."""
    chance: Number | None
    """What another sample of the same people would come to."""
    wasserstein: Number | None = None
    """Of a number, how far it moved as a share of its range."""
    missing_original: Number
    missing_synthetic: Number
    bars: tuple[BarResult, ...] = ()
    """How it is spread in both; a bar has at least ten records of the original."""
    problem: Words | None = None


class PairFidelityResult(ResultModel):
    """Two columns: how far they go together, and how far their joint distribution has moved."""

    first: str
    second: str
    total_variation: Number | None = None
    measure: str | None = None
    """pearson, cramers_v or correlation_ratio."""
    original: Number | None = None
    synthetic: Number | None = None
    difference: Number | None = None


class PredictionResult(ResultModel):
    """One column predicted of real records, after learning from real and from synthetic ones."""

    target: str
    task: str
    """classification or regression."""
    score: str
    """accuracy or r2."""
    real: Number | None = None
    synthetic: Number | None = None
    baseline: Number | None = None
    """Of guessing the most frequent class, or the mean."""
    ratio: Number | None = None
    """synthetic ÷ real"""
    kept: Number | None = None
    """The part of the gain over guessing that is left."""
    tested_on: str = ""
    problem: Words | None = None

    @classmethod
    def of(cls, found: Prediction) -> PredictionResult:
        scores = {
            name: None if each is None else each.main
            for name, each in (("real", found.real), ("synthetic", found.synthetic), ("baseline", found.baseline))
        }
        return cls(
            target=found.target,
            task=found.task,
            score="r2" if found.task == "regression" else "accuracy",
            ratio=found.ratio,
            kept=found.kept,
            tested_on=found.tested_on,
            problem=found.problem,
            **scores,
        )


class FidelityResult(ResultModel):
    figures: dict[str, Bounded]
    """By name; None where ``reasons`` says why."""
    reasons: dict[str, Words]
    columns: dict[str, ColumnFidelityResult]
    pairs: tuple[PairFidelityResult, ...]
    predictions: tuple[PredictionResult, ...]
    notes: tuple[Words, ...]
    """What was sampled or left out by intention."""

    @classmethod
    def of(cls, found: Fidelity) -> FidelityResult:
        return cls(
            figures=dict(found.figures),
            reasons=dict(found.reasons),
            columns=dict(_columns(found)),
            pairs=tuple(_pairs(found)),
            predictions=tuple(PredictionResult.of(each) for each in found.predictions),
            notes=found.notes,
        )


def _columns(found: Fidelity) -> Iterator[tuple[str, ColumnFidelityResult]]:
    for name, shape in found.shapes.items():
        marginal = found.column_distances.get(name)
        yield (
            name,
            ColumnFidelityResult(
                kind=shape.distance.kind,
                total_variation=None if marginal is None else marginal.total_variation,
                chance=None if marginal is None else marginal.chance,
                wasserstein=shape.distance.wasserstein,
                missing_original=shape.distance.missing_before,
                missing_synthetic=shape.distance.missing_after,
                bars=BarResult.all_of(shape.bars),
                problem=shape.distance.problem,
            ),
        )


def _pairs(found: Fidelity) -> Iterator[PairFidelityResult]:
    """Every pair that something is known of, in the order of the columns."""
    associations = {frozenset((each.first, each.second)): each for each in found.associations}
    marginals = {frozenset(names): each for names, each in found.pair_distances.items()}
    names = list(found.shapes)
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            pair = frozenset((first, second))
            joint, together = marginals.get(pair), associations.get(pair)
            if joint is None and together is None:
                continue
            yield PairFidelityResult(
                first=first,
                second=second,
                total_variation=None if joint is None else joint.total_variation,
                measure=None if together is None else together.measure,
                original=None if together is None else together.before,
                synthetic=None if together is None else together.after,
                difference=None if together is None else together.difference,
            )
