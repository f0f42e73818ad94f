"""What a stream reports when it stops."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from shoal.streaming.state import StreamCounts


@dataclass(frozen=True)
class StreamReport:
    counts: StreamCounts
    """Since the stream began, earlier starts included."""
    waiting: int
    """Records that were read and have not left: they are read again when the stream goes on."""
    k: int
    ended: bool
    """Whether the source was at its end; if not, the stream was stopped."""
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        told = {name: count for name, count in asdict(self.counts).items() if name not in ("levels", "cells")}
        figures = {"loss": round(self.counts.loss, 6), "waiting": self.waiting, "k": self.k}
        return {**told, **figures, "ended": self.ended, "seconds": round(self.seconds, 3)}
