"""Small pictures by the network of `deep` (MeitY 2.8.1): scikit-learn's handwritten digits, 8 × 8 points.

A record is a digit's class and its 64 points in five shades. Two latent codes steer them; the picture shows one of them
from left to right and the other from top to bottom. How good the pictures are says a classifier that has only seen
made-up digits and is tested on real ones that the network has not seen.

    python scripts/digits.py            # figures at ε = 1, 3, 10 and without; docs/images/digits.png
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from shoal.dp.accounting import rho_of
from shoal.dp.bulk_gaussian import distance
from shoal.dp.opendp_measurements import GaussianNoise
from shoal.dp.sampled_gaussian import delta_left, least_multiplier
from shoal.randomness import Randomness
from shoal.synth.deep_generator.architecture import Architecture, Weights
from shoal.synth.deep_generator.drawing import FixedCodes, drawn_codes
from shoal.synth.deep_generator.steering import information
from shoal.synth.deep_generator.training import TrainingPlan, TrainingRecords, trained

PICTURE: Final = Path(__file__).resolve().parents[1] / "docs" / "images" / "digits.png"
SIDE, SHADES, CLASSES = 8, 5, 10
TESTED: Final = 500
DELTA: Final = 1e-5
_COUNTING: Final = 0.15
"""The share of the budget for counting shades of each point."""

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class DigitNetwork:
    architecture: Architecture
    weights: Weights
    multiplier: float

    def drawn(self, number: int, seed: int = 1, *, group: int | None = None, slide: float | None = None) -> Codes:
        places, stream = np.arange(number, dtype=np.uint64), Randomness(seed).stream("digits")
        return drawn_codes(self.architecture, self.weights, places, stream, FixedCodes(group, slide))


def digits() -> tuple[Codes, Codes]:
    """To learn from, and to test on."""
    points, labels = load_digits(return_X_y=True)
    records = np.column_stack([labels, points // 4]).astype(np.int64)
    records = records[Randomness(0).stream("digits").permutation(len(records))]
    return records[TESTED:], records[:TESTED]


def architecture() -> Architecture:
    """A point depends directly on the class and on points beside and above it; on others through hidden units."""
    near = [(0, -1), (0, -2), (-1, -1), (-1, 0), (-1, 1), (-2, 0)]
    neighbours: list[tuple[int, ...]] = [()]
    for row in range(SIDE):
        for column in range(SIDE):
            beside = [(row + down, column + right) for down, right in near]
            inside = [1 + SIDE * y + x for y, x in beside if y >= 0 and 0 <= x < SIDE]
            neighbours.append((0, *inside))
    sizes = (CLASSES, *[SHADES] * SIDE**2)
    return Architecture(sizes=sizes, hidden=16, groups=CLASSES, positions=3, neighbours=tuple(neighbours))


def network(records: Codes, epsilon: float | None, *, rounds: int, rate: float, seed: int = 0) -> DigitNetwork:
    """Which classes and shades there are is public; how many pictures, too."""
    built, rho, noise = architecture(), 0.0, None
    counts = [np.bincount(records[:, at], minlength=size) for at, size in enumerate(built.sizes)]
    plan = TrainingPlan(rounds=rounds, rate=rate, information=0.7)
    if epsilon is not None:
        rho = _COUNTING * rho_of(epsilon, DELTA)
        noise = GaussianNoise(float(np.sqrt(len(built.sizes))), rho)
        counts = [np.asarray(noise.add(one.tolist())) for one in counts]
        delta = delta_left(DELTA, epsilon, distance(rounds * len(built.free)))
        multiplier = least_multiplier(plan.exact_rate, rounds, epsilon, delta, rho)
        plan = TrainingPlan(rounds=rounds, rate=rate, information=0.7, bound=1.0, multiplier=multiplier)
    least = max(0.5, noise.scale / 2 if noise else 0.0)
    bias = np.concatenate([np.log(np.maximum(one, least) / np.maximum(one, least).sum()) for one in counts])
    chance = Randomness(seed) if epsilon is None else Randomness()
    beginning = anchored(built.beginning(bias, Randomness(seed)))
    weights = trained(built, beginning, TrainingRecords(records, float(len(records))), plan, chance)
    return DigitNetwork(built, weights, plan.multiplier)


def anchored(weights: Weights) -> Weights:
    """Codes that begin with a meaning, which is public: group k draws class k, the slide puts ink on one diagonal.

    Training keeps what agrees with the data, since the information term rewards codes that show.
    """
    group, slide = weights["group"].copy(), weights["slide"].copy()
    group[:, :CLASSES] += 6 * np.eye(CLASSES)
    middle = np.arange(SIDE) - (SIDE - 1) / 2
    diagonal = -np.outer(middle, middle) / middle.max() ** 2
    slide[CLASSES:] += 0.3 * np.outer(diagonal.ravel(), np.arange(SHADES) - 2).ravel()
    return weights | {"group": group, "slide": slide}


def accuracy(learnt: Codes, tested: Codes) -> float:
    """Of a classifier that learns from some pictures, on others."""
    model = LogisticRegression(max_iter=500, C=0.1).fit(learnt[:, 1:] / SHADES, learnt[:, 0])
    return float(model.score(tested[:, 1:] / SHADES, tested[:, 0]))


def slant(records: Codes) -> NDArray[np.float64]:
    """How much further right points lie the higher they are: covariance with the height over its variance."""
    ink = records[:, 1:].astype(np.float64) + 1e-9
    right, up = np.tile(np.arange(SIDE), SIDE), np.repeat(np.arange(SIDE)[::-1], SIDE)
    share = ink / ink.sum(axis=1, keepdims=True)
    across, high = right - (share @ right)[:, None], up - (share @ up)[:, None]
    tilted: NDArray[np.float64] = (share * across * high).sum(axis=1) / (share * high**2).sum(axis=1)
    return tilted


def steering(made: DigitNetwork, number: int = 1000) -> dict[str, float]:
    """How much the group tells of the class, and by how much the slide changes the slant, in spreads of the slant."""
    groups = [made.drawn(number, group=group) for group in range(made.architecture.groups)]
    classes = np.stack([np.bincount(one[:, 0], minlength=CLASSES) for one in groups]).astype(np.float64)
    ends = [slant(made.drawn(2 * number, slide=end)) for end in (-1.0, 1.0)]
    spread = float(np.std(np.concatenate(ends)))
    return {
        "group_tells_class": round(information(classes), 3),
        "slide_moves_slant": round(float(ends[1].mean() - ends[0].mean()) / spread, 2),
    }


def picture(made: DigitNetwork, path: Path, scale: int = 5) -> None:
    """From left to right the groups, in the order of the class that they mostly draw; from top to bottom the slide."""
    usual = [int(np.bincount(made.drawn(250, group=group)[:, 0]).argmax()) for group in range(made.architecture.groups)]
    order = sorted(range(len(usual)), key=lambda group: (usual[group], group))
    rows = []
    for slide in (-1.0, -0.5, 0.0, 0.5, 1.0):
        shown = [made.drawn(1, seed=4, group=group, slide=slide)[0, 1:].reshape(SIDE, SIDE) for group in order]
        rows.append(np.hstack([np.pad(one, 1) for one in shown]))
    grey = 255 - np.vstack(rows) * (255 // (SHADES - 1))
    image = Image.fromarray(grey.astype(np.uint8))
    image.resize((image.width * scale, image.height * scale), Image.Resampling.NEAREST).save(path, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--epsilon", nargs="*", default=["none", "10", "3", "1"])
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--rate", type=float, default=0.1)
    arguments = parser.parse_args()
    learnt, tested = digits()
    sys.stdout.write(f"real digits: accuracy {accuracy(learnt, tested):.3f}\n")
    for said in arguments.epsilon:
        epsilon = None if said == "none" else float(said)
        began = time.process_time()
        made = network(learnt, epsilon, rounds=arguments.rounds, rate=arguments.rate)
        took = time.process_time() - began
        figures = {"epsilon": said, "accuracy": round(accuracy(made.drawn(3000), tested), 3)} | steering(made)
        sys.stdout.write(json.dumps(figures | {"cpu_s": round(took), "noise": round(made.multiplier, 2)}) + "\n")
        sys.stdout.flush()
        if epsilon is None:
            picture(made, PICTURE)


if __name__ == "__main__":
    main()
