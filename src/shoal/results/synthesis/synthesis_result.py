"""How a synthetic table was made, and what that guarantees, as ``release.json`` has it."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from pydantic import Field

from shoal.results.base import Absent, ResultModel, Words

FEW: Final = 500
"""People in a control group below which attacks that find nothing say little."""


class AttackedTable(StrEnum):
    """What the attacks on a synthetic release were made on."""

    RELEASE = "release"
    """The released table itself, with people who are not in the source as control group."""
    REHEARSAL = "rehearsal"
    """A table of the same method, learnt from a random half of the people; the other half is the control group."""


class SynthesisResult(ResultModel):
    shapes: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """By column, what it is drawn as, and whether that was declared or found."""
    constraints: dict[str, Any] = Field(default_factory=dict)
    """What holds between columns in every record, and whether that was declared or found."""
    guaranteed: tuple[Words, ...] = ()
    not_guaranteed: tuple[Words, ...] = ()
    where: Absent[str] = None
    """The condition that all records meet."""
    balance: Absent[str] = None
    """The column of which each value is equally frequent."""
    seeded: bool = False
    """Whether the draw can be repeated by whoever has the model and the seed."""
    from_model: bool = False
    """Whether it was drawn from a model that was kept."""
    attacked: Absent[AttackedTable] = None
    """None where nothing was attacked."""
    strangers: Absent[int] = None
    """People in the control group of the attacks."""
    columns_made_up: tuple[str, ...] = ()
    """Identifiers, which are numbered anew, and texts, which are left empty."""
    replaced: Absent[dict[str, int]] = None
    """Where rows are those of real people: of each column, how many values were drawn. None of a table of nobody."""

    @property
    def is_hardly_attacked(self) -> bool:
        """Whether there were so few people to compare with that only gross leaks would be found."""
        return self.strangers is not None and self.strangers < FEW
