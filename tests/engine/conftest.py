"""A Spark cluster on this machine, started once for all tests that need executors as processes of their own."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from tests.support.clusters import SHORT_RUN, Cluster, linked_spark, require_spark, running_cluster

from shoal.engine.spark import SparkEngine


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkEngine]:
    """Spark in this process, with two executors that are processes of their own."""
    from pyspark import cloudpickle

    folder = tmp_path_factory.mktemp("spark")
    variables = {
        "SPARK_HOME": str(linked_spark(folder / "home", require_spark())),
        "SPARK_CONF_DIR": str(folder / "conf"),
        "JDK_JAVA_OPTIONS": SHORT_RUN,
    }
    (folder / "conf").mkdir()
    (folder / "conf" / "spark-defaults.conf").write_text(
        "spark.sql.shuffle.partitions 2\nspark.executor.memory 512m\nspark.task.maxFailures 3\n", encoding="utf-8"
    )
    with pytest.MonkeyPatch.context() as patched:
        for name, value in variables.items():
            patched.setenv(name, value)
        engine = SparkEngine(master="local-cluster[2,1,1024]")
        session = engine.session
        # The steps of test files are not installed where executors could import them.
        for name, module in tuple(sys.modules.items()):
            if name.startswith("tests.engine.test_"):
                cloudpickle.register_pickle_by_value(module)
        yield engine
        engine.close()
        session.stop()
