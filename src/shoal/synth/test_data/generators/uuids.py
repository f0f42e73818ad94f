"""Random UUIDs (RFC 9562, version 4): 122 bits by chance, so that none is met twice and none is known to anybody."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import polars as pl

from shoal.kernels.text_arrays import texts_of
from shoal.synth.test_data.base import LARGEST, Assurance, Generator, Standing
from shoal.synth.test_data.draws import Draws

_PAIRS = np.frombuffer(bytes(range(256)).hex().encode(), "<u2")
_GROUPS = ((0, 4), (4, 6), (6, 8), (8, 10), (10, 16))
"""The bytes of each group."""


class Uuids(Generator):
    key = "uuid"
    title = "Random UUIDs"
    stands_for: ClassVar = {"uuid": {}}

    @property
    def distinct(self) -> int:
        """Of 10⁹ two are the same with a chance of 10⁻¹⁹."""
        return LARGEST

    @property
    def assurance(self) -> Assurance:
        return Assurance(Standing.RESERVED, "122 random bits are met twice by nobody", "RFC 9562")

    def draw(self, draws: Draws) -> pl.Series:
        blocks = draws.blocks().copy()
        blocks[:, 6] = blocks[:, 6] & 0x0F | 0x40
        blocks[:, 8] = blocks[:, 8] & 0x3F | 0x80
        hexadecimal = _PAIRS[blocks].view(np.uint8)
        characters = np.full((len(draws), 36), ord("-"), np.uint8)
        for place, (first, past) in enumerate(_GROUPS):
            characters[:, 2 * first + place : 2 * past + place] = hexadecimal[:, 2 * first : 2 * past]
        return texts_of(characters)
