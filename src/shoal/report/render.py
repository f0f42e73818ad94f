"""Facts → one HTML file that asks the network for nothing: style and drawings are inside, scripts there are none.

Everything that comes from the facts is escaped; a content security policy in the page forbids what should not be there.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from shoal.report.exploration import compose_exploration
from shoal.report.facts import ReportFacts
from shoal.report.multi_table import MultiTableFacts, compose_multi_table
from shoal.report.page import compose
from shoal.report.quoted_names import prose
from shoal.report.reassessments import ReassessmentRows, filled, place, reassessment_rows
from shoal.results.evidence_facts import ReassessmentFacts
from shoal.results.exploration import Exploration


def render(facts: ReportFacts, *, recipient: bool = False) -> str:
    """The report as HTML; ``recipient`` leaves out whatever would help to re-identify people."""
    page = compose(facts, recipient=recipient)
    return _environment().get_template("page.html.j2").render(page=page)


def add_reassessments(report: str, history: Sequence[ReassessmentFacts]) -> str | None:
    """An owner's report with what later looks found; None where it has no place for that."""
    parts, told = _environment().get_template("again.html.j2").module, reassessment_rows(history)
    return filled(report, lambda name: getattr(parts, name)(told))


def render_exploration(exploration: Exploration, created: datetime) -> str:
    """What was tried, as a chart and a table."""
    return _environment().get_template("explore.html.j2").render(page=compose_exploration(exploration, created))


def render_multi_table(facts: MultiTableFacts, *, recipient: bool = False) -> str:
    """The page in front of the reports of several tables."""
    return _environment().get_template("several.html.j2").render(page=compose_multi_table(facts, recipient=recipient))


def tell_joined(report: str, facts: MultiTableFacts) -> str | None:
    """The owner's report of one table, led by what all tables say together; None where that is as good."""
    verdict = compose_multi_table(facts).verdict
    nothing_joins = facts.joined.k is None and facts.joined.met is not False
    if verdict.kind == "met" or nothing_joins:
        return None
    parts = _environment().get_template("joined.html.j2").module
    return filled(report, lambda name: getattr(parts, name)(verdict), ("tables",))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("shoal.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["prose"] = prose
    environment.globals["place"] = place
    environment.globals["nobody_yet"] = ReassessmentRows()
    return environment
