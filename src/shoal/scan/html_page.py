"""A scan as one HTML page that a data-protection officer can hand in: no value is on it, and it needs no network."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from jinja2 import ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup

from shoal.report.plots import bar
from shoal.report.sections import environment
from shoal.results.number_format import count, moment
from shoal.scan.findings import Scan, ScanFinding, ScannedSource, TypeTotal, UnreadSource, Weight
from shoal.scan.table_findings import KEY, PERSON_KEY

SHOWN = 2_000
"""Findings on the page; the JSON has all."""


@dataclass(frozen=True)
class ScanPage:
    title: str
    created: str
    created_iso: str
    headline: str
    said: str
    found: bool
    figures: tuple[tuple[str, str, str], ...]
    types: tuple[TypeTotal, ...]
    most: int
    """The count of the commonest of them."""
    places: dict[str, list[ScanFinding]]
    """By source."""
    looked: dict[str, ScannedSource]
    left_out: int
    clean: tuple[ScannedSource, ...]
    sampled: tuple[ScannedSource, ...]
    unread: tuple[UnreadSource, ...]
    skipped: tuple[str, ...]


def render_scan(scan: Scan, title: str, created: datetime) -> str:
    return _environment().get_template("scan.html.j2").render(page=compose(scan, title, created))


def compose(scan: Scan, title: str, created: datetime) -> ScanPage:
    types = scan.by_type
    identifying = [one for one in types if one.weight is Weight.IDENTIFYING]
    shown = sorted(scan.findings, key=lambda one: (one.weight is not Weight.IDENTIFYING, -one.count))[:SHOWN]
    touched = {one.source for one in scan.findings}
    return ScanPage(
        title=title,
        created=moment(created),
        created_iso=created.isoformat(timespec="seconds"),
        headline=_headline(scan),
        said=_said(identifying),
        found=bool(scan.identifying or scan.unread),
        figures=(
            ("Looked at", f"{len(scan.looked):,}", "files and tables"),
            ("With identifying data", f"{scan.sources_with_findings:,}", "of them"),
            ("Identifying values", f"{scan.identifying:,}", count(len(identifying), "kind")),
            ("Not readable", f"{len(scan.unread):,}", "may hold anything" if scan.unread else "nothing was left out"),
        ),
        types=types,
        most=max((one.count for one in types), default=1),
        places=_by_source(shown),
        looked={one.source: one for one in scan.looked},
        left_out=len(scan.findings) - len(shown),
        clean=tuple(one for one in scan.looked if one.source not in touched),
        sampled=tuple(one for one in scan.looked if one.sampled),
        unread=scan.unread,
        skipped=scan.skipped,
    )


def _headline(scan: Scan) -> str:
    if scan.identifying:
        where = count(scan.sources_with_findings, "place")
        return f"Personal data was found: {scan.identifying:,} identifying values in {where}."
    return "Nothing identifying was recognised." if not scan.unread else "Not everything could be read."


def _said(identifying: list[TypeTotal]) -> str:
    if identifying:
        kinds = ", ".join(_in_words(one.type) for one in identifying[:4])
        return f"The commonest kinds: {kinds}. What is not recognised is not counted."
    return "That nothing was recognised does not prove that there is nothing."


def _by_source(shown: list[ScanFinding]) -> dict[str, list[ScanFinding]]:
    grouped: dict[str, list[ScanFinding]] = defaultdict(list)
    for one in shown:
        grouped[one.source].append(one)
    return dict(grouped)


def _drawn(total: TypeTotal, most: int) -> Markup:
    return bar(total.count / most, "after" if total.weight is Weight.IDENTIFYING else "before")


def _told_forms(finding: ScanFinding) -> tuple[str, ...]:
    return finding.forms[:1] if finding.type in (KEY, PERSON_KEY) else finding.forms


def _in_words(kind: str) -> str:
    return kind.replace("_", " ")


@cache
def _environment() -> Environment:
    loader = ChoiceLoader([PackageLoader("shoal.scan"), PackageLoader("shoal.report")])
    made = environment().overlay(loader=loader, keep_trailing_newline=False)
    made.filters = {**made.filters, "in_words": _in_words, "drawn": _drawn, "told_forms": _told_forms}
    made.globals = {**made.globals, "count": count}
    return made
