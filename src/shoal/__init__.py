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
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["Policy", "Release", "ShoalError", "anonymise", "measure"]

if TYPE_CHECKING:
    from shoal.errors import ShoalError
    from shoal.policy import Policy
    from shoal.release import Release, anonymise, measure

_HOMES = {
    "Policy": "shoal.policy",
    "Release": "shoal.release",
    "ShoalError": "shoal.errors",
    "anonymise": "shoal.release",
    "measure": "shoal.release",
}


def __getattr__(name: str) -> object:
    """Public names are imported on first use, so that ``import shoal`` stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
