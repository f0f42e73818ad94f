"""What a pseudonym looks like: a format is a numbered set of values, from which pseudonyms are taken.

A format writes number *n* of its set and reads it back, and says how many there are. A *wide* format has a value for
each of 2¹²⁸ blocks of sixteen bytes: pseudonyms that are derived from a value then never meet in practice. A *narrow*
one (a valid NRIC, a card number) has fewer: derived pseudonyms may collide, issued ones are unique by construction,
because they are the values of a secret permutation of 0, 1, 2, …
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.kernels.arrays import Integers
from shoal.schema.parameters import Parameters
from shoal.schema.registry import Registry

BLOCK_BYTES = 16
Blocks = NDArray[np.uint8]
"""Of shape (n, 16)."""


class Uniqueness(StrEnum):
    """Whether two people can get one pseudonym."""

    UNIQUE = "unique"
    MAY_COLLIDE = "may collide"


class PseudonymFormat(Parameters, ABC):
    """Parameters of a format (policy key under ``format:``)."""

    key: ClassVar[str]
    title: ClassVar[str]
    storage: ClassVar[pl.DataType] = pl.String()
    """What a released column is stored as; pseudonyms are written and read as text everywhere else."""

    characters: ClassVar[frozenset[str] | None] = None
    """All that may stand in its values, where that is known."""
    caution: ClassVar[str] = ""
    """What a person should know before using it."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "key" in cls.__dict__:
            pseudonym_formats.add(cls.key, cls)

    @property
    @abstractmethod
    def size(self) -> int:
        """How many values it has."""


class WideFormat(PseudonymFormat):
    """One value for each block of sixteen bytes."""

    @property
    def size(self) -> int:
        return 1 << (8 * BLOCK_BYTES)

    @abstractmethod
    def write(self, blocks: Blocks) -> pl.Series: ...

    @abstractmethod
    def read(self, values: pl.Series) -> tuple[Blocks, NDArray[np.bool_]]:
        """The blocks, and which of the values are of this format at all."""


class NarrowFormat(PseudonymFormat):
    """``size`` values, fewer than 2⁶³, numbered from 0."""

    distinct: ClassVar[bool] = True
    """Whether different numbers are different values (two people may bear one name)."""

    @abstractmethod
    def write(self, numbers: Integers) -> pl.Series: ...

    @abstractmethod
    def parse(self, values: pl.Series) -> pl.Series:
        """The numbers that the values would have, as Int64; null where there is none. It need not check the values."""

    def read(self, values: pl.Series) -> Integers:
        """The numbers; −1 for what is not of this format: writing a number has to give the value again."""
        numbers = self.parse(values).fill_null(-1).to_numpy()
        numbers = np.where((numbers >= 0) & (numbers < self.size), numbers, -1)
        there = np.flatnonzero(numbers >= 0)
        wrong = self.write(numbers[there]).ne_missing(values.gather(there)).to_numpy()
        numbers[there[wrong]] = -1
        return numbers


pseudonym_formats: Registry[type[PseudonymFormat]] = Registry(
    "shoal.pseudonyms.formats", "format", "shoal.pseudonym_formats"
)
