"""``shoal recognisers``: files of one's own, tried before they are used."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import FIND
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json, print_table, say

if TYPE_CHECKING:
    from shoal.discover.recognisers import RecogniserSet
    from shoal.discover.recognisers.own_files import CheckedFile
    from shoal.text.recogniser_trials import RecogniserTrial

app = typer.Typer(
    name="recognisers",
    help="Recognisers of your own: what a file of them finds, before it is used.\n\n"
    'Example: shoal recognisers test clinic.yaml "Badge AB123456"',
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)


@app.callback()
def _group() -> None:
    """A group, though it has one command by now."""


@app.command()
def test(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of recognisers (YAML).")],
    data: Annotated[
        str | None, typer.Argument(metavar="[TEXT|DATA]", help="A text to try it on, or a file or folder.")
    ] = None,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Check a file of recognisers: every problem with its line, its own examples, what would match.

    Example: shoal recognisers test clinic.yaml "Badge AB123456 moved Curie-07"
    """
    from shoal.discover.recognisers.own_files import checked_file, recognisers_with
    from shoal.text.recogniser_trials import try_examples

    checked = checked_file(file).required()
    trials = list(try_examples(checked.recognisers))
    known = recognisers_with([file])
    matches = [] if data is None or known is None else _matches(data, known, checked)
    if json:
        print_json(_told(checked, trials, matches))
    else:
        _print(checked, trials, matches, tried=data is not None)
    if not all(trial.passed for trial in trials):
        raise typer.Exit(1)


def _matches(data: str, known: RecogniserSet, checked: CheckedFile) -> list[dict[str, object]]:
    """What the entries of the file find; in files only how often and where, since the values are others'."""
    own = {one.type for one in checked.recognisers}
    if not Path(data).exists():
        from shoal.text.recogniser_trials import findings_in

        found = [span for span in findings_in(data, known) if span.type in own]
        return [{"type": one.type, "match": data[one.start : one.end], "sure": round(one.score, 3)} for one in found]
    from shoal.scan import scan_places
    from shoal.scan.annotators import annotate_by

    scan = scan_places([data], annotate_by(recognisers=known), recognisers=known)
    return [
        {"type": one.type, "source": one.source, "place": one.place, "count": one.count, "sure": one.confidence}
        for one in scan.findings
        if one.type in own
    ]


def _told(
    checked: CheckedFile, trials: Sequence[RecogniserTrial], matches: list[dict[str, object]]
) -> dict[str, object]:
    tried = [
        {"recogniser": one.key, "text": one.text, "wanted": one.wanted, "found": list(one.found), "passed": one.passed}
        for one in trials
    ]
    listed = [{"key": one.key, "role": str(one.role), "title": one.title} for one in checked.recognisers]
    return {"recognisers": listed, "replaced": list(checked.replaced), "examples": tried, "matches": matches}


def _print(
    checked: CheckedFile, trials: Sequence[RecogniserTrial], matches: list[dict[str, object]], *, tried: bool
) -> None:
    rows = [
        (one.key, one.title, str(one.role), "text and columns" if one.text else "columns", _passed(one.key, trials))
        for one in checked.recognisers
    ]
    print_table(str(checked.path), ("recogniser", "finds", "role", "looked for in", "examples"), rows)
    for trial in trials:
        if not trial.passed:
            kind = "example" if trial.wanted else "counter-example"
            typer.echo(f"{trial.key}: the {kind} '{trial.text}' {trial.why}")
    if matches:
        print_table("Matches", tuple(matches[0]), [tuple(one.values()) for one in matches])
    elif tried:
        typer.echo("nothing in it matches")
    if checked.replaced:
        say(f"in the place of ours: {', '.join(checked.replaced)}")
    failed = sum(not trial.passed for trial in trials)
    typer.echo(f"{checked.path}: {len(checked.recognisers)} recognisers, {len(trials)} examples, {failed} failed")


def _passed(key: str, trials: Sequence[RecogniserTrial]) -> str:
    own = [trial for trial in trials if trial.key == key]
    return f"{sum(trial.passed for trial in own)} of {len(own)}" if own else "none given"


COMMAND = CommandEntry(app, place=45, task=FIND)
