"""``shoal explore``: what each step towards more privacy costs, tried out before anything is released."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import PREPARE
from shoal.cli.terminal.lists import listed, numbers
from shoal.cli.terminal.options import Input, Json, PolicyFile
from shoal.cli.terminal.output import print_json
from shoal.cli.terminal.pages import refuse_page
from shoal.cli.terminal.progress_view import progress
from shoal.cli.terminal.reader import NO_FLAGS, ReaderFlags
from shoal.cli.terminal.recognisers import NO_FILES, RecogniserFlags

if TYPE_CHECKING:
    from shoal.results.exploration import Exploration


def explore(
    policy: PolicyFile,
    input: Input = None,  # noqa: A002  # the option is called --input
    k: Annotated[str, typer.Option("--k", help="Values of k, separated by commas.")] = "2,3,5,10,20",
    limit: Annotated[str, typer.Option(help="Shares of records that may be suppressed.")] = "0,0.01,0.02,0.05,0.1",
    recoding: Annotated[
        str | None, typer.Option(help="Of global, local, cells, rare, clustered; else the first two.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write the chart to this HTML file.")] = None,
    seed: Annotated[int | None, typer.Option(help="Makes it repeatable: for tests only.")] = None,
    own: RecogniserFlags = NO_FILES,
    reader: ReaderFlags = NO_FLAGS,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Try a policy with several k and suppression limits, and show what privacy costs. Nothing is released.

    Example: shoal explore policy.yaml --k 3,5,10 --limit 0,0.05 --html chart.html
    """
    from shoal.assess.exploration import ExploreRequest, explore_policy
    from shoal.cli.views.exploration import print_exploration
    from shoal.policy import Policy

    request = ExploreRequest(
        ks=tuple(numbers("--k", k, int, "a whole number")),
        limits=tuple(numbers("--limit", limit, float, "a number")),
        recodings=None if recoding is None else tuple(listed("--recoding", recoding)),
        seed=seed,
    )
    if html is not None:
        refuse_page(html)
    chosen = own.added(Policy.load(policy))
    source = reader.open_for(chosen, input)
    with progress(silent=json) as monitor, monitor.phase("count"):
        exploration = explore_policy(chosen, source, request, monitor, stoppable=True)
    if html is not None and exploration.complete:
        _write_page(exploration, html)
    if json:
        print_json(exploration.to_dict())
    else:
        print_exploration(exploration)
    if not exploration.complete:
        raise KeyboardInterrupt


def _write_page(exploration: Exploration, path: Path) -> None:
    from shoal.io import write_atomic
    from shoal.randomness import now
    from shoal.report import render_exploration

    write_atomic(path, render_exploration(exploration, now()))


COMMAND = CommandEntry(explore, place=20, task=PREPARE)
