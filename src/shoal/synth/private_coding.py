"""A table as codes under differential privacy: what private methods share before and after they model it.

Before: at most so many records of each person, read as the public types say, their codes found within a part of the
budget. After: codes back to records, in which declared constraints hold. In between, each record is encoded by itself,
by codes that are noisy or public: so one record changes one cell of each count, whatever the others are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import pi, sqrt
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.dp.accounting import rho_of
from shoal.dp.contribution_bounds import bounded_rows
from shoal.dp.opendp_measurements import GaussianNoise
from shoal.errors import DataError
from shoal.kernels.arrays import Integers
from shoal.randomness import Randomness
from shoal.schema.parameters import Parameters
from shoal.synth.column_shapes import ColumnShape, ShapeKind, refuse_unreadable, time_steps, with_word_steps
from shoal.synth.constraints import Difference, Enforcement, LookUp, TableConstraints
from shoal.synth.domain_discovery import ColumnSearch, DiscoveredColumn, Measure, column_search, needs_threshold
from shoal.synth.graphical_model.drawing import systematic
from shoal.synth.graphical_model.maximum_entropy import CodeGroups
from shoal.synth.marginal_selection import CoarseAttribute, MeasuredAttribute, coarse, rounds_of, visible_count
from shoal.synth.method import FitOptions, GuaranteeStatement
from shoal.synth.table_coding import TableCoding, TableDescription

MOST_COLUMNS: Final = 1_000
_COUNTING, _LOOKING = 0.008, 0.06
"""Of the budget, for the number of records, and for a first look at what is not public."""
_LEAST_SINGLES, _MOST_SINGLES = 0.25, 0.6
"""Of the budget, for all that is told of single columns."""
_TYPICAL_CELLS: Final = 36
"""Of a pair as it is measured."""
_TYPICAL_RELATION: Final = 0.1
"""What a pair that is not measured is off by, about; noise that hides more than that is not bought off."""
_FINEST: Final = 6
_UNBOUNDED: Final = 2**61
_BESIDE: Final = 4
_COMPARED_DECIMALS: Final = 2


class SynthesisBudget(Parameters):
    """What a private model cost, and how that was split."""

    epsilon: float
    delta: float
    rho: float
    delta_converting: float
    """For saying ρ as (ε, δ)."""
    delta_thresholds: float
    """For names that are not public: that one person makes one appear."""
    rows_per_person: int
    person: str | None

    @classmethod
    def of(cls, options: FitOptions, *, thresholds: bool) -> SynthesisBudget:
        """All of δ goes into the conversion where no column needs a threshold, which is public."""
        epsilon, delta = options.private_budget()
        converting = delta / 2 if thresholds else delta
        return cls(
            epsilon=epsilon,
            delta=delta,
            rho=rho_of(epsilon, converting),
            delta_converting=converting,
            delta_thresholds=delta - converting,
            rows_per_person=options.rows_per_person,
            person=options.description.person,
        )

    def guarantee(self) -> GuaranteeStatement:
        unit = "a person" if self.person else "a record"
        most = f", of whom at most {self.rows_per_person} records are learnt from," if self.person else ""
        left_out = () if self.person else ("who has several records is protected less: each counts as somebody else",)
        return GuaranteeStatement(
            guaranteed=(
                f"with or without {unit}{most} any result of this synthesis is about as likely: differential privacy "
                f"with ε = {self.epsilon:g} and δ = {self.delta:g}",
                "that holds against whoever knows everything else, and for the model as well as for all tables that "
                "are drawn from it, however many",
            ),
            not_guaranteed=(
                "names and stored types of columns, and what was declared about them, are taken as public knowledge",
                "what is true of many is told: who shares it can be guessed at, in the table or not",
                *left_out,
                "every further synthesis or answer from the same records adds to ε",
            ),
            epsilon=self.epsilon,
            delta=self.delta,
        )


@dataclass(frozen=True)
class PrivateCoding:
    """How records become codes and groups of codes, and back. Made of public and noisy things alone."""

    coding: TableCoding
    attributes: tuple[CoarseAttribute, ...]
    """Of each column that is modelled, in the order of the coding."""
    usual: tuple[int, ...] = field(repr=False)
    """The code of a record that has none."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.coding.codes)

    def encode(self, table: pl.DataFrame) -> Integers:
        columns = []
        for (name, codes), attribute, usual in zip(self.coding.codes.items(), self.attributes, self.usual, strict=True):
            found = codes.encode(table[name])
            columns.append(attribute.groups.of[np.where(found < 0, usual, found)])
        return np.stack(columns, axis=1) if columns else np.zeros((table.height, 0), dtype=np.int64)

    def decode(self, groups: Integers, randomness: Randomness, first: int) -> pl.DataFrame:
        places = np.arange(first, first + len(groups), dtype=np.uint64)
        stream = randomness.stream("synth", "codes of groups")
        codes = np.empty_like(groups)
        for place, attribute in enumerate(self.attributes):
            others = [one for one in range(groups.shape[1]) if one != place][:_BESIDE]
            within = np.zeros((attribute.groups.size, len(attribute.shares)))
            within[attribute.groups.of, np.arange(len(attribute.shares))] = attribute.shares
            beside = [groups[:, one] for one in others]
            codes[:, place] = systematic(within, groups[:, place], stream, places, place, beside)
        return self.coding.decode(codes, randomness, first)

    def with_look_ups(self, look_ups: Mapping[str, LookUp]) -> PrivateCoding:
        """The same where dependents are looked up instead of drawn."""
        enforced = self.coding.enforcement.model_copy(update={"look_ups": dict(look_ups)})
        return PrivateCoding(self.coding.model_copy(update={"enforcement": enforced}), self.attributes, self.usual)

    def saved(self) -> tuple[dict[str, Any], dict[str, NDArray[np.generic]]]:
        arrays: dict[str, NDArray[np.generic]] = {}
        for place, one in enumerate(self.attributes):
            arrays |= {f"groups{place}": one.groups.of, f"shares{place}": one.shares, f"counts{place}": one.counts}
        scales = [one.scale for one in self.attributes]
        return {"coding": self.coding.model_dump(mode="json"), "usual": list(self.usual), "scales": scales}, arrays

    @classmethod
    def loaded(cls, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> PrivateCoding:
        attributes = tuple(
            CoarseAttribute(
                CodeGroups(arrays[f"groups{place}"]), arrays[f"shares{place}"], arrays[f"counts{place}"], scale, ()
            )
            for place, scale in enumerate(state["scales"])
        )
        return cls(TableCoding.model_validate(state["coding"]), attributes, tuple(state["usual"]))

    def described(self) -> dict[str, Any]:
        sizes = {
            name: {"codes": codes.size, "modelled_as": attribute.groups.size, "noise": round(attribute.scale, 2)}
            for (name, codes), attribute in zip(self.coding.codes.items(), self.attributes, strict=True)
        }
        return {"columns": sizes} | self.coding.described()


@dataclass(frozen=True)
class PrivateTable:
    """A table that is ready to be modelled, and what is left of its budget."""

    coding: PrivateCoding
    codes: Integers = field(repr=False)
    """By groups. Exact: whatever is made of them gets noise first."""
    records: float
    """With noise."""
    budget: SynthesisBudget
    rho_left: float

    def places(self, sets: Sequence[Sequence[str]]) -> list[tuple[int, ...]]:
        """Sets of columns by their places, as far as they are modelled."""
        known = {name: place for place, name in enumerate(self.coding.names)}
        return [tuple(sorted(known[name] for name in names if name in known)) for names in sets]


def private_table(frame: pl.DataFrame, options: FitOptions) -> PrivateTable:
    """Finds and counts codes within the first part of the budget."""
    said = options.description
    _refuse(frame, said)
    shapes, open_decimals = _public_shapes(frame.schema, said)
    bounded = _bounded(frame, options)
    enforced = _enforcement(said.constraints, shapes)
    table = enforced.reduced(_read(bounded, shapes, open_decimals))
    modelled = [name for name in table.columns if shapes[name].is_stepped or shapes[name].is_named]
    searches = {
        name: column_search(table[name], _modelled(shapes[name], name, enforced), open_decimals=name in open_decimals)
        for name in modelled
    }
    budget = public_budget(frame.schema, options)
    records, found, left = _discovered(searches, table.height, budget)
    shapes |= {name: _written(shapes[name], one.shape) for name, one in found.items()}
    kept = {name: one for name, one in found.items() if one.codes is not None}
    least = visible_count(left, len(kept), budget.rows_per_person)
    coding = PrivateCoding(
        TableCoding(
            shapes=shapes,
            stored={name: str(_plain(frame.schema[name])) for name in frame.columns},
            first_numbers={
                name: 1
                for name, shape in shapes.items()
                if shape.kind is ShapeKind.IDENTIFIER and frame.schema[name].is_integer()
            },
            enforcement=enforced,
            codes={name: one.codes for name, one in kept.items() if one.codes is not None},
        ),
        tuple(
            coarse(MeasuredAttribute(name, one.counts, one.scale, _is_ordered(one)), least)
            for name, one in kept.items()
        ),
        tuple(one.usual for one in kept.values()),
    )
    return PrivateTable(coding, coding.encode(enforced.reduced(_read(bounded, shapes, set()))), records, budget, left)


def public_budget(schema: pl.Schema, options: FitOptions) -> SynthesisBudget:
    """What a synthesis of such a table costs, before anything is read: types and declared things decide."""
    shapes, open_decimals = _public_shapes(schema, options.description)
    thresholds = any(needs_threshold(shape, open_decimals=name in open_decimals) for name, shape in shapes.items())
    return SynthesisBudget.of(options, thresholds=thresholds)


def _is_ordered(found: DiscoveredColumn) -> bool:
    return found.codes is not None and found.codes.ordered


def refuse_too_wide(frame: pl.DataFrame) -> None:
    if frame.width > MOST_COLUMNS:
        raise DataError(f"a table of {frame.width:,} columns is too wide: at most {MOST_COLUMNS:,} go together")


def _refuse(frame: pl.DataFrame, said: TableDescription) -> None:
    """By what is public alone: which columns there are, of which types."""
    if not frame.width:
        raise DataError("a table without columns can't be synthesised")
    refuse_too_wide(frame)
    refuse_unreadable(frame)
    for name in (*said.columns, *([said.person] if said.person else [])):
        if name not in frame.columns:
            raise DataError(f"there is no column '{name}'")


def _bounded(frame: pl.DataFrame, options: FitOptions) -> pl.DataFrame:
    person = options.description.person
    if person is None:
        return frame
    return bounded_rows(frame.lazy(), [person], options.rows_per_person).collect()


_KINDS: Final = (
    (pl.Boolean, ShapeKind.BOOLEAN),
    (pl.Date, ShapeKind.DATE),
    (pl.Datetime, ShapeKind.DATETIME),
    (pl.Time, ShapeKind.TIME),
)


def _public_shapes(schema: pl.Schema, said: TableDescription) -> tuple[dict[str, ColumnShape], set[str]]:
    """As declared, else by the stored type; and numbers of which nobody said how many decimals they have."""
    shapes, open_decimals = {}, set()
    compared = said.constraints.names()
    for name, stored in schema.items():
        if name == said.person:
            shapes[name] = ColumnShape(kind=ShapeKind.IDENTIFIER)
        elif name in said.columns:
            shapes[name] = said.columns[name]
        elif stored.is_numeric() and not stored.is_integer():
            shapes[name] = ColumnShape(kind=ShapeKind.DECIMAL, decimals=_COMPARED_DECIMALS, origin="found")
            open_decimals |= set() if name in compared else {name}
        else:
            kind = ShapeKind.WHOLE if stored.is_integer() else ShapeKind.CATEGORY
            kind = next((kind for type_, kind in _KINDS if isinstance(stored, type_)), kind)
            shapes[name] = ColumnShape(kind=kind, origin="found")
    return said.constraints.shapes(shapes), open_decimals


def _read(frame: pl.DataFrame, shapes: Mapping[str, ColumnShape], open_decimals: set[str]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            _column(frame[name], shape, _FINEST if name in open_decimals else shape.decimals).alias(name)
            for name, shape in shapes.items()
        ]
    )


