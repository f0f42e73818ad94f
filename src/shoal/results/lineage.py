"""What a release was made with: the versions of whatever could make it come out differently."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from shoal import __version__

_LIBRARIES: Final = ("polars", "numpy", "pyarrow", "cryptography")
_OF_ENGINES: Final = {"spark": ("pyspark",)}


def versions(policy_format: int, engine: str) -> dict[str, str]:
    """By name; a library that is not installed was not used.

    >>> made_with = versions(1, "polars")
    >>> made_with["policy"], sorted(made_with)[:3]
    ('1', ['cryptography', 'numpy', 'polars'])
    """
    own = {"shoal": __version__, "policy": str(policy_format), "python": platform.python_version()}
    found = {name: _installed(name) for name in (*_LIBRARIES, *_OF_ENGINES.get(engine, ()))}
    return own | {name: one for name, one in found.items() if one is not None}


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
