"""``shoal scan``: where personal data is, for people, for machines, as a page to hand in, and as a gate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import FIND
from shoal.cli.terminal.options import Json, TextKind
from shoal.cli.terminal.output import print_json, print_table
from shoal.cli.terminal.pages import refuse_page
from shoal.cli.terminal.progress_view import progress
from shoal.cli.terminal.reader import NO_FLAGS, ReaderFlags
from shoal.cli.terminal.recognisers import NO_FILES, RecogniserFlags

if TYPE_CHECKING:
    from shoal.scan import Scan

SHOWN = 40
"""Places that are printed; the page and the JSON have all."""


def scan(
    places: Annotated[list[str], typer.Argument(metavar="PATH|URL…", help="Files, folders, database URLs.")],
    html: Annotated[Path | None, typer.Option(help="Write the findings to this HTML file.")] = None,
    require: Annotated[
        list[str] | None, typer.Option(help="none, or TYPE=0 as in email=0: exit 1 if more is found.")
    ] = None,
    threshold: Annotated[float, typer.Option(help="How sure a finding in text must be, 0 to 1.")] = 0.6,
    kind: TextKind = "auto",
    everything: Annotated[bool, typer.Option("--all", help="Read large texts whole instead of pieces.")] = False,  # noqa: FBT002
    junit: Annotated[Path | None, typer.Option(help="Write the verdicts as JUnit XML, for pipelines.")] = None,
    own: RecogniserFlags = NO_FILES,
    reader: ReaderFlags = NO_FLAGS,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Find personal data in files, folders, logs, mails, documents, databases: what, where, how many, how sure.

    Example: shoal scan shared-drive/ --html findings.html
    """
    from shoal.cli.terminal.ci_gates import finish, refuse_junit
    from shoal.errors import InputError
    from shoal.scan import ScanGate, scan_places
    from shoal.scan.annotators import annotate_by
    from shoal.scan.gates import unread_verdict
    from shoal.scan.source_walk import title_of
    from shoal.scrub.own_replacements import without_own_replacements

    known = own.chosen()
    gates = [ScanGate.parse(given, known) for given in require or ()]
    if not 0 <= threshold <= 1:
        raise InputError("--threshold: is between 0 and 1")
    refuse_junit(junit)
    if html is not None:
        refuse_page(html)
    annotate = without_own_replacements(annotate_by(threshold, known, kind=kind))
    with progress(silent=json) as monitor, monitor.phase("scan"):
        found = scan_places(
            places,
            annotate,
            everything=everything,
            monitor=monitor,
            recognisers=known,
            reader=reader.options,
        )
    if html is not None:
        write_page(found, title_of(places), html)
    if json:
        print_json(found.to_dict())
    else:
        print_scan(found, html)
    verdicts = [gate.judge(found) for gate in gates]
    finish("shoal scan", [*verdicts, unread_verdict(found)] if gates else [], junit)


def write_page(found: Scan, title: str, path: Path) -> None:
    from shoal.io import write_atomic
    from shoal.randomness import now
    from shoal.scan.html_page import render_scan

    write_atomic(path, render_scan(found, title, now()))


def print_scan(found: Scan, html: Path | None) -> None:
    if found.findings:
        rows = [
            (one.type, str(one.weight), f"{one.count:,}", f"{one.places} in {one.sources}", f"{one.confidence:.0%}")
            for one in found.by_type
        ]
        print_table("By kind", ("kind", "weight", "found", "places in sources", "how sure"), rows)
        _print_places(found)
    for one in found.unread:
        typer.echo(f"not read: {one.source}: {one.why}", err=True)
    for looked in found.looked:
        if looked.sampled:
            typer.echo(f"looked at in part: {looked.source}: {looked.sampled}")
    skipped = f", {len(found.skipped):,} passed by" if found.skipped else ""
    typer.echo(f"looked at {len(found.looked):,} files and tables, {len(found.unread):,} not readable{skipped}")
    typer.echo(f"identifying values: {found.identifying:,} in {found.sources_with_findings:,} of them")
    if html is not None:
        typer.echo(f"page:     {html}")


def _print_places(found: Scan) -> None:
    heavy = sorted(found.findings, key=lambda one: (str(one.weight) != "identifying", -one.count))
    rows = []
    for one in heavy[:SHOWN]:
        where = f"{one.place}, line {', '.join(map(str, one.lines))}" if one.lines else one.place
        about = "≈ " if one.estimated else ""
        rows.append(
            (
                one.source,
                where,
                one.type,
                f"{about}{one.count:,}",
                f"{one.confidence:.0%}",
                one.forms[0] if one.forms else "",
            )
        )
    print_table("By place", ("source", "place", "kind", "found", "how sure", "form"), rows)
    if len(heavy) > SHOWN:
        typer.echo(f"  … and {len(heavy) - SHOWN:,} more, in --html and --json\n")


COMMAND = CommandEntry(scan, place=40, task=FIND)
