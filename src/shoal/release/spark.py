"""A Spark frame in, a Spark frame out: the records stay on the cluster, the driver sees counts and writes the report.

The frame is copied once, sorted by its content, which gives each record its position; and the result is written once,
as parts. ``release.data`` reads these files: whatever is made of it later, no step runs again and no random number is
drawn anew. Both lie in a folder that only its owner can read. The copy goes when the release is done; the result goes
with the Spark session and all frames that were made of it, at the latest when Python ends.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.policy import Policy
from shoal.pseudonyms import Secrets
from shoal.release.run import Release, release_folder


def anonymise_spark(
    data: Any, policy: Policy, *, seed: int | None, secrets: Secrets | None, shared: str | Path | None
) -> Release:
    """``shared`` is a folder that all machines of the cluster see; a temporary one does for a Spark on one machine."""
    from shoal.engine.spark import SparkEngine, SparkFrameSource, open_folder

    if not hasattr(data, "_jdf"):
        raise InputError("a frame of Spark Connect can't be anonymised", advice="use a session on the cluster itself")
    folder = Path(tempfile.mkdtemp(prefix="shoal-", dir=shared)).absolute()
    removal = weakref.finalize(data.sparkSession, shutil.rmtree, folder, ignore_errors=True)
    copy = folder / "copy"
    try:
        copy.mkdir()
        release = release_folder(
            policy.model_copy(update={"target": None}),
            folder / "release",
            data=SparkFrameSource(data, copy),
            engine=SparkEngine(spool=folder, running=data.sparkSession),
            parts=True,
            seed=seed,
            secrets=secrets,
        )
    except BaseException:
        removal()
        raise
    shutil.rmtree(copy, ignore_errors=True)
    files = {name: open_folder(data, path) for name, path in release.files.items()}
    return replace(release, data=open_folder(data, release.data), folder=None, files=files)
