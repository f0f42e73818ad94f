"""What a technique or a privacy model is said to do for people: the columns of ISO/IEC 20889, table A.1."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Lowers(StrEnum):
    """Whether a risk is lowered, in the words of table A.1."""

    YES = "yes"
    PARTIALLY = "partially"
    NO = "no"


@dataclass(frozen=True)
class Properties:
    truthful: bool
    """Truthful at record level: what a record says after is still true of the person."""
    singling_out: Lowers
    linking: Lowers
    inference: Lowers
