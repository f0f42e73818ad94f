"""One peer on one table, in the peers' own environment: ``python peer_tasks.py PEER TABLE HIERARCHIES RELEASED``.

Only what the peer does is timed (CPU seconds, all threads), without imports and files. Prints one line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

K = 5
SUPPRESSED_PERCENT = 5
SENSITIVE = "occupation"

Found = dict[str, Any]


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.process_time()
    done = work()
    return done, time.process_time() - started


def anjana(table: pd.DataFrame, hierarchies: Path, released: Path) -> Found:
    """Global recoding: generalises the attribute with most values until few enough records are left to suppress."""
    from anjana.anonymity import k_anonymity

    trees = {}
    for name in table.columns:
        levels = pd.read_csv(hierarchies / f"adult_hierarchy_{name}.csv", sep=";", header=None, dtype=str)
        trees[name] = {level: levels[level].to_numpy() for level in levels.columns}
    quasi = list(table.columns)
    anonymised, seconds = timed(lambda: k_anonymity(table, [], quasi, K, SUPPRESSED_PERCENT, trees))
    anonymised[quasi].to_csv(released, index=False)
    return {"seconds": seconds}


def anonypy(table: pd.DataFrame, _hierarchies: Path, released: Path) -> Found:
    """Mondrian: splits sets of values and ranges of numbers, without hierarchies."""
    from anonypy import Preserver

    quasi = list(table.columns)
    typed = table.assign(age=table["age"].astype(int), sensitive=0)
    typed = typed.astype({name: "category" for name in quasi if name != "age"})
    rows, seconds = timed(lambda: Preserver(typed, quasi, "sensitive").anonymize_k_anonymity(k=K))
    one_by_one = ({name: row[name] if name == "age" else row[name][0] for name in quasi} for row in rows)
    counted = pd.DataFrame(rows)[["count"]]
    cells = pd.DataFrame(one_by_one)
    cells["age"] = [cell[0] if isinstance(cell, list) else cell for cell in cells["age"]]
    cells.loc[np.repeat(cells.index, counted["count"])].to_csv(released, index=False)
    return {"seconds": seconds}


def pycanon(table: pd.DataFrame, _hierarchies: Path, _released: Path) -> Found:
    """Measures k, l and t of a table; anonymises nothing."""
    from pycanon.anonymity import k_anonymity, l_diversity, t_closeness

    quasi = [name for name in table.columns if name != SENSITIVE]
    k, k_seconds = timed(lambda: k_anonymity(table, quasi))
    l, l_seconds = timed(lambda: l_diversity(table, quasi, [SENSITIVE]))
    t, t_seconds = timed(lambda: t_closeness(table, quasi, [SENSITIVE]))
    return {"seconds": k_seconds + l_seconds + t_seconds, "k": int(k), "l": int(l), "t": float(t)}


def main() -> None:
    peer, table, hierarchies, released = sys.argv[1:]
    frame = pd.read_csv(table, dtype=str)
    found = {"anjana": anjana, "anonypy": anonypy, "pycanon": pycanon}[peer](frame, Path(hierarchies), Path(released))
    print(json.dumps({"version": version(peer), **found}))


if __name__ == "__main__":
    main()
