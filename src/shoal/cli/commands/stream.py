"""``shoal stream``: records that never end, anonymised in windows as they come."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.governance.project_options import refuse_project
from shoal.cli.terminal.help import RELEASE
from shoal.cli.terminal.imports import importing
from shoal.cli.terminal.options import Json, PolicyFile
from shoal.cli.terminal.output import print_json, say
from shoal.cli.vault.connection import NO_VAULT, VaultFlags, secrets_for
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.streaming.report import StreamReport

PLACE = "-|FILE|redis://…#NAME"


def stream(
    policy: PolicyFile,
    source: Annotated[
        str, typer.Option("--from", metavar=PLACE, help="Where records come from; - is the standard input.")
    ] = "-",
    target: Annotated[str, typer.Option("--to", metavar=PLACE, help="Where they go; - is the standard output.")] = "-",
    delay: Annotated[
        str | None,
        typer.Option(metavar="RECORDS|TIME", help="How long a record waits at most: 20000, 30s, or both: 5000,30s."),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", help="At the end, wait for more records.")] = False,  # noqa: FBT002
    event_time: Annotated[
        str | None,
        typer.Option("--event-time", metavar="COLUMN", help="The column that says when a record came about."),
    ] = None,
    late: Annotated[
        str | None, typer.Option(metavar="TIME", help="How far behind the newest a record may be, as 10m.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Makes the run repeatable: for tests only.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Begin anew, and replace what is there.")] = False,  # noqa: FBT002
    door: VaultFlags = NO_VAULT,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Anonymise records as they come, in classes of enough people; each record leaves once, also after a crash.

    Example: shoal stream policy.yaml --from visits.jsonl --follow --to safe.jsonl --delay 5000,30s
    """
    with importing():
        from shoal.policy import Policy
        from shoal.streaming.places import STANDARD, open_feed, open_sink
        from shoal.streaming.request import StreamDelay, StreamRequest, parse_span
        from shoal.streaming.run import StreamRun

    refuse_project("a stream")
    if json and target == STANDARD:
        raise InputError("stdout is taken by the records", field="json", advice="say where these go with --to")
    chosen = Policy.load(policy)
    with secrets_for([chosen], door) as secrets:
        request = StreamRequest(
            chosen,
            delay=StreamDelay() if delay is None else StreamDelay.parse(delay),
            event_time=event_time,
            late=0.0 if late is None else parse_span(late, "late"),
            follow=follow,
            seed=seed,
            secrets=secrets,
        )
        with closing(open_feed(source, follow=follow)) as feed, closing(open_sink(target, force=force)) as sink:
            report = StreamRun(request, feed, sink).execute()
    _show(report, as_json=json)


def _show(report: StreamReport, *, as_json: bool) -> None:
    if as_json:
        print_json(report.to_dict())
        return
    counts = report.counts
    bad = {"late": counts.late, "unreadable": counts.unreadable, "unknown": counts.unknown, "excluded": counts.excluded}
    others = "".join(f", {number:,} {name}" for name, number in bad.items() if number)
    say(
        f"{counts.read:,} records read: {counts.published:,} published in {counts.classes:,} classes of k = {report.k} "
        f"or more, {counts.suppressed:,} suppressed{others}, {report.waiting:,} waiting; loss {counts.loss:.3f}"
    )


COMMAND = CommandEntry(stream, place=14, task=RELEASE)
