"""A small neural network, trained with differential privacy or without (MeitY 2.8.1; imdpGAN: Gupta and others 2020).

Columns are drawn one after the other by a network that was trained on noisy sums of clipped gradients (DP-SGD). A
latent code that is drawn first steers the record as a whole: training rewards that records tell their code (InfoGAN's
information term), and ``inspect`` says which columns the code turned out to steer, measured on what the network draws.

With ε, codes of columns and their counts are found within a part of the budget, as for ``marginals``; training gets the
rest. Without ε nothing is noisy, and nothing is guaranteed. Why a network of this kind: decision 0030.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from shoal.dp.bulk_gaussian import distance
from shoal.dp.sampled_gaussian import SampledRounds, delta_left, least_multiplier
from shoal.errors import DataError, InputError, install_advice
from shoal.kernels.arrays import Floats, Integers
from shoal.randomness import Randomness
from shoal.schema.parameters import Parameters
from shoal.synth.deep_generator.architecture import WEIGHTS, Architecture, Weights
from shoal.synth.deep_generator.drawing import FixedCodes, drawn_codes
from shoal.synth.deep_generator.steering import DRAWN, steered, told
from shoal.synth.graphical_model.maximum_entropy import CodeGroups
from shoal.synth.marginal_selection import CoarseAttribute
from shoal.synth.method import (
    Arrays,
    FitOptions,
    GuaranteeStatement,
    SynthesisMethod,
    SynthesisModel,
    in_blocks,
    synthesis_methods,
)
from shoal.synth.methods.marginals import looked_up
from shoal.synth.private_coding import PrivateCoding, SynthesisBudget, private_table
from shoal.synth.table_coding import coding_of

if TYPE_CHECKING:
    from shoal.synth.deep_generator.training import TrainingPlan

_NAME: Final = "deep"
_MOST_WIDTH: Final = 4_000
"""Codes of all columns together: weights grow with the square."""
_GROUPS, _HIDDEN = 4, 32
_ROUNDS, _RATE, _AT_ONCE = 200, 0.05, 4_000.0
_OPEN_ROUNDS, _OPEN_AT_ONCE = 400, 1_000.0
"""Without ε: more rounds on fewer records."""
_SHOWN: Final = 20_000


class TrainingCost(Parameters):
    """What training told, so that anybody can add it up again."""

    rounds: int
    rate: float
    multiplier: float
    """Noise in units of what one person can move."""
    rho_before: float
    """For codes and their counts, in zCDP."""

    def epsilon(self, delta: float) -> float:
        return SampledRounds(self.rate, self.rounds, self.multiplier, self.rho_before).epsilon(delta)


@dataclass(frozen=True)
class DeepModel:
    """Weights, and how codes become records. With a budget all of it may be published."""

    coding: PrivateCoding
    order: tuple[int, ...]
    """Places of columns in the order in which they are drawn."""
    architecture: Architecture
    weights: Weights
    records: float
    budget: SynthesisBudget | None = None
    cost: TrainingCost | None = None
    method: str = _NAME

    @property
    def rows(self) -> int:
        """As many as were learnt from; with a budget as far as noise lets one know."""
        return max(1, round(self.records))

    def sample(
        self, rows: int, randomness: Randomness, first: int = 0, codes: Mapping[str, float] | None = None
    ) -> pl.DataFrame:
        """``codes`` fixes latent codes for all records, such as ``{"group": 2}``."""
        fixed = self._fixed(codes or {})
        return in_blocks(partial(self._block, fixed), rows, randomness, first)

    def _fixed(self, codes: Mapping[str, float]) -> FixedCodes:
        for name, value in codes.items():
            if name not in self.latent:
                raise InputError(f"there is no code '{name}', only {', '.join(self.latent)}")
            if name == "group" and value not in range(self.architecture.groups):
                raise InputError(f"the group is one of 0 to {self.architecture.groups - 1}")
            if name == "slide" and not -1 <= value <= 1:
                raise InputError("the slide is a number from -1 to 1")
        return FixedCodes(int(codes["group"]) if "group" in codes else None, codes.get("slide"))

    @property
    def latent(self) -> dict[str, tuple[float, ...]]:
        """Codes with the values that they take in training."""
        found = {"group": tuple(float(one) for one in range(self.architecture.groups))}
        found |= {"slide": tuple(self.architecture.slides.tolist())}
        return {name: values for name, values in found.items() if len(values) > 1}

    def _block(self, fixed: FixedCodes, rows: int, randomness: Randomness, first: int) -> pl.DataFrame:
        return self.coding.decode(self.draw_codes(rows, randomness, first, fixed), randomness, first)

    def draw_codes(
        self, rows: int, randomness: Randomness, first: int = 0, fixed: FixedCodes | None = None
    ) -> Integers:
        """Codes by groups, before they become values."""
        places = np.arange(first, first + rows, dtype=np.uint64)
        drawn = drawn_codes(self.architecture, self.weights, places, randomness.stream("synth", _NAME), fixed)
        codes = np.empty_like(drawn)
        codes[:, self.order] = drawn
        return codes

    @cached_property
    def steering(self) -> dict[str, dict[int, float]]:
        """Of each latent code, how much it tells of each column."""
        sizes = [attribute.groups.size for attribute in self.coding.attributes]
        still = Randomness(0)  # what is said of the model is the same each time
        return {
            name: steered([self.draw_codes(DRAWN, still, 0, self._fixed({name: value})) for value in values], sizes)
            for name, values in self.latent.items()
        }

    def inspect(self) -> dict[str, Any]:
        about: dict[str, Any] = {
            "method": _NAME,
            "records": round(self.records),
            "network": {
                "kind": "columns one after the other (masked autoencoder), steered by latent codes",
                "drawn_in_order": [self.coding.names[place] for place in self.order],
                "hidden_units": self.architecture.hidden,
                "weights": len(self.architecture.free),
            },
            "latent_codes": {
                name: {"values": list(values), "steers": told(self.coding.names, self.steering[name])}
                for name, values in self.latent.items()
            },
        }
        if self.budget is not None and self.cost is not None:
            about["budget"] = self.budget.model_dump(mode="json") | {"training": self.cost.model_dump(mode="json")}
        else:
            about["budget"] = "none: no formal guarantee"
        return about | self.coding.described()

    def saved(self) -> tuple[dict[str, Any], Arrays]:
        state, arrays = self.coding.saved()
        arrays |= {f"weights_{name}": self.weights[name] for name in WEIGHTS}
        about = {
            "table": state,
            "order": list(self.order),
            "architecture": self.architecture.model_dump(mode="json"),
            "records": self.records,
            "budget": self.budget and self.budget.model_dump(mode="json"),
            "cost": self.cost and self.cost.model_dump(mode="json"),
        }
        return about, arrays


def _load(state: Mapping[str, Any], arrays: Arrays) -> DeepModel:
    weights: dict[str, Any] = {name: arrays[f"weights_{name}"] for name in WEIGHTS}
    return DeepModel(
        PrivateCoding.loaded(state["table"], arrays),
        tuple(state["order"]),
        Architecture.model_validate(state["architecture"]),
        weights,
        state["records"],
        state["budget"] and SynthesisBudget.model_validate(state["budget"]),
        state["cost"] and TrainingCost.model_validate(state["cost"]),
    )


@dataclass(frozen=True)
class _Coded:
    """A table ready for training."""

    coding: PrivateCoding
    codes: Integers
    records: float
    budget: SynthesisBudget | None = None
    rho_before: float = 0.0


def fit_deep(frame: pl.DataFrame, options: FitOptions) -> DeepModel:
    """Without PyTorch, an InputError that says how to get it, before anything of the table is read."""
    try:
        from shoal.synth.deep_generator.training import TrainingRecords, trained
    except ModuleNotFoundError:
        raise InputError("training a network needs PyTorch", advice=install_advice("deep")) from None
    table = _open_table(frame, options) if options.epsilon is None else _closed_table(frame, options)
    sizes = [attribute.groups.size for attribute in table.coding.attributes]
    order = tuple(sorted(range(len(sizes)), key=lambda place: (sizes[place], place)))
    architecture = Architecture(
        sizes=tuple(sizes[place] for place in order), hidden=_HIDDEN, groups=_GROUPS, positions=1
    )
    if architecture.width > _MOST_WIDTH:
        raise DataError(
            f"columns have {architecture.width:,} codes together, more than the {_MOST_WIDTH:,} a network takes"
        )
    plan, cost = _plan(table, len(architecture.free))
    weights = trained(
        architecture,
        architecture.beginning(_bias(table.coding, order), options.randomness),
        TrainingRecords(table.codes[:, order], table.records, table.budget.rows_per_person if table.budget else 1),
        replace(plan, progress=options.monitor.progress("train")),
        options.randomness if cost is None else Randomness(),
    )
    model = DeepModel(table.coding, order, architecture, weights, table.records, table.budget, cost)
    return _with_dependents(model, options) if options.epsilon is not None else model


def _plan(table: _Coded, weights: int) -> tuple[TrainingPlan, TrainingCost | None]:
    """How training goes; with a budget, the least noise that keeps all within it."""
    from shoal.synth.deep_generator.training import TrainingPlan

    if table.budget is None:
        return TrainingPlan(rounds=_OPEN_ROUNDS, rate=min(1.0, _OPEN_AT_ONCE / max(1.0, table.records))), None
    rate = min(_RATE, _AT_ONCE / max(1.0, table.records))  # how many there are is known with noise only
    still = TrainingPlan(rounds=_ROUNDS, rate=rate, bound=1.0)
    person_rate = still.person_rate(table.budget.rows_per_person)
    delta = delta_left(table.budget.delta_converting, table.budget.epsilon, distance(_ROUNDS * weights))
    noise = least_multiplier(person_rate, _ROUNDS, table.budget.epsilon, delta, table.rho_before)
    cost = TrainingCost(rounds=_ROUNDS, rate=person_rate, multiplier=noise, rho_before=table.rho_before)
    return replace(still, multiplier=noise), cost


def _closed_table(frame: pl.DataFrame, options: FitOptions) -> _Coded:
    found = private_table(frame, options)
    return _Coded(found.coding, found.codes, found.records, found.budget, found.budget.rho - found.rho_left)


def _open_table(frame: pl.DataFrame, options: FitOptions) -> _Coded:
    """Each code by itself."""
    coding = coding_of(frame, options.description)
    codes = coding.encode(frame)
    codes = codes[(codes >= 0).all(axis=1)]
    counts = [np.bincount(codes[:, at], minlength=size).astype(np.float64) for at, size in enumerate(coding.sizes)]
    attributes = tuple(
        CoarseAttribute(CodeGroups(np.arange(len(one))), np.ones(len(one)), one, 0.0, ()) for one in counts
    )
    usual = tuple(int(one.argmax()) for one in counts)
    return _Coded(PrivateCoding(coding, attributes, usual), codes, float(len(codes)))


def _bias(coding: PrivateCoding, order: tuple[int, ...]) -> Floats:
    """Odds of codes by themselves, from counts that are known already."""
    parts = []
    for place in order:
        attribute = coding.attributes[place]
        counts = np.maximum(attribute.counts, max(0.5, attribute.scale / 2))
        parts.append(np.log(counts / counts.sum()))
    return np.concatenate(parts) if parts else np.zeros(0)


def _with_dependents(model: DeepModel, options: FitOptions) -> DeepModel:
    """Declared dependencies hold as the network has them most often: looked up among records of its own."""
    known = {name: place for place, name in enumerate(model.coding.names)}
    drawn, look_ups = model.draw_codes(_SHOWN, Randomness(0)), {}
    for one in options.description.constraints.dependencies:
        if one.determinant in known and one.dependent in known:
            pair = known[one.determinant], known[one.dependent]
            sizes = tuple(model.coding.attributes[place].groups.size for place in pair)
            counts = np.zeros(sizes)
            np.add.at(counts, (drawn[:, pair[0]], drawn[:, pair[1]]), 1.0)
            look_ups[one.dependent] = looked_up(model.coding, pair, counts)
    return replace(model, coding=model.coding.with_look_ups(look_ups))


def _guarantee(options: FitOptions, model: SynthesisModel) -> GuaranteeStatement:
    budget = model.budget if isinstance(model, DeepModel) else None
    if budget is not None:
        return budget.guarantee()
    least = options.description.rare
    return GuaranteeStatement(
        guaranteed=(f"no name, word or code that fewer than {least} people have reappears",),
        not_guaranteed=(
            "no formal guarantee: training was without noise, and nothing bounds what the network tells of one person",
            "a record that is drawn may equal a real one; measure how often before you share",
        ),
    )


synthesis_methods.add(_NAME, SynthesisMethod(fit_deep, _load, _guarantee, is_private=True, budget_optional=True))
