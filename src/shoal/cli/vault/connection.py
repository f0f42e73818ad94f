"""Opening a vault from the command line: where it is, who opens it, by what.

A passphrase is never an option: options stand in the list of processes and in the shell's history. It comes from the
environment, or is asked for at the terminal without being shown.
"""

from __future__ import annotations

import functools
import getpass
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, Final, NoReturn, ParamSpec

import typer

from shoal.cli.terminal.option_sets import OptionSet
from shoal.errors import InputError, SourceError

if TYPE_CHECKING:
    from shoal.policy import Policy
    from shoal.vault import Credential, Vault

PLACE = "SHOAL_VAULT"
PERSON = "SHOAL_VAULT_PERSON"
PASSPHRASE = "SHOAL_VAULT_PASSPHRASE"  # noqa: S105  # the name of a variable
NEW_PASSPHRASE = "SHOAL_VAULT_NEW_PASSPHRASE"  # noqa: S105
KEY_FILE = "SHOAL_VAULT_KEY_FILE"
SERVICE = "SHOAL_VAULT_SERVICE"
DEFAULT_PLACE = "shoal.vault"

Parameters = ParamSpec("Parameters")


@dataclass(frozen=True)
class VaultFlags(OptionSet):
    """Which vault, and who opens it by what; the environment says what these don't."""

    vault: Annotated[
        str | None, typer.Option("--vault", metavar="PLACE", help=f"A file or postgresql://…; or {PLACE}.")
    ] = None
    person: Annotated[str | None, typer.Option("--person", help=f"Who you are to the vault; or {PERSON}.")] = None
    key_file: Annotated[Path | None, typer.Option("--key-file", help=f"Your key file; or {KEY_FILE}.")] = None
    service: Annotated[str | None, typer.Option("--service", help=f"Your key service; or {SERVICE}.")] = None

    @property
    def place(self) -> str | None:
        return self.vault or os.environ.get(PLACE)

    def connection(self) -> VaultConnection:
        return VaultConnection.of(self.vault, self.person, self.key_file, self.service)


NO_VAULT: Final = VaultFlags()


@dataclass(frozen=True)
class VaultConnection:
    """A vault that is still closed, and the person before it."""

    place: str
    person: str
    key_file: Path | None = None
    service: str | None = None

    @classmethod
    def of(cls, vault: str | None, person: str | None, key_file: Path | None, service: str | None) -> VaultConnection:
        """What was said, else what stands in the environment, else ``shoal.vault`` here and the login name."""
        if key_file is None and service is None and not os.environ.get(PASSPHRASE):
            given = os.environ.get(KEY_FILE)
            key_file, service = Path(given) if given else None, os.environ.get(SERVICE) or None
        if key_file is not None and service is not None:
            raise InputError("a person opens the vault by a key file or by a key service, not by both")
        place = vault or os.environ.get(PLACE) or DEFAULT_PLACE
        return cls(place, person or os.environ.get(PERSON) or _login(), key_file, service)

    @property
    def path(self) -> Path | None:
        return None if "://" in self.place else Path(self.place)

    def open(self) -> Vault:
        """Nobody is asked for a passphrase where there is nothing to open."""
        from shoal.vault import Vault

        if self.path is not None and not self.path.exists():
            raise SourceError(f"{self.place}: there is no such vault", advice="make one with `shoal vault init`")
        return Vault.open(self.place, self.way_in())

    def way_in(self, *, new: bool = False) -> Credential:
        """A passphrase that is new is asked for twice; a key file that isn't there is made.

        It stays, also where it was made in vain: an idle key opens nothing, and a lost one can't be had again.
        """
        from shoal.vault import KeyFile, Passphrase, Service, make_key_file

        if self.service is not None:
            return Service(self.person, self.service)
        if self.key_file is not None:
            if new and not self.key_file.exists():
                make_key_file(self.key_file)
            return KeyFile(self.person, self.key_file)
        return Passphrase(self.person, _passphrase(self.person, PASSPHRASE, twice=new))

    def way_in_for(self, person: str, key_file: Path | None, service: str | None) -> Credential:
        """Of somebody who is to be admitted."""
        if key_file is not None and service is not None:
            raise InputError("a person opens the vault by a key file or by a key service, not by both")
        if key_file is not None or service is not None:
            return replace(self, person=person, key_file=key_file, service=service).way_in(new=True)
        from shoal.vault import Passphrase

        return Passphrase(person, _passphrase(person, NEW_PASSPHRASE, twice=True))


def with_vault_connection(
    command: Callable[Concatenate[VaultConnection, Parameters], None], interrupted: str | None = None
) -> Any:
    """A command that is given the door, with the options that say which one.

    Ctrl-C undoes the transaction under way; one line says so.
    """

    @functools.wraps(command)
    def opened(*arguments: Any, flags: VaultFlags, **options: Any) -> None:
        try:
            command(flags.connection(), *arguments, **options)
        except (KeyboardInterrupt, EOFError):
            _stop(interrupted or "interrupted: what was under way is undone")

    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    flags = inspect.Parameter("flags", inspect.Parameter.KEYWORD_ONLY, default=NO_VAULT, annotation=VaultFlags)
    opened.__signature__ = inspect.Signature([*own, flags])  # type: ignore[attr-defined]  # what ``expanded`` reads
    return opened


@contextmanager
def secrets_for(policies: Iterable[Policy], flags: VaultFlags) -> Iterator[Vault | None]:
    """The vault of a run, opened if one is named and a policy takes anything from it."""
    from shoal.policy.vault_needs import needs_vault, vault_of

    needing = [policy for policy in policies if needs_vault(policy)]
    place = flags.vault or next((vault_of(policy) for policy in needing if policy.vault), None) or flags.place
    if not needing or not place:
        yield None
        return
    with replace(flags, vault=place).connection().open() as opened:
        yield opened


def need_terminal(what: str, advice: str) -> None:
    if not sys.stdin.isatty():
        raise InputError(f"{what}, and there is no terminal to ask at", advice=advice)


def _passphrase(person: str, variable: str, *, twice: bool) -> str:
    given = os.environ.get(variable)
    if given:
        return given
    need_terminal(f"the passphrase of {person} is needed", f"set {variable}, or name a key file")
    said = getpass.getpass(f"Passphrase of {person}: ")
    if twice and getpass.getpass("The same once more: ") != said:
        raise InputError("the two passphrases are not the same")
    return said


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        raise InputError("your login has no name", advice=f"say who you are with --person or {PERSON}") from None


def _stop(line: str) -> NoReturn:
    from shoal.cli.terminal.signals import INTERRUPTED

    typer.echo(line, err=True)
    sys.exit(INTERRUPTED)
