"""Mutated files through the library, in a process of its own: ``python -m tests.hostile.fuzz parquet --count 10000``.

What counts as found: anything raised but an InputError, a process above 2 GB, a file that took more than a minute. What
was found is written beside (--keep), to become a test.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

from tests.hostile import seeds
from tests.hostile.mutations import mutated
from tests.hostile.trees import mutated_tree

from shoal.errors import InputError

MOST_MB: Final = 2048
MOST_SECONDS: Final = 60.0
"""Of processor time, so that a busy machine finds nothing that isn't there; the child's is limited by the kernel."""
TREES: Final = ("policy", "recognisers")
TREE_SHARE: Final = 0.7
FORMATS: Final = (*seeds.TABLES, *seeds.DOCUMENTS, "policy", "recognisers", "hierarchy")


@dataclass
class Outcome:
    format: str
    files: int = 0
    read: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)
    seconds: float = 0.0
    slowest: float = 0.0
    peak_mb: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "refused": sum(self.refused.values()), "said": self.refused.most_common(12)}


def read_table(path: Path) -> None:
    from shoal.io import explained, open_source, parse_source

    options = {"url": f"sqlite:///{path}", "table": "v"} if path.suffix == ".sqlite" else {"path": str(path)}
    source = open_source(parse_source(options))
    with explained(source):
        source.scan().collect(engine="streaming")


def read_document(path: Path) -> None:
    from shoal.text import carriers

    carrier = carriers.open(path, carriers.Options(unreadable="cover", dots=40))
    for _ in carrier.texts(path):
        pass
    carrier.rewrite(path, path.with_name("new" + path.suffix), lambda text: text.replace("Asha", "[PERSON]"))


def read_policy(path: Path) -> None:
    """Loaded, and where it holds, run on a table with the columns that it names."""
    import polars as pl

    from shoal.policy import EVERYTHING_ELSE, Policy
    from shoal.release import anonymise
    from shoal.techniques.combine import Combine

    policy = Policy.load(path)
    table = seeds.table()
    steps = [step for attribute in policy.attributes.values() for step in attribute.steps]
    created = {step.into for step in steps if isinstance(step, Combine)}
    names = [name for name in policy.attributes if name != EVERYTHING_ELSE and name not in created]
    further = [pl.Series(name, [one % 7 for one in range(table.height)]) for name in names if name not in table.columns]
    anonymise(table.with_columns(further), policy, seed=1)


def read_recognisers(path: Path) -> None:
    from shoal.discover.recognisers.loading import with_files

    with_files(path)


def read_hierarchy(path: Path) -> None:
    from shoal.hierarchy.csv_file import Csv

    Csv(path=path).load()


def reader(kind: str) -> Callable[[Path], None]:
    if kind in seeds.TABLES:
        return read_table
    others = {"policy": read_policy, "recognisers": read_recognisers, "hierarchy": read_hierarchy}
    return others.get(kind, read_document)


def contents(kind: str) -> tuple[list[bytes], tuple[bytes, ...]]:
    """The seeds of a format, and words to put into them."""
    if kind == "policy":
        return seeds.policies(), seeds.YAML_WORDS
    if kind == "recognisers":
        return [seeds.RECOGNISERS.encode()], seeds.YAML_WORDS
    if kind == "hierarchy":
        return [seeds.HIERARCHY.encode()], seeds.TEXT_WORDS
    found = seeds.TABLES.get(kind) or seeds.DOCUMENTS[kind]
    binary = kind in ("parquet", "arrow", "ipc", "sqlite")
    return [make() for make in found], () if binary else seeds.TEXT_WORDS


def fuzz(kind: str, count: int, seed: int, keep: Path | None = None) -> Outcome:
    outcome = Outcome(kind)
    random = Random(f"{kind}-{seed}")
    made, words = contents(kind)
    read = reader(kind)
    begun = time.perf_counter()
    with TemporaryDirectory() as folder:
        path = Path(folder, f"a.{seeds.ENDINGS.get(kind, kind)}")
        for number in range(count):
            seed_of_it = random.choice(made)
            if kind in TREES and random.random() < TREE_SHARE:
                content = mutated_tree(seed_of_it, random)
            else:
                content = mutated(seed_of_it, random, words)
            path.write_bytes(content)
            said = judge(read, path, outcome)
            if said:
                outcome.found.append(f"{number}: {said}")
                if keep is not None:
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"{kind}-{seed}-{number}{path.suffix}").write_bytes(content)
                    (keep / f"{kind}-{seed}-{number}.txt").write_text(said, encoding="utf-8")
    outcome.seconds = round(time.perf_counter() - begun, 1)
    outcome.peak_mb = peak_mb()
    if outcome.peak_mb > MOST_MB:
        outcome.found.append(f"a process of {outcome.peak_mb} MB")
    return outcome


def judge(read: Callable[[Path], None], path: Path, outcome: Outcome) -> str:
    """What is wrong with what happened; empty if it was read, or refused as it should be."""
    begun, worked = time.perf_counter(), time.process_time()
    said = ""
    try:
        read(path)
        outcome.read += 1
    except InputError as error:
        line = str(error)
        outcome.refused[line.replace(str(path), "…").replace(path.name, "…")[:70]] += 1
        if "Traceback" in line or not line.strip():
            said = "an error that is no clear line"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - that is what is looked for
        said = "".join(traceback.format_exception(error))
    took, worked = time.perf_counter() - begun, time.process_time() - worked
    outcome.files += 1
    outcome.slowest = max(outcome.slowest, round(took, 2))
    return said or (f"took {worked:.0f} s" if worked > MOST_SECONDS else "")


def peak_mb() -> int:
    """Of this process and of those that it has started and ended."""
    from shoal.sandbox import reading

    for child in reading._idle.children:
        child.end()
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) >> 10


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formats", nargs="*", default=FORMATS)
    parser.add_argument("--count", type=int, default=int(os.environ.get("SHOAL_FUZZ_COUNT", "10000")))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    found = False
    for kind in given.formats or FORMATS:
        outcome = fuzz(kind, given.count, given.seed, given.keep)
        found = found or bool(outcome.found)
        print(json.dumps(outcome.to_dict()), flush=True)  # noqa: T201
    return int(found)


if __name__ == "__main__":
    sys.exit(main())
