"""Measures how the code is laid out, and writes the table into `docs/explanation/rooms.md`.

Read from the source alone: files and lines of each room, how many stand in one folder, which other rooms it imports and
which import it, and how many classes share their name with another. ``--check`` writes nothing and fails when the table
is out of date.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "shoal"
PAGE = ROOT / "docs" / "explanation" / "rooms.md"
START, END = "<!-- house -->", "<!-- /house -->"


@dataclass(frozen=True)
class Room:
    name: str
    files: int
    crowded: int
    """The most files in one folder."""
    lines: int
    imports: frozenset[str]


def room_of(path: Path) -> str:
    """The first folder below the package, or a module that stands alone."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(tree: ast.Module) -> set[str]:
    """Rooms that a module names, also where it imports only for types."""
    found = set()
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            alone = node.module == "shoal"
            names = [f"shoal.{alias.name}" for alias in node.names] if alone else [node.module]
        found |= {name.split(".")[1] for name in names if name.startswith("shoal.")}
    return found


def rooms() -> list[Room]:
    paths = [path for path in sorted(SOURCE.rglob("*.py")) if path.parent != SOURCE or path.name != "__init__.py"]
    names = sorted({room_of(path) for path in paths})
    found = []
    for name in names:
        own = [path for path in paths if room_of(path) == name]
        texts = [path.read_text(encoding="utf-8") for path in own]
        named = {room for text in texts for room in imported(ast.parse(text))}
        folders = Counter(path.parent for path in own)
        lines = sum(text.count("\n") for text in texts)
        found.append(Room(name, len(own), max(folders.values()), lines, frozenset(named & set(names) - {name})))
    return found


def class_names() -> Counter[str]:
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py"))
    return Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))


def table() -> str:
    found, classes = rooms(), class_names()
    lines = [
        "| room | files | in one folder | lines | imports rooms | imported by |",
        "|---|---|---|---|---|---|",
        *(
            f"| `{one.name}` | {one.files} | {one.crowded} | {one.lines:,} | {len(one.imports)} "
            f"| {sum(one.name in other.imports for other in found)} |"
            for one in found
        ),
    ]
    shared = sum(number for number in classes.values() if number > 1)
    total = classes.total()
    common = ", ".join(f"`{name}` {number}" for name, number in classes.most_common(5) if number > 1)
    files, whole = sum(one.files for one in found), sum(one.lines for one in found)
    told = f"{files} files, {whole:,} lines. {shared} of {total:,} classes ({shared / total:.1%}) share their name"
    return "\n".join([*lines, "", f"{told} with another; most often {common}.", ""])


def page() -> str:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    return f"{before}{START}\n\n{table()}\n{END}{rest.partition(END)[2]}"


def main(arguments: list[str]) -> int:
    wanted = page()
    if "--check" in arguments:
        return int(PAGE.read_text(encoding="utf-8") != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
