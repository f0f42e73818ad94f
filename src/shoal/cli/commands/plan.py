"""``shoal plan``: what would happen to each column, before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import PREPARE
from shoal.cli.terminal.options import Input, Json, PolicyFile
from shoal.cli.terminal.output import print_json
from shoal.cli.terminal.pages import refuse_page
from shoal.cli.terminal.progress_view import working
from shoal.cli.terminal.reader import NO_FLAGS, ReaderFlags
from shoal.cli.terminal.recognisers import NO_FILES, RecogniserFlags
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.io import Source
    from shoal.plan.description import PlanDescription
    from shoal.policy import Policy
    from shoal.policy.multi_table import MultiTablePolicy


def plan(
    policy: PolicyFile,
    input: Input = None,  # noqa: A002  # the option is called --input
    no_data: Annotated[bool, typer.Option("--no-data", help="Say only what the policy alone tells.")] = False,  # noqa: FBT002
    engine: Annotated[str, typer.Option(help="Of the run that is planned: polars or spark.")] = "polars",
    html: Annotated[Path | None, typer.Option(help="Write the plan to this HTML file.")] = None,
    own: RecogniserFlags = NO_FILES,
    reader: ReaderFlags = NO_FLAGS,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Show what would happen to each column, before anything is written. No value of the data is shown.

    Example: shoal plan policy.yaml --input patients.csv --html plan.html
    """
    from shoal.engine.selection import require_engine
    from shoal.policy.multi_table import MultiTablePolicy, load_any

    if no_data and input is not None:
        raise InputError("--no-data: goes without --input")
    require_engine(engine)
    if html is not None:
        refuse_page(html)
    chosen = own.added_to_any(load_any(policy))
    with working("plan", silent=json):
        described = dict(_described(chosen, input, reader, no_data=no_data, engine=engine))
    refusals = [refusal for _, refusal in described.values() if refusal is not None]
    plans = {name: one for name, (one, _) in described.items()}
    if html is not None:
        _write_page(plans, chosen.name, html)
    if refusals:
        raise refusals[0]
    if json and isinstance(chosen, MultiTablePolicy):
        print_json({"policy": chosen.name, "tables": {name: one.to_dict() for name, one in plans.items()}})
    elif json:
        print_json(plans[chosen.name].to_dict())
    else:
        _print(plans, chosen.name, several=isinstance(chosen, MultiTablePolicy))
        if html is not None:
            typer.echo(f"page:     {html}")


def _print(plans: Mapping[str, PlanDescription], policy: str, *, several: bool) -> None:
    from shoal.cli.views.plan import print_plan

    for name, one in plans.items():
        print_plan(one, f"{policy}: {name}" if several else policy)


def _described(
    policy: Policy | MultiTablePolicy, data: str | None, reader: ReaderFlags, *, no_data: bool, engine: str
) -> Iterator[tuple[str, tuple[PlanDescription, InputError | None]]]:
    """The plan of each table; of one that would be refused, what the policy alone tells, and why."""
    from shoal.plan.description import describe_bound, describe_policy, describe_refused

    for name, (one, source) in _sources(policy, data, reader, no_data=no_data).items():
        try:
            found = (
                describe_policy(one, engine=engine) if source is None else describe_bound(one, source(), engine=engine)
            )
            yield name, (found, None)
        except InputError as error:
            yield name, (describe_refused(one, error, engine=engine), error)


def _sources(
    policy: Policy | MultiTablePolicy, data: str | None, reader: ReaderFlags, *, no_data: bool
) -> Mapping[str, tuple[Policy, Callable[[], str | Source | None] | None]]:
    """Each table with what opens its data; of several tables, all or none are read."""
    from shoal.policy.multi_table import MultiTablePolicy
    from shoal.release.multi_table.run import open_tables

    tables = policy.tables if isinstance(policy, MultiTablePolicy) else {policy.name: policy}
    nested = isinstance(policy, MultiTablePolicy) and policy.documents is not None
    if no_data or (data is None and not nested and any(one.source is None for one in tables.values())):
        return {name: (one, None) for name, one in tables.items()}
    if not isinstance(policy, MultiTablePolicy):
        return {policy.name: (policy, partial(reader.open_for, policy, data))}
    opened = open_tables(policy, None if data is None else Path(data), reader.options)
    return {name: (one, partial(opened.sources.__getitem__, name)) for name, one in opened.several.tables.items()}


def _write_page(plans: Mapping[str, PlanDescription], name: str, path: Path) -> None:
    from shoal.io import write_atomic
    from shoal.randomness import now
    from shoal.report.plan_page import render_plan

    write_atomic(path, render_plan(plans, name, now()))


COMMAND = CommandEntry(plan, place=35, task=PREPARE)
