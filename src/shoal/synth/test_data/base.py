"""What a generator is: parameters from a schema, values for the rows of a column, and why they belong to nobody."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Final, Self

import polars as pl
from pydantic import model_validator

from shoal.kernels.arrays import Integers
from shoal.kernels.text_arrays import texts_of
from shoal.pseudonyms.formats.base import NarrowFormat
from shoal.schema.parameters import Parameters
from shoal.schema.registry import Registry
from shoal.synth.test_data.code_layout import Characters, CodeLayout
from shoal.synth.test_data.draws import Draws


@dataclass(frozen=True)
class Assurance:
    standing: Standing
    because: str
    """In one sentence for a reader."""
    source: str = ""
    """Who says so."""


class Standing(StrEnum):
    """Whether a value that was made up can be somebody's."""

    RESERVED = "reserved"
    """It passes the checks, and comes from a range that is kept free or not in use: nobody's."""
    WRONG_CHECK = "wrong check"
    """Its check character is wrong on purpose: nobody's, and refused by whoever looks at it."""
    MAY_COINCIDE = "may coincide"
    """It passes every check, and no range is known to be free: it may be somebody's."""
    IMPERSONAL = "impersonal"
    """It is no identifier: a number, a date, a word, a place, a name that many bear."""


class Generator(Parameters, ABC):
    """Parameters of one kind of value, as written in a schema."""

    key: ClassVar[str]
    title: ClassVar[str]
    shorthand: ClassVar[str | None] = None
    """The parameter that a bare value stands for: ``pattern: AB-##`` is ``pattern: {text: AB-##}``."""
    stands_for: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """The recognisers whose values it makes, with the parameters for each: this finds it by the name of a column."""

    @model_validator(mode="before")
    @classmethod
    def _expand_shorthand(cls, given: object) -> object:
        if given is None:
            return {}
        bare = cls.shorthand is not None and not isinstance(given, Mapping | Generator)
        return {cls.shorthand: given} if bare else given

    @property
    @abstractmethod
    def assurance(self) -> Assurance: ...

    @property
    def distinct(self) -> int:
        """How many rows can have values of their own; 0 where values repeat by chance."""
        return 0

    @abstractmethod
    def draw(self, draws: Draws) -> pl.Series: ...

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "key" in cls.__dict__:
            registered_generators.add(cls.key, cls)


class NumberedGenerator(Generator):
    """``size`` different values, numbered from 0, each as likely as any other."""

    @property
    @abstractmethod
    def size(self) -> int: ...

    @property
    def distinct(self) -> int:
        return self.size

    @abstractmethod
    def write(self, numbers: Integers) -> pl.Series: ...

    def draw(self, draws: Draws) -> pl.Series:
        return self.write(draws.numbers(self.size))


class CodeGenerator(NumberedGenerator):
    """Codes of one width."""

    @property
    @abstractmethod
    def layout(self) -> CodeLayout: ...

    @property
    def size(self) -> int:
        return self.layout.size

    def complete(self, characters: Characters, numbers: Integers) -> None:
        """Write what follows from the other characters in its place."""

    def write(self, numbers: Integers) -> pl.Series:
        characters = self.layout.characters(numbers)
        self.complete(characters, numbers)
        return texts_of(characters)


class ListGenerator(NumberedGenerator):
    """One of some values."""

    @property
    @abstractmethod
    def listed(self) -> pl.Series: ...

    @property
    def size(self) -> int:
        return len(self.listed)

    def write(self, numbers: Integers) -> pl.Series:
        return self.listed.gather(numbers)


class FormatGenerator(NumberedGenerator):
    """The values of a format of pseudonyms, which are nobody's by themselves."""

    @property
    @abstractmethod
    def form(self) -> NarrowFormat: ...

    @property
    def size(self) -> int:
        return self.form.size

    def write(self, numbers: Integers) -> pl.Series:
        return self.form.write(numbers)


class AcceptedGenerator(CodeGenerator):
    """Of a kind that has no range known to be free: what passes every check has to be accepted in so many words."""

    may_coincide: bool = False
    """Values pass every check of their kind, and may be somebody's."""


class RangeGenerator(NumberedGenerator):
    """Everything from a lowest to a highest value, at even steps."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not 1 <= self.size <= LARGEST:
            raise ValueError("the first has to come before the last, and there are at most 2⁶² between")
        return self

    @property
    def assurance(self) -> Assurance:
        return Assurance(Standing.IMPERSONAL, "drawn evenly from a range, which the schema gives")


LARGEST: Final = 1 << 62
"""Values of a generator that can be numbered, at most."""
registered_generators: Registry[type[Generator]] = Registry(
    "shoal.synth.test_data.generators", "generator", "shoal.test_data_generators"
)