def _column(values: pl.Series, shape: ColumnShape, decimals: int) -> pl.Series:
    """Steps or text. What can't be read counts as missing: an error would tell that it is there."""
    if not shape.is_stepped:
        return values.cast(pl.String)
    return with_word_steps(_stepped(values, shape, decimals), values, shape)


def _stepped(values: pl.Series, shape: ColumnShape, decimals: int) -> pl.Series:
    if shape.kind is ShapeKind.TIME:
        return time_steps(values, shape)
    if shape.kind in {ShapeKind.DATE, ShapeKind.DATETIME}:
        kind = pl.Datetime("us") if shape.kind is ShapeKind.DATETIME else pl.Date()
        if isinstance(values.dtype, pl.String):
            values = values.str.strptime(kind, shape.date_format, strict=False)
        elif isinstance(values.dtype, pl.Datetime):
            values = values.dt.replace_time_zone(None)
        return values.cast(kind, strict=False).to_physical().cast(pl.Int64)
    numbers = values.cast(pl.Float64, strict=False)
    if shape.kind is ShapeKind.WHOLE and values.dtype.is_integer():
        held = values.clip(upper_bound=_UNBOUNDED) if values.dtype == pl.UInt64() else values
        return held.cast(pl.Int64, strict=False).clip(-_UNBOUNDED, _UNBOUNDED)
    steps = (numbers * 10.0**decimals).round(0).clip(-float(_UNBOUNDED), float(_UNBOUNDED))
    return steps.set(~steps.is_finite().fill_null(value=False), None).cast(pl.Int64)


