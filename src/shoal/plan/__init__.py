"""Policy and counts to a plan: an ordered list of bound steps, each with the attribute and clause it answers for."""

from shoal.plan.binder import PlanBinder
from shoal.plan.nodes import Plan, PlannedStep
from shoal.plan.solution_steps import apply_solution
from shoal.plan.solver_problem import BoundProblem, build_problem

__all__ = ["BoundProblem", "Plan", "PlanBinder", "PlannedStep", "apply_solution", "build_problem"]
