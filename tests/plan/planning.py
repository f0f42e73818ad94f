"""A table through a plan, with the rules that a test chooses."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import yaml

from shoal.engine.polars import PolarsEngine
from shoal.engine.polars.table import PolarsTable
from shoal.io.frames import FrameSource, FrameTarget
from shoal.plan import PlanBinder, apply_solution, build_problem
from shoal.plan.nodes import PlannedStep
from shoal.plan.rewrite_rules import RULES, RewriteRule
from shoal.plan.solver_choice import solve_by_policy
from shoal.policy import Policy
from shoal.randomness import Randomness


@dataclass(frozen=True)
class Written:
    data: bytes
    aside: bytes
    """Hidden columns, of which further files are made."""
    executed: tuple[PlannedStep, ...]


def binder_for(table: pl.DataFrame, text: str, rules: Sequence[RewriteRule] = RULES) -> PlanBinder[PolarsTable]:
    """Of a policy as Python code may make it, which can ask for more than a file may."""
    engine = PolarsEngine(batch_rows=7)
    policy = Policy.model_validate(yaml.safe_load(text))
    return PlanBinder(policy, engine, engine.scan(FrameSource(table.lazy())), Randomness(7), rules=rules)


def write(table: pl.DataFrame, text: str, rules: Sequence[RewriteRule] = RULES) -> Written:
    """What a run with a seed would write."""
    binder = binder_for(table, text, rules)
    binder.bind_techniques()
    question = build_problem(binder)
    apply_solution(binder, question, solve_by_policy(question.problem, binder.policy.solve))
    binder.bind_ending()
    target = FrameTarget()
    with tempfile.TemporaryDirectory() as folder:
        aside = Path(folder) / "aside.arrow"
        binder.planned.engine.sink(binder.planned.execute(), target, aside=aside)
        hidden = aside.read_bytes() if aside.exists() else b""
    schema = str(target.frame.schema).encode()
    return Written(schema + target.frame.write_csv().encode(), hidden, binder.planned.executed)
