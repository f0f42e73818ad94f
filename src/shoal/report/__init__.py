"""Reports for people: the evidence of a release on one page that opens without a network."""

from shoal.report.evidence import (
    AssessmentFacts,
    AttackerFacts,
    AttackerFigures,
    AttackFacts,
    DistributionFacts,
    FigureTable,
    Outcome,
    ReassessmentFacts,
    UsefulnessFacts,
)
from shoal.report.facts import AttributeFacts, ModelFacts, ReportFacts, RiskFacts
from shoal.report.pdf import write_pdf
from shoal.report.render import look_again, render, render_exploration

__all__ = [
    "AssessmentFacts",
    "AttackFacts",
    "AttackerFacts",
    "AttackerFigures",
    "AttributeFacts",
    "DistributionFacts",
    "FigureTable",
    "ModelFacts",
    "Outcome",
    "ReassessmentFacts",
    "ReportFacts",
    "RiskFacts",
    "UsefulnessFacts",
    "look_again",
    "render",
    "render_exploration",
    "write_pdf",
]
