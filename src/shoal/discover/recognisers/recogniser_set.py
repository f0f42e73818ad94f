"""The recognisers that a use case works with: those that are installed, or a choice of one's own.

A set is made once and handed on; whoever takes one as an argument takes the installed ones if none is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import overload

from shoal.discover.recognisers.base import Recogniser
from shoal.discover.recognisers.shipped_recognisers import installed
from shoal.schema.roles import Role


@dataclass(frozen=True, eq=False)
class RecogniserSet(Sequence[Recogniser]):
    """In the order in which they are believed. Two sets are the same only if they are one."""

    recognisers: tuple[Recogniser, ...]

    @classmethod
    def of(cls, recognisers: Iterable[Recogniser]) -> RecogniserSet:
        return cls(tuple(recognisers))

    def with_files(self, *paths: Path) -> RecogniserSet:
        """These with those of further files, which take the place of ours where the name is the same."""
        from shoal.discover.recognisers.pack_files import recognisers_at

        chosen = {one.key: one for one in self.recognisers}
        for path in paths:
            chosen |= {one.key: one.in_cells() for one in recognisers_at(path)}
        return RecogniserSet(tuple(chosen.values()))

    @cached_property
    def types(self) -> frozenset[str]:
        return frozenset(one.type for one in self.recognisers)

    @cached_property
    def direct_types(self) -> frozenset[str]:
        """The kinds that name a person."""
        return frozenset(one.type for one in self.recognisers if one.role is Role.DIRECT)

    def direct_by_name(self, column: str) -> Recogniser | None:
        """The kind of direct identifier that the name of a column tells of."""
        return next((one for one in self.recognisers if one.role is Role.DIRECT and one.hinted(column)), None)

    def title_of(self, kind: str) -> str:
        """What a value of a kind is called where its form does not tell the country that it is of."""
        titles = [one.title for one in self.recognisers if one.type == kind]
        return next(filter(str.islower, titles), titles[0])

    def hints_at(self, column: str, kind: str) -> bool:
        """Whether the name of a column tells of a kind."""
        return any(one.hinted(column) for one in self.recognisers if one.type == kind)

    def __len__(self) -> int:
        return len(self.recognisers)

    @overload
    def __getitem__(self, place: int) -> Recogniser: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Recogniser]: ...

    def __getitem__(self, place: int | slice) -> Recogniser | Sequence[Recogniser]:
        return self.recognisers[place]


@cache
def default_recognisers() -> RecogniserSet:
    """Ours with those that other distributions add, read on first use."""
    return RecogniserSet(installed())


def with_files(*paths: Path) -> RecogniserSet:
    """Ours with those of further files."""
    return default_recognisers().with_files(*paths)
