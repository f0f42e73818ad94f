"""What a stream is written to: it keeps the state of the stream beside the records, and changes both in one step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import polars as pl

from shoal.streaming.state import StreamState


class StreamSink(ABC):
    lasting: ClassVar[bool] = True
    """Whether it remembers how far the stream is."""

    @property
    def identity(self) -> str | None:
        """The same as that of a source which would read what is written here."""
        return None

    @abstractmethod
    def load(self) -> StreamState | None:
        """How far the stream is by what is here; None at its beginning. What was not committed is gone afterwards.

        Only here does a sink replace what was there, when all else is known to be right.
        """

    @abstractmethod
    def commit(self, frame: pl.DataFrame, state: StreamState) -> StreamState:
        """Records and state: both are there from now on, or neither. The state as it was kept comes back."""

    def close(self) -> None:  # noqa: B027  # most have nothing to close
        """What it holds is given back."""
