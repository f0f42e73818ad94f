"""Texts of one width as arrays of character codes, a row for each text, and back."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.kernels.arrays import Mask
from shoal.kernels.text_arrays import texts_of

Characters = NDArray[np.uint8]
"""Of shape (n, width): codes of ASCII characters."""


def as_text(*parts: NDArray[np.integer]) -> pl.Series:
    """Columns of character codes, side by side, as one text for each row.

    >>> as_text(np.array([65, 66]), np.array([[48, 49], [50, 51]])).to_list()
    ['A01', 'B23']
    """
    return texts_of(np.column_stack(parts).astype(np.uint8, copy=False))


def as_characters(values: pl.Series, width: int) -> tuple[Characters, Mask]:
    """The character codes of the texts; which of them have that width. Rows of the others hold zeros."""
    fits = (values.str.len_bytes() == width).fill_null(value=False)
    text = values.filter(fits).str.join("").item() or ""
    codes = np.zeros((len(values), width), dtype=np.uint8)
    codes[fits.to_numpy()] = np.frombuffer(text.encode(), np.uint8).reshape(-1, width)
    return codes, fits.to_numpy()
