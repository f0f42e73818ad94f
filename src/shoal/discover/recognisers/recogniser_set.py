"""The recognisers that a use case works with: those that are installed, or a choice of one's own.

A set is made once and handed on; whoever takes one as an argument takes the installed ones if none is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final, overload

from shoal.discover.recognisers.base import Recogniser
from shoal.discover.recognisers.shipped_recognisers import installed
from shoal.schema.roles import Role

PROJECT_FILE: Final = "shoal-recognisers.yaml"
"""Used by every command where it lies in the working folder, or beside the policy."""


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
            chosen |= {one.key: one for one in recognisers_at(path)}
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


def project_files(*folders: Path) -> tuple[Path, ...]:
    """The project's file in each of the folders, where there is one; a folder that is named twice is one."""
    places = {(folder / PROJECT_FILE).resolve(): folder / PROJECT_FILE for folder in folders}
    return tuple(path for whole, path in places.items() if whole.is_file())
