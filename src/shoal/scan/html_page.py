"""A scan as one HTML page that a data-protection officer can hand in: no value is on it, and it needs no network."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from shoal.report.plots import bar
from shoal.results.number_format import count, moment
from shoal.scan.findings import Scan, ScanFinding, ScannedSource, TypeTotal, UnreadSource, Weight
from shoal.scan.table_findings import KEY, PERSON_KEY

SHOWN = 2_000
"""Findings on the page; the JSON has all."""


@dataclass(frozen=True)
class TypeRow:
    type: str
    identifying: bool
    count: str
    bar: Markup
    places: str
    sure: str


@dataclass(frozen=True)
class PlaceRow:
    place: str
    type: str
    identifying: bool
    count: str
    sure: str
    forms: tuple[str, ...]
    lines: str


@dataclass(frozen=True)
class SourceRows:
    source: str
    about: str
    rows: tuple[PlaceRow, ...]


@dataclass(frozen=True)
class ScanPage:
    title: str
    created: str
    created_iso: str
    headline: str
    said: str
    found: bool
    figures: tuple[tuple[str, str, str], ...]
    types: tuple[TypeRow, ...]
    sources: tuple[SourceRows, ...]
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
    looked = {one.source: one for one in scan.looked}
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
        types=_type_rows(types),
        sources=_source_rows(shown, looked),
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


def _type_rows(types: tuple[TypeTotal, ...]) -> tuple[TypeRow, ...]:
    most = max((one.count for one in types), default=1)
    return tuple(
        TypeRow(
            _in_words(one.type),
            one.weight is Weight.IDENTIFYING,
            f"{one.count:,}",
            bar(one.count / most, "after" if one.weight is Weight.IDENTIFYING else "before"),
            f"{count(one.places, 'place')} in {count(one.sources, 'source')}",
            _sure(one.confidence),
        )
        for one in types
    )


def _source_rows(shown: list[ScanFinding], looked: dict[str, ScannedSource]) -> tuple[SourceRows, ...]:
    grouped: dict[str, list[ScanFinding]] = defaultdict(list)
    for one in shown:
        grouped[one.source].append(one)
    return tuple(
        SourceRows(source, _about(looked.get(source)), tuple(_place_row(one) for one in found))
        for source, found in grouped.items()
    )


def _about(looked: ScannedSource | None) -> str:
    if looked is None:
        return ""
    return f"{looked.kind}, {looked.amount}" + (f"; looked at: {looked.sampled}" if looked.sampled else "")


def _place_row(one: ScanFinding) -> PlaceRow:
    about = "about " if one.estimated else ""
    lines = f"line {', '.join(map(str, one.lines))}" if one.lines else ""
    forms = one.forms[:1] if one.type in (KEY, PERSON_KEY) else one.forms
    return PlaceRow(
        one.place,
        _in_words(one.type),
        one.weight is Weight.IDENTIFYING,
        f"{about}{one.count:,}",
        _sure(one.confidence),
        forms,
        lines,
    )


def _sure(confidence: float) -> str:
    return f"{confidence:.0%}"


def _in_words(kind: str) -> str:
    return kind.replace("_", " ")


@cache
def _environment() -> Environment:
    return Environment(
        loader=ChoiceLoader([PackageLoader("shoal.scan"), PackageLoader("shoal.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
