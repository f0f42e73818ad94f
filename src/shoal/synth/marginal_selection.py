"""Which pairs of attributes are counted with noise, one after the other: what the model knows least of (AIM-like).

After McKenna, Mullins, Sheldon, Miklau (2022), with four differences. Single attributes are measured before (see
``domain_discovery``). Codes that are too rare to be seen through the noise are put together, and every pair is offered
in several resolutions, so that a weak relation is measured coarsely instead of not at all. A table of many columns gets
a tree of pairs first, as MST has it. The model in between is the one of largest entropy with slack.

What a person can change: one record adds 1 to one cell of each table (``rows_per_person`` of them so many), which
bounds the noise; a score, the distance between counts and model, changes by as much, which bounds the choice. Both are
sized in zCDP and add up to ρ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from math import ceil, pi, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shoal.dp.opendp_measurements import ConcentratedChoice, GaussianNoise
from shoal.kernels.arrays import Integers
from shoal.schema.progress import Monitor
from shoal.synth.graphical_model.junction_tree import JunctionTree, Scope, Table, cells_over
from shoal.synth.graphical_model.maximum_entropy import CodeGroups, FittedModel, NoisyMarginal, fitted
from shoal.synth.simplex import on_simplex

_CHOOSING: Final = 0.1
"""Of each round's part, the share for choosing."""
_ROUNDS: Final = 4
"""At most, for each attribute; a round that brings nothing makes the following ones larger, so there are fewer."""
_LOOKS: Final = 6_000
"""Pairs that are scored in all rounds together, about: bounds the time that wide tables take."""
_WIDE: Final = 16
"""Attributes from which on a tree of pairs is measured first."""
_VISIBLE: Final = 4.0
"""Codes stay by themselves from this many standard deviations on."""
_MOST_GROUPS: Final = 32
_RESOLUTIONS: Final = (12, 6, 3)
_NOISE_PENALTY: Final = 0.5
"""Of the expected noise, the share that a score loses: the fit takes out the rest."""
_GRAIN: Final = 16
"""Scores are whole numbers of sixteenths, since OpenDP chooses among whole numbers."""
_MEAN_NOISE: Final = sqrt(2 / pi)
_ROOM: Final = 8
"""How far below its bound a tree has to be for a pair to be offered without looking closer."""


@dataclass(frozen=True)
class MeasuredAttribute:
    """One attribute's counts by code, with noise. Its codes are public, or were found within a budget."""

    name: str
    counts: NDArray[np.float64]
    scale: float
    """The standard deviation of the noise in each."""
    ordered: bool = False


@dataclass(frozen=True)
class SelectionLimits:
    cells: int = 100_000
    """Of all cliques together: bounds time and memory."""
    steps: int = 30
    """Of each fit in between."""


@dataclass(frozen=True)
class CoarseAttribute:
    """An attribute whose rare codes are put together, and coarser groups of those groups."""

    groups: CodeGroups
    shares: NDArray[np.float64]
    """Of each code, within its group."""
    counts: NDArray[np.float64]
    scale: float
    resolutions: tuple[CodeGroups | None, ...]


@dataclass(frozen=True)
class MeasuredTable:
    """All that was released about a table's pairs, and the model of it."""

    marginals: tuple[NoisyMarginal, ...]
    model: FittedModel
    rho: float


@dataclass(frozen=True)
class SelectionTask:
    """What is to be measured, within what. ρ is spent wholly."""

    codes: Integers
    """Of all records, by groups: one column for each attribute. What is made of them leaves with noise only."""
    attributes: tuple[CoarseAttribute, ...]
    records: float
    """About how many, which is known by noisy counts."""
    rho: float
    rows_per_person: int = 1
    weights: Mapping[Scope, float] = field(default_factory=dict)
    """How much pairs matter, above 0 up to 1; 1 where nothing is said."""
    required: tuple[Scope, ...] = ()
    """Pairs that are measured whatever is chosen."""
    limits: SelectionLimits = SelectionLimits()
    monitor: Monitor = field(default_factory=Monitor)


def measured(task: SelectionTask) -> MeasuredTable:
    return _Measuring(task).run()


def coarse(attribute: MeasuredAttribute, least: float) -> CoarseAttribute:
    """Codes of fewer records than that are put together."""
    noisy = on_simplex(attribute.counts, max(float(attribute.counts.sum()), 1.0))
    least = max(least, float(noisy.sum()) / _MOST_GROUPS if attribute.ordered else 0)
    groups = _visible(noisy, least, ordered=attribute.ordered)
    counts = groups.summed(noisy, 0)
    shares = (noisy + 1e-9) / groups.spread(groups.summed(noisy + 1e-9, 0), 0)
    scale = attribute.scale * sqrt(len(noisy) / groups.size)
    return CoarseAttribute(groups, shares, counts, scale, tuple(_coarser(counts, ordered=attribute.ordered)))


