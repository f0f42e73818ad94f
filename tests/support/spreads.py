"""Small tables by how one sensitive attribute is spread in their classes."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from shoal.privacy import Classes, Histograms

Integers = NDArray[np.int64]


@st.composite
def tables(draw: st.DrawFn, most_values: int) -> tuple[Integers, Integers]:
    """Histograms of a few classes, and the whole table."""
    values = draw(st.integers(1, most_values))
    cells = st.lists(st.integers(0, 9), min_size=values, max_size=values)
    block = np.array(draw(st.lists(cells.filter(any), min_size=1, max_size=4)))
    return block, block.sum(axis=0) + np.array(draw(cells))


def classes_of(block: Integers, whole: Integers) -> Classes:
    owner, value = np.nonzero(block)
    sizes = block.sum(axis=1)
    return Classes(sizes, sizes, {"ill": Histograms(whole, owner, value, block[owner, value], len(block))})
