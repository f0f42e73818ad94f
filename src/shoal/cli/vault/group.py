"""``shoal vault``: the commands, in the order in which a person meets them."""

from __future__ import annotations

from collections.abc import Callable

import typer

from shoal.cli.vault.connection import with_vault_connection
from shoal.cli.vault.decrypt import decrypt
from shoal.cli.vault.domains import add, domains, init, lookup
from shoal.cli.vault.maintenance import audit, backup, reissue, restore, revoke, rotate, shred, verify
from shoal.cli.vault.people import admit, dismiss, people
from shoal.cli.vault.re_identification import approve, match, requests, reveal

ROTATION_STOPPED = "interrupted: the domain works on with both keys; the same command goes on where this one ended"

app = typer.Typer(
    name="vault",
    help="Keep apart who is behind a pseudonym, and name a person again only for a reason.\n\n"
    "Example: shoal vault init, then shoal vault add patients --approvals 2",
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)
TASKS: tuple[Callable[..., None], ...] = (
    init,
    add,
    domains,
    lookup,
    match,
    reveal,
    requests,
    approve,
    rotate,
    revoke,
    reissue,
    shred,
    verify,
    audit,
    backup,
    restore,
    people,
    admit,
    dismiss,
    decrypt,
)
for task in TASKS:
    app.command()(with_vault_connection(task, ROTATION_STOPPED if task is rotate else None))
