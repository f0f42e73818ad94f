"""One mechanism behind "a new technique is one new file": a package's modules are imported, what they add is kept.

The same from outside. An installed distribution names what it adds in the group of entry points of its kind, under the
name that policies and commands know it by (``shoal.techniques``: ``shout = "harbour.shout"``), or names a module that
adds several things under ``shoal.plugins``. Modules are imported once, right after ours, and what they define registers
itself in the same way.

What can't be loaded, has a name that is taken, or does not add what it says stops everything with one line: nobody
would notice its lack.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, Generic, TypeVar

from shoal.errors import InputError, ShoalError

T = TypeVar("T")

PLUGINS: Final = "shoal.plugins"
"""The group of entry points whose modules may add things of any kind."""

_ADVICE: Final = "mend it or uninstall it"


class RegistrationError(TypeError):
    """A declaration that can't be taken in. Its message holds names only, so it may be shown to anybody."""


class Registry(Generic[T]):
    """Named things that live one per file in a package, and in other distributions. All are imported on first use."""

    def __init__(self, package: str, kind: str, group: str | None = None) -> None:
        self.kind = kind
        self.group = group
        """The group of entry points that are things of this kind."""
        self._package = package
        self._entries: dict[str, T] = {}
        self._origins: dict[str, EntryPoint | None] = {}
        self._loaded = False

    def add(self, name: str, entry: T) -> None:
        if name in self._entries and self._entries[name] is not entry:
            foreign = _current() or self._origins[name]
            if foreign is None:
                raise ValueError(f"two entries for the {self.kind} {name!r}")
            raise _refusal(foreign, f"there is a {self.kind} '{name}' already")
        self._entries[name] = entry
        self._origins.setdefault(name, _current())

    def get(self, name: str) -> T | None:
        self._load()
        return self._entries.get(name)

    def names(self) -> tuple[str, ...]:
        self._load()
        return tuple(sorted(self._entries))

    def __iter__(self) -> Iterator[tuple[str, T]]:
        self._load()
        return iter(sorted(self._entries.items()))

    def in_order(self, order: Callable[[T], int], owned: Callable[[T], Iterable[str]], what: str) -> tuple[T, ...]:
        """All entries by their order, equal ones by name.

        Two that own the same, such as a suffix, are refused: which one is meant must not depend on chance.
        """
        ordered = sorted(self, key=lambda item: (order(item[1]), item[0]))
        owners: dict[str, str] = {}
        for name, entry in ordered:
            for one in owned(entry):
                if owners.setdefault(one, name) != name:
                    raise self.refusal(name, f"'{one}' is {what} of {owners[one]}")
        return tuple(entry for _, entry in ordered)

    def unknown(self, name: object) -> str:
        """A sentence for a name that is not there, with the nearest one."""
        return f"unknown {self.kind} {str(name)!r}{did_you_mean(str(name), self.names())}"

    def refusal(self, name: str, reason: str) -> InputError | ValueError:
        """The error for an entry that can't be used, told of the plug-in that it comes from."""
        origin = self._origins.get(name)
        return ValueError(f"{self.kind} {name!r}: {reason}") if origin is None else _refusal(origin, reason)

    def _load(self) -> None:
        if self._loaded:
            return
        package = importlib.import_module(self._package)
        for module in pkgutil.walk_packages(package.__path__, f"{self._package}."):
            importlib.import_module(module.name)
        self._loaded = True
        try:
            load_plugins()
            self._load_group()
        except BaseException:
            self._loaded = False
            raise

    def _load_group(self) -> None:
        for entry in () if self.group is None else plugins(self.group):
            loaded(entry)
            if entry.name not in self._entries:
                raise _refusal(entry, f"it adds no {self.kind} '{entry.name}'")


@cache
def load_plugins() -> None:
    """Import the modules that other distributions add under the group of all kinds."""
    for entry in plugins(PLUGINS):
        loaded(entry)


def plugins(group: str) -> list[EntryPoint]:
    """What installed distributions name under a group of entry points."""
    return sorted(_entry_points().select(group=group), key=lambda entry: (entry.name, entry.value))


@cache
def _entry_points() -> Any:
    """Looked through once: every installed distribution is asked. Its type is another in each Python."""
    return entry_points()


_loading: list[EntryPoint] = []
"""The plug-ins whose modules are being imported, the innermost last."""


def _current() -> EntryPoint | None:
    return _loading[-1] if _loading else None


def loaded(entry: EntryPoint) -> Any:
    """What an entry point names. Whatever a foreign module does wrong is told in one line."""
    _loading.append(entry)
    try:
        return entry.load()
    except RegistrationError as error:
        raise _refusal(entry, str(error)) from error
    except ShoalError:
        raise
    except Exception as error:  # whatever a foreign module does wrong
        raise InputError(
            f"the plug-in '{entry.name}' ({entry.value}) can't be loaded: {type(error).__name__}", advice=_ADVICE
        ) from error
    finally:
        _loading.pop()


def _refusal(entry: EntryPoint, reason: str) -> InputError:
    return InputError(f"the plug-in '{entry.name}' ({entry.value}) can't be used: {reason}", advice=_ADVICE)


def did_you_mean(word: str, known: tuple[str, ...]) -> str:
    near = nearest(word, known)
    return "" if near is None else f"; did you mean '{near}'?"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Of known words, the one that was probably meant."""
    return next(iter(difflib.get_close_matches(word, tuple(known), n=1, cutoff=0.6)), None)
