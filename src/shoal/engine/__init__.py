"""Engines read tables, count them, map steps over them and write them out. One protocol, two engines."""

from shoal.engine.protocol import Engine, OutputSample

__all__ = ["Engine", "OutputSample"]
