"""The registered project that a release is made for: it is entered there, and who withdrew from it is left out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import typer

from shoal.cli.governance.registry_place import PERSON, PLACE, ActorOption, RegistryOption
from shoal.cli.terminal.option_sets import OptionSet
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.cli.vault.connection import VaultFlags
    from shoal.crypto import Key
    from shoal.govern.registration import Announced, Registration
    from shoal.io.withdrawn_people import WithdrawnPeople

PROJECT: Final = "SHOAL_PROJECT"


def refuse_project(what: str) -> None:
    """Of commands that know neither a registry nor who withdrew: nobody is let through unseen."""
    if os.environ.get(PROJECT):
        raise InputError(
            f"{what} is entered in no registry, and leaves out nobody who withdrew",
            advice=f"unset {PROJECT} if it is made for no project",
        )


@dataclass(frozen=True)
class ProjectFlags(OptionSet):
    """Of commands that release something."""

    project: Annotated[
        str | None,
        typer.Option("--project", metavar="ID", help=f"The registered project that it is made for; or {PROJECT}."),
    ] = None
    entry: Annotated[str, typer.Option("--entry", metavar="ID", help="What the registry calls it.")] = ""
    recipient: Annotated[list[str] | None, typer.Option("--recipient", help="Who it is for. May be repeated.")] = None
    registry: Annotated[
        str | None, typer.Option("--registry", metavar="PLACE", help=f"Where the project is registered; or {PLACE}.")
    ] = None
    by: Annotated[str | None, typer.Option("--by", metavar="NAME", help=f"Who releases it; or {PERSON}.")] = None

    @property
    def name(self) -> str | None:
        """None where it belongs to no project; what belongs to a project without it is told."""
        project = self.project or os.environ.get(PROJECT) or None
        if project is None and (self.entry or self.recipient or self.registry):
            raise InputError("which project does it belong to?", field="project")
        return project

    @property
    def registration(self) -> Registration | None:
        if self.name is None:
            return None
        from shoal.govern.registration import Registration

        made = Registration(
            place=RegistryOption(self.registry).place,
            project=self.name,
            by=ActorOption(self.by).name,
            identifier=self.entry,
            recipients=tuple(self.recipient or ()),
        )
        made.require()
        return made

    @contextmanager
    def answering(self, name: str, epsilon: float) -> Iterator[Announced]:
        """Around an answer, which is entered before it is given."""
        from shoal.govern.registration import Announced

        registration = self.registration
        if registration is None:
            yield Announced("")
            return
        with registration.answering(name, epsilon) as announced:
            yield announced

    def withdrawn(self, vault: VaultFlags) -> WithdrawnPeople | None:
        """Who is to be left out; the vault is opened for its key where there is anybody."""
        if self.name is None:
            return None
        from shoal.govern.opt_outs import opt_out_key, withdrawn_people

        def key() -> Key:
            with vault.connection().open() as opened:
                return opt_out_key(opened)

        with RegistryOption(self.registry).opened() as registry:
            return withdrawn_people(registry, self.name, key)


NO_PROJECT: Final = ProjectFlags()
