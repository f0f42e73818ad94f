"""Policy and counts to a plan: an ordered list of bound steps, each with the attribute and clause it answers for."""

from shoal.plan.build import Builder, PlannedTable
from shoal.plan.nodes import Plan, PlannedStep

__all__ = ["Builder", "Plan", "PlannedStep", "PlannedTable"]
