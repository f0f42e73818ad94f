"""``shoal register draft-agreement``: an undertaking or agreement from a template, filled from what is recorded."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli.governance.documents import Format, Output, WrittenForm, written
from shoal.cli.governance.registry_place import NO_ACTOR, NO_REGISTRY, ActorOption, RegistryOption
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json, say
from shoal.errors import InputError

TEMPLATES = "undertaking|sharing|processing"


def draft_agreement(
    identifier: Annotated[str, typer.Argument(metavar="REQUEST", help="The request, as R-1.")],
    template: Annotated[
        str,
        typer.Option(
            metavar=TEMPLATES,
            help="Undertaking of a researcher, agreement between organisations, or with a vendor or system.",
        ),
    ] = "undertaking",
    release: Annotated[str, typer.Option(help="Which release is to go to them, where none was delivered yet.")] = "",
    channel: Annotated[str, typer.Option(help="How it is to go to them.")] = "",
    output: Output = None,
    form: Format = None,
    registry: RegistryOption = NO_REGISTRY,
    actor: ActorOption = NO_ACTOR,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Draft an agreement from a template and what is recorded; what is not recorded stays a blank and is listed.

    With --output its checksum is recorded, so that what is signed can be tied to it.

    Example: shoal register draft-agreement R-1 --template sharing --release 2026-q1 -o agreement.html --by bela
    """
    from dataclasses import asdict

    from shoal.govern.agreements.drafting import draft_agreement as drafted
    from shoal.govern.agreements.drafting import record_draft

    if form is WrittenForm.CSV or (form is None and output is not None and output.suffix == ".csv"):
        raise InputError("an agreement is no table: html, markdown, pdf or json", field="format")
    with registry.opened() as opened:
        made = drafted(opened, identifier, template, by=actor.name, release=release, channel=channel)
        told = {**made.to_dict(), "document": asdict(made.page)}
        if output is None:
            print_json({**told, "sha256": None}) if json else written(made.page, form, None, told)
            say("it is shown only: with --output its checksum is recorded too")
            return
        written(made.page, form, output, told)
        sha256 = record_draft(opened, made, output, by=actor.name)
    if json:
        print_json({**made.to_dict(), "file": str(output), "sha256": sha256})
        return
    typer.echo(f"{output}: {len(made.clauses)} clauses, sha256 {sha256}")
    for number, asked in enumerate(made.blanks.values(), start=1):
        typer.echo(f"  blank B{number}: {asked}")
