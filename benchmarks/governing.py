"""The registry's means: entries of a ledger in bulk, verified again; what is due among many projects."""

from __future__ import annotations

import datetime
import sys
import tempfile
from itertools import islice
from pathlib import Path

from sqlalchemy import create_engine, insert

from benchmarks.cpu import cpu_seconds, median_when_warm, run_process
from benchmarks.result import Result
from shoal.govern.registry import GovernanceRegistry
from shoal.govern.registry_tables import registry_tables
from shoal.ledger import Ledger
from shoal.randomness import now

ENTRIES = 1_000_000
AT_ONCE = 10_000
PROJECTS = 100_000


def run(folder: Path, rows: int) -> list[Result]:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        return [*ledger(Path(place), min(rows, ENTRIES)), *due(Path(place), min(rows, PROJECTS))]


def ledger(place: Path, entries: int) -> list[Result]:
    payloads = ({"record": f"project/p-{number}", "content": f"{number:064x}"} for number in range(entries))
    with Ledger.create(place / "bulk.ledger", "bulk") as made:

        def append() -> None:
            while batch := [("project.open", payload) for payload in islice(payloads, AT_ONCE)]:
                with made.transaction() as chain:
                    chain.append_all(batch)

        appending, verifying = cpu_seconds(append), cpu_seconds(made.verify)
    rate = entries / appending
    return [
        Result(f"append {entries:,} ledger entries", f"{rate:,.0f} /s", f"{appending:.1f} CPU s", 5_000 / rate, 1.0),
        Result(f"verify {entries:,} ledger entries", f"{verifying:.1f} CPU s", "", verifying, 20.0, "s"),
    ]


def due(place: Path, projects: int) -> list[Result]:
    registry, today = str(place / "registry.db"), now().date()
    later = today + datetime.timedelta(days=3_000)
    with GovernanceRegistry.create(registry, "devi"):
        pass
    rows = [
        {"kind": "project", "id": f"p-{number}", "day": later.isoformat(), "what": "step 1", "who": "asha"}
        for number in range(projects)
    ]
    engine = create_engine(f"sqlite:///{registry}")
    with engine.begin() as connection:
        connection.execute(insert(registry_tables()[1].due), rows)
    engine.dispose()
    shoal = str(Path(sys.executable).with_name("shoal"))
    asked = [shoal, "due", "--registry", registry]
    run_process(asked, place)  # compiles its modules
    command = run_process(asked, place).cpu_seconds
    with GovernanceRegistry.open(registry) as opened:
        _, looking = median_when_warm(lambda: opened.due(later))
    return [
        Result(f"shoal due, {projects:,} projects, none due", f"{command:.2f} CPU s", "", command, 1.0, "s"),
        Result(f"what is due, all of {projects:,} projects", f"{looking:.2f} CPU s", "", looking, 1.0, "s"),
    ]
