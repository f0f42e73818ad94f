"""Facts → one HTML file that asks the network for nothing: style and drawings are inside, scripts there are none.

Everything that comes from the facts is escaped; a content security policy in the page forbids what should not be there.
"""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from shoal.report.facts import ReportFacts
from shoal.report.page import compose


def render(facts: ReportFacts, *, recipient: bool = False) -> str:
    """The report as HTML; ``recipient`` leaves out whatever would help to re-identify people."""
    page = compose(facts, recipient=recipient)
    return _environment().get_template("page.html.j2").render(page=page)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("shoal.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
