"""Which records belong to one person, carried beside the table so that the output can be counted in people.

The person column itself may be suppressed or altered. A hidden column holds a 64-bit fingerprint of it, keyed by the
run's own randomness; it never reaches an output.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from shoal.schema import Step
from shoal.schema.hidden_columns import HIDDEN

PERSON = f"{HIDDEN}person__"


@dataclass(frozen=True)
class TagPerson(Step):
    person: str
    key: bytes = field(repr=False)

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.person,)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        named = pl.col(self.person)
        fingerprint = named.hash(int.from_bytes(self.key[:8], "big"))
        return frame.with_columns(pl.when(named.is_not_null()).then(fingerprint).alias(PERSON))
