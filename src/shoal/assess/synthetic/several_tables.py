"""Several synthetic tables that belong together: each judged by itself, how children hang on parents, and attacked as
whoever holds all of them can attack them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shoal.assess.synthetic.assessment import assess_synthetic, with_gates
from shoal.assess.synthetic.gates import OF_SEVERAL, check_figures
from shoal.assess.synthetic.table_relations import TableRelations, Tables
from shoal.attack.synthetic.scene import TRIALS
from shoal.errors import DataError
from shoal.measurement.fidelity import measure_keys, measure_sequence
from shoal.randomness import Randomness
from shoal.results.synthesis import (
    KeyStatisticsResult,
    SequenceResult,
    SyntheticAssessment,
    SyntheticTablesAssessment,
)
from shoal.schema.progress import Monitor


def assess_synthetic_tables(  # noqa: PLR0913  # the tables, and what is asked of them
    original: Tables,
    synthetic: Tables,
    *,
    relations: TableRelations,
    control: Tables | None = None,
    targets: Mapping[str, Sequence[str]] | None = None,
    leave_out: Mapping[str, Sequence[str]] | None = None,
    require: Mapping[str, float] | None = None,
    randomness: Randomness,
    monitor: Monitor | None = None,
    fidelity: bool = True,
    attacks: bool = True,
    trials: int = TRIALS,
) -> SyntheticTablesAssessment:
    """Keys and references are neither compared nor attacked as values: which number somebody has says nothing."""
    missing = [name for name in original if name not in synthetic]
    if missing:
        raise DataError(f"there is no synthetic table '{missing[0]}'")
    asked: dict[str, Any] = {"randomness": randomness, "monitor": monitor}
    left = {name: (*relations.key_columns(name), *(leave_out or {}).get(name, ())) for name in original}
    judged = {
        name: assess_synthetic(
            frame,
            synthetic[name],
            targets=(targets or {}).get(name, ()),
            leave_out=left[name],
            fidelity=fidelity,
            attacks=False,
            **asked,
        )
        for name, frame in original.items()
        if set(frame.columns) - set(left[name])
    }
    if attacks:
        for name, found in attacked_tables(original, synthetic, relations, control, left, trials=trials, **asked):
            judged[name] = judged[name].with_attacks_of(found) if name in judged else found
    bounds = require or {}
    figures = {name: bound for name, bound in bounds.items() if name not in OF_SEVERAL}
    judged = {name: with_gates(found, figures) for name, found in judged.items()}
    keys, sequences = tuple(_keys(original, synthetic, relations)), tuple(_sequences(original, synthetic, relations))
    moved = dict(zip(OF_SEVERAL, ([one.total_variation for one in every] for every in (keys, sequences)), strict=True))
    return SyntheticTablesAssessment(
        tables=judged,
        keys=keys,
        sequences=sequences,
        gates=check_figures({name: bound for name, bound in bounds.items() if name in moved}, moved),
    )


def attacked_tables(
    original: Tables,
    synthetic: Tables,
    relations: TableRelations,
    control: Tables | None,
    leave_out: Mapping[str, Sequence[str]],
    **asked: Any,
) -> Iterator[tuple[str, SyntheticAssessment]]:
    """Each table whose records hang on people, a record together with what it hangs on, one of each person."""
    chance: Randomness = asked["randomness"]
    for name in relations.of_people():
        if name not in original:
            continue
        stream = chance.stream("synth", "one each", name)
        people = relations.one_each(original, name, stream)
        strangers = None if control is None else relations.one_each(control, name, stream)
        drawn = relations.joined(synthetic, name)
        left = [
            column if table == name else f"{table}.{column}" for table, names in leave_out.items() for column in names
        ]
        if not set(people.columns) - set(left) or (strangers is not None and not strangers.height):
            continue
        yield (
            name,
            assess_synthetic(people, drawn, control=strangers, leave_out=left, fidelity=False, **asked),
        )


def _keys(original: Tables, synthetic: Tables, relations: TableRelations) -> Iterator[KeyStatisticsResult]:
    for each in relations.links:
        sides = [(side[each.parent][each.key], side[each.child][each.reference]) for side in (original, synthetic)]
        yield KeyStatisticsResult.of(each.parent, each.child, each.reference, measure_keys(sides[0], sides[1]))


def _sequences(original: Tables, synthetic: Tables, relations: TableRelations) -> Iterator[SequenceResult]:
    for table, order in relations.orders.items():
        reference = relations.parents[table].reference
        sides = [(side[table][reference], side[table][order]) for side in (original, synthetic)]
        yield SequenceResult.of(table, order, measure_sequence(sides[0], sides[1]))
