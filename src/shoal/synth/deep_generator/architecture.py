"""What the network looks like: columns one after the other, steered by two codes.

A record has one code for each column, written as ones and noughts. The odds of column j's codes are

    bias + direct(columns before j) + outer(tanh(inner(columns before j))) + group[g] + slide · s

so each column depends on those before it (a masked autoencoder: Germain and others 2015). The two codes g (one of a few
groups) and s (a number from −1 to 1) are drawn first and belong to the record as a whole.
"""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.randomness import Randomness
from shoal.schema.parameters import Parameters

WEIGHTS: Final = ("bias", "direct", "inner", "inner_bias", "outer", "group", "slide")
Weights = dict[str, Floats]


class Architecture(Parameters):
    """Sizes, and who depends on whom."""

    sizes: tuple[int, ...]
    """Codes of each column, in the order in which columns are drawn."""
    hidden: int = 32
    groups: int = 4
    positions: int = 3
    """Of the sliding code in training, evenly from −1 to 1; 1 for no such code."""
    neighbours: tuple[tuple[int, ...], ...] | None = None
    """Of each column those on which it depends directly; all before it where nothing is said."""

    @property
    def width(self) -> int:
        """Ones and noughts of a record."""
        return sum(self.sizes)

    @cached_property
    def starts(self) -> Integers:
        """Where each column begins among them, and where the last one ends."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    @cached_property
    def column(self) -> Integers:
        """Of each one or nought its column."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def degree(self) -> Integers:
        """Of each hidden unit the last column that it sees."""
        return np.arange(self.hidden) % max(1, len(self.sizes) - 1)

    @cached_property
    def slides(self) -> Floats:
        return np.linspace(-1.0, 1.0, self.positions) if self.positions > 1 else np.zeros(1)

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        width = self.width
        return {
            "bias": (width,),
            "direct": (width, width),
            "inner": (width, self.hidden),
            "inner_bias": (self.hidden,),
            "outer": (self.hidden, width),
            "group": (self.groups, width),
            "slide": (width,),
        }

    @cached_property
    def masks(self) -> dict[str, Mask]:
        """Which weights there are: no column sees itself or one after it, and a code of one value steers nothing."""
        before = self.column[:, None] < self.column[None, :]
        if self.neighbours is not None:
            near = np.zeros((len(self.sizes),) * 2, dtype=np.bool_)
            for place, others in enumerate(self.neighbours):
                near[list(others), place] = True
            before &= near[self.column[:, None], self.column[None, :]]
        masks = {name: np.ones(shape, dtype=np.bool_) for name, shape in self.shapes.items()}
        masks["direct"] = before
        masks["inner"] = self.column[:, None] <= self.degree[None, :]
        masks["outer"] = self.degree[:, None] < self.column[None, :]
        masks["group"] &= self.groups > 1
        masks["slide"] &= self.positions > 1
        return masks

    @cached_property
    def free(self) -> Integers:
        """Places of the weights that there are, when all are laid end to end."""
        return np.flatnonzero(np.concatenate([self.masks[name].ravel() for name in WEIGHTS]))

    def unpacked(self, packed: Floats) -> Weights:
        """Weights from one row of those that there are; nought for the others."""
        ends = np.cumsum([prod(self.shapes[name]) for name in WEIGHTS])
        whole = np.zeros(ends[-1])
        whole[self.free] = packed
        parts = np.split(whole, ends[:-1])
        return {name: part.reshape(self.shapes[name]) for name, part in zip(WEIGHTS, parts, strict=True)}

    def packed(self, weights: Weights) -> Floats:
        return np.concatenate([weights[name].ravel() for name in WEIGHTS])[self.free]

    def beginning(self, bias: Floats, randomness: Randomness) -> Weights:
        """Weights before training: columns by themselves, codes that differ a little."""
        weights = {name: np.zeros(shape) for name, shape in self.shapes.items()}
        for name, spread in (("inner", 0.5), ("inner_bias", 0.1), ("group", 0.1), ("slide", 0.1)):
            places = np.arange(prod(self.shapes[name]), dtype=np.uint64)
            drawn: NDArray[np.float64] = randomness.stream("synth", "deep", name).gaussian(places)
            weights[name] = spread * drawn.reshape(self.shapes[name]) * self.masks[name]
        return weights | {"bias": bias}
