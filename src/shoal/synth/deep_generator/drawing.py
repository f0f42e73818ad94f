"""Records drawn from a trained network, column after column. No PyTorch here, and no data.

Records are computed in parts that begin at fixed places, so a record is the same however many are asked for with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Integers
from shoal.kernels.thread_limits import one_blas_thread
from shoal.randomness import Stream
from shoal.synth.deep_generator.architecture import Architecture, Weights

_PART: Final = 256


@dataclass(frozen=True)
class FixedCodes:
    """Latent codes that are the same for all records; the others are drawn."""

    group: int | None = None
    slide: float | None = None


@one_blas_thread
def drawn_codes(
    architecture: Architecture,
    weights: Weights,
    places: NDArray[np.uint64],
    stream: Stream,
    fixed: FixedCodes | None = None,
) -> Integers:
    """The record that belongs to each place (a run of them), one column of codes for each of the table's."""
    if not len(places):
        return np.zeros((0, len(architecture.sizes)), dtype=np.int64)
    first, last = int(places[0]), int(places[-1])
    parts = [
        _part(architecture, weights, np.arange(start, start + _PART, dtype=np.uint64), stream, fixed or FixedCodes())
        for start in range(first // _PART * _PART, last + 1, _PART)
    ]
    offset = first % _PART
    return np.concatenate(parts)[offset : offset + len(places)]


def _part(
    architecture: Architecture,
    weights: Weights,
    places: NDArray[np.uint64],
    stream: Stream,
    fixed: FixedCodes,
) -> Integers:
    chance = stream.words(places, 0) >> np.uint64(11)
    group = (chance[:, 0] % np.uint64(architecture.groups)).astype(np.int64)
    slide = architecture.slides[(chance[:, 1] % np.uint64(architecture.positions)).astype(np.int64)]
    if fixed.group is not None:
        group[:] = fixed.group
    if fixed.slide is not None:
        slide = np.full(len(places), fixed.slide)
    odds: Floats = weights["bias"] + weights["group"][group] + slide[:, None] * weights["slide"]
    inner = np.tile(weights["inner_bias"], (len(places), 1))
    codes = np.zeros((len(places), len(architecture.sizes)), dtype=np.int64)
    for column, (start, end) in enumerate(zip(architecture.starts[:-1], architecture.starts[1:], strict=True)):
        seen = architecture.degree < column
        steered = odds[:, start:end] + np.tanh(inner[:, seen]) @ weights["outer"][seen, start:end]
        shares = np.exp(steered - steered.max(axis=1, keepdims=True)).cumsum(axis=1)
        points = stream.uniform(places, column + 1)[:, None] * shares[:, -1:]
        codes[:, column] = np.minimum((shares <= points).sum(axis=1), end - start - 1)
        chosen = start + codes[:, column]
        odds[:, end:] += weights["direct"][chosen, end:]
        inner += weights["inner"][chosen]
    return codes
