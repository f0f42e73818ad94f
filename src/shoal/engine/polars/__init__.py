"""The default engine: Polars, streaming, on one machine."""

from shoal.engine.polars.engine import PolarsEngine

__all__ = ["PolarsEngine"]
