"""How many files somebody has to touch to add a thing of each kind, its test apart: ``python scripts/one_file.py``.

One is the thing's own. A further one is any file of ``src`` that mentions more than half of all things of the kind, by
key, by class or by importing their modules: a list, a table of names, a chain of branches, which a new thing would have
to be added to. A file that mentions a few, such as the rule that needs k-anonymity, is no list.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1] / "src"


@dataclass(frozen=True)
class Thing:
    """Something that is registered, and the words that other files would mention it by."""

    key: str
    home: str
    """The module or the file that declares it."""
    words: frozenset[str]


def files_to_add() -> dict[str, int]:
    """By kind, in words."""
    return {kind: 1 + len(lists_of(things(), mentions_in(ROOT))) for kind, things in KINDS.items()}


def lists_of(things: Sequence[Thing], mentions: Mapping[str, frozenset[str]]) -> list[str]:
    """The files that a new thing would have to be added to; ``mentions`` has the words of each file."""
    return [file for file, words in mentions.items() if _most_of(things, file, words)]


def _most_of(things: Sequence[Thing], file: str, words: frozenset[str]) -> bool:
    others = [thing for thing in things if thing.home != file]
    return sum(bool(thing.words & words) for thing in others) > len(others) / 2


@cache
def mentions_in(root: Path) -> dict[str, frozenset[str]]:
    found = {_module(path, root): frozenset(_words_of(path)) for path in root.rglob("*.py")}
    return {**found, **{str(path.relative_to(root)): frozenset() for path in root.rglob("*.html.j2")}}


def _module(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _words_of(path: Path) -> Iterator[str]:
    """Texts, imported modules and their names, but for what is imported for type hints, which decide nothing."""
    for node in _nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        hints = isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING"
        if not hints:
            yield from _nodes(child)


def _classes(registry: Iterable[tuple[str, Any]]) -> list[Thing]:
    return [Thing(key, one.__module__, frozenset({key, one.__name__, one.__module__})) for key, one in registry]


def _techniques() -> list[Thing]:
    from shoal.techniques.base import techniques

    return _classes(techniques)


def _table_techniques() -> list[Thing]:
    from shoal.techniques.base import table_techniques

    return _classes(table_techniques)


def _models() -> list[Thing]:
    from shoal.privacy.base import privacy_models

    return _classes(privacy_models)


def _hierarchies() -> list[Thing]:
    from shoal.hierarchy.base import hierarchies

    return _classes(hierarchies)


def _table_formats() -> list[Thing]:
    from shoal.io.formats.base import file_formats

    return [
        Thing(key, one.open.__module__, frozenset({key, one.open.__module__, *one.suffixes}))
        for key, one in file_formats
    ]


def _document_formats() -> list[Thing]:
    from shoal.documents import document_formats

    return [
        Thing(one.key, one.__module__, frozenset({one.__name__, one.__module__, *one.media}))
        for one in document_formats()
    ]


def _recognisers() -> list[Thing]:
    """An entry of a file in ``packs``; its own file is not Python, and no other names it."""
    from shoal.discover.recognisers import shipped

    return [Thing(one.key, one.key, frozenset({one.key})) for one in shipped()]


def _attacks() -> list[Thing]:
    from shoal.attack.registry import registered_attacks

    return [Thing(key, one.tries.__module__, frozenset({key, one.tries.__module__})) for key, one in registered_attacks]


def _measures() -> list[Thing]:
    from shoal.measurement.usefulness.base import usefulness_measures

    return [
        Thing(key, one.__module__, frozenset({key, one.__name__, one.__module__, *one.readings}))
        for key, one in usefulness_measures
    ]


def _sections() -> list[Thing]:
    from shoal.report.sections import sections

    folder = resources.files("shoal.report") / "templates"
    return [
        Thing(one.key, f"shoal/report/templates/{one.template}", frozenset({one.declared.title, f'id="{one.key}"'}))
        for one in sections()
        if (folder / one.template).is_file()
    ]


def _commands() -> list[Thing]:
    import importlib
    import pkgutil

    package = importlib.import_module("shoal.cli.commands")
    return [
        Thing(module.name, module.name, frozenset({module.name}))
        for module in pkgutil.walk_packages(package.__path__, "shoal.cli.commands.")
        if not module.ispkg
    ]


KINDS: dict[str, Callable[[], list[Thing]]] = {
    "technique": _techniques,
    "table technique": _table_techniques,
    "privacy model": _models,
    "hierarchy": _hierarchies,
    "table format": _table_formats,
    "document format": _document_formats,
    "recogniser": _recognisers,
    "attack": _attacks,
    "usefulness measure": _measures,
    "report section": _sections,
    "command": _commands,
}


if __name__ == "__main__":
    for kind, number in files_to_add().items():
        print(f"{kind:20} {number}")  # noqa: T201 - it is what the script is for
