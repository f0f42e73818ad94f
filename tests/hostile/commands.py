"""Which commands read a format, and the folder that they are called in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import polars as pl
import yaml
from tests.hostile import seeds
from tests.hostile.worker import RECOGNISERS

RELEASE: Final = "release"
PEOPLE: Final = "people.csv"
DATA: Final = "data.csv"
"""What a policy is run on: has the columns that it names."""
_COLUMNS: Final = {
    "csv": (None, ("a", "b")),
    "xlsx": (None, ("remark", "card", "seen", "sum")),
    "sqlite": (("id", "name", "age", "born"),),
}
"""Of seeds that are not the common table."""
_MOST_NAMES: Final = 60


@dataclass(frozen=True)
class Command:
    words: tuple[str, ...]
    writes: tuple[str, ...] = ()
    """There afterwards if it is done; never if it is refused."""
    may_fail: bool = False
    """Whether exit code 1, a verdict, is among what it may end with."""


def place(kind: str) -> str:
    """Where the mutated file lies."""
    return f"{RELEASE}/release.json" if kind == "manifest" else f"a.{seeds.ENDINGS.get(kind, kind)}"


def columns(kind: str, seed: int) -> tuple[str, ...]:
    known = _COLUMNS.get(kind, ())
    return (known[seed] if seed < len(known) else None) or tuple(seeds.table().columns)


def prepared(folder: Path) -> None:
    seeds.table().write_csv(folder / PEOPLE)
    seeds.table().write_csv(folder / "clinic.csv")
    (folder / "hierarchy.csv").write_text(seeds.HIERARCHY, encoding="utf-8")
    for kind, made in seeds.TABLES.items():
        for seed in range(len(made)):
            (folder / f"{kind}-{seed}.yaml").write_text(_policy(columns(kind, seed)), encoding="utf-8")
    by_file = _policy(tuple(seeds.table().columns)).replace("{redact: {}}", f"{{csv: {place('hierarchy')}}}", 1)
    (folder / "hierarchy.yaml").write_text(by_file, encoding="utf-8")
    from typer.testing import CliRunner

    from shoal.cli.app import app

    arguments = ["run", str(folder / "csv-0.yaml"), "--input", str(folder / PEOPLE), "--output", str(folder / RELEASE)]
    done = CliRunner().invoke(app, [*arguments, "--seed", "1"])
    assert done.exit_code == 0, done.output


def _policy(names: Sequence[str]) -> str:
    first = "age" if "age" in names else names[0]
    lines = [f"  {first}: {{role: quasi, hierarchy: {{redact: {{}}}}}}"]
    lines += [f"  {name}: {{role: insensitive}}" for name in names if name != first]
    head = ["shoal: 1", "name: mutated", "attributes:", *lines, '  "*": suppress']
    tail = [
        "privacy: [{k_anonymity: {k: 2}}]",
        "solve: {suppression_limit: 1}",
        "read_back: {found: suppress}",
        "shuffle_rows: true",
    ]
    return "\n".join([*head, *tail, ""])


def command(kind: str, seed: int, content: bytes, folder: Path, random: Random) -> Command:
    """One that reads the file: most often one that reads all of it and is quick."""
    if kind in seeds.TABLES:
        return _of_table(kind, seed, random)
    if kind == RECOGNISERS:
        return Command((RECOGNISERS, place(kind)))
    if kind == "hierarchy":
        return (
            _run("hierarchy.yaml", PEOPLE)
            if random.random() < 0.1
            else Command(("check", "hierarchy.yaml", "--input", PEOPLE))
        )
    if kind == "policy":
        return _of_policy(content, folder, random)
    if kind == "manifest":
        return _of_release(random)
    return _of_document(kind, random)


def _run(policy: str, data: str) -> Command:
    """A policy may declare a harm, whose threshold is then required."""
    words = ("run", policy, "--input", data, "--output", "out", "--seed", "1")
    return Command(words, ("out",), may_fail=policy == place("policy"))


def _of_table(kind: str, seed: int, random: Random) -> Command:
    file, policy = place(kind), f"{kind}-{seed}.yaml"
    first, *further = columns(kind, seed)
    if kind == "sqlite":
        file = f"sqlite:///{file}#{random.choice('tv')}"
    known = f"{first},{further[0]}"
    attack = ("attack", file, "--original", file, "--qi", known, "--trials", "20", "--seed", "1")
    shares: tuple[tuple[float, Command], ...] = (
        (0.88, Command(("measure", file, "--qi", known, "--json"))),
        (0.04, _run(policy, file)),
        (0.02, Command(("profile", file, "--json"))),
        (0.02, Command(("check", policy, "--input", file))),
        (0.01, Command(("scan", file, "--json"))),
        (0.01, Command(("suggest", file, "-o", "new.yaml"), ("new.yaml",))),
        (0.01, Command(("normalise", file, "--person", first, "--view", "binary", "-o", "new.csv"), ("new.csv",))),
        (0.01, Command(attack)),
    )
    return random.choices([made for _, made in shares], [share for share, _ in shares])[0]


def _of_document(kind: str, random: Random) -> Command:
    file, chance = place(kind), random.random()
    ending = Path(file).suffix
    if chance < 0.25:
        return Command(("scan", file, "--json"))
    if chance < 0.35:
        side = ("--report", "new.json", "--table", "new.csv")
        return Command(
            ("scrub", file, "-o", f"new{ending}.new{ending}", *side),
            (f"new{ending}.new{ending}", "new.json", "new.csv"),
        )
    how = random.choice((("--replace", "mask"), ("--encoding", "latin-1"), (), (), ()))
    return Command(("scrub", file, "-o", f"new{ending}", *how), (f"new{ending}",))


def _of_release(random: Random) -> Command:
    if random.random() < 0.05:
        return Command(("attack", RELEASE, "--original", PEOPLE, "--trials", "20", "--seed", "1"))
    return Command(
        ("measure", RELEASE, "--qi", "age,pin", *(("--original", PEOPLE) if random.random() < 0.1 else ()), "--json")
    )


def _of_policy(content: bytes, folder: Path, random: Random) -> Command:
    chance, policy = random.random(), place("policy")
    if chance < 0.3:
        return Command(("check", policy))
    _table_for(content).write_csv(folder / DATA)
    return Command(("check", policy, "--input", DATA)) if chance < 0.5 else _run(policy, DATA)


def _table_for(content: bytes) -> pl.DataFrame:
    """The common table, with a column for each further name in the policy."""
    table = seeds.table()
    try:
        attributes = yaml.safe_load(content)["attributes"]
    except (yaml.YAMLError, TypeError, KeyError, ValueError, RecursionError):
        return table
    named = attributes if isinstance(attributes, dict) else {}
    created = {step.get("into") for step in _steps(named)}
    names = [name for name in named if isinstance(name, str) and name not in {"*", *created, *table.columns}]
    further = [pl.Series(name, [one % 7 for one in range(table.height)]) for name in names[:_MOST_NAMES]]
    return table.with_columns(further).select(
        pl.all() if len(named) < 7 else [name for name in named if name in {*table.columns, *names}]
    )


def _steps(attributes: dict[object, object]) -> list[dict[object, object]]:
    """What the policy creates columns with."""
    found = []
    for attribute in attributes.values():
        technique = attribute.get("technique") if isinstance(attribute, dict) else None
        for step in technique if isinstance(technique, list) else [technique]:
            combine = step.get("combine") if isinstance(step, dict) else None
            found += [combine] if isinstance(combine, dict) and isinstance(combine.get("into"), str) else []
    return found
