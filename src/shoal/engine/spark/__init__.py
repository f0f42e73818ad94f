"""The engine for clusters: Spark, with Polars inside the executors. PySpark is imported when it is first needed."""

from shoal.engine.spark.engine import SUPPORTED, SparkEngine
from shoal.engine.spark.source import ParquetFiles

__all__ = ["SUPPORTED", "ParquetFiles", "SparkEngine"]
