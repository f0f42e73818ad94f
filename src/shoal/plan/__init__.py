"""Policy and counts to a plan: an ordered list of bound steps, each with the attribute and clause it answers for."""

from shoal.plan.answer import carry_out
from shoal.plan.build import Builder
from shoal.plan.nodes import Plan, PlannedStep
from shoal.plan.question import Question, ask

__all__ = ["Builder", "Plan", "PlannedStep", "Question", "ask", "carry_out"]
