"""A classification: codes and names of things, and the groups that they are in, level by level.

It is read from a data file of this folder. A group is written as the beginnings that its codes have, one by one
(``403``) or from one to another (``40-44``); of several that fit, the longest counts. A level that has no names keeps
the first characters of a code instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources

import yaml
from pydantic import BaseModel, ConfigDict, Field

_BETWEEN = re.compile(r"[\s.\-_/]+")
"""What may stand between the characters of a code or the words of a name."""


class ClassificationLevel(BaseModel):
    """One level: what it is called, and its groups."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    keep: int | None = None
    """First characters of the code that stay."""
    fill: str = ""
    """Stands for each of the others."""
    groups: dict[str, str] = Field(default_factory=dict)
    """The beginnings of the codes, by group."""
    ranges: str = ""
    """Groups that are called by their beginnings."""

    @cached_property
    def spans(self) -> tuple[tuple[str, str, str], ...]:
        """First beginning, last beginning, group; the longest first."""
        named = {**self.groups, **{one: one for one in self.ranges.split()}}
        cut = [(*_ends(one), group) for group, codes in named.items() for one in codes.split()]
        return tuple(sorted(cut, key=lambda one: -len(one[0])))

    def label(self, code: str) -> str | None:
        """The group of a code; None where it is in none."""
        if self.keep is not None:
            return code[: self.keep].ljust(len(code), self.fill) if self.fill else code[: self.keep]
        return next((group for low, high, group in self.spans if low <= code[: len(low)] <= high), None)


def _ends(text: str) -> tuple[str, str]:
    low, _, high = text.partition("-")
    return low, high or low


class ClassificationFile(BaseModel):
    """What a data file says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    source: str
    """Where the facts are from."""
    pattern: str
    """What a code looks like in capitals without signs; the part called ``code`` counts."""
    example: str
    columns: str
    """Words by which a column of such codes may be called."""
    levels: tuple[ClassificationLevel, ...]
    """From the smallest groups."""
    length: int | None = None
    """Characters of a code, where numbers may have lost their zeros in front."""
    decimals: int | None = None
    """Digits behind the point of codes that look like decimal numbers."""
    names: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Other names, by code, by the name of a group, or by one that is on every level."""


@dataclass(frozen=True)
class Classification:
    """
    >>> diseases = classification("icd-10")
    >>> diseases.labels("e11.9"), diseases.labels("no such thing")
    (('E11', 'E10-E14', 'IV Hormones, nutrition, metabolism'), None)
    """

    key: str
    facts: ClassificationFile = field(repr=False)

    def labels(self, value: str, *, number: bool = False) -> tuple[str, ...] | None:
        """The group of a value on each level; a value that names a group is that group. None where it is not known."""
        text = _BETWEEN.sub("", value).upper()
        if number and self.facts.length is not None:
            text = text.rjust(self.facts.length, "0")
        found = self._pattern.fullmatch(text)
        if found is not None:
            return self._of_code(found["code"])
        name = _folded(value)
        ways = (name, name.removesuffix("s"), f"{name}s")
        return next((self._by_name[way] for way in ways if way in self._by_name), None)

    def _of_code(self, code: str) -> tuple[str, ...] | None:
        found: list[str] = []
        for level in reversed(self.facts.levels):
            label = level.label(code)
            if label is None and not found:
                return None
            # A code of a larger group is not in any of its smaller ones: it stays what it is.
            found.append(code if label is None else label)
        labels = tuple(reversed(found))
        return labels if self._complete(code) else None

    def _complete(self, code: str) -> bool:
        """Whether every level that the code is long enough for has a group for it."""
        return all(
            level.label(code) is not None
            for level in self.facts.levels
            if not level.spans or len(code) >= min(len(low) for low, _, _ in level.spans)
        )

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self.facts.pattern)

    @cached_property
    def _by_name(self) -> Mapping[str, tuple[str, ...]]:
        return dict(self._named())

    def _named(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        yield from self._groups()
        groups = dict(self._groups())
        for meant, names in self.facts.names.items():
            labels = self._of_code(meant) or groups.get(_folded(meant)) or (meant,) * len(self.facts.levels)
            yield from ((_folded(name), labels) for name in (meant, *names))

    def _groups(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        levels = self.facts.levels
        for place in reversed(range(len(levels))):
            for low, _, group in levels[place].spans:
                above = [level.label(low) or "" for level in levels[place + 1 :]]
                yield _folded(group), (group,) * (place + 1) + tuple(above)


def _folded(name: str) -> str:
    return _BETWEEN.sub(" ", name).strip().casefold()


@cache
def classification_names() -> tuple[str, ...]:
    """Those that come with Shoal."""
    files = resources.files("shoal.hierarchy.classifications").iterdir()
    return tuple(sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml")))


@cache
def classification(key: str) -> Classification:
    """One of them, by its name."""
    text = resources.files("shoal.hierarchy.classifications").joinpath(f"{key}.yaml").read_text(encoding="utf-8")
    return Classification(key, ClassificationFile.model_validate(yaml.safe_load(text)))
