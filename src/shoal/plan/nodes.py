"""The nodes of a plan. Frozen: a plan is changed only by the named rules in ``rules``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shoal.schema import Step


@dataclass(frozen=True)
class PlannedStep:
    """A step, the attribute it is for (None for the whole table), the technique behind it, in words."""

    step: Step
    technique: str
    clause: str
    attribute: str | None = None
    detail: str = ""


@dataclass(frozen=True)
class Plan:
    steps: tuple[PlannedStep, ...] = ()

    def __iter__(self) -> Iterator[PlannedStep]:
        return iter(self.steps)

    def __add__(self, step: PlannedStep) -> Plan:
        return Plan((*self.steps, step))
