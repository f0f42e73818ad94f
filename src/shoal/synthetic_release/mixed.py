"""Partly synthetic tables: chosen columns or risky cells of real records, or each record merged with a drawn one.

Whoever asks for one gets rows of real people, so the release says so wherever it says anything, and is never called
anonymised by its technique alone. What names people is numbered anew and free text is left empty, as in any synthesis.
"""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from shoal.randomness import Randomness
from shoal.synth.constraint_detection import constraints_of
from shoal.synth.direct_identifiers import with_direct_identifiers, with_free_text
from shoal.synth.method import GuaranteeStatement
from shoal.synth.methods.hybrid import hybrid
from shoal.synth.methods.partial import PartialChoice, partially_synthetic
from shoal.synth.mixed_table import MixedTable
from shoal.synth.shape_detection import shapes_of
from shoal.synth.table_coding import TableDescription, read_table
from shoal.synthetic_release.record_draws import MixedDraw
from shoal.synthetic_release.request import SynthesisRequest

HALF: Final = 0.5


def mixed_draw(frame: pl.DataFrame, request: SynthesisRequest, randomness: Randomness) -> MixedDraw:
    """The table as the request asks for it."""
    said = TableDescription() if request.description is None else request.described()
    description = with_direct_identifiers(frame.columns, with_free_text(frame, said))
    mixed = _mixed(frame, description, request, randomness).without_names()
    return MixedDraw(request.method, mixed, _guarantee(mixed, description), _described(frame, description))


def _mixed(
    frame: pl.DataFrame, description: TableDescription, request: SynthesisRequest, randomness: Randomness
) -> MixedTable:
    if request.method == "hybrid":
        return hybrid(frame, description, randomness, request.weight or HALF)
    quasi = request.quasi or (request.columns if request.risky is not None else ())
    return partially_synthetic(frame, description, PartialChoice(request.columns, quasi, request.risky), randomness)


def _guarantee(mixed: MixedTable, description: TableDescription) -> GuaranteeStatement:
    least = description.rare
    return GuaranteeStatement(
        guaranteed=(
            f"what is drawn has no name, word or code that fewer than {least} people have, and no number beyond the "
            f"{least}th from either end",
            *mixed.made_anew,
        ),
        not_guaranteed=(
            *mixed.statement,
            "nothing bounds what the table tells of one person: it is not differentially private",
        ),
    )


def _described(frame: pl.DataFrame, description: TableDescription) -> dict[str, Any]:
    """Shapes and constraints, found or declared, as a model tells them."""
    shapes = shapes_of(frame, description.columns, rare=description.rare)
    found = description.constraints
    if description.find_constraints:
        found = constraints_of(read_table(frame, shapes), shapes, found)
    told = {name: shape.model_dump(mode="json", exclude_defaults=True) for name, shape in shapes.items()}
    return {"shapes": told, "constraints": found.model_dump(mode="json", exclude_defaults=True)}
