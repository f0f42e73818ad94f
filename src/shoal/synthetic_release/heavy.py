"""The second way to test data: a table of which every column is perturbed and dealt out again by itself (PDPC, step 3).

It is a run like any other, by a policy that is made from the table. Its release is one of records, not a synthetic one.
"""

from __future__ import annotations

from pathlib import Path

from polars import selectors

from shoal.assess.comparison.paired_tables import typed
from shoal.errors import DataError
from shoal.io import Source, explained
from shoal.release.destinations import Release
from shoal.release.request import RunRequest
from shoal.release.run import Run
from shoal.schema.progress import Monitor
from shoal.synth.test_data.heavy import heavy_policy


def heavy_release(
    source: Source, output: Path, *, seed: int | None = None, force: bool = False, monitor: Monitor | None = None
) -> Release:
    """Columns that name people are left out; all others are blurred and swapped."""
    with explained(source):
        frame = source.scan().collect(engine="streaming")
    if not frame.height:
        raise DataError(f"{source.label}: has no records")
    read = typed(frame).with_columns(frame.select(selectors.float()))  # with what is no number in it
    policy = heavy_policy(read, Path(source.label).name.partition(".")[0] or "test-data")
    request = RunRequest(policy=policy, source=source, output=output, seed=seed, force=force)
    return Run(request, monitor).execute()
