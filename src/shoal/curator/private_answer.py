"""An answer of the curator, as it is shown and kept."""

from __future__ import annotations

from typing import Any

from shoal.results.base import Absent, Number, ResultModel, Words


class PrivateAnswer(ResultModel):
    """Each estimate ``x`` has ``x_low`` and ``x_high`` (95 %) and ``x_error`` (its standard error) beside it."""

    dataset: str
    analyst: Absent[str] = None
    """Who asked."""
    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    epsilon_spent: Number
    """By this question; 0 where it was answered before."""
    delta_spent: Number
    epsilon_left: Number
    """Of the budget of who asked."""
    delta_left: Number
    accounting: str
    number: Absent[int] = None
    """Of the question in the ledger."""
    at: Absent[str] = None
    """When the data were read."""
    kept: bool = False
    """Whether it was answered before, and is the same answer."""
    notes: tuple[Words, ...] = ()


class QuestionPrice(ResultModel):
    """What a question would cost and how far off its figures would be; nothing was read or spent."""

    dataset: str
    analyst: Absent[str] = None
    epsilon: Number
    delta: Number
    epsilon_left: Number
    """Before it is asked."""
    sufficient: bool
    """Whether the budget bears it."""
    groups: Absent[int] = None
    """How many there will be, where that is public."""
    errors: dict[str, Number | None]
    """The standard error of each figure; null where it depends on the data."""
    half_widths: dict[str, Number | None]
    """Half of its 95 % interval."""
    notes: tuple[Words, ...] = ()
