"""How the code is laid out: measured from the source and from the import contracts, written into the docs.

The tables of `docs/explanation/rooms.md` and its two pictures are made here. Rooms and their order come from the
contract `rooms` in `pyproject.toml`, what a room is for from its docstring. ``--check`` writes nothing and fails when a
page or a picture is out of date.

A room is a folder below the package; `errors.py`, `randomness.py` and `lazy_exports.py` are single files that all rooms
share and count nowhere. Fan-out is the number of other rooms that a room's files name in imports, also where they do so
for types only.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import room_pictures
from one_file import files_to_add
from ways import WAYS, ways

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "shoal"
PAGE = ROOT / "docs" / "explanation" / "rooms.md"
PICTURES = ROOT / "docs" / "images"
FLOORS = {
    "doors": ("cli", "api", "server", "examples"),
    "use cases": (
        *("govern", "synthetic_release", "release", "streaming", "curator"),
        *("live", "database_copy", "secure_aggregation", "assess", "scan"),
    ),
    "telling": ("report", "results"),
    "judging": ("measurement", "attack"),
    "acting": ("plan", "synth", "solve", "scrub", "dp"),
    "knowing": ("policy", "discover", "text"),
    "means": ("techniques", "privacy", "hierarchy", "pseudonyms", "vault", "ledger"),
    "ground": ("engine", "documents", "io", "crypto", "schema", "sandbox", "kernels", "geonames"),
}
"""From the top. A room imports from its own floor and those below it; the contract says in which order exactly."""
MOST_FILES, MOST_ROOMS, MOST_SHARED = 25, 10, 0.03
HOPS = {"run": 20, "measure": 12}
DOORS = ("cli", "api", "server")
"""May know every room."""


@dataclass(frozen=True)
class Room:
    name: str
    purpose: str
    files: int
    crowded: int
    """The most files in one folder."""
    lines: int
    imports: frozenset[str]

    @property
    def too_large(self) -> bool:
        return self.crowded > MOST_FILES or (len(self.imports) > MOST_ROOMS and self.name not in DOORS)


def layers() -> list[str]:
    """The rooms of the contract, from the top."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    named = next(contract["layers"] for contract in contracts if contract["id"] == "rooms")
    rooms = [room.strip().removeprefix("shoal.") for layer in named for room in layer.split("|")]
    return [room for room in rooms if (SOURCE / room).is_dir()]


def floor_of(room: str) -> str:
    return next(floor for floor, rooms in FLOORS.items() if room in rooms)


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


@cache
def rooms() -> tuple[Room, ...]:
    """In the order of the contract."""
    named = layers()
    return tuple(_room(name, frozenset(named)) for name in named)


def _room(name: str, known: frozenset[str]) -> Room:
    paths = sorted((SOURCE / name).rglob("*.py"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    imports = frozenset(room for text in texts for room in imported(ast.parse(text))) & known - {name}
    crowded = max(Counter(path.parent for path in paths).values())
    purpose = ast.get_docstring(ast.parse((SOURCE / name / "__init__.py").read_text(encoding="utf-8"))) or ""
    lines = sum(text.count("\n") for text in texts)
    return Room(name, purpose.partition("\n\n")[0].replace("\n", " "), len(paths), crowded, lines, imports)


@cache
def class_names() -> Counter[str]:
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py"))
    return Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))


def shared_names() -> float:
    """The share of classes that have their name in common with another."""
    classes = class_names()
    return sum(number for number in classes.values() if number > 1) / classes.total()


def purposes() -> str:
    lines = ["| floor | room | what lives there |", "|---|---|---|"]
    above = ""
    for room in rooms():
        floor = floor_of(room.name)
        lines.append(f"| {floor if floor != above else ''} | `{room.name}/` | {room.purpose} |")
        above = floor
    lines.append(
        "| | `errors.py`, `randomness.py`, `lazy_exports.py` "
        "| the error tree; the one seam for randomness and time; names that are imported on first use |"
    )
    return "\n".join(lines)


def sizes() -> str:
    lines = ["| room | files | in one folder | lines | imports rooms | imported by |", "|---|---|---|---|---|---|"]
    for one in rooms():
        by = sum(one.name in other.imports for other in rooms())
        lines.append(f"| `{one.name}` | {one.files} | {one.crowded} | {one.lines:,} | {len(one.imports)} | {by} |")
    return "\n".join(lines)


def figures() -> str:
    """What is held to a bound, with the bound."""
    found, shared = ways(), shared_names()
    crowded = max(room.crowded for room in rooms())
    fan_out = max(len(room.imports) for room in rooms() if room.name not in DOORS)
    parsed = {what: max(way.parsed.get(what, 0) for way in found.values()) for what in ("policy", "manifest")}
    zigzags = sum(len(found[name].zigzags) for name in HOPS)
    rows = [
        ("files in one folder, at most", crowded, f"≤ {MOST_FILES}"),
        ("other rooms that a room imports, at most (the command line aside)", fan_out, f"≤ {MOST_ROOMS}"),
        *(
            (f"hops of `shoal {' '.join(WAYS[name][:1])}`", found[name].hops, f"≤ {most}")
            for name, most in HOPS.items()
        ),
        ("chains of calls in these that come back to a module", zigzags, "0"),
        ("times that a command parses its policy, at most", parsed["policy"], "1"),
        ("times that a command parses the same manifest, at most", parsed["manifest"], "1"),
        ("classes that share their name with another", f"{shared:.1%}", f"≤ {MOST_SHARED:.0%}"),
        *((f"files that a new {kind} takes, beside its test", number, "1") for kind, number in files_to_add().items()),
    ]
    return "\n".join(["| measure | now | bound |", "|---|---|---|", *(f"| {a} | {b} | {c} |" for a, b, c in rows)])


def page() -> str:
    text = PAGE.read_text(encoding="utf-8")
    for part, made in {"purposes": purposes(), "figures": figures(), "sizes": sizes()}.items():
        start, end = f"<!-- {part} -->", f"<!-- /{part} -->"
        before, _, rest = text.partition(start)
        text = f"{before}{start}\n\n{made}\n\n{end}{rest.partition(end)[2]}"
    return text


def made() -> dict[Path, str]:
    """What is written, by path."""
    floors = [(floor, [room for room in rooms() if room.name in names]) for floor, names in FLOORS.items()]
    drawn = [(floor, [(room.name, room.files) for room in there]) for floor, there in floors if there]
    return {
        PAGE: page(),
        PICTURES / "rooms.svg": room_pictures.floors(drawn),
        PICTURES / "way-of-a-run.svg": room_pictures.way([name for name, _ in drawn], _visits()),
    }


def _visits() -> list[tuple[str, str]]:
    """The rooms of a run in the order in which it comes to them, each with its floor."""
    known = {room.name for room in rooms()}
    return [(room, floor_of(room)) for room in ways()["run"].rooms if room in known]


def main(arguments: list[str]) -> int:
    wanted = made()
    if "--check" in arguments:
        return int(any(not path.exists() or path.read_text(encoding="utf-8") != text for path, text in wanted.items()))
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
