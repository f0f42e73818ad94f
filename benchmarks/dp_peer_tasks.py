"""One peer in differential privacy, in its own environment: ``python dp_peer_tasks.py TASK FOLDER``.

Reads ``TASK.json`` in the folder and prints one line of JSON. Only what the peer does is timed (CPU seconds, all
threads), without imports. Peers are no dependencies of the project, so they are imported by name.
"""

from __future__ import annotations

import json
import re
import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

Found = dict[str, Any]


def cpu_seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def opendp_groups(told: Found) -> Found:
    """Count, sum and mean by group with OpenDP's Polars API: rows of a person bounded by it, or trusted to be few."""
    dp, pl = import_module("opendp.prelude"), import_module("polars")
    dp.enable_features("contrib")
    margins = [dp.polars.Margin(by=(), max_length=2 * told["rows"])]
    most, keys = told["rows_per_person"], pl.LazyFrame({"region": told["regions"]})

    def answered(*, trusting: bool) -> Any:
        whose = {"contributions": most} if trusting else {"contributions": 1, "identifier": "who"}
        context = dp.Context.compositor(
            data=pl.scan_parquet(told["path"]),
            privacy_unit=dp.unit_of(**whose),
            privacy_loss=dp.loss_of(epsilon=1.0),
            split_evenly_over=1,
            margins=margins,
        )
        query = context.query() if trusting else context.query().truncate_per_group(most)
        income = pl.col("income").fill_nan(0.0).fill_null(0.0).dp.sum(tuple(told["bounds"]))
        released = query.group_by("region").agg(dp.len(), income).with_keys(keys).release().collect()
        return released.with_columns(mean=pl.col("income") / pl.col("len"))

    return {
        "bounded": cpu_seconds(lambda: answered(trusting=False)),
        "trusting": cpu_seconds(lambda: answered(trusting=True)),
    }


def qrlew_counts(told: Found) -> Found:
    """The standard deviation of the noise that Qrlew puts on each count, by its settings, as its SQL has it."""
    qrlew, sqlalchemy = import_module("pyqrlew"), import_module("sqlalchemy")
    engine = sqlalchemy.create_engine(f"sqlite:///{told['path']}")
    plain = qrlew.dataset_from_database("people", engine)
    listed = plain.with_possible_values(None, "people", "town", told["towns"])
    once = {"max_multiplicity": 1.0, "max_multiplicity_share": 1.0}
    ways = {
        "as it comes": (plain, {}),
        "one row a person": (plain, once),
        "one row a person, towns listed": (listed, once),
    }
    found = {}
    for name, (dataset, most) in ways.items():
        relation = dataset.relation("SELECT town, COUNT(*) AS n FROM people GROUP BY town")
        unit: list[Any] = [("people", [], "who")]
        budget = {"epsilon": 1.0, "delta": 1e-6}
        private = relation.rewrite_with_differential_privacy(dataset, unit, budget, **most)
        scales = re.findall(r"\(([0-9.]+)\) \* \(\(SQRT\(\(-2\) \* \(LN\(RANDOM", private.relation().to_query())
        found[name] = min(float(scale) for scale in scales)
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    task, folder = sys.argv[1], Path(sys.argv[2])
    work = {"opendp_groups": opendp_groups, "qrlew_counts": qrlew_counts}[task]
    print(json.dumps(work(json.loads((folder / f"{task}.json").read_text()))))


if __name__ == "__main__":
    main()
