"""Tables that are worked out of the word lists once, and kept (``shoal.kernels.derived_files``).

They belong to the lists, to the code of this room, to the version of Faker, where names come from, and to the facts of
GeoNames.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache
from importlib import resources
from importlib.metadata import version
from importlib.resources.abc import Traversable
from typing import Any

from shoal.discover.recognisers.shipped_recognisers import shipped_key
from shoal.geonames import source_version
from shoal.kernels.derived_files import DerivedKey, derived_key, kept_or_made


def kept_words(name: str, make: Callable[[], Iterable[str]]) -> list[str]:
    """Words or phrases, each on one line."""
    text = kept_or_made(name, tables_key(), lambda: {"words": "\n".join(make()).encode()})["words"].decode()
    return text.split("\n") if text else []


def kept_json(name: str, make: Callable[[], Any]) -> Any:
    """Whatever JSON takes."""
    sections = kept_or_made(name, tables_key(), lambda: {"json": json.dumps(make(), ensure_ascii=False).encode()})
    return json.loads(sections["json"])


@cache
def tables_key() -> DerivedKey:
    """Of all lists, of the recognisers, whose labels are words too, and of the code that reads them."""
    recognisers = shipped_key()
    contents = [recognisers.shipped.encode(), source_version(), *_contents(resources.files("shoal.text"))]
    return derived_key(contents, [recognisers.installed, f"faker {version('faker')}"])


def _contents(folder: Traversable) -> Iterable[bytes]:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.name.endswith((".py", ".txt")):
            yield entry.name.encode()
            yield entry.read_bytes()
        elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
            yield from _contents(entry)
