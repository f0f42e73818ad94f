"""The engine for clusters: Spark, with Polars inside the executors. PySpark is imported when it is first needed."""

from shoal.engine.spark.engine import SparkEngine
from shoal.engine.spark.source import ParquetFiles, SparkFrameSource
from shoal.engine.spark.staging import open_folder

__all__ = ["ParquetFiles", "SparkEngine", "SparkFrameSource", "open_folder"]
