"""The engine for clusters: Spark, with Polars inside the executors. PySpark is imported when it is first needed."""

from shoal.engine.spark.engine import SparkEngine
from shoal.engine.spark.output_staging import open_folder
from shoal.engine.spark.source import ParquetFiles, SparkFrameSource

__all__ = ["ParquetFiles", "SparkEngine", "SparkFrameSource", "open_folder"]
