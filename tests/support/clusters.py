"""A Spark cluster on this machine: a master and two workers, each a host of its own, whose executors are processes.

Spark never runs a task twice on one host for speed, so the workers have different loopback addresses.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.support.processes import parent_of, processes

PATIENCE = 240
"""Seconds that anything here may take on a machine that is busy with other tests."""
SHORT_RUN = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def require_spark() -> Path:
    """Where Spark is; skips loudly where there is none."""
    from shoal.engine.spark.session import require_java
    from shoal.errors import InputError

    try:
        require_java()
        import pyspark
    except (InputError, ModuleNotFoundError) as error:
        pytest.skip(f"NO SPARK, SO ITS ENGINE IS NOT TESTED: {error}")
    return Path(pyspark.__file__).parent


def linked_spark(home: Path, spark: Path) -> Path:
    """A Spark that keeps the executors' logs here and not among the packages."""
    home.mkdir()
    for entry in spark.iterdir():
        (home / entry.name).symlink_to(entry)
    return home


@dataclass
class Cluster:
    folder: Path
    home: Path
    master: str = ""
    daemons: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def work(self) -> Path:
        """What the executors print, and the folders that they are started in."""
        return self.folder / "work"

    @property
    def environment(self) -> dict[str, str]:
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith("SHOAL_")},
            "SPARK_HOME": str(self.home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "JDK_JAVA_OPTIONS": SHORT_RUN,
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join((str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", ""))),
        }

    def start(self) -> None:
        for name in ("work", "logs", "local"):
            (self.folder / name).mkdir()
        self._daemon("master", "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.master = self._told("master", r"(spark://127\.0\.0\.1:\d+)")
        for number in (2, 3):
            place = ("--host", f"127.0.0.{number}", "--cores", "1", "--memory", "1g", "--webui-port", "0")
            work = ("--work-dir", str(self.work), self.master)
            self._daemon(f"worker-{number}", "worker.Worker", *place, *work, host=f"127.0.0.{number}")
            self._told(f"worker-{number}", r"(Successfully registered)")

    def _daemon(self, name: str, what: str, *arguments: str, host: str = "127.0.0.1") -> None:
        command = [str(self.home / "bin" / "spark-class"), f"org.apache.spark.deploy.{what}", *arguments]
        environment = {**self.environment, "SPARK_LOCAL_IP": host, "SPARK_LOCAL_DIRS": str(self.folder / "local")}
        with self._log(name).open("wb") as log:
            self.daemons.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=self.folder))

    def _log(self, name: str) -> Path:
        return self.folder / "logs" / name

    def _told(self, name: str, pattern: str) -> str:
        def told() -> str:
            found = re.search(pattern, self._log(name).read_text(errors="replace"))
            return found[1] if found else ""

        return until(told)

    def executors(self) -> list[int]:
        """The processes that run tasks, those of our own workers only."""
        ours = {daemon.pid for daemon in self.daemons}
        return [pid for pid in processes("CoarseGrainedExecutorBackend") if parent_of(pid) in ours]

    def stop(self) -> None:
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            daemon.wait(PATIENCE)


@contextmanager
def running_cluster(folder: Path) -> Iterator[Cluster]:
    found = Cluster(folder, require_spark())
    try:
        found.start()
        yield found
    finally:
        found.stop()


def until(look: Callable[[], object], patience: float = PATIENCE) -> str:
    """What is seen as soon as there is something to see."""
    end = time.monotonic() + patience
    while not (seen := look()):
        if time.monotonic() > end:
            raise TimeoutError("nothing happened")
        time.sleep(0.1)
    return str(seen)


def driver(
    cluster: Cluster, arguments: Sequence[str], folder: Path, settings: Mapping[str, str], **variables: str
) -> subprocess.Popen[str]:
    """Python in a process of its own, in this folder, with settings that Spark reads when it starts."""
    conf = folder / "conf"
    conf.mkdir(exist_ok=True)
    lines = "".join(f"{name} {value}\n" for name, value in settings.items())
    (conf / "spark-defaults.conf").write_text(lines)
    return subprocess.Popen(
        [sys.executable, *arguments],
        env={**cluster.environment, "SPARK_CONF_DIR": str(conf), **variables},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
