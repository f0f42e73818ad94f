"""The distribution of largest entropy among those that agree with noisy counts as far as their noise lets them.

For counts y of scopes, with noise of scale σ, and n records, the potentials θ minimise

    n · log Z(θ) − θ·y + τ/2 · σ² |θ|²

which is convex; its gradient n·p(θ) − y + τσ²θ says that the distribution's counts may differ from the measured ones
where the noise is large (Dudík, Phillips, Schapire 2007: maximum entropy with slack). No count can become negative, and
what was measured twice counts by its precision. Whatever is computed here is computed from noisy counts alone, so it
costs no privacy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from shoal.synth.graphical_model.junction_tree import CalibratedTree, JunctionTree, Scope, Table

SLACK: Final = 0.01
"""τ. At 1 the bias is σ²|θ|, far above the noise; a hundredth of that is below it for any θ that occurs."""
_REMEMBERED: Final = 20
"""Steps that the minimiser goes by."""
_NEARLY: Final = 1e-10
"""By how little, in nats a record, a step may gain for it to be the last."""


@dataclass(frozen=True)
class CodeGroups:
    """Codes of one attribute, put together: of each code its group."""

    of: NDArray[np.int64]

    @property
    def size(self) -> int:
        return int(self.of.max()) + 1

    @cached_property
    def _members(self) -> Table:
        members: Table = (self.of == np.arange(self.size)[:, None]).astype(np.float64)
        return members

    def summed(self, table: Table, axis: int) -> Table:
        """A table over codes as one over groups."""
        summed: Table = np.moveaxis(np.tensordot(self._members, table, axes=(1, axis)), 0, axis)
        return summed

    def spread(self, table: Table, axis: int) -> Table:
        """A table over groups as one over codes, each with its group's number."""
        return np.take(table, self.of, axis=axis)


@dataclass(frozen=True)
class NoisyMarginal:
    """Counts of a scope, with noise: by codes, or by groups of codes where some are put together."""

    scope: Scope
    counts: Table
    scale: float
    """The standard deviation of the noise in each count."""
    groups: tuple[CodeGroups | None, ...] = ()
    """For each attribute of the scope; empty where all are by codes."""

    def grouped(self, table: Table) -> Table:
        """A table over codes as this one is."""
        for axis, groups in enumerate(self.groups):
            table = table if groups is None else groups.summed(table, axis)
        return table

    def spread(self, table: Table) -> Table:
        for axis, groups in enumerate(self.groups):
            table = table if groups is None else groups.spread(table, axis)
        return table


@dataclass(frozen=True)
class FittedModel:
    """A distribution, and the potentials from which the next fit may start, one for each marginal."""

    records: float
    tree: CalibratedTree
    potentials: tuple[Table, ...] = field(repr=False)
    steps: int

    def counts(self, scope: Scope) -> Table:
        """What the model expects of a scope."""
        return self.tree.marginal(scope) * self.records


def fitted(  # noqa: PLR0913  # a problem, and how far to go
    sizes: Sequence[int],
    marginals: Sequence[NoisyMarginal],
    records: float,
    *,
    start: Sequence[Table] = (),
    most_steps: int = 200,
    slack: float = SLACK,
) -> FittedModel:
    """The model of these counts. ``start`` has potentials of the first marginals, from an earlier fit."""
    from scipy.optimize import minimize

    if not marginals:
        return FittedModel(records, JunctionTree.over(sizes, []).calibrated({}), (), 0)
    problem = _DualProblem(sizes, marginals, records, slack)
    begin = problem.packed([*start, *(problem.first_guess(one) for one in marginals[len(start) :])])
    found = minimize(
        problem.value_and_gradient,
        begin / problem.units,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": most_steps, "maxcor": _REMEMBERED, "ftol": _NEARLY, "gtol": _NEARLY},
    )
    potentials = problem.unpacked(found.x * problem.units)
    return FittedModel(records, problem.calibrated(potentials), tuple(potentials), int(found.nit))


class _DualProblem:
    """The function that is minimised, over all potentials in one vector, each in units of its own curvature."""

    def __init__(self, sizes: Sequence[int], marginals: Sequence[NoisyMarginal], records: float, slack: float) -> None:
        self._marginals = marginals
        self._records = records
        self._tree = JunctionTree.over(sizes, [one.scope for one in marginals])
        self._ends = np.cumsum([one.counts.size for one in marginals])
        self._measured = self.packed([one.counts for one in marginals])
        self._ridge = self.packed([np.full(one.counts.shape, slack * one.scale**2) for one in marginals])
        self.units = 1 / np.sqrt(np.maximum(self._measured, 1) + self._ridge)

    def packed(self, tables: Sequence[Table]) -> NDArray[np.float64]:
        return np.concatenate([table.ravel() for table in tables])

    def unpacked(self, vector: NDArray[np.float64]) -> list[Table]:
        parts = np.split(vector, self._ends[:-1])
        return [part.reshape(one.counts.shape) for part, one in zip(parts, self._marginals, strict=True)]

    def first_guess(self, marginal: NoisyMarginal) -> Table:
        """Single attributes begin where the counts are, the rest with nothing."""
        if len(marginal.scope) > 1:
            return np.zeros(marginal.counts.shape)
        return np.log(np.maximum(marginal.counts, max(marginal.scale / 2, 0.5)) / max(self._records, 1))

    def calibrated(self, potentials: Sequence[Table]) -> CalibratedTree:
        return self._tree.calibrated(self._by_scope(potentials))

    def _by_scope(self, potentials: Sequence[Table]) -> Mapping[Scope, Table]:
        found: dict[Scope, Table] = {}
        for marginal, table in zip(self._marginals, potentials, strict=True):
            spread = marginal.spread(table)
            found[marginal.scope] = found[marginal.scope] + spread if marginal.scope in found else spread
        return found

    def value_and_gradient(self, scaled: NDArray[np.float64]) -> tuple[float, Any]:
        vector = scaled * self.units
        tree = self.calibrated(self.unpacked(vector))
        scopes = {one.scope: tree.marginal(one.scope) for one in self._marginals}
        expected = self._records * self.packed([one.grouped(scopes[one.scope]) for one in self._marginals])
        value = self._records * tree.log_partition - vector @ self._measured + (self._ridge * vector**2).sum() / 2
        gradient = (expected - self._measured + self._ridge * vector) * self.units
        return float(value) / self._records, gradient / self._records
