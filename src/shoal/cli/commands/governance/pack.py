"""``shoal pack``: an encrypted package of a release for a recipient."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.governance.registry_place import NO_ACTOR, NO_REGISTRY, ActorOption, RegistryOption
from shoal.cli.terminal.help import GOVERN
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json
from shoal.cli.terminal.progress_view import working
from shoal.errors import InputError

PASSPHRASE: Final = "SHOAL_PACKAGE_PASSPHRASE"  # noqa: S105  # the name of a variable


def pack(
    folder: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release folder.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The package, as hospital.age.")],
    to: Annotated[
        str | None,
        typer.Option(help=f"The recipient's public key (age1…) or its file; a passphrase by {PASSPHRASE} without."),
    ] = None,
    request: Annotated[str | None, typer.Option(help="The registered request that it answers.")] = None,
    release: Annotated[str | None, typer.Option(help="The registered release that it holds.")] = None,
    channel: Annotated[str, typer.Option(help="How the package goes to them.")] = "",
    key_channel: Annotated[str, typer.Option(help="How the passphrase goes to them: another way.")] = "",
    registry: RegistryOption = NO_REGISTRY,
    actor: ActorOption = NO_ACTOR,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Pack a release for a recipient, encrypted (age format), and record it in the registry.

    Example: shoal pack release/ -o hospital.age --to recipient.pub --request R-1 --release 2026-q1 --channel sftp
    """
    from shoal.govern.packages import pack_release

    if (request is None) != (release is None):
        raise InputError("a package is recorded with its request and its release, or with neither", field="request")
    recipient = None if to is None else _recipient(to)
    passphrase = os.environ.get(PASSPHRASE) if to is None else None
    if recipient is None and not passphrase:
        raise InputError(f"for whom? A public key, or a passphrase in {PASSPHRASE}", field="to")
    with working("pack", silent=json):
        made = pack_release(folder, output, recipient=recipient, passphrase=passphrase)
    if request is not None:
        told = {
            "request": request, "release": release, "sha256": made.sha256, "data_sha256": made.data_sha256,
            "sealing": "recipient-key" if made.key_file is None else "passphrase", "recipient": made.recipient,
            "channel": channel, "key_channel": key_channel,
        }  # fmt: skip
        try:
            with registry.opened() as opened:
                opened.perform("package", "pack", made.sha256[:32], told, by=actor.name)
        except BaseException:
            for path in (made.path, made.key_file):
                if path is not None:
                    path.unlink(missing_ok=True)
            raise
    if json:
        print_json({"package": str(made.path), "sha256": made.sha256, "recipient": made.recipient,
                    "key_file": None if made.key_file is None else str(made.key_file)})  # fmt: skip
        return
    typer.echo(f"{made.path}: for {made.recipient}, sha256 {made.sha256}")
    if made.key_file is not None:
        typer.echo(f"{made.key_file}: its key, sealed with the passphrase; tell the passphrase another way")


def _recipient(given: str) -> str:
    if given.startswith("age1"):
        return given
    try:
        lines = Path(given).read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{given}: can't be read, and is no public key", field="to") from None
    return lines[-1] if lines else ""


COMMAND = CommandEntry(pack, place=108, task=GOVERN)
