"""What scrubbing a text gives: the text, and what was done to it by type and place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from shoal.schema.notebook_html import card, preformatted


class ScrubAction(NamedTuple):
    """What was done at one place: the characters before and after. Never what stood there."""

    start: int
    end: int
    new_start: int
    new_end: int
    type: str

    def to_dict(self) -> dict[str, int | str]:
        return self._asdict()


@dataclass(frozen=True)
class ScrubOutcome:
    text: str
    actions: tuple[ScrubAction, ...] = ()

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        figures = {kind: str(times) for kind, times in sorted(self.counts.items())}
        return card("Scrubbed", figures or {"replaced": "nothing"}, preformatted(self.text))

    @property
    def counts(self) -> Mapping[str, int]:
        """How often something of each type was replaced."""
        return Counter(action.type for action in self.actions)

    def place_of(self, offset: int) -> int:
        """Where a character of the original stands now; of one that was replaced, where its replacement begins."""
        moved = offset
        for action in self.actions:
            if action.end <= offset:
                moved = offset + action.new_end - action.end
            elif action.start <= offset:
                return action.new_start
        return moved
