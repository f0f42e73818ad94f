"""Shoal makes personal data safe to share, and proves it.

>>> import shoal
>>> policy = shoal.Policy.from_text('''
... shoal: 1
... name: staff
... attributes:
...   name: {role: direct}
...   age: {role: quasi, hierarchy: {intervals: {widths: [10, 20]}}}
... privacy: [{k_anonymity: {k: 2}}]
... ''')
>>> import polars as pl
>>> table = pl.DataFrame({"name": ["Asha", "Bela", "Chan", "Devi"], "age": [31, 34, 52, 57]})
>>> shoal.anonymise(table, policy).data["age"].to_list()
['30-39', '30-39', '50-59', '50-59']

The public names, all of them in ``shoal``; whatever else a page of the documentation imports is listed in
``docs/reference/python.md``, and the rest may change without notice.

| for | names |
|---|---|
| releasing | `Policy` says what is wanted, `anonymise` makes a `Release` of it; `UseCase` names what a release is for |
| making up | `synthesise` makes a `SyntheticRelease`: records that nobody is behind, which tell the same story |
| | `synthesise_tables` makes a `SyntheticTablesRelease`: tables that belong together as the real ones do |
| before that | `check` finds what is wrong with a policy, `plan` says what it would do, `explore` tries other ones |
| judging | `measure` reckons risk and usefulness, `attack` tries what an attacker would get |
| knowing the data | `profile` says what a table holds, `suggest` drafts a policy, `scan` finds where personal data is |
| text | `scrub` takes out what is personal; `Annotator` and `standard_annotator` find, a `Scrubber` replaces |
| asking | a `Curator` answers questions with differential privacy, under a budget |
| pseudonyms | a `Vault` keeps keys and identity mappings |
| errors | `ShoalError` is the root of all |
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = [
    "Annotator",
    "Curator",
    "Policy",
    "Release",
    "Scrubber",
    "ShoalError",
    "SyntheticRelease",
    "SyntheticTablesRelease",
    "UseCase",
    "Vault",
    "anonymise",
    "attack",
    "check",
    "explore",
    "measure",
    "plan",
    "profile",
    "scan",
    "scrub",
    "standard_annotator",
    "suggest",
    "synthesise",
    "synthesise_tables",
]

if TYPE_CHECKING:
    from shoal.api.judging import attack, measure
    from shoal.api.knowing import profile, scan, suggest
    from shoal.api.releasing import check, explore, plan
    from shoal.api.texts import scrub
    from shoal.curator.curator import Curator
    from shoal.errors import ShoalError
    from shoal.policy import Policy, UseCase
    from shoal.release import Release, anonymise
    from shoal.scrub.scrubber import Scrubber, standard_annotator
    from shoal.synthetic_release import SyntheticRelease, SyntheticTablesRelease, synthesise, synthesise_tables
    from shoal.text import Annotator
    from shoal.vault import Vault

_HOMES = {
    "Annotator": "shoal.text",
    "Curator": "shoal.curator.curator",
    "Policy": "shoal.policy",
    "Release": "shoal.release",
    "Scrubber": "shoal.scrub.scrubber",
    "ShoalError": "shoal.errors",
    "SyntheticRelease": "shoal.synthetic_release",
    "SyntheticTablesRelease": "shoal.synthetic_release",
    "UseCase": "shoal.policy",
    "Vault": "shoal.vault",
    "anonymise": "shoal.release",
    "attack": "shoal.api.judging",
    "check": "shoal.api.releasing",
    "explore": "shoal.api.releasing",
    "measure": "shoal.api.judging",
    "plan": "shoal.api.releasing",
    "profile": "shoal.api.knowing",
    "scan": "shoal.api.knowing",
    "scrub": "shoal.api.texts",
    "standard_annotator": "shoal.scrub.scrubber",
    "suggest": "shoal.api.knowing",
    "synthesise": "shoal.synthetic_release",
    "synthesise_tables": "shoal.synthetic_release",
}
_ROOMS = frozenset({"attack", "plan", "scan", "scrub"})
"""Functions that share their name with a folder of the package."""


def _public(name: str) -> object:
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)


class _CallableRoom(ModuleType):
    """A folder of the package that is called as the function of its name; its modules are found in it as ever."""

    def __call__(self, *given: object, **named: object) -> object:
        function = _public(self.__name__.rpartition(".")[2])
        return function(*given, **named)  # type: ignore[operator]  # what stands in _HOMES

    @property
    def __signature__(self) -> object:
        """What ``inspect.signature`` and editors show."""
        import inspect

        return inspect.signature(_public(self.__name__.rpartition(".")[2]))  # type: ignore[arg-type]  # a function


class _Package(ModuleType):
    """The import system puts every folder that is imported into its package: those of ``_ROOMS`` become callable."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in _ROOMS and isinstance(value, ModuleType):
            value.__class__ = _CallableRoom
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> object:
    """Public names are imported on first use, so that ``import shoal`` stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    if name in _ROOMS:
        import importlib

        return importlib.import_module(f"shoal.{name}")
    return _public(name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
