"""``shoal register``: projects, requests, releases, incidents, people; its commands are in ``shoal.cli.governance``."""

from __future__ import annotations

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.governance.agreements import draft_agreement
from shoal.cli.governance.composing import compose, import_
from shoal.cli.governance.documents import checklist, draft, notification
from shoal.cli.governance.feeds import collect, token
from shoal.cli.governance.inventory import accounts, scan
from shoal.cli.governance.opt_outs import return_, withdraw
from shoal.cli.governance.principals import find, identify
from shoal.cli.governance.record_acts import add_record_acts
from shoal.cli.governance.training import app as training
from shoal.cli.governance.upkeep import certify, checkpoint, init, keys, list_, purge, show, sign
from shoal.cli.governance.vault_acts import destroy, reissue
from shoal.cli.terminal.help import GOVERN

app = typer.Typer(
    name="register",
    help="Keep who released what to whom, with what evidence.\n\n"
    "Example: shoal register init --administrator devi, then shoal register project open hospital …",
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)
for task in (
    init,
    show,
    purge,
    checkpoint,
    keys,
    certify,
    sign,
    compose,
    token,
    collect,
    withdraw,
    checklist,
    identify,
    find,
    draft,
    draft_agreement,
    notification,
    scan,
    accounts,
    reissue,
    destroy,
):
    app.command()(task)
app.command("list")(list_)
app.command("return")(return_)
app.command("import")(import_)


def _completed(group: typer.Typer) -> None:
    group.add_typer(training)
    add_record_acts(group)


COMMAND = CommandEntry(app, place=105, task=GOVERN, complete=_completed)
