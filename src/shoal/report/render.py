"""Facts → one HTML file that asks the network for nothing: style and drawings are inside, scripts there are none.

Everything that comes from the facts is escaped; a content security policy in the page forbids what should not be there.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from shoal.report.facts import ReportFacts
from shoal.report.page import compose
from shoal.report.reassessments import filled, reassessment_rows
from shoal.report.sections import environment, sections
from shoal.results.evidence_facts import ReassessmentFacts

if TYPE_CHECKING:
    from shoal.report.multi_table import MultiTableFacts
    from shoal.results.exploration import Exploration


def render(facts: ReportFacts, *, recipient: bool = False) -> str:
    """The report as HTML; ``recipient`` leaves out whatever would help to re-identify people."""
    page = compose(facts, recipient=recipient)
    return environment().get_template("page.html.j2").render(page=page, sections=sections())


def add_reassessments(report: str, history: Sequence[ReassessmentFacts]) -> str | None:
    """An owner's report with what later looks found; None where it has no place for that."""
    parts, told = environment().get_template("again.html.j2").module, reassessment_rows(history)
    return filled(report, lambda name: getattr(parts, name)(told))


def render_exploration(exploration: Exploration, created: datetime) -> str:
    """What was tried, as a chart and a table."""
    from shoal.report.exploration import compose_exploration

    return environment().get_template("explore.html.j2").render(page=compose_exploration(exploration, created))


def render_multi_table(facts: MultiTableFacts, *, recipient: bool = False) -> str:
    """The page in front of the reports of several tables."""
    from shoal.report.multi_table import compose_multi_table

    return environment().get_template("several.html.j2").render(page=compose_multi_table(facts, recipient=recipient))


def tell_joined(report: str, facts: MultiTableFacts) -> str | None:
    """The owner's report of one table, led by what all tables say together; None where nothing joins."""
    from shoal.report.multi_table import compose_multi_table

    verdict = compose_multi_table(facts).verdict
    if facts.joined.k is None and facts.joined.met is not False:
        return None
    parts = environment().get_template("joined.html.j2").module
    return filled(report, lambda name: getattr(parts, name)(verdict), ("tables",))
