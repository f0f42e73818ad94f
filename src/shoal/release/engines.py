"""Engines by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.engine import Engine
from shoal.engine.polars import PolarsEngine
from shoal.errors import InputError
from shoal.release.pipeline import Progress
from shoal.schema.registry import did_you_mean

ENGINES = ("polars", "spark")


def make_engine(name: str, *, progress: Progress | None, spool: Path) -> Engine[Any]:
    if name == "polars":
        rows = None if progress is None else (lambda done: progress("rewrite", done, None))
        return PolarsEngine(progress=rows, spool=spool)
    if name == "spark":
        from shoal.engine.spark import SparkEngine

        return SparkEngine()
    raise InputError(f"unknown engine '{name}'{did_you_mean(name, ENGINES)}", advice=f"one of {', '.join(ENGINES)}")
