"""What every formal privacy model is (ISO/IEC 20889, clause 10): a demand on each equivalence class.

A model declares what a solver may rely on: *monotone under generalisation* — merging classes that meet it gives a class
that meets it; *monotone under suppression* — taking away whole classes never breaks the others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.schema.parameters import Parameters
from shoal.schema.registry import Registry


@dataclass(frozen=True)
class Classes:
    """Equivalence classes of one generalisation: how many records and people each has."""

    records: NDArray[np.int64]
    people: NDArray[np.int64]


@dataclass(frozen=True)
class Finding:
    """What a model says of a set of classes: the figure it asks for, the figure it found, whether that will do."""

    name: str
    required: float
    achieved: float
    met: bool


class PrivacyModel(Parameters, ABC):
    key: ClassVar[str]
    title: ClassVar[str]
    clause: ClassVar[str]
    monotone_under_generalisation: ClassVar[bool]
    monotone_under_suppression: ClassVar[bool]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "key" in cls.__dict__:
            privacy_models.add(cls.key, cls)

    @abstractmethod
    def holds(self, classes: Classes) -> NDArray[np.bool_]:
        """For each class, whether it meets the demand."""

    @abstractmethod
    def find(self, classes: Classes) -> Finding:
        """The figure over all kept classes. Where nobody is kept, nobody is at risk: the model is met."""

    @abstractmethod
    def explain(self) -> str:
        """What the model promises, for people."""


privacy_models: Registry[type[PrivacyModel]] = Registry("shoal.privacy", "privacy model")
