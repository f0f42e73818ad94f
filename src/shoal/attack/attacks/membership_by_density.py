"""Membership by density (DOMIAS, van Breugel et al. 2023): where is the release denser than the population is?

A release that follows the people it was made of too closely is denser where these are. So the attacker compares the
density of the released records at a person's values with that of a reference sample of the population, and says "in" of
the half with the larger ratio. Half of the control group is the reference, the other half are the strangers who are
judged.

Densities are products of kernels, one for each attribute: a normal curve around a number (Scott 1992); for labels, an
even share of the values that the label covers, and a little for all others (Aitchison & Aitken 1976).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log, pi, sqrt

import numpy as np
import polars as pl

from shoal.attack.attacks.linkability import PIECE
from shoal.attack.attacks.membership import halves, judged
from shoal.attack.ground_truth.targets import TrialDesign, as_numbers, draw_rows, select_columns
from shoal.attack.matching.coverage import Coverage
from shoal.attack.registry import Try, attack
from shoal.attack.result import Attack, NothingToTryError
from shoal.attack.scene import Scene
from shoal.kernels.arrays import Floats, Integers

RECORDS = 5_000
"""Of the release and of the reference that densities are taken from, at most."""
ELSEWHERE = 0.01
"""The share of a kernel that is spread over values that the label does not cover."""
NARROWER = 0.05
"""Than by Scott's rule, which is meant for smooth populations: what follows single people shows close to them."""


def membership_by_density(  # what is attacked, what is known, how far to go
    release: pl.DataFrame,
    original: pl.DataFrame,
    attributes: Sequence[str],
    design: TrialDesign,
    *,
    known: Mapping[str, pl.DataFrame] | None = None,
) -> Attack:
    """Say "in" of the half of the people at whose values the release is densest, compared with the reference."""
    control, randomness = design.control, design.randomness
    if control is None or control.height < 4:
        raise NothingToTryError(
            "membership can't be judged without a control group", advice="give people who are not in the original"
        )
    order = randomness.stream("attack", "reference sample").permutation(control.height)
    reference, strangers = control[np.sort(order[::2])], control[np.sort(order[1::2])]
    people = judged(original, attributes, replace(design, control=strangers))
    asked = people.frame[people.judged]
    samples = (
        select_columns(release, attributes, "the release"),
        select_columns(reference, attributes, "the control group"),
    )
    logs = [
        density(
            asked, sample[draw_rows(sample.height, randomness, "density", RECORDS)], people.frame, attributes, known
        )
        for sample in samples
    ]
    ratio = logs[0] - logs[1]
    mine, theirs = people.best(np.argsort(np.argsort(ratio)).astype(np.float64) + 1)
    return halves("membership_by_density", "Membership by density", attributes, -np.concatenate([mine, theirs]))


def density(
    asked: pl.DataFrame,
    sample: pl.DataFrame,
    domain: pl.DataFrame,
    attributes: Sequence[str],
    known: Mapping[str, pl.DataFrame] | None = None,
) -> Floats:
    """The logarithm of the density of the sample's records, at each of the values asked about.

    >>> numbers = pl.DataFrame({"x": [0.0, 1.0]})
    >>> np.exp(density(numbers, pl.DataFrame({"x": [0.0, 0.0]}), numbers, ["x"])).round(2).tolist()
    [0.4, 0.24]
    """
    total = np.zeros(len(asked))
    step = max(1, PIECE // max(1, sample.height))
    kernels = [_kernel(asked[name], sample[name], domain[name], len(attributes), (known or {}).get(name))
               for name in attributes]  # fmt: skip
    for start in range(0, len(asked), step):
        some = np.arange(start, min(start + step, len(asked)))
        product = np.zeros((len(some), sample.height))
        for kernel in kernels:
            product += kernel(some)
        largest = product.max(axis=1)
        total[some] = largest + np.log(np.exp(product - largest[:, None]).mean(axis=1))
    return total


@dataclass(frozen=True)
class _Normal:
    """A normal curve around each number; one that is missing tells nothing."""

    asked: Floats
    centres: Floats
    width: float

    def __call__(self, some: Integers) -> Floats:
        apart = (self.asked[some, None] - self.centres) / self.width
        return np.where(np.isnan(apart), 0.0, -(apart**2) / 2 - log(self.width * sqrt(2 * pi)))


@dataclass(frozen=True)
class _Even:
    """An even share of what a label covers."""

    seen: Coverage
    asked: Integers
    labels: Integers
    covered: Integers

    def __call__(self, some: Integers) -> Floats:
        covers, row = self.seen.of_each(self.asked[some])
        shares = np.where(covers, (1 - ELSEWHERE) / self.covered, 0.0)
        return np.asarray(np.log(shares + ELSEWHERE / len(self.seen.values))[row][:, self.labels])


def _kernel(
    asked: pl.Series, sample: pl.Series, domain: pl.Series, dimensions: int, known: pl.DataFrame | None
) -> _Normal | _Even:
    if (asked.dtype.is_numeric() or asked.dtype.is_temporal()) and (
        sample.dtype.is_numeric() or sample.dtype.is_temporal()
    ):
        centres = as_numbers(sample)
        finite = centres[np.isfinite(centres)]
        width = 0.0
        if len(finite) > 1:
            width = NARROWER * float(finite.std(ddof=1)) * len(finite) ** (-1 / (dimensions + 4))
        return _Normal(as_numbers(asked), centres, width or 1.0)
    seen = Coverage.of(domain, sample, known)
    values, covered = seen.codes(asked), np.bincount(seen.of_label, minlength=len(seen.labels))
    covered = np.where(seen.everything, len(seen.values), np.maximum(covered, 1))
    return _Even(seen, values, seen.label_codes(sample), covered)


@attack("membership_by_density", order=46)
def tries_density(scene: Scene) -> Iterator[tuple[str, Try]]:
    names = tuple(dict.fromkeys((*scene.tables.quasi, *scene.tables.numbers)))
    control = scene.control_with(names)
    if names and control is not None:
        design = replace(scene.design, control=control)
        yield (
            "membership_by_density",
            lambda: [membership_by_density(scene.shown, scene.people, names, design, known=scene.known)],
        )
