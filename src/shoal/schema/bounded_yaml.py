"""YAML from others: refused before anything is built of it if it is too deep, or too large once aliases are followed.

A file of one kilobyte can stand for billions of nodes by naming a list of lists of lists. The events of the parser tell
the size of every node without making it.
"""

from __future__ import annotations

from typing import Any, Final

import yaml

MAX_DEPTH: Final = 40
MAX_NODES: Final = 500_000
Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Written in C where there is such a one: ten times as fast, and as safe."""


class YamlBoundsError(ValueError):
    """What is too much, and where."""

    def __init__(self, said: str, mark: Any) -> None:
        super().__init__(said)
        self.line: int = mark.line + 1 if mark else 0
        self.column: int = mark.column + 1 if mark else 0


def check_bounds(text: str) -> None:
    """YamlBoundsError if there is too much in it, or it has no end; yaml.YAMLError if it is no YAML.

    >>> check_bounds("a: &x [1, 2]\\nb: [*x, *x]")
    >>> check_bounds("a: " + "[" * 100 + "]" * 100)
    Traceback (most recent call last):
    shoal.schema.bounded_yaml.YamlBoundsError: nested more than 40 levels deep
    """
    sizes = [0]
    names: list[str | None] = [None]
    known: dict[str, int] = {}
    for event in yaml.parse(text, Loader=Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            sizes.append(1)
            names.append(event.anchor)
            if len(sizes) > MAX_DEPTH + 1:
                raise YamlBoundsError(f"nested more than {MAX_DEPTH} levels deep", event.start_mark)
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            size, name = sizes.pop(), names.pop()
        elif isinstance(event, yaml.ScalarEvent):
            size, name = 1, event.anchor
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor in names:
                raise YamlBoundsError("an alias that contains itself", event.start_mark)
            size, name = known.get(event.anchor or "", 1), None
        else:
            continue
        if name is not None:
            known[name] = size
        sizes[-1] += size
        if sizes[-1] > MAX_NODES:
            raise YamlBoundsError(f"more than {MAX_NODES:,} values, aliases followed", event.start_mark)