def _plain(stored: pl.DataType) -> pl.DataType:
    return pl.Int64() if stored.is_integer() else pl.Float64() if stored.is_numeric() else stored


def _enforcement(constraints: TableConstraints, shapes: Mapping[str, ColumnShape]) -> Enforcement:
    """Declared constraints, bound to what is public. Dependents are modelled, and looked up in the model later."""
    differences = {}
    for one in constraints.inequalities:
        shape = shapes[one.upper]
        ends = [
            (default if end is None else shape.steps_of(end))
            for end, default in ((shape.lowest, -_UNBOUNDED), (shape.highest, _UNBOUNDED))
        ]
        differences[one.upper] = Difference(lower=one.lower, modelled=True, lowest=ends[0], highest=ends[1])
    return Enforcement(constraints=constraints, look_ups={}, differences=differences)


def _modelled(shape: ColumnShape, name: str, enforced: Enforcement) -> ColumnShape:
    """A difference is at least nought, and has none of the bounds of the column that it stands for."""
    if name not in enforced.differences:
        return shape
    least = 0.0 if shape.kind in {ShapeKind.WHOLE, ShapeKind.DECIMAL} else None
    return shape.model_copy(update={"lowest": least, "highest": None})


def _written(public: ColumnShape, found: ColumnShape) -> ColumnShape:
    """As it was, with what was found of it; bounds stay those that were declared."""
    return found.model_copy(update={"lowest": public.lowest, "highest": public.highest})


