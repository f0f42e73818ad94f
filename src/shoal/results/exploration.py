"""What was tried and what came of it: the frontier between privacy and usefulness, and what a step on it costs.

Privacy is the k that a try asks for, usefulness the loss it ends with (a suppressed record has lost everything, so the
loss tells of both generalisation and suppression). A try is *beaten* by one that asks for no lower k and loses no more,
and is better in one of the two. Those that nothing beats are the frontier: only among them is there a choice to make.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from shoal.results.exploration_result import ExplorationResult, TrialResult
from shoal.results.number_format import percent
from shoal.schema.notebook_html import card, grid, listing, short


@dataclass(frozen=True)
class ExplorationOutcome:
    """What the solver found, measured by the labels that would be written."""

    levels: dict[str, int]
    loss: float
    objective: float
    optimal: bool
    suppressed: int
    suppressed_share: float
    smallest_class: int
    average_class_size: float
    prosecutor_max: float
    prosecutor_average: float


@dataclass(frozen=True)
class ExplorationTrial:
    """One setting and what came of it: ``found``, or the ``reason`` why nothing was."""

    k: int
    limit: float
    recoding: str
    seconds: float
    wanted: bool
    """Whether this is what the policy itself asks for."""
    found: ExplorationOutcome | None = None
    reason: str | None = None

    def __str__(self) -> str:
        suppressed = f"at most {percent(self.limit)} suppressed" if self.limit else "nothing suppressed"
        return f"k={self.k}, {suppressed}, {self.recoding}"

    def result(self, *, pareto: bool) -> TrialResult:
        return TrialResult(
            k=self.k,
            limit=self.limit,
            recoding=self.recoding,
            policy=self.wanted,
            feasible=self.found is not None,
            reason=self.reason,
            seconds=self.seconds,
            pareto=pareto,
            **({} if self.found is None else asdict(self.found)),
        )


@dataclass(frozen=True)
class Exploration:
    name: str
    """Of the policy."""
    data: str
    records: int
    tries: tuple[ExplorationTrial, ...]
    complete: bool = True
    """Whether all was tried that was to be tried."""

    def __iter__(self) -> Iterator[ExplorationTrial]:
        return iter(self.tries)

    def __len__(self) -> int:
        return len(self.tries)

    def __getitem__(self, place: int) -> ExplorationTrial:
        return self.tries[place]

    def __repr__(self) -> str:
        figures = {"records": f"{self.records:,}", "tries": str(len(self)), "on the frontier": str(len(self.frontier))}
        return short("Exploration", self.name, figures)

    def _repr_html_(self) -> str:
        best = set(map(id, self.frontier))
        rows = [(*_row(one), "on the frontier" if id(one) in best else "", one.wanted * "policy") for one in self]
        said = listing("What it says", self.advice)
        header = ("k", "at most suppressed", "recoding", "loss", "suppressed", "", "")
        return card(f"{self.name}, tried out", {"records": f"{self.records:,}"}, grid(header, rows), said)

    @property
    def frontier(self) -> tuple[ExplorationTrial, ...]:
        return frontier(self.tries)

    @property
    def recodings(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.recoding for one in self.tries))

    @property
    def own(self) -> ExplorationTrial | None:
        """What the policy asks for, unless it was not yet its turn."""
        return next((one for one in self.tries if one.wanted), None)

    @property
    def advice(self) -> tuple[str, ...]:
        return tuple(_advice(self))

    def result(self) -> ExplorationResult:
        best = set(map(id, self.frontier))
        return ExplorationResult(
            policy=self.name,
            data=self.data,
            records=self.records,
            complete=self.complete,
            tries=tuple(one.result(pareto=id(one) in best) for one in self.tries),
            advice=self.advice,
        )

    def to_dict(self) -> dict[str, Any]:
        return self.result().to_dict()


def _row(one: ExplorationTrial) -> tuple[str, ...]:
    found = ("not met", "") if one.found is None else (f"{one.found.loss:.3f}", percent(one.found.suppressed_share))
    return (str(one.k), percent(one.limit), one.recoding, *found)


def frontier(tries: Sequence[ExplorationTrial]) -> tuple[ExplorationTrial, ...]:
    """Those that nothing beats, in the order given; equals don't beat each other."""
    return tuple(one for one in tries if one.found is not None and not any(_beats(other, one) for other in tries))


def steps(tries: Sequence[ExplorationTrial]) -> tuple[tuple[ExplorationTrial, float], ...]:
    """The frontier from the lowest k up, one try each (the one with the lowest limit), with its loss."""
    best: dict[int, tuple[ExplorationTrial, float]] = {}
    for one in sorted(frontier(tries), key=lambda one: (one.k, one.limit)):
        if one.found is not None:
            best.setdefault(one.k, (one, one.found.loss))
    return tuple(best.values())


def _beats(one: ExplorationTrial, other: ExplorationTrial) -> bool:
    if one.found is None or other.found is None:
        return False
    # Solvers add up in different orders, so equal losses differ in the last digits.
    less, more = round(one.found.loss, 9), round(other.found.loss, 9)
    return one.k >= other.k and less <= more and (one.k > other.k or less < more)


def _advice(exploration: Exploration) -> Iterator[str]:
    for recoding in exploration.recodings:
        yield from _price([one for one in exploration.tries if one.recoding == recoding], recoding)
    own = exploration.own
    if own is not None:
        yield _verdict(own, exploration.tries)


def _price(tries: Sequence[ExplorationTrial], recoding: str) -> Iterator[str]:
    """What each step to a higher k costs."""
    prices = [
        f"from k={one.k} to k={other.k} costs {_loss(more - less)}{'' if place else ' loss'}"
        for place, ((one, less), (other, more)) in enumerate(pairwise(steps(tries)))
    ]
    if prices:
        yield f"{recoding.capitalize()} recoding, each k at its best limit: {', '.join(prices)}."


def _verdict(own: ExplorationTrial, tries: Sequence[ExplorationTrial]) -> str:
    """How what the policy asks for compares with the rest."""
    if own.found is None:
        others = [one for one in tries if one.k >= own.k and one.found is not None]
        nearest = min(others, key=lambda one: (one.recoding != own.recoding, one.limit, one.k), default=None)
        instead = "nor can any other that was tried" if nearest is None else f"the nearest that can is {nearest}"
        return f"What the policy asks for ({own}) can't be met; {instead}."
    better = list(_better(own, own.found.loss, tries))
    if not better:
        return f"What the policy asks for ({own}) is on the frontier: nothing as safe that was tried loses less."
    return f"What the policy asks for ({own}) is beaten: {'; '.join(better)}."


def _better(own: ExplorationTrial, loss: float, tries: Sequence[ExplorationTrial]) -> Iterator[str]:
    """Of each kind of recoding the try that loses least, where it beats the policy's own."""
    for recoding in dict.fromkeys((own.recoding, *(one.recoding for one in tries))):
        others = [one for one in tries if one.recoding == recoding and _beats(one, own)]
        known = [(one.found.loss, -one.k, one.limit, one) for one in others if one.found is not None]
        if known:
            less, *_, best = min(known, key=lambda one: one[:3])
            yield f"{best} is {'safer' if best.k > own.k else 'as safe'} and loses {_loss(loss - less)} less"


def _loss(loss: float) -> str:
    """Three digits after the point; a difference that they don't show is said to be small, not to be none."""
    return "no" if not loss else f"{loss:.3f}" if loss >= 0.0005 else "under 0.001"
