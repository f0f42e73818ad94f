"""Which registry a command works on, and who acts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from shoal.cli.terminal.option_sets import OptionSet
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.crypto import Key
    from shoal.govern.registry import GovernanceRegistry

PLACE: Final = "SHOAL_REGISTRY"
PERSON: Final = "SHOAL_PERSON"
PASSPHRASE: Final = "SHOAL_SIGNING_PASSPHRASE"  # noqa: S105  # the name of a variable
DEFAULT_PLACE: Final = "registry.db"


@dataclass(frozen=True)
class RegistryOption(OptionSet):
    registry: Annotated[
        str | None, typer.Option("--registry", metavar="PLACE", help=f"A file or postgresql://…; or {PLACE}.")
    ] = None

    @property
    def place(self) -> str:
        return self.registry or os.environ.get(PLACE) or DEFAULT_PLACE

    @contextmanager
    def opened(self) -> Iterator[GovernanceRegistry]:
        from shoal.govern.registry import GovernanceRegistry

        with GovernanceRegistry.open(self.place) as registry:
            yield registry


@dataclass(frozen=True)
class ActorOption(OptionSet):
    by: Annotated[str | None, typer.Option("--by", metavar="NAME", help=f"Who acts; or {PERSON}.")] = None

    @property
    def name(self) -> str:
        name = self.by or os.environ.get(PERSON)
        if not name:
            raise InputError("who acts?", field="by")
        return name


NO_REGISTRY: Final = RegistryOption()
NO_ACTOR: Final = ActorOption()


def signing_key(path: Path) -> Key:
    """A passphrase comes from the environment: options stand in the list of processes."""
    from shoal.crypto.signing_keys import signing_key_in

    return signing_key_in(_read(path), os.environ.get(PASSPHRASE))


def trusted_key(path: Path) -> bytes:
    from shoal.crypto.signing_keys import public_key_in

    return public_key_in(_read(path))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        raise InputError(f"{path}: can't be read", field="key") from None
