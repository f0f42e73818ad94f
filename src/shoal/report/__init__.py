"""Reports for people: the evidence of a release on one page that opens without a network."""

from shoal.report.facts import AttributeFacts, ModelFacts, ReportFacts, RiskFacts
from shoal.report.render import render, render_exploration

__all__ = ["AttributeFacts", "ModelFacts", "ReportFacts", "RiskFacts", "render", "render_exploration"]
