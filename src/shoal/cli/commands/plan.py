"""``shoal plan``: what would happen to each column, before anything is written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import PREPARE
from shoal.cli.terminal.options import Input, Json, PolicyFile
from shoal.cli.terminal.output import print_json
from shoal.cli.terminal.reader import NO_FLAGS, ReaderFlags
from shoal.cli.terminal.recognisers import NO_FILES, RecogniserFlags
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.plan.description import PlanDescription
    from shoal.policy import Policy
    from shoal.policy.multi_table import MultiTablePolicy


def plan(
    policy: PolicyFile,
    input: Input = None,  # noqa: A002  # the option is called --input
    no_data: Annotated[bool, typer.Option("--no-data", help="Say only what the policy alone tells.")] = False,  # noqa: FBT002
    own: RecogniserFlags = NO_FILES,
    reader: ReaderFlags = NO_FLAGS,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Show what would happen to each column, before anything is written. No value of the data is shown.

    Example: shoal plan policy.yaml --input patients.csv
    """
    from shoal.cli.views.plan import print_plan
    from shoal.policy.multi_table import MultiTablePolicy, load_any

    if no_data and input is not None:
        raise InputError("--no-data: goes without --input")
    chosen = own.added_to_any(load_any(policy))
    if isinstance(chosen, MultiTablePolicy):
        described = _describe_tables(chosen, input, reader, no_data=no_data)
        if json:
            tables = {name: one.to_dict() for name, one in described.items()}
            print_json({"policy": chosen.name, "tables": tables})
            return
        for name, one in described.items():
            print_plan(one, f"{chosen.name}: {name}")
        return
    description = _describe(chosen, input, reader, no_data=no_data)
    if json:
        print_json(description.to_dict())
    else:
        print_plan(description, description.policy)


def _describe(policy: Policy, data: str | None, reader: ReaderFlags, *, no_data: bool) -> PlanDescription:
    from shoal.plan.description import describe_bound, describe_policy

    if no_data or (data is None and policy.source is None):
        return describe_policy(policy)
    return describe_bound(policy, reader.open_for(policy, data))


def _describe_tables(
    several: MultiTablePolicy, data: str | None, reader: ReaderFlags, *, no_data: bool
) -> dict[str, PlanDescription]:
    from shoal.plan.description import describe_bound, describe_policy
    from shoal.release.multi_table.run import sources_of

    there = data is not None or all(policy.source is not None for policy in several.tables.values())
    if no_data or not there:
        return {name: describe_policy(policy) for name, policy in several.tables.items()}
    sources = sources_of(several, None if data is None else Path(data), reader.options)
    return {name: describe_bound(policy, sources[name]) for name, policy in several.tables.items()}


COMMAND = CommandEntry(plan, place=35, task=PREPARE)
