"""How the command line finds its commands: one file below ``shoal.cli.commands`` each, and what plug-ins add.

A file declares what it adds as ``COMMAND = CommandEntry(function, place=…)``. An installed distribution names such an
entry under the entry points ``shoal.commands``. Nothing heavy is imported here: ``shoal --help`` passes by.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any, Final

import typer
import typer.main

from shoal.cli.terminal.console import ConsoleFlags
from shoal.cli.terminal.help import CONTEXT, PlainCommand, PlainGroup
from shoal.cli.terminal.option_sets import expanded
from shoal.errors import BugError, InputError

COMMANDS: Final = "shoal.cli.commands"
PLUGINS: Final = "shoal.commands"
"""The group of entry points that add commands."""
LAST: Final = 1000
FURTHER: Final = "Further"
"""The task of commands that name none."""


@dataclass(frozen=True)
class CommandEntry:
    """A command, or a group of them, what it is for, and where it stands in the help."""

    command: Callable[..., None] | typer.Typer
    place: int = LAST
    task: str = FURTHER
    complete: Callable[[typer.Typer], None] | None = None
    """Of a group, adds commands that are made from declarations, once the group is called for."""

    @property
    def name(self) -> str:
        """What the user types."""
        if isinstance(self.command, typer.Typer):
            return str(self.command.info.name)
        return self.command.__name__.replace("_", "-")

    @property
    def help(self) -> str:
        if isinstance(self.command, typer.Typer):
            return str(self.command.info.help)
        return self.command.__doc__ or ""

    def add_to(self, app: typer.Typer) -> None:
        """With the options that every command has."""
        if not isinstance(self.command, typer.Typer):
            app.command(self.name, cls=PlainCommand, context_settings=CONTEXT)(expanded(self.command, ConsoleFlags))
            return
        if self.complete is not None and not self.command.registered_groups:
            self.complete(self.command)
        _settle(self.command)
        app.add_typer(self.command)

    def built(self) -> Any:
        """As the parser of the command line takes it."""
        app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        self.add_to(app)
        if isinstance(self.command, typer.Typer):
            return typer.main.get_command(self.command)
        return typer.main.get_command(app)


def _settle(group: typer.Typer) -> None:
    """A group and those below it get the help and the options that every command has."""
    group.info.cls, group.info.context_settings = PlainGroup, CONTEXT
    for one in group.registered_commands:
        one.cls, one.context_settings = PlainCommand, {**CONTEXT, **(one.context_settings or {})}
        if one.callback is not None:
            one.callback = expanded(one.callback, ConsoleFlags)
    for below in group.registered_groups:
        if below.typer_instance is not None:
            _settle(below.typer_instance)


class CommandTable(MutableMapping[str, Any]):
    """Commands by name, each built when it is asked for: to build all takes as long as to start Python."""

    def __init__(self, entries: Iterable[CommandEntry]) -> None:
        self.entries = {entry.name: entry for entry in entries}
        self._built: dict[str, Any] = {}
        self._complete = False

    def load_plugins(self) -> None:
        """Once, and only when a command is called, so that what is wrong with one is said as any error is."""
        if not self._complete:
            self.entries |= {entry.name: entry for entry in plugin_commands(taken=tuple(self.entries))}
            self._complete = True

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            self._built[name] = self.entries[name].built()
        return self._built[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._built[name] = command

    def __delitem__(self, name: str) -> None:
        del self.entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


def own_commands() -> list[CommandEntry]:
    """One for each file, in the order of the help."""
    package = importlib.import_module(COMMANDS)
    found = []
    for module in pkgutil.walk_packages(package.__path__, f"{COMMANDS}."):
        if module.ispkg:
            continue
        entry = getattr(importlib.import_module(module.name), "COMMAND", None)
        if not isinstance(entry, CommandEntry):
            raise BugError(f"{module.name} declares no COMMAND")
        found.append(entry)
    return sorted(found, key=lambda entry: entry.place)


def plugin_commands(taken: Iterable[str]) -> list[CommandEntry]:
    """What other distributions add. None may stand in for another, and one that can't be loaded is said."""
    from shoal.schema.registry import plugins

    names = set(taken)
    found = []
    for point in plugins(PLUGINS):
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
