"""One mechanism behind "a new technique is one new file": a package's modules are imported, what they add is kept.

The same from outside: an installed distribution names modules of its own under the entry point ``shoal.plugins``. They
are imported once, right after ours, and what they define registers itself in the same way.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from shoal.errors import InputError

T = TypeVar("T")

PLUGINS = "shoal.plugins"
"""The group of entry points whose modules add techniques, hierarchies and privacy models."""


class Registry(Generic[T]):
    """Named things that live one per file in a package. The files are imported on first use."""

    def __init__(self, package: str, kind: str) -> None:
        self.kind = kind
        self._package = package
        self._entries: dict[str, T] = {}
        self._loaded = False

    def add(self, name: str, entry: T) -> None:
        if name in self._entries and self._entries[name] is not entry:
            raise ValueError(f"two entries for the {self.kind} {name!r}")
        self._entries[name] = entry

    def get(self, name: str) -> T | None:
        self._load()
        return self._entries.get(name)

    def names(self) -> tuple[str, ...]:
        self._load()
        return tuple(sorted(self._entries))

    def __iter__(self) -> Iterator[tuple[str, T]]:
        self._load()
        return iter(sorted(self._entries.items()))

    def unknown(self, name: object) -> str:
        """A sentence for a name that is not there, with the nearest one."""
        return f"unknown {self.kind} {str(name)!r}{did_you_mean(str(name), self.names())}"

    def _load(self) -> None:
        if self._loaded:
            return
        package = importlib.import_module(self._package)
        for module in pkgutil.walk_packages(package.__path__, f"{self._package}."):
            importlib.import_module(module.name)
        self._loaded = True
        load_plugins()


@cache
def load_plugins() -> None:
    """Import what other distributions add. One that can't be loaded stops everything: nobody would notice its lack."""
    for entry in plugins(PLUGINS):
        loaded(entry)


def plugins(group: str) -> list[EntryPoint]:
    """What installed distributions name under a group of entry points."""
    return sorted(_entry_points().select(group=group), key=lambda entry: (entry.name, entry.value))


@cache
def _entry_points() -> Any:
    """Looked through once: every installed distribution is asked. Its type is another in each Python."""
    return entry_points()


def loaded(entry: EntryPoint) -> Any:
    try:
        return entry.load()
    except Exception as error:  # whatever a foreign module does wrong
        raise InputError(
            f"the plug-in '{entry.name}' ({entry.value}) can't be loaded: {type(error).__name__}",
            advice="mend it or uninstall it",
        ) from error


def did_you_mean(word: str, known: tuple[str, ...]) -> str:
    near = nearest(word, known)
    return "" if near is None else f"; did you mean '{near}'?"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Of known words, the one that was probably meant."""
    return next(iter(difflib.get_close_matches(word, tuple(known), n=1, cutoff=0.6)), None)
