"""What a utility measure is to the lattice search: a value for a node, and lower bounds for nodes not yet looked at.

Bounds live in an array with one axis per quasi-identifier (level − lowest level). They may only ever be too low, never
too high: a node whose bound is no better than the best node found needs no look.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from shoal.errors import BugError
from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.schema.registry import Registry
from shoal.solve.problem import Problem
from shoal.solve.rollup import ClassTable, Node

Bounds = Floats


class Utility(ABC):
    key: ClassVar[str]
    bounds_above: ClassVar[bool] = False
    """Whether a look at a node bounds the nodes above it, rather than those below."""

    def __init_subclass__(cls) -> None:
        if "key" in cls.__dict__:
            utilities.add(cls.key, cls)

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.records = max(1, problem.records)
        self.lowest = tuple(ladder.lowest for ladder in problem.ladders)
        self.shape = tuple(ladder.highest - ladder.lowest + 1 for ladder in problem.ladders)

    @abstractmethod
    def start(self) -> Bounds:
        """Lower bounds of all nodes before any is looked at."""

    def at_best(self, node: Node) -> float:
        """The lower bound of one node, where there are too many for an array."""
        return float(self.at_best_of(np.array([node], dtype=np.int64))[0])

    def at_best_of(self, nodes: Integers) -> Floats:
        """The same for several nodes, one in each row."""
        return np.zeros(len(nodes))

    @property
    def all_suppressed(self) -> float:
        """About what the table would cost with every record suppressed; only the order of tries depends on it."""
        return 1.0

    @abstractmethod
    def value(self, table: ClassTable, kept: Mask) -> float:
        """What the node costs when the classes that are not kept are suppressed."""

    def tighten(  # noqa: B027  # not every measure has to
        self, bounds: Bounds, table: ClassTable, lost: Mask, trimmed: Integers | None
    ) -> None:
        """Raise bounds by what is known of one node.

        Classes that are ``lost`` can't be kept there nor below; of the others at least ``trimmed`` records can't (it is
        all records for those lost).
        """


def box(lowest: Node, below: Node) -> tuple[slice, ...]:
    """Where the bounds of a node and all nodes below it lie."""
    return tuple(slice(0, level - low + 1) for low, level in zip(lowest, below, strict=True))


def box_above(lowest: Node, above: Node) -> tuple[slice, ...]:
    return tuple(slice(level - low, None) for low, level in zip(lowest, above, strict=True))


def make_utility(name: str, problem: Problem) -> Utility:
    """By the name that a policy uses."""
    utility = utilities.get(name)
    if utility is None:
        raise BugError(f"there is no utility measure '{name}'")
    return utility(problem)


utilities: Registry[type[Utility]] = Registry("shoal.solve.utility", "utility measure")
