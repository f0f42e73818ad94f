"""``shoal check``: a policy, by itself and against its data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import PREPARE
from shoal.cli.terminal.options import Input, Json
from shoal.cli.terminal.output import print_json, warn
from shoal.cli.terminal.progress_view import working
from shoal.cli.terminal.reader import NO_FLAGS, ReaderFlags
from shoal.cli.terminal.recognisers import NO_FILES, RecogniserFlags
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.policy.multi_table import MultiTablePolicy
    from shoal.policy.references import Reference


def check(
    policy: Annotated[Path | None, typer.Argument(metavar="POLICY", help="The policy file (YAML).")] = None,
    input: Input = None,  # noqa: A002  # the option is called --input
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of policies, for editors.")] = False,  # noqa: FBT002
    own: RecogniserFlags = NO_FILES,
    reader: ReaderFlags = NO_FLAGS,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Check a policy: every problem at once, with line numbers. With --input, check it against the data too.

    Example: shoal check policy.yaml --input patients.csv
    """
    from shoal.policy import warnings_in
    from shoal.policy.multi_table import MultiTablePolicy, load_any, policies_schema

    if schema:
        print_json(policies_schema())
        return
    if policy is None:
        raise InputError("which policy? (shoal check POLICY, or shoal check --schema)")
    chosen = own.added_to_any(load_any(policy))
    if isinstance(chosen, MultiTablePolicy):
        _check_tables(chosen, str(policy), reader, data=input, as_json=json)
        return
    if input is not None or chosen.source is not None:
        from shoal.plan.dry_run import check_against_data

        with working("check", silent=json):
            check_against_data(chosen, reader.open_for(chosen, input))
    warnings = warnings_in(chosen)
    if json:
        print_json({"ok": True, "policy": chosen.name, "warnings": warnings})
        return
    for warning in warnings:
        warn(warning)
    typer.echo(f"{policy}: no problems")


def _check_tables(
    several: MultiTablePolicy, label: str, reader: ReaderFlags, *, data: str | None, as_json: bool
) -> None:
    from shoal.policy import warnings_in
    from shoal.release.multi_table.run import check_tables
    from shoal.release.multi_table.summary import condensed_warnings

    own, common = condensed_warnings(several, {name: warnings_in(policy) for name, policy in several.tables.items()})
    warnings = [*common, *(f"{name}: {told}" for name, texts in own.items() for told in texts)]
    references = several.references
    if data is not None or several.documents or all(one.source is not None for one in several.tables.values()):
        with working("check tables", silent=as_json):
            references = check_tables(several, None if data is None else Path(data), reader.options)
    if as_json:
        told = [_entry(reference) for reference in references]
        print_json({"ok": True, "policy": several.name, "warnings": warnings, "references": told})
        return
    for warning in warnings:
        warn(warning)
    for reference in references:
        typer.echo(f"{reference}: {reference.reason or 'declared'}{'' if reference.keep else ', not kept'}")
    if several.joined_k is not None and several.joined.accept is None:
        typer.echo(f"joined tables: k = {several.joined_k} has to hold")
    typer.echo(f"{label}: no problems")


def _entry(reference: Reference) -> dict[str, object]:
    ends = {"from": str(reference.child), "to": str(reference.parent)}
    return {**ends, "kept": reference.keep, "found": reference.reason}


COMMAND = CommandEntry(check, place=30, task=PREPARE)
