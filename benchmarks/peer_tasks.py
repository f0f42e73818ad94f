"""One peer on one table, in the peers' own environment: ``python peer_tasks.py PEER TABLE HIERARCHIES RELEASED``.

Only what the peer does is timed (CPU seconds, all threads), without imports and files. Prints one line of JSON. The
peers are no dependencies of the project, not even of its benchmarks, so they are imported by name.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

K = 5
SUPPRESSED_PERCENT = 5
SENSITIVE = "occupation"
LONGEST = 120
"""CPU seconds that a peer may take; then the system stops it."""

Found = dict[str, Any]


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.process_time()
    done = work()
    return done, time.process_time() - started


def anjana(table: pd.DataFrame, hierarchies: Path, released: Path) -> Found:
    """Global recoding: generalises the attribute with most values until few enough records are left to suppress."""
    trees = {}
    for name in table.columns:
        levels = pd.read_csv(hierarchies / f"adult_hierarchy_{name}.csv", sep=";", header=None, dtype=str)
        trees[name] = {level: levels[level].to_numpy() for level in levels.columns}
    quasi = list(table.columns)
    anonymise = import_module("anjana.anonymity").k_anonymity
    anonymised, seconds = timed(lambda: anonymise(table, [], quasi, K, SUPPRESSED_PERCENT, trees))
    anonymised[quasi].to_csv(released, index=False)
    return {"seconds": seconds}


def anonypy(table: pd.DataFrame, _hierarchies: Path, released: Path) -> Found:
    """Mondrian: splits sets of values and ranges of numbers, without hierarchies."""
    quasi = list(table.columns)
    typed = table.astype({name: "int64" if name == "age" else "category" for name in quasi}).assign(sensitive=0)
    preserver = import_module("anonypy").Preserver
    rows, seconds = timed(lambda: preserver(typed, quasi, "sensitive").anonymize_k_anonymity(k=K))
    cells = pd.DataFrame({name: [row[name][0] for row in rows for _ in range(row["count"])] for name in quasi})
    cells.to_csv(released, index=False)
    return {"seconds": seconds}


def pycanon(table: pd.DataFrame, _hierarchies: Path, _released: Path) -> Found:
    """Measures k, l and t of a table; anonymises nothing."""
    quasi = [name for name in table.columns if name != SENSITIVE]
    measures = import_module("pycanon.anonymity")

    def measured() -> Found:
        return {
            "k": int(measures.k_anonymity(table, quasi)),
            "l": int(measures.l_diversity(table, quasi, [SENSITIVE])),
            "t": float(measures.t_closeness(table, quasi, [SENSITIVE])),
        }

    found, seconds = timed(measured)
    return {"seconds": seconds, **found}


def main() -> None:
    peer, table, hierarchies, released = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST))
    frame = pd.read_csv(table, dtype=str)
    found = {"anjana": anjana, "anonypy": anonypy, "pycanon": pycanon}[peer](frame, Path(hierarchies), Path(released))
    print(json.dumps({"version": version(peer), **found}))


if __name__ == "__main__":
    main()
