"""Names of a package that are imported when they are first asked for, so that who needs one does not wait for all.

>>> __getattr__ = lazy_exports("shoal.text", {"Span": "shoal.text.spans"})
>>> __getattr__("Span").__module__
'shoal.text.spans'
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_exports(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """What a package takes as its ``__getattr__`` (PEP 562): each name is kept once it has been looked up.

    No name may be that of a module of the package, which would take its place.
    """

    def look_up(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found: object = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, found)
        return found

    return look_up
