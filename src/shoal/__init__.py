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
| judging | `measure` reckons risk and usefulness, `explore` compares settings of a policy |
| knowing the data | `profile` says what a table holds, `suggest` drafts a policy from a profile |
| text | `Annotator` and `standard_annotator` find, a `Scrubber` replaces |
| pseudonyms | a `Vault` keeps keys and identity mappings |
| errors | `ShoalError` is the root of all |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = [
    "Annotator",
    "Policy",
    "Release",
    "Scrubber",
    "ShoalError",
    "UseCase",
    "Vault",
    "anonymise",
    "explore",
    "measure",
    "profile",
    "standard_annotator",
    "suggest",
]

if TYPE_CHECKING:
    from shoal.assess.exploration import explore
    from shoal.discover import profile
    from shoal.discover.suggestion.policy_draft import suggest
    from shoal.errors import ShoalError
    from shoal.policy import Policy, UseCase
    from shoal.release import Release, anonymise, measure
    from shoal.scrub.scrubber import Scrubber, standard_annotator
    from shoal.text import Annotator
    from shoal.vault import Vault

_HOMES = {
    "Annotator": "shoal.text",
    "Policy": "shoal.policy",
    "Release": "shoal.release",
    "Scrubber": "shoal.scrub.scrubber",
    "ShoalError": "shoal.errors",
    "UseCase": "shoal.policy",
    "Vault": "shoal.vault",
    "anonymise": "shoal.release",
    "explore": "shoal.assess.exploration",
    "measure": "shoal.release",
    "profile": "shoal.discover",
    "standard_annotator": "shoal.scrub.scrubber",
    "suggest": "shoal.discover.suggestion.policy_draft",
}


def __getattr__(name: str) -> object:
    """Public names are imported on first use, so that ``import shoal`` stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
