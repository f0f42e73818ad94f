"""Weights of agreement and disagreement, learnt without being told which pairs belong together.

Fellegi & Sunter (1969) for the weight, Winkler (1988) for its estimation by expectation–maximisation: in turn, how
likely each pair belongs together given the probabilities, and the probabilities given how likely each pair does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.kernels.arrays import Floats, Integers

OUTCOMES = 3
"""Disagrees, agrees, agrees exactly."""
FIRST_GUESS = (0.02, 0.08, 0.9)
"""Probabilities of the outcomes among pairs that belong together, to begin with."""
ROUNDS = 200
LEAST = 1e-6


@dataclass(frozen=True)
class Weights:
    """What was learnt: the probabilities of each outcome by attribute, and the share of pairs that belong together."""

    m: Floats
    u: Floats
    share: float

    @classmethod
    def learn(cls, patterns: Integers, counts: Floats, expected: float) -> Weights:
        """From distinct outcomes (one row each, one column for each attribute) and the number of pairs with each.

        ``expected`` is the share of true pairs to begin with: one for each person.
        """
        hot = np.stack([patterns == outcome for outcome in range(OUTCOMES)], axis=2).astype(np.float64)
        u = _shares(hot, counts)
        m = np.where(u <= LEAST * 2, LEAST, np.array(FIRST_GUESS))
        m /= m.sum(axis=1, keepdims=True)
        now = cls(m, u, min(max(expected, LEAST), 0.5))
        for _ in range(ROUNDS):
            belong = now.probability(patterns)
            share = float((belong * counts).sum() / counts.sum())
            after = cls(_shares(hot, belong * counts), _shares(hot, (1 - belong) * counts), _inside(share))
            moved = max(float(np.abs(after.m - now.m).max()), float(np.abs(after.u - now.u).max()))
            now = after
            if moved < 1e-7:
                break
        return now

    def weight(self, patterns: Integers) -> Floats:
        each = np.log(self.m / self.u)
        return np.asarray(each[np.arange(patterns.shape[1]), patterns].sum(axis=1))

    def probability(self, patterns: Integers) -> Floats:
        """That a pair with such an outcome belongs together."""
        odds = np.clip(self.weight(patterns) + np.log(self.share / (1 - self.share)), -500, 500)
        return np.asarray(1 / (1 + np.exp(-odds)))


def _shares(hot: Floats, weights: Floats) -> Floats:
    """Per attribute, the share of each outcome; none is quite impossible."""
    total = np.maximum(np.einsum("pao,p->ao", hot, weights), 0)
    shares = np.maximum(total / max(float(weights.sum()), LEAST), LEAST)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _inside(share: float) -> float:
    return min(max(share, LEAST), 1 - LEAST)
