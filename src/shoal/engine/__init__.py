"""Engines read tables, count them, map steps over them and write them out. One protocol, two engines."""

from shoal.engine.protocol import HIDDEN, ORIGINAL, Engine, OutputSample

__all__ = ["HIDDEN", "ORIGINAL", "Engine", "OutputSample"]
