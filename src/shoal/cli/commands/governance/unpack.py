"""``shoal unpack``: the release in a package, by the recipient's key or a passphrase."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.commands.governance.pack import PASSPHRASE
from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import GOVERN
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json
from shoal.cli.terminal.progress_view import working
from shoal.errors import InputError


def unpack(
    package: Annotated[Path | None, typer.Argument(metavar="PACKAGE", help="What was packed.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The folder of the release.")] = None,
    key: Annotated[
        Path | None, typer.Option(help=f"Your key; or the key file that a passphrase in {PASSPHRASE} opens.")
    ] = None,
    new_key: Annotated[
        Path | None, typer.Option("--new-key", help="Make a key to get packages with; .pub beside it, for who packs.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the folder that is there.")] = False,  # noqa: FBT002
    json: Json = False,  # noqa: FBT002
) -> None:
    """Open a package: the release folder appears once all of it was found to be unchanged; exit code 1 where it isn't.

    Example: shoal unpack hospital.age -o release/ --key mine.key
    """
    from shoal.errors import IntegrityError

    if new_key is not None:
        _make(new_key, as_json=json)
        return
    if package is None or output is None or key is None:
        raise InputError("which package, by which key, where to? PACKAGE --key FILE -o FOLDER")
    from shoal.crypto.age_files import AgeIdentity
    from shoal.govern.packages import unpack_release

    try:
        raw = key.read_bytes()
    except OSError:
        raise InputError(f"{key}: can't be read", field="key") from None
    passphrase = os.environ.get(PASSPHRASE)
    try:
        sealed = raw.startswith(b"age-encryption.org/")
        if sealed and not passphrase:
            raise InputError(f"the passphrase that opens {key} is needed in {PASSPHRASE}", field="key")
        identity = (
            AgeIdentity.unsealed(raw, str(passphrase)) if sealed else AgeIdentity.read(raw.decode(errors="replace"))
        )
        with working("unpack", silent=json):
            unpack_release(package, output, identity, force=force)
    except IntegrityError as error:
        typer.echo(f"not opened: {error.message}", err=True)
        raise typer.Exit(1) from None
    if json:
        print_json({"folder": str(output)})
        return
    typer.echo(f"{output}: unpacked; a certificate in it is checked with: shoal verify {output} --key …")


def _make(path: Path, *, as_json: bool) -> None:
    from shoal.crypto.age_files import AgeIdentity
    from shoal.errors import TargetError
    from shoal.io.atomic.file_replacement import new_file

    if path.exists():
        raise TargetError(f"{path}: exists already, and a lost key can't be had again")
    made = AgeIdentity.new()
    public = path.with_suffix(f"{path.suffix}.pub")
    with new_file(path, private=True) as file:
        file.write(f"{made.secret}\n")
    with new_file(public) as file:
        file.write(f"{made.recipient}\n")
    if as_json:
        print_json({"key": str(path), "public": str(public), "recipient": made.recipient})
        return
    typer.echo(f"{path}: your key, for you alone\n{public}: for who packs: {made.recipient}")


COMMAND = CommandEntry(unpack, place=109, task=GOVERN)
