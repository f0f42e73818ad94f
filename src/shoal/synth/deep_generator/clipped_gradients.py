"""Gradients of a batch, each record's clipped by itself, without writing any of them out.

The gradient of a layer is an outer product of what goes into it and what comes back from its outputs, so its length
follows from theirs (Goodfellow 2015), masks included; then all records are added up at once, each with its weight.
A test compares with gradients that PyTorch takes record by record.

What is minimised for a record x, with S pairs of codes c that are equally likely before x is seen, is

    −ln Σ_c p(x | c) / S  +  λ · H(c | x)

The first is the likelihood. The second is the information term: where codes tell much about records, a record tells its
code. InfoGAN and imdpGAN train a second network to guess codes; here Bayes' rule gives them exactly, so there are no
further weights to protect. For λ < 1 it pays for no code to stand for everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch

from shoal.kernels.arrays import Floats, Integers
from shoal.synth.deep_generator.architecture import WEIGHTS, Architecture, Weights

_CELLS: Final = 300_000
"""Numbers that are held at once: as many as stay near the processor."""
_LEAST: Final = -600.0
"""Odds below the largest, of which the exponential is still a number."""
CAUTION: Final = 1e-9
"""Lengths are computed in floating point of 53 bits: records are clipped by this share more."""


@dataclass(frozen=True)
class ClippedSum:
    """The sum of clipped gradients of some records."""

    packed: Floats
    lengths: Floats
    """Of the gradients before they were clipped."""


class ClippedGradients:
    """For one architecture."""

    def __init__(self, architecture: Architecture, information: float) -> None:
        self.architecture, self._information = architecture, information
        masks = architecture.masks
        self._masks = {name: torch.from_numpy(masks[name]).double() for name in WEIGHTS}
        self._segments = torch.nn.functional.one_hot(torch.from_numpy(architecture.column)).double()
        self._starts = torch.from_numpy(architecture.starts)
        self._slides = torch.from_numpy(architecture.slides)
        self._sees = torch.from_numpy(architecture.degree + 1.0)
        """Columns that each hidden unit sees: in each exactly one is 1."""
        near = masks["direct"][architecture.starts[:-1]]
        self._depends = torch.from_numpy(near.sum(axis=0).astype(np.float64))
        self._free = torch.from_numpy(architecture.free)

    def summed(self, weights: Weights, codes: Integers, bound: float | None) -> ClippedSum:
        """Without a bound nothing is clipped."""
        tensors = {name: torch.from_numpy(weights[name]) for name in WEIGHTS}
        total = {name: torch.zeros_like(one) for name, one in tensors.items()}
        steered = self.architecture.groups * self.architecture.positions
        rows = max(1, _CELLS // (steered * self.architecture.width))
        lengths = [
            self._add(total, tensors, torch.from_numpy(codes[first : first + rows]), bound)
            for first in range(0, len(codes), rows)
        ]
        flat = torch.cat([(total[name] * self._masks[name]).ravel() for name in WEIGHTS])[self._free]
        return ClippedSum(flat.numpy(), np.concatenate(lengths) if lengths else np.zeros(0))

    def _add(
        self, total: dict[str, torch.Tensor], weights: dict[str, torch.Tensor], codes: torch.Tensor, bound: float | None
    ) -> Floats:
        places = codes + self._starts[:-1]
        hidden = torch.tanh(_rows(weights["inner"], places) + weights["inner_bias"])
        odds = weights["bias"] + _rows(weights["direct"], places) + hidden @ weights["outer"]
        by_code = self._returned(weights, odds, places)
        returned = by_code.sum(dim=1)
        inner = (returned @ weights["outer"].T) * (1 - hidden**2)
        by_group = by_code.reshape(len(codes), self.architecture.groups, -1, self.architecture.width)
        slide = (by_group.sum(dim=1) * self._slides[:, None]).sum(dim=1)
        by_group = by_group.sum(dim=2)
        squares = (returned**2 * (1 + self._depends + hidden**2 @ self._masks["outer"])).sum(dim=1)
        squares += (inner**2 * (1 + self._sees)).sum(dim=1)
        squares += (by_group**2 * self._masks["group"]).sum(dim=(1, 2)) + (slide**2 * self._masks["slide"]).sum(dim=1)
        lengths = squares.sqrt()
        if bound is not None:
            share = (bound * (1 - CAUTION) / lengths.clamp(min=1e-300)).clamp(max=1.0)[:, None]
            returned, inner, slide, by_group = returned * share, inner * share, slide * share, by_group * share[:, None]
        for column in places.T:
            total["direct"].index_add_(0, column, returned)
            total["inner"].index_add_(0, column, inner)
        total["bias"] += returned.sum(dim=0)
        total["inner_bias"] += inner.sum(dim=0)
        total["outer"] += hidden.T @ returned
        total["group"] += by_group.sum(dim=0)
        total["slide"] += slide.sum(dim=0)
        return np.asarray(lengths, dtype=np.float64)

    def _returned(self, weights: dict[str, torch.Tensor], odds: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """What comes back at the odds, for each record and pair of codes."""
        steering = weights["group"][:, None, :] + self._slides[None, :, None] * weights["slide"]
        steered = odds[:, None, :] + steering.reshape(-1, self.architecture.width)
        steered = (steered - steered.amax(dim=2, keepdim=True)).clamp(min=_LEAST)
        shares = torch.exp(steered)
        sums = shares @ self._segments
        chosen = places[:, None, :].expand(-1, steered.shape[1], -1)
        likelihood = steered.gather(2, chosen).sum(dim=2) - torch.log(sums).sum(dim=2)
        logs = torch.log_softmax(likelihood, dim=1)
        posterior = logs.exp()
        entropy = -(posterior * logs).sum(dim=1, keepdim=True)
        pull = posterior * (1 + self._information * (logs + entropy))
        shares *= (pull[:, :, None] / sums) @ self._segments.T
        return shares.scatter_add_(2, chosen, -pull[:, :, None].expand(-1, -1, places.shape[1]))


def _rows(matrix: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.embedding_bag(places, matrix, mode="sum")
