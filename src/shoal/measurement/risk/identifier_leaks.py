"""What the last look at the written output searched, and what it found."""

from __future__ import annotations

from dataclasses import dataclass, field

from shoal.privacy.identifier_search import IdentifierHit


@dataclass(frozen=True)
class IdentifierLeaks:
    rows: int
    """Of the written output."""
    looked_at: int
    identifiers: tuple[str, ...] = ()
    """Those of the source that were looked for."""
    columns: tuple[str, ...] = ()
    """Those that were looked at; of a further file with its name before a colon."""
    hits: tuple[IdentifierHit, ...] = field(default=())

    @property
    def sampled(self) -> bool:
        """Whether only a part of the records was looked at."""
        return bool(self.identifiers) and self.looked_at < self.rows