def _discovered(
    searches: Mapping[str, ColumnSearch], rows: int, budget: SynthesisBudget
) -> tuple[float, dict[str, DiscoveredColumn], float]:
    """The number of records and each column's codes, all with noise, and what is left of ρ."""
    most, rho = budget.rows_per_person, budget.rho
    thresholds = 2 * sum(one.thresholded for one in searches.values())
    delta = budget.delta_thresholds / max(thresholds, 1)
    records = max(1.0, float(GaussianNoise(float(most), rho * _COUNTING).add([rows])[0]))
    unknown = [one for one in searches.values() if not one.known]
    looking = rho * _LOOKING if unknown else 0.0
    for search in unknown:
        search.look(Measure(looking / len(unknown), delta, most), records)
    weights = {name: one.weight(records) for name, one in searches.items()}
    singles = rho * singles_share([one.codes for one in searches.values()], records, budget)
    rest = (singles - rho * _COUNTING - looking) / sum(weights.values()) if weights else 0.0
    found = {name: one.finish(Measure(rest * weights[name], delta, most), records) for name, one in searches.items()}
    return records, found, rho - singles


def singles_share(codes: Sequence[int], records: float, budget: SynthesisBudget) -> float:
    """Of ρ, the part for columns with so many codes each: such that the noise of a pair is least.

    A pair is off by the noise of its two columns, a / √s, and by that of its own cells, b / √(1 − s). The sum is least
    at s = a^⅔ / (a^⅔ + b^⅔). Many columns of few records leave no room for pairs, so they get less.
    """
    if len(codes) < 2:
        return 1.0
    mean_noise = budget.rows_per_person * sqrt(2 / pi) / (2 * records)
    alone = 2 * float(np.mean(codes)) * mean_noise * sqrt(len(codes) / (2 * budget.rho))
    together = _TYPICAL_CELLS * mean_noise * sqrt(rounds_of(len(codes)) / (2 * budget.rho))
    a, b = alone ** (2 / 3), min(together, _TYPICAL_RELATION) ** (2 / 3)
    return float(min(_MOST_SINGLES, max(_LEAST_SINGLES, a / (a + b))))
