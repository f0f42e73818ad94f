"""Tables that are partly real and partly drawn, with what that means for the people in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shoal.synth.table_coding import key_numbers, new_keys


@dataclass(frozen=True)
class MixedTable:
    """Record by record that of a real person, some or all of it changed. It is not synthetic data of nobody."""

    frame: pl.DataFrame
    replaced: Mapping[str, int]
    """Of each column, how many values were drawn."""
    about: tuple[str, ...]
    naming: tuple[str, ...] = ()
    """Columns that may name people, and are as they were."""
    wordy: tuple[str, ...] = ()
    """Columns of free text that are as they were."""
    made_anew: tuple[str, ...] = ()
    """What was done about both, in plain words."""

    @property
    def statement(self) -> tuple[str, ...]:
        """The risk in plain words, for the report."""
        told = {"may name people": self.naming, "is free text that may name people": self.wordy}
        lines = (f"{listed(names)} {risk}: take it out before you share" for risk, names in told.items() if names)
        return (*self.about, *lines)

    def without_names(self) -> MixedTable:
        """What names people numbered anew, the same number for the same name, and free text left empty."""
        if not (self.naming or self.wordy):
            return self
        anew = [_renumbered(self.frame[name]) for name in self.naming]
        empty = [pl.Series(name, [None] * self.frame.height, dtype=self.frame[name].dtype) for name in self.wordy]
        rows = self.frame.height
        told = {"numbered anew, since they may name people": self.naming, "left empty, as free text": self.wordy}
        return replace(
            self,
            frame=self.frame.with_columns(*anew, *empty),
            replaced={**self.replaced, **dict.fromkeys((*self.naming, *self.wordy), rows)},
            made_anew=tuple(f"{words}: {listed(names)}" for words, names in told.items() if names),
            naming=(),
            wordy=(),
        )


def listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _renumbered(values: pl.Series) -> pl.Series:
    """By the order in which they come; what is missing stays missing."""
    known = values.drop_nulls().unique(maintain_order=True)
    keys = new_keys(np.arange(len(known), dtype=np.uint64), key_numbers(values))
    return values.replace_strict(known, keys, default=None, return_dtype=keys.dtype).alias(values.name)
