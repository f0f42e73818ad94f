"""Partial synthesis: chosen columns, or only those of risky records, are drawn given all that stays real (Reiter 2003).

A record is risky where fewer than k people share its values of the quasi-identifiers. What a column that is drawn
determines is drawn with it, so that constraints hold: with a town its state, with a part its sum.

**Risk:** kept columns are real data, and each row is a real person's. Whoever knows enough of what is kept finds the
row, and learns the rest of what is kept; of what was drawn they learn what is likely for such people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from shoal.errors import FieldName, InputError
from shoal.kernels.arrays import Integers
from shoal.randomness import Randomness
from shoal.schema.registry import did_you_mean
from shoal.synth.column_shapes import ShapeKind
from shoal.synth.conditional_model import ConditionalModel, KnownTable, fit_conditional
from shoal.synth.constraint_detection import constraints_of
from shoal.synth.constraints import TableConstraints
from shoal.synth.method import BLOCK
from shoal.synth.mixed_table import MixedTable, listed
from shoal.synth.shape_detection import shapes_of
from shoal.synth.table_coding import TableDescription, read_table

_PERSON: Final = "__person__"


@dataclass(frozen=True)
class PartialChoice:
    """What is replaced."""

    columns: tuple[str, ...] = ()
    """Without any: the quasi-identifiers."""
    quasi_identifiers: tuple[str, ...] = ()
    k: int | None = None
    """Only records whose values of the quasi-identifiers fewer than k people have; without it all records."""


def partially_synthetic(
    frame: pl.DataFrame, description: TableDescription, choice: PartialChoice, randomness: Randomness
) -> MixedTable:
    """The table with drawn values in chosen columns, of all records or of risky ones."""
    asked = _asked(frame, choice)
    shapes = shapes_of(frame, description.columns, rare=description.rare)
    found = description.constraints
    if description.find_constraints:
        found = constraints_of(read_table(frame, shapes), shapes, found)
    shapes = found.shapes(shapes)
    drawn = _with_what_they_tell(asked, found)
    people = pl.int_range(frame.height, eager=True) if description.person is None else frame[description.person]
    model, known = _fitted(frame, KnownTable(read_table(frame, shapes), shapes, people), found, drawn, description.rare)
    rows = np.arange(frame.height) if choice.k is None else risky_records(frame, choice, people)
    mixed = frame.select(drawn)
    for start in range(0, len(rows), BLOCK):
        some = rows[start : start + BLOCK]
        places = some.astype(np.uint64)
        steps = model.draw(known[some], randomness, ("partial",), places)
        new = model.coding.written(steps, places, drawn)
        mixed = mixed.with_columns(
            mixed[name].scatter(some, new[name].cast(mixed[name].dtype, strict=False)) for name in drawn
        )
    whole = frame.with_columns(mixed)
    which = "all records"
    if choice.k is not None:
        which = f"{len(rows):,} of {frame.height:,} records (fewer than {choice.k} people)"
    kept = {name: shapes[name].kind for name in shapes if name not in drawn}
    naming = tuple(name for name, kind in kept.items() if kind is ShapeKind.IDENTIFIER)
    wordy = tuple(name for name, kind in kept.items() if kind is ShapeKind.TEXT)
    told = _statement([name for name in kept if name not in (*naming, *wordy)], drawn, asked, which)
    return MixedTable(whole, dict.fromkeys(drawn, len(rows)), told, naming, wordy)


def risky_records(frame: pl.DataFrame, choice: PartialChoice, people: pl.Series) -> Integers:
    """Those whose values of the quasi-identifiers fewer than k people have, by their places."""
    counted = frame.select(choice.quasi_identifiers).with_columns(people.alias(_PERSON))
    size = counted.select(pl.col(_PERSON).n_unique().over(list(choice.quasi_identifiers)))[_PERSON]
    return np.flatnonzero((size < (choice.k or 0)).to_numpy())


def _asked(frame: pl.DataFrame, choice: PartialChoice) -> tuple[str, ...]:
    quasi_identifiers = (FieldName("quasi_identifiers"), choice.quasi_identifiers)
    for field, names in ((FieldName("columns"), choice.columns), quasi_identifiers):
        for name in names:
            if name not in frame.columns:
                near = did_you_mean(name, tuple(frame.columns))
                raise InputError(f"there is no column '{name}'{near}", field=field)
    if choice.k is not None and (choice.k < 2 or not choice.quasi_identifiers):
        raise InputError("has to be at least 2, and goes with quasi-identifiers", field=FieldName("k"))
    asked = tuple(dict.fromkeys(choice.columns or choice.quasi_identifiers))
    if not asked:
        raise InputError("name the columns that are to be replaced", field=FieldName("columns"))
    return asked


def _with_what_they_tell(asked: Sequence[str], constraints: TableConstraints) -> list[str]:
    drawn = list(asked)
    compared = {one.upper for one in constraints.inequalities}
    for name, sources in constraints.derivations().items():
        if any(source in drawn for source in sources):
            drawn += [name] if name not in drawn else []
        elif name in drawn and name not in compared:
            told = ", ".join(f"'{source}'" for source in sources)
            raise InputError(
                f"'{name}' is told by {told}, which is kept: replace that too, or leave both",
                field=FieldName("columns"),
            )
    return drawn


def _fitted(
    frame: pl.DataFrame, known: KnownTable, constraints: TableConstraints, drawn: Sequence[str], rare: int
) -> tuple[ConditionalModel, pl.DataFrame]:
    """A model of what is drawn given the rest, and the rest as it is read."""
    derivations = constraints.derivations()
    own = TableConstraints(
        dependencies=tuple(one for one in constraints.dependencies if one.dependent in drawn),
        inequalities=tuple(one for one in constraints.inequalities if one.upper in drawn),
        sums=tuple(one for one in constraints.sums if one.total in drawn),
        unique=tuple(one for one in constraints.unique if one.column in drawn),
    )
    sources = [source for name in drawn for source in derivations.get(name, ())]
    measured_from = [name for name in dict.fromkeys(sources) if name not in drawn]
    modelled = [*drawn, *measured_from]
    kept = known.table.drop(list(drawn))
    description = TableDescription(
        columns={name: known.shapes[name] for name in modelled}, constraints=own, find_constraints=False, rare=rare
    )
    told = KnownTable(kept, known.shapes, known.people)
    return fit_conditional(frame.select(modelled), told, description, measured_from), kept


def _statement(kept: Sequence[str], drawn: Sequence[str], asked: Sequence[str], which: str) -> tuple[str, ...]:
    more = [name for name in drawn if name not in asked]
    said = [
        f"drawn anew are {listed(drawn)} in {which}; all else is real data of real people",
        f"kept as they are: {listed(kept)}" if kept else "no column is kept as it is",
        "each row is a real person's and can be traced by what is kept of it; this is not synthetic data of nobody",
    ]
    if more:
        said.append(f"{listed(more)} followed, since what was asked for determines it")
    return tuple(said)