def visible_count(rho: float, attributes: int, rows_per_person: int) -> float:
    """Records that stand out of the noise of a typical pair, where so many attributes are measured within ρ."""
    if attributes < 2:
        return 0.0
    return _VISIBLE * rows_per_person / sqrt(2 * (1 - _CHOOSING) * rho / rounds_of(attributes))


def rounds_of(attributes: int) -> int:
    """How many measurements of pairs there are, about."""
    pairs = attributes * (attributes - 1) // 2
    tree = attributes - 1 if attributes > _WIDE else 0
    return tree + min(_ROUNDS * attributes, max(2, _LOOKS // max(pairs, 1)))


@dataclass(frozen=True)
class _Candidate:
    scope: Scope
    resolutions: tuple[CodeGroups | None, ...]


class _Measuring:
    def __init__(self, task: SelectionTask) -> None:
        self._task = task
        self._sizes = tuple(one.groups.size for one in task.attributes)
        self._too_many: set[Scope] = set()
        self._marginals = [NoisyMarginal((place,), one.counts, one.scale) for place, one in enumerate(task.attributes)]
        self._model = self._fit(task.limits.steps)

    def run(self) -> MeasuredTable:
        width = len(self._sizes)
        left = self._task.rho if width > 1 else 0.0
        part = left / max(1, rounds_of(width) + len(self._task.required))
        for scope in self._task.required:
            left -= part
            self._measure(_Candidate(scope, (None, None)), part)
        if width > _WIDE:
            left -= self._tree(part)
        self._model = self._fit(self._task.limits.steps)
        while left > 0:
            spent = left if left < 1.5 * part else part
            left = 0.0 if spent == left else left - spent
            if not self._round(spent):
                part *= 2
        return MeasuredTable(tuple(self._marginals), self._fit(10 * self._task.limits.steps), self._task.rho)

    def _tree(self, part: float) -> float:
        """Pairs that join all attributes, each chosen by how far it is from independence; what they cost."""
        joined = list(range(len(self._sizes)))
        noise = self._noise(part)
        scored = [(one, self._score(one, noise.scale)) for one in self._offered(combinations(joined, 2))]
        spent = 0.0
        while True:
            open_ = [(one, score) for one, score in scored if joined[one.scope[0]] != joined[one.scope[1]]]
            if not open_:
                return spent
            self._task.monitor.cancel.check()
            chosen = open_[self._choice(part).chosen([score for _, score in open_])][0]
            self._measure(chosen, (1 - _CHOOSING) * part)
            spent += part
            kept, gone = (joined[place] for place in chosen.scope)
            joined = [kept if one == gone else one for one in joined]

    def _pair(self, scope: Scope) -> Table:
        """True counts by groups."""
        if scope not in self._pairs:
            first, second = (self._sizes[place] for place in scope)
            cells = self._task.codes[:, scope[0]] * second + self._task.codes[:, scope[1]]
            self._pairs[scope] = np.bincount(cells, minlength=first * second).reshape(first, second).astype(np.float64)
        return self._pairs[scope]

    @cached_property
    def _pairs(self) -> dict[Scope, Table]:
        return {}

    def _round(self, spent: float) -> bool:
        """Choose, measure, fit again. Whether it taught more than noise does."""
        self._task.monitor.cancel.check()
        scale = self._noise((1 - _CHOOSING) * spent).scale
        candidates = list(self._candidates())
        if not candidates:
            return False
        scores = [self._score(one, scale) for one in candidates]
        chosen = candidates[self._choice(spent).chosen(scores)]
        asked = NoisyMarginal(chosen.scope, np.empty(0), scale, chosen.resolutions)
        before = asked.grouped(self._model.counts(chosen.scope))
        self._measure(chosen, (1 - _CHOOSING) * spent)
        self._model = self._fit(self._task.limits.steps)
        taught = np.abs(asked.grouped(self._model.counts(chosen.scope)) - before).sum()
        return bool(taught > _NOISE_PENALTY * _MEAN_NOISE * scale * before.size)

    def _measure(self, chosen: _Candidate, rho: float) -> None:
        noise = self._noise(rho)
        asked = NoisyMarginal(chosen.scope, np.empty(0), noise.scale, chosen.resolutions)
        true = asked.grouped(self._pair(chosen.scope))
        noisy = np.asarray(noise.add(np.rint(true).astype(np.int64).ravel().tolist()), dtype=np.float64)
        self._marginals.append(NoisyMarginal(chosen.scope, noisy.reshape(true.shape), noise.scale, chosen.resolutions))

    def _noise(self, rho: float) -> GaussianNoise:
        """One record adds 1 to one cell."""
        return GaussianNoise(float(self._task.rows_per_person), rho)

    def _choice(self, spent: float) -> ConcentratedChoice:
        """A score changes by at most 1 a record, and by one grain when it is rounded."""
        return ConcentratedChoice(self._task.rows_per_person * _GRAIN + 1, _CHOOSING * spent)

    def _candidates(self) -> Iterator[_Candidate]:
        """Pairs that keep the tree within its bound, in all resolutions: known from what is public and noisy."""
        scopes = {one.scope for one in self._marginals}
        tree = JunctionTree.over(self._sizes, scopes)
        self._too_many = {scope for scope in self._too_many if tree.host(scope) is None}
        yield from self._offered(
            scope
            for scope in combinations(range(len(self._sizes)), 2)
            if tree.host(scope) is not None or self._fits(tree, scopes, scope)
        )

    def _fits(self, tree: JunctionTree, scopes: set[Scope], scope: Scope) -> bool:
        """Whether the tree stays within its bound with that pair. What was too much is so with more pairs, too."""
        most = self._task.limits.cells
        if tree.cells * min(self._sizes[one] for one in scope) <= most // _ROOM:  # one of them in every clique
            return True
        if scope not in self._too_many and cells_over(self._sizes, scopes | {scope}) > most:
            self._too_many.add(scope)
        return scope not in self._too_many

    def _offered(self, scopes: Iterator[Scope]) -> Iterator[_Candidate]:
        for scope in scopes:
            for resolutions in product(*(self._task.attributes[place].resolutions for place in scope)):
                yield _Candidate(scope, resolutions)

    def _score(self, candidate: _Candidate, scale: float) -> int:
        """By how much counts and model differ, less what noise would hide."""
        asked = NoisyMarginal(candidate.scope, np.empty(0), scale, candidate.resolutions)
        apart = asked.grouped(self._pair(candidate.scope) - self._expected(candidate.scope))
        told = float(np.abs(apart).sum() - _NOISE_PENALTY * _MEAN_NOISE * scale * apart.size)
        return round(_GRAIN * min(1.0, self._task.weights.get(candidate.scope, 1.0)) * told)

    def _expected(self, scope: Scope) -> Table:
        if self._asked_of is not self._model:
            self._asked_of, self._known = self._model, {}
        if scope not in self._known:
            self._known[scope] = self._model.counts(scope)
        return self._known[scope]

    _asked_of: FittedModel | None = None
    _known: dict[Scope, Table]

    def _fit(self, steps: int) -> FittedModel:
        start = self._model.potentials if hasattr(self, "_model") else ()
        return fitted(self._sizes, self._marginals, self._task.records, start=start, most_steps=steps)


def _visible(counts: NDArray[np.float64], least: float, *, ordered: bool) -> CodeGroups:
    """Neighbours together where codes have an order; else all rare codes together."""
    if ordered:
        return CodeGroups(_filled(counts, least))
    large = counts >= least
    of = np.where(large, np.cumsum(large) - 1, large.sum())
    return CodeGroups(of.astype(np.int64))


def _filled(counts: NDArray[np.float64], least: float) -> NDArray[np.int64]:
    """Groups of neighbours that are closed as soon as they have enough; what is left over goes to the last."""
    of = np.zeros(len(counts), dtype=np.int64)
    group, within = 0, 0.0
    for place, count in enumerate(counts):
        of[place] = group
        within += count
        if within >= least:
            group, within = group + 1, 0.0
    return np.minimum(of, max(group - 1, 0))


def _coarser(counts: NDArray[np.float64], *, ordered: bool) -> Iterator[CodeGroups | None]:
    yield None
    for most in _RESOLUTIONS:
        if most >= len(counts):
            continue
        if ordered:
            yield CodeGroups(_filled(counts, ceil(counts.sum() / most)))
        else:
            largest = np.argsort(-counts, kind="stable")[: most - 1]
            of = np.full(len(counts), most - 1, dtype=np.int64)
            of[largest] = np.arange(most - 1)
            yield CodeGroups(of)
