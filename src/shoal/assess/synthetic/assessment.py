"""A synthetic table judged beside the one that it was made from, whoever made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from shoal.assess.attack.control_group import FEWEST
from shoal.assess.synthetic.gates import check_gates
from shoal.assess.synthetic.same_columns import ComparableTables
from shoal.attack.synthetic.battery import run_synthetic_attacks
from shoal.attack.synthetic.scene import TRIALS, SyntheticTables
from shoal.errors import DataError
from shoal.measurement.fidelity import measure_fidelity
from shoal.randomness import Randomness
from shoal.results.synthesis import FidelityResult, SyntheticAssessment
from shoal.schema.progress import Monitor


def assess_synthetic(  # noqa: PLR0913  # the tables, and what is asked of them
    original: pl.DataFrame,
    synthetic: pl.DataFrame,
    *,
    control: pl.DataFrame | None = None,
    targets: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    require: Mapping[str, float] | None = None,
    randomness: Randomness,
    monitor: Monitor | None = None,
    fidelity: bool = True,
    attacks: bool = True,
    trials: int = TRIALS,
) -> SyntheticAssessment:
    """How much of the original it still tells, what attacks get out of it, and whether that is what was required.

    ``control`` are people of the same population who were not learned from. ``targets`` are predicted, and inferred;
    left out, a few are proposed. Columns that name people should be in ``leave_out``, or are found.
    """
    monitor = monitor or Monitor()
    tables = ComparableTables.of(original, synthetic, control, leave_out)
    _check(tables, targets)
    found = SyntheticAssessment(
        rows_original=original.height,
        rows_synthetic=synthetic.height,
        rows_control=None if control is None else control.height,
        attributes=tuple(tables.original.columns),
        left_out=dict(tables.left_out),
    )
    if fidelity:
        with monitor.phase("fidelity"):
            told = measure_fidelity(
                tables.original,
                tables.synthetic,
                control=tables.control,
                targets=targets,
                randomness=randomness,
                progress=monitor.progress("fidelity"),
            )
        found = found.model_copy(update={"fidelity": FidelityResult.of(told)})
        targets = targets or tuple(each.target for each in told.predictions)
    if attacks:
        with monitor.phase("attacks"):
            scene = SyntheticTables(
                tables.synthetic, tables.original, tables.control, tuple(targets), tables.identifying
            )
            done = run_synthetic_attacks(scene, randomness, trials=trials, progress=monitor.progress("attacks"))
        found = found.with_attacks(done)
    return with_gates(found, require or {})


def with_gates(found: SyntheticAssessment, require: Mapping[str, float]) -> SyntheticAssessment:
    """Held against what is required, as far as it was measured; what was not is not met."""
    return found.model_copy(update={"gates": check_gates(found, require)})


def _check(tables: ComparableTables, targets: Sequence[str]) -> None:
    if tables.control is not None and tables.control.height < FEWEST:
        raise DataError(
            f"the control group has {tables.control.height} people, too few to compare with",
            advice=f"give {FEWEST} or more",
        )
    for name in targets:
        if name not in tables.original.columns:
            why = tables.left_out.get(name, "no table has it")
            raise DataError(f"column '{name}' can't be a target: {why}")
