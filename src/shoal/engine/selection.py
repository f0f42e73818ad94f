"""Engines by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.engine import Engine
from shoal.engine.polars import PolarsEngine
from shoal.errors import FieldName, FieldText, InputError
from shoal.schema.progress import Monitor
from shoal.schema.registry import did_you_mean

ENGINES = ("polars", "spark")


def require_engine(name: str) -> None:
    """Refuse a name that no engine has."""
    if name not in ENGINES:
        raise InputError(
            f"there is none called '{name}'{did_you_mean(name, ENGINES)}",
            field="engine",
            advice=f"one of {', '.join(ENGINES)}",
        )


def make_engine(name: str, *, spool: Path, monitor: Monitor | None = None, master: str | None = None) -> Engine[Any]:
    """``master`` says where Spark runs; no other engine has one."""
    if master is not None and name != "spark":
        raise InputError(
            FieldText(FieldName("master"), " says where Spark runs"),
            advice=FieldText("add ", FieldName("engine", "spark"), ", or leave it out"),
        )
    if name == "polars":
        monitor = monitor or Monitor()
        return PolarsEngine(spool=spool, progress=monitor.progress("rewrite"), cancel=monitor.cancel)
    if name == "spark":
        from shoal.engine.spark import SparkEngine

        return SparkEngine(spool=spool) if master is None else SparkEngine(master=master, spool=spool)
    raise InputError(f"unknown engine '{name}'{did_you_mean(name, ENGINES)}", advice=f"one of {', '.join(ENGINES)}")
