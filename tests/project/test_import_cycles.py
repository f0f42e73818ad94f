"""Within a room no module needs itself, however far around: imports inside functions count, those for types don't.

A lazy import hides a cycle from Python, not from the reader, who has to hold all its modules in mind at once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"
NOT_YET = {"documents"}
"""Rooms in which cycles are left; each that is cleared leaves this list, see the last test."""


def module_of(path: Path, source: Path) -> str:
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_in(node: ast.AST) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Modules with the names taken from them, also inside functions; not below ``if TYPE_CHECKING``."""
    if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
        children: list[ast.AST] = list(node.orelse)
    else:
        children = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Import):
        yield from ((alias.name, ()) for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module, tuple(alias.name for alias in node.names)
    for child in children:
        yield from imports_in(child)


def graph(source: Path) -> dict[str, set[str]]:
    """Which module imports which. A package's ``__init__`` that passes names on is not what is meant by them."""
    paths = {module_of(path, source): path for path in source.rglob("*.py")}
    found: dict[str, set[str]] = {}
    for name, path in paths.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = {target for module, names in imports_in(tree) for target in _meant(module, names, paths)}
        found[name] = {target for target in named if target != name}
    return found


def _meant(module: str, names: tuple[str, ...], paths: Mapping[str, Path]) -> Iterator[str]:
    inner = [f"{module}.{name}" for name in names if f"{module}.{name}" in paths]
    yield from inner
    if module in paths and len(inner) < max(1, len(names)):
        yield module


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def cycle_in(room: str, imports: Mapping[str, set[str]]) -> list[str] | None:
    """Some cycle among the modules of a room, or None."""
    own = {name: {other for other in others if room_of(other) == room} for name, others in imports.items()}
    try:
        TopologicalSorter({name: others for name, others in own.items() if room_of(name) == room}).prepare()
    except CycleError as error:
        return list(error.args[1])
    return None


IMPORTS = graph(SOURCE)
ROOMS = sorted({room_of(name) for name in IMPORTS} - {""})


@pytest.mark.parametrize("room", [room for room in ROOMS if room not in NOT_YET])
def test_no_module_of_a_room_needs_itself(room: str) -> None:
    assert cycle_in(room, IMPORTS) is None


@pytest.mark.parametrize("room", sorted(NOT_YET))
def test_rooms_that_are_clear_leave_the_list(room: str) -> None:
    assert cycle_in(room, IMPORTS) is not None, f"take '{room}' out of NOT_YET"


KNOWN_BAD = {
    "at the top": "from shoal.room.other import thing\n",
    "in a function": "def late():\n    from shoal.room.other import thing\n",
    "in a method": "class Late:\n    def load(self):\n        import shoal.room.other\n",
    "as a module": "def late():\n    from shoal.room import other\n",
}
ALLOWED = {
    "for types alone": "if TYPE_CHECKING:\n    from shoal.room.other import thing\n",
    "of another room": "from shoal.elsewhere.other import thing\n",
}


@pytest.mark.parametrize("text", [*KNOWN_BAD.values(), *ALLOWED.values()], ids=[*KNOWN_BAD, *ALLOWED])
def test_a_cycle_is_found_wherever_it_hides(text: str, tmp_path: Path) -> None:
    for folder in ("room", "elsewhere"):
        (tmp_path / "shoal" / folder).mkdir(parents=True)
        (tmp_path / "shoal" / folder / "__init__.py").touch()
    (tmp_path / "shoal" / "room" / "other.py").write_text("from shoal.room.first import that\n", encoding="utf-8")
    (tmp_path / "shoal" / "elsewhere" / "other.py").write_text("from shoal.room.first import that\n", encoding="utf-8")
    (tmp_path / "shoal" / "room" / "first.py").write_text(text, encoding="utf-8")
    found = cycle_in("room", graph(tmp_path))
    assert (found is not None) is (text in KNOWN_BAD.values())
