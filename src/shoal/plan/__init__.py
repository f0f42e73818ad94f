"""Policy and counts to a plan: an ordered list of bound steps, each with the attribute and clause it answers for."""

from shoal.plan.binder import PlanBinder
from shoal.plan.nodes import Plan, PlannedStep, PlanStage
from shoal.plan.solution_steps import apply_solution
from shoal.plan.solver_problem import BoundProblem, build_problem
from shoal.solve import Problem, Solution
from shoal.solve.decoys import k_without_decoys
from shoal.techniques.pseudonymisation.identity import IdentityStep
from shoal.techniques.suppression.suppress_cells import SuppressCellsStep

__all__ = [
    "BoundProblem",
    "IdentityStep",
    "Plan",
    "PlanBinder",
    "PlanStage",
    "PlannedStep",
    "Problem",
    "Solution",
    "SuppressCellsStep",
    "apply_solution",
    "build_problem",
    "k_without_decoys",
]
