"""Reports for people: the evidence of a release on one page that opens without a network."""

from shoal.report.facts import AttributeFacts, ModelFacts, ReportFacts, RiskFacts
from shoal.report.pdf import write_pdf
from shoal.report.render import add_reassessments, render, render_exploration
from shoal.results.evidence_facts import (
    DistributionFacts,
    FigureTable,
    ReassessmentFacts,
    ReassessmentOutcome,
)

__all__ = [
    "AttributeFacts",
    "DistributionFacts",
    "FigureTable",
    "ModelFacts",
    "ReassessmentFacts",
    "ReassessmentOutcome",
    "ReportFacts",
    "RiskFacts",
    "add_reassessments",
    "render",
    "render_exploration",
    "write_pdf",
]
