"""How several synthetic tables were made, and how far they hang together as the real ones do."""

from __future__ import annotations

from pydantic import Field

from shoal.results.base import Absent, ResultModel, Words
from shoal.results.synthesis.key_result import KeyStatisticsResult, SequenceResult
from shoal.results.synthesis.synthesis_result import AttackedTable


class SyntheticTablesResult(ResultModel):
    method: str
    main: str
    """The table whose records are the people; the others hang on it."""
    found: dict[str, Words] = Field(default_factory=dict)
    """What was found of how they belong together, and why; what is not here was declared."""
    orders: dict[str, str] = Field(default_factory=dict)
    """By table, the column by which a parent's records follow each other."""
    parents: dict[str, tuple[str, str]] = Field(default_factory=dict)
    """By table what it hangs on, and by which of its columns."""
    guaranteed: tuple[Words, ...] = ()
    not_guaranteed: tuple[Words, ...] = ()
    keys: tuple[KeyStatisticsResult, ...] = ()
    sequences: tuple[SequenceResult, ...] = ()
    attacked: Absent[AttackedTable] = None
    why_not: Absent[Words] = None
    """Why nothing was attacked."""
    seeded: bool = False
