"""A Spark session: the one that is running, or one made when it is first needed. Shoal's settings stay its own.

A session made here listens on this machine only, shows no page and writes no log with records in it; what Spark puts on
local disks while it sorts and groups is encrypted with a key that is gone when the session ends.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from shoal.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA_VERSION: Final = 17
_JAVA_ADVICE: Final = "apt-get install openjdk-17-jre-headless"
_LOG_SETTINGS: Final = Path(__file__).with_name("log4j2.properties")

_ON_THIS_MACHINE: Final[Mapping[str, str]] = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.io.encryption.enabled": "true",
}
_ANYWHERE: Final[Mapping[str, str]] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.extraJavaOptions": f'"-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()}"',
    # Spark gives each core a Python process of its own.
    "spark.executorEnv.POLARS_MAX_THREADS": "1",
}
_OURS: Final[Mapping[str, str]] = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
}


def open_session(master: str) -> SparkSession:
    """A session with settings of its own on the running Spark, or on one that is started at ``master``."""
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise InputError("the Spark engine needs PySpark", advice='pip install "shoal[spark]"') from None
    running = SparkSession.getActiveSession() or _start(master)
    ours = running.newSession()
    for name, value in _OURS.items():
        ours.conf.set(name, value)
    return ours


def _start(master: str) -> SparkSession:
    from pyspark.sql import SparkSession

    require_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    local: Mapping[str, str] = {}
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        local = _ON_THIS_MACHINE
    builder = SparkSession.builder.appName("shoal").master(master)
    with without_pandas_warning():
        return builder.config(map={**_ANYWHERE, **local}).getOrCreate()


def require_java() -> None:
    """Java in a version that Spark runs on, where Spark will look for it."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin") if home else None)
    if java is None:
        raise InputError(f"the Spark engine needs Java {JAVA_VERSION} or later: there is none", advice=_JAVA_ADVICE)
    version = _version(java)
    if version < JAVA_VERSION:
        found = f"this is version {version}" if version else "its version can't be told"
        raise InputError(f"the Spark engine needs Java {JAVA_VERSION} or later: {found}", advice=_JAVA_ADVICE)


def _version(java: str) -> int:
    """The main version, 0 where it can't be told. Until 8 they were written 1.8."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', said.stderr)
    return int(found[1]) if found else 0


@contextmanager
def without_pandas_warning() -> Iterator[None]:
    """PySpark warns of versions of pandas that it doesn't know, though nothing here goes through pandas."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
        yield
