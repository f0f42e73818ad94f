"""What is done with a registry as a whole: begin it, look into it, sign it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.governance.registry_place import (
    NO_ACTOR,
    NO_REGISTRY,
    PASSPHRASE,
    ActorOption,
    RegistryOption,
    signing_key,
)
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json, print_table
from shoal.errors import TargetError

Kind = Annotated[str, typer.Argument(metavar="KIND", help="Such as project, request, release.")]
Identifier = Annotated[str, typer.Argument(metavar="ID", help="The record's identifier.")]
KeyFile = Annotated[Path, typer.Option("--key", help=f"Your signing key (PEM); its passphrase in {PASSPHRASE}.")]


def init(
    administrator: Annotated[str, typer.Option(help="Who may admit others.")],
    registry: RegistryOption = NO_REGISTRY,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Begin a registry.

    Example: shoal register init --administrator devi
    """
    from shoal.govern.registry import GovernanceRegistry

    with GovernanceRegistry.create(registry.place, administrator):
        pass
    if json:
        print_json({"registry": registry.place, "administrator": administrator})
        return
    typer.echo(
        f"{registry.place}: begun; {administrator} may admit others with: shoal register person admit NAME --roles …"
    )


def show(kind: Kind, identifier: Identifier, registry: RegistryOption = NO_REGISTRY, json: Json = False) -> None:  # noqa: FBT002
    """Show one record: what is true of it, and what happened.

    Example: shoal register show project hospital
    """
    with registry.opened() as opened:
        state = opened.state(kind, identifier)
        history = opened.history(kind, identifier)
    told = state.model_dump(mode="json", exclude_defaults=True)
    if json:
        entries = [{"number": one.number, "at": one.at, "act": one.act, "by": one.by} for one in history]
        print_json({"kind": kind, "id": identifier, "state": told, "history": entries})
        return
    print_table(f"{kind} {identifier}", ("what", "is"), [(name, _plain(value)) for name, value in told.items()])
    rows = [(one.number, one.at, one.act, one.by or "purged") for one in history]
    print_table("history", ("entry", "when", "act", "by"), rows)


def list_(
    kind: Kind,
    project: Annotated[str, typer.Option(help="Only those of a project.")] = "",
    registry: RegistryOption = NO_REGISTRY,
    json: Json = False,  # noqa: FBT002
) -> None:
    """List all records of a kind.

    Example: shoal register list request --project hospital
    """
    with registry.opened() as opened:
        states = opened.states(kind, project)
    if json:
        print_json({name: state.model_dump(mode="json", exclude_defaults=True) for name, state in states.items()})
        return
    rows = [(name, state.status, state.project, state.title) for name, state in states.items()]
    print_table(kind, ("id", "status", "project", "title"), rows)


def purge(
    kind: Kind,
    identifier: Identifier,
    reason: Annotated[str, typer.Option(help="Why it may go.")],
    registry: RegistryOption = NO_REGISTRY,
    actor: ActorOption = NO_ACTOR,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Take away what was said about a record, and keep that there was one, who purged it and why.

    Example: shoal register purge person chan --reason "left two years ago" --by devi
    """
    with registry.opened() as opened:
        gone = opened.purge(kind, identifier, by=actor.name, reason=reason)
    if json:
        print_json({"kind": kind, "id": identifier, "entries": gone})
        return
    typer.echo(f"{kind} {identifier}: purged, {gone} entries")


def checkpoint(
    key: KeyFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write it, to be kept elsewhere.")],
    registry: RegistryOption = NO_REGISTRY,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Sign the registry as it is now: who has the file can show any later change.

    Example: shoal register checkpoint --key devi.pem -o checkpoint.json
    """
    import json as json_module

    from shoal.io import write_atomic

    with registry.opened() as opened:
        made = opened.checkpoint(signing_key(key))
    write_atomic(output, json_module.dumps(made.to_dict(), indent=2) + "\n")
    if json:
        print_json(made.to_dict())
        return
    typer.echo(f"{output}: signed up to entry {made.number}; keep it elsewhere")


def keys(
    output: Annotated[Path, typer.Option("--output", "-o", help="The file of your signing key; .pub beside it.")],
    json: Json = False,  # noqa: FBT002
) -> None:
    """Make a key to sign with, and the public key that others check with.

    Example: shoal register keys -o devi.pem
    """
    import os

    from shoal.crypto import Key
    from shoal.crypto.signatures import public_key
    from shoal.crypto.signing_keys import public_key_pem, signing_key_pem
    from shoal.govern.certificates import fingerprint
    from shoal.io.atomic.file_replacement import new_file

    if output.exists():
        raise TargetError(f"{output}: exists already, and a lost key can't be had again")
    key = Key.new()
    public = output.with_suffix(f"{output.suffix}.pub")
    with new_file(output, private=True) as file:
        file.write(signing_key_pem(key, os.environ.get(PASSPHRASE)).decode())
    with new_file(public) as file:
        file.write(public_key_pem(public_key(key)).decode())
    told = fingerprint(public_key(key))
    if json:
        print_json({"key": str(output), "public": str(public), "fingerprint": told})
        return
    sealed = (
        "sealed with your passphrase" if os.environ.get(PASSPHRASE) else "not sealed: keep it where only you read it"
    )
    typer.echo(f"{output}: your signing key, {sealed}\n{public}: for everybody; fingerprint {told}")


def certify(
    folder: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release folder.")],
    key: KeyFile,
    name: Annotated[str, typer.Option(help="What the certificate calls it; the folder's name without.")] = "",
    project: Annotated[str, typer.Option(help="The project that it belongs to.")] = "",
    pdf: Annotated[
        str | None, typer.Option("--pdf", metavar="NAME", help="Sign the report as a PDF too, in this person's name.")
    ] = None,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Sign a release folder: who gets it can check offline that nothing was changed.

    Example: shoal register certify release/ --key devi.pem
    """
    from shoal.govern.certificates import certify as certified

    path = certified(folder, signing_key(key), name=name, project=project, signer=pdf)
    if json:
        print_json({"certificate": str(path)})
        return
    typer.echo(f"{path}: written; check it with: shoal verify {folder} --key {key}.pub")


def sign(
    document: Annotated[Path, typer.Argument(metavar="PDF", help="A report, a checklist, a draft.")],
    key: KeyFile,
    name: Annotated[str, typer.Option(help="Who signs, as readers of PDF show it.")],
    reason: Annotated[str, typer.Option(help="What for.")] = "",
    json: Json = False,  # noqa: FBT002
) -> None:
    """Sign a PDF: readers of PDF show any later change, and `shoal verify` by whose key it is.

    Example: shoal register sign checklist.pdf --key devi.pem --name "Devi, administrator"
    """
    from shoal.govern.certificates import sign_pdf_file

    sign_pdf_file(document, signing_key(key), name, reason)
    if json:
        print_json({"signed": str(document)})
        return
    typer.echo(f"{document}: signed; check it with: shoal verify {document} --key {key}.pub")


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_plain(each) for each in value)
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_plain(each)}" for name, each in value.items())
    return str(value)
