"""The history of a release: what later looks at it found, in ``history.json`` and in the owner's report.

The report is filled from the history alone. So whoever is stopped between the two has lost nothing: the next look puts
all of it into the report.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from shoal.assess.reassess.reassessment import Reassessment, reassess
from shoal.assess.reassess.request import ReassessRequest
from shoal.io import write_atomic
from shoal.report import ReassessmentFacts, ReassessmentOutcome, add_reassessments
from shoal.results.history import HISTORY, ReassessmentResult, history_text, load_history
from shoal.results.number_format import count

REPORT: Final = "report.html"
_OUTCOMES = {True: ReassessmentOutcome.HOLDS, False: ReassessmentOutcome.BROKEN, None: ReassessmentOutcome.OPEN}


def reassess_release(release: str, request: ReassessRequest) -> Reassessment:
    """Link new outside data with a release folder and add the result to its history."""
    past = load_history(Path(release))
    found = reassess(release, request)
    keep_history(release, [*past, found.result()])
    return found


def keep_history(release: str, entries: Sequence[ReassessmentResult]) -> None:
    """Each of the two files whole or not at all; a release without a report, or with an old one, has the first only."""
    folder = Path(release)
    report = _report(folder / REPORT, entries)
    write_atomic(folder / HISTORY, history_text(entries))
    if report is not None:
        write_atomic(folder / REPORT, report)


def _report(path: Path, entries: Sequence[ReassessmentResult]) -> str | None:
    told = [_facts(entry) for entry in entries]
    try:
        return add_reassessments(path.read_text(encoding="utf-8"), told) if path.is_file() else None
    except (ValueError, OSError):
        return None


def _facts(entry: ReassessmentResult) -> ReassessmentFacts:
    people = count(entry.people, "person", "people")
    what = f"{people} of an outside table, linked by {', '.join(entry.attributes)}"
    verdict, outcome = "nobody fits any record", ReassessmentOutcome.NOTHING
    if entry.fitting:
        outcome = _OUTCOMES[entry.holds]
        verdict = f"{entry.fitting:,} fit; the fewest that one of them could be: {entry.fewest:,}; {_below(entry)}"
    return ReassessmentFacts(entry.when, what, verdict, outcome)


def _below(entry: ReassessmentResult) -> str:
    promised = f"among fewer than the {entry.k:,} promised"
    if entry.below:
        return f"{entry.below:,} are {promised}"
    if entry.perhaps_below:
        return f"{entry.perhaps_below:,} may be {promised}"
    return f"nobody is {promised}" if entry.holds else "labels that can't be read leave it open"
