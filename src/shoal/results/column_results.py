"""What became of each quasi-identifier, and what it adds to the risk, as results have it."""

from __future__ import annotations

from shoal.results.base import Number, ResultModel


class LevelShare(ResultModel):
    """Cells that are on one level of the hierarchy."""

    level: int
    meaning: str
    """What the level does to values, in words."""
    share: Number
    """Of all cells of the attribute."""


class ColumnResult(ResultModel):
    loss: Number
    """Detail lost over its cells: 0 is none, 1 is all."""
    levels: tuple[LevelShare, ...] = ()
    """From the finest up."""


class InfluenceResult(ResultModel):
    """The average risk that is left to whoever does not know one of the quasi-identifiers."""

    attribute: str
    before: Number | None = None
    """In the original."""
    after: Number | None = None
    """In the release."""
