"""A Spark session: the one that is running, or one made when it is first needed. Shoal's settings stay its own.

A session made here listens on this machine only, shows no page and writes no log with records in it; what Spark puts on
local disks while it sorts and groups is encrypted with a key that is gone when the session ends.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from shoal.errors import InputError, install_advice

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA_VERSION: Final = 17
_JAVA_ADVICE: Final = "apt-get install openjdk-17-jre-headless"
_MODULE: Final = "jdk.incubator.vector"
_MASTER: Final = re.compile(
    r"local(\[(\*|\d+)(, *\d+)?\])?|local-cluster\[ *\d+ *, *\d+ *, *\d+ *\]|spark://[^/]+:\d+|yarn|k8s://.+"
)
_LOG_SETTINGS: Final = Path(__file__).with_name("log4j2.properties")

_SECRET_NAMES: Final = ("SHOAL_", "PGPASS", "MYSQL_PWD")
"""How variables begin that are for Shoal and for databases: no JVM and no executor gets them."""
_ON_THIS_MACHINE: Final[Mapping[str, str]] = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}
_ANYWHERE: Final[Mapping[str, str]] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.io.encryption.enabled": "true",
    "spark.driver.extraJavaOptions": f'"-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()}"',
    # Spark gives each core a Python process of its own.
    "spark.executorEnv.POLARS_MAX_THREADS": "1",
}
_OURS: Final[Mapping[str, str]] = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    # Otherwise what is kept for a second look stays in 200 partitions, however small it is.
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
}


def require_pyspark() -> None:
    """Asked when an engine is made, before anything is read."""
    try:
        import_module("pyspark.sql")
    except ModuleNotFoundError:
        raise InputError("the Spark engine needs PySpark", advice=install_advice("spark")) from None


def open_session(master: str, running: SparkSession | None = None) -> SparkSession:
    """A session with settings of its own on the running Spark, or on one that is started at ``master``."""
    from pyspark.sql import SparkSession

    ours = (running or SparkSession.getActiveSession() or _start(master)).newSession()
    for name, value in _OURS.items():
        ours.conf.set(name, value)
    return ours


def is_running() -> bool:
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() is not None


def _start(master: str) -> SparkSession:
    from pyspark.sql import SparkSession

    refuse_master(master)
    require_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    local: Mapping[str, str] = {}
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        local = _ON_THIS_MACHINE
    builder = SparkSession.builder.appName("shoal").master(master)
    with without_pandas_warning(), _without_secrets(), _started(master):
        started = builder.config(map={**_ANYWHERE, **local}).getOrCreate()
    atexit.register(_stop, started)
    return started


def _stop(started: SparkSession) -> None:
    """In order, so that a cluster knows that the job has ended and not failed. It may have been stopped already."""
    with suppress(Exception):
        started.stop()


@contextmanager
def _started(master: str) -> Iterator[None]:
    """What keeps Spark from starting, in one line."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException, ConnectionError):
        if _lacks_module():
            raise InputError(f"this Java lacks the module {_MODULE}, which Spark needs", advice=_JAVA_ADVICE) from None
        raise InputError(f"Spark can't be started at '{master}'", advice="check the master's address") from None


def _lacks_module() -> bool:
    """Java that comes as a Python package is cut down to what most programs need."""
    java = _java()
    command = [java or "", f"--add-modules={_MODULE}", "-version"]
    return java is not None and subprocess.run(command, capture_output=True, check=False).returncode != 0  # noqa: S603


@contextmanager
def _without_secrets() -> Iterator[None]:
    """What a JVM is started with goes on to every process that it starts, and stays readable while they run."""
    hidden = {name: os.environ.pop(name) for name in tuple(os.environ) if name.startswith(_SECRET_NAMES)}
    try:
        yield
    finally:
        os.environ.update(hidden)


def refuse_master(master: str) -> None:
    """Spark would answer with a stack trace."""
    if not _MASTER.fullmatch(master):
        raise InputError(
            f"'{master}' is no master of Spark",
            advice="as in local[4], spark://host:7077, yarn, k8s://https://host:6443",
        )


def require_java() -> None:
    """Java in a version that Spark runs on, where Spark will look for it."""
    java = _java()
    if java is None:
        raise InputError(f"the Spark engine needs Java {JAVA_VERSION} or later: there is none", advice=_JAVA_ADVICE)
    version = _version(java)
    if version < JAVA_VERSION:
        found = f"this is version {version}" if version else "its version can't be told"
        raise InputError(f"the Spark engine needs Java {JAVA_VERSION} or later: {found}", advice=_JAVA_ADVICE)


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=str(Path(home) / "bin") if home else None)


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
