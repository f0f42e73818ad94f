"""``shoal copy``: a whole database by one policy, into an empty schema or a file of SQL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.governance.project_options import refuse_project
from shoal.cli.terminal.help import RELEASE
from shoal.cli.terminal.options import Json, PolicyFile
from shoal.cli.terminal.output import print_json, print_table
from shoal.cli.terminal.progress_view import progress
from shoal.cli.vault.connection import NO_VAULT, VaultFlags, secrets_for

if TYPE_CHECKING:
    from shoal.database_copy.account import CopyAccount
    from shoal.database_copy.run import CopyPreview


def copy(
    policy: PolicyFile,
    source: Annotated[str | None, typer.Option("--from", metavar="URL", help="The database that is copied.")] = None,
    target: Annotated[
        str | None, typer.Option("--to", metavar="URL|FILE", help="An empty database, or a new file of SQL.")
    ] = None,
    schema: Annotated[str | None, typer.Option(help="The schema that is copied, if not the usual one.")] = None,
    to_schema: Annotated[
        str | None, typer.Option(help="The empty schema that is filled, if not the usual one.")
    ] = None,
    sample: Annotated[str | None, typer.Option(help="1% or 0.01: so many people, and all that is theirs.")] = None,
    of: Annotated[
        str | None, typer.Option(help="The table that the share is of, if not the one with the people.")
    ] = None,
    dialect: Annotated[
        str | None, typer.Option(help="Of a file: postgresql, mysql, sqlite, oracle, mssql; else the source's.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The account of the copy; else NAME-copy.json.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Makes the copy repeatable: for tests only.")] = None,
    restart: Annotated[bool, typer.Option("--restart", help="Drop what an unfinished copy left; begin anew.")] = False,  # noqa: FBT002
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done; write nothing.")] = False,  # noqa: FBT002
    door: VaultFlags = NO_VAULT,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Copy a whole database by a policy: every table, keys that still fit, indexes, constraints; or a part of it.

    A copy that was interrupted goes on when the same command is given again.

    Example: shoal copy policy.yaml --from postgresql://clinic@db/records --to postgresql://test@db/copy --sample 1%
    """
    from shoal.database_copy import CopyRequest, DatabaseCopy
    from shoal.errors import InputError
    from shoal.policy.multi_table import MultiTablePolicy, load_any

    refuse_project("a copy of a database")
    chosen = load_any(policy)
    if not isinstance(chosen, MultiTablePolicy):
        raise InputError(f"{policy}: is for one table", advice="`shoal suggest URL` writes one for a whole database")
    with secrets_for(chosen.tables.values(), door) as secrets, progress(silent=json) as monitor:
        request = CopyRequest(
            policy=chosen,
            source=source,
            target=target,
            schema_name=schema,
            target_schema=to_schema,
            sample=None if sample is None else _share(sample),
            of=of,
            dialect=dialect,
            output=output,
            seed=seed,
            restart=restart,
            secrets=secrets,
        )
        run = DatabaseCopy(request, monitor)
        done = run.preview() if dry_run else run.execute()
    if json:
        print_json(done.to_dict())
    elif dry_run:
        _show_preview(done)  # type: ignore[arg-type]
    else:
        _show(done, request.account)  # type: ignore[arg-type]


def _share(text: str) -> float:
    """
    >>> _share("1%"), _share("0.25")
    (0.01, 0.25)
    """
    from shoal.errors import InputError

    number, percent, rest = text.partition("%")
    try:
        share = float(number) / 100 if percent else float(number)
    except ValueError:
        share = 0.0
    if rest or not 0 < share <= 1:
        raise InputError("is a share, as 1% or 0.01", field="sample")
    return share


def _show(done: CopyAccount, path: Path) -> None:
    rows = [(one.table, f"{one.rows:,}", f"{len(one.columns)}", f"{one.rewritten}") for one in done.tables]
    print_table("Copied", ("table", "rows", "columns", "rewritten"), rows)
    _list_lost(done.not_copied)
    typer.echo(f"{done.rows:,} rows in {len(done.tables)} tables: {done.target}")
    typer.echo(f"account: {path}")


def _show_preview(found: CopyPreview) -> None:
    rows = [
        (one.facts.name, f"{len(one.attributes)}", f"{len(one.rewritten)}", f"{len(one.suppressed)}")
        for one in found.plan.tables
    ]
    print_table("In this order", ("table", "columns", "rewritten", "suppressed"), rows)
    _list_lost(found.plan.not_copied)
    typer.echo(f"from {found.source} to {found.target}; nothing was written")


def _list_lost(lost: tuple[str, ...]) -> None:
    for one in lost:
        typer.echo(f"not copied: {one}")


COMMAND = CommandEntry(copy, place=104, task=RELEASE)
