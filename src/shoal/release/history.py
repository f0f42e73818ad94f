"""The history of a release: what later looks at it found, in ``history.json`` and in the owner's report.

The report is filled from the history alone. So whoever is stopped between the two has lost nothing: the next look puts
all of it into the report.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from shoal.assess.reassess.reassessment import Reassessment, reassess
from shoal.errors import SourceError
from shoal.io import write_atomic
from shoal.io.json_files import read_json
from shoal.policy import Policy
from shoal.report import ReassessmentFacts, ReassessmentOutcome, add_reassessments
from shoal.results.number_format import count

HISTORY: Final = "history.json"
REPORT: Final = "report.html"


def history_of(release: str) -> list[dict[str, Any]]:
    """What was found before, the oldest first."""
    path = Path(release) / HISTORY
    if not path.is_file():
        return []
    try:
        past = read_json(path)
    except (ValueError, OSError):
        past = None
    if not isinstance(past, list) or not all(isinstance(entry, dict) for entry in past):
        raise _no_history(path)
    return past


def reassess_release(release: str, auxiliary: str, policy: Policy | None = None) -> Reassessment:
    """Link new outside data with a release folder and add the result to its history."""
    past = history_of(release)
    found = reassess(release, auxiliary, policy)
    keep_history(release, [*past, found.to_dict()])
    return found


def keep_history(release: str, entries: Sequence[Mapping[str, Any]]) -> None:
    """Each of the two files whole or not at all; a release without a report, or with an old one, has the first only."""
    folder = Path(release)
    report = _report(folder, entries)
    write_atomic(folder / HISTORY, json.dumps(entries, indent=2, sort_keys=True) + "\n")
    if report is not None:
        write_atomic(folder / REPORT, report)


def _report(folder: Path, entries: Sequence[Mapping[str, Any]]) -> str | None:
    path = folder / REPORT
    try:
        told = [_facts(entry) for entry in entries]
    except (KeyError, TypeError, ValueError):
        raise _no_history(folder / HISTORY) from None
    try:
        return add_reassessments(path.read_text(encoding="utf-8"), told) if path.is_file() else None
    except (ValueError, OSError):
        return None


def _facts(entry: Mapping[str, Any]) -> ReassessmentFacts:
    people, fitting, fewest = int(entry["people"]), int(entry["fitting"]), int(entry["fewest"])
    what = f"{count(people, 'person', 'people')} of an outside table, linked by {', '.join(entry['attributes'])}"
    verdict, outcome = "nobody fits any record", ReassessmentOutcome.NOTHING
    if fitting:
        outcome = {True: ReassessmentOutcome.HOLDS, False: ReassessmentOutcome.BROKEN, None: ReassessmentOutcome.OPEN}[
            entry["holds"]
        ]
        verdict = f"{fitting:,} fit; the fewest that one of them could be: {fewest:,}; {_below(entry)}"
    return ReassessmentFacts(datetime.fromisoformat(entry["when"]), what, verdict, outcome)


def _below(entry: Mapping[str, Any]) -> str:
    promised = f"among fewer than the {int(entry['k']):,} promised"
    if below := int(entry["below"]):
        return f"{below:,} are {promised}"
    if perhaps := int(entry.get("perhaps_below", 0)):
        return f"{perhaps:,} may be {promised}"
    return f"nobody is {promised}" if entry["holds"] else "labels that can't be read leave it open"


def _no_history(path: Path) -> SourceError:
    return SourceError(f"{path}: is not the history of a release")
