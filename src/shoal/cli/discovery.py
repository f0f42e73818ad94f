"""How the command line finds its commands: one file of ``shoal.cli.commands`` each, and what plug-ins add.

A file declares what it adds as ``COMMAND = CommandEntry(function, place=…)``. An installed distribution names such an
entry under the entry points ``shoal.commands``. Nothing heavy is imported here: ``shoal --help`` passes by.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Final

import typer

from shoal.cli.terminal.option_sets import expanded
from shoal.errors import BugError, InputError

COMMANDS: Final = "shoal.cli.commands"
PLUGINS: Final = "shoal.commands"
"""The group of entry points that add commands."""
LAST: Final = 1000


@dataclass(frozen=True)
class CommandEntry:
    """A command, or a group of them, and where it stands in the help."""

    command: Callable[..., None] | typer.Typer
    place: int = LAST

    @property
    def name(self) -> str:
        """What the user types."""
        if isinstance(self.command, typer.Typer):
            return str(self.command.info.name)
        return self.command.__name__.replace("_", "-")

    def add_to(self, app: typer.Typer) -> None:
        if isinstance(self.command, typer.Typer):
            for one in self.command.registered_commands:
                one.callback = None if one.callback is None else expanded(one.callback)
            app.add_typer(self.command)
        else:
            app.command(self.name)(expanded(self.command))


def own_commands() -> list[CommandEntry]:
    """One for each file, in the order of the help."""
    package = importlib.import_module(COMMANDS)
    found = []
    for module in pkgutil.iter_modules(package.__path__, f"{COMMANDS}."):
        entry = getattr(importlib.import_module(module.name), "COMMAND", None)
        if not isinstance(entry, CommandEntry):
            raise BugError(f"{module.name} declares no COMMAND")
        found.append(entry)
    return sorted(found, key=lambda entry: entry.place)


def plugin_commands(taken: Iterable[str]) -> list[CommandEntry]:
    """What other distributions add. None may stand in for another, and one that can't be loaded is said."""
    names = set(taken)
    found = []
    for point in sorted(entry_points(group=PLUGINS), key=lambda point: (point.name, point.value)):
        entry = _loaded(point)
        if entry.name in names:
            raise _refusal(point, f"there is a command '{entry.name}' already")
        names.add(entry.name)
        found.append(entry)
    return sorted(found, key=lambda entry: entry.place)


def _loaded(point: EntryPoint) -> CommandEntry:
    try:
        entry = point.load()
    except Exception as error:  # whatever a foreign module does wrong
        raise _refusal(point, f"it can't be loaded: {type(error).__name__}") from error
    if not isinstance(entry, CommandEntry):
        raise _refusal(point, "it is no CommandEntry")
    return entry


def _refusal(point: EntryPoint, why: str) -> InputError:
    return InputError(f"the plug-in '{point.name}' ({point.value}): {why}", advice="mend it or uninstall it")
