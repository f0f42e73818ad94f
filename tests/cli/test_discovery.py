"""A command is one file, or one entry point of another distribution."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest
import typer
import typer.main
from tests.cli.conftest import Call

from shoal.cli import app as command_line
from shoal.cli import commands, discovery
from shoal.cli.discovery import CommandEntry, CommandTable, own_commands, plugin_commands
from shoal.errors import BugError, InputError
from shoal.schema import registry

HELP = (
    "run explore check scan profile suggest normalise measure attack scrub demo vault shares homomorphic".split()  # noqa: SIM905
)


def greet_people() -> None:
    """Say hello."""
    typer.echo("hello from outside")


GREET = CommandEntry(greet_people)
RUN = CommandEntry(typer.Typer(name="run"))
NO_COMMAND = "something else"


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A distribution that names something of this module."""
    module = ModuleType("outside")
    vars(module).update(GREET=GREET, RUN=RUN, NO_COMMAND=NO_COMMAND)
    monkeypatch.setitem(sys.modules, "outside", module)

    def add(attribute: str) -> None:
        point = EntryPoint("outside", f"outside:{attribute}", discovery.PLUGINS)
        monkeypatch.setattr(registry, "plugins", lambda group: [point] if group == discovery.PLUGINS else [])

    return add


def test_each_file_is_a_command_and_the_help_has_its_order() -> None:
    found = pkgutil.walk_packages(commands.__path__, f"{commands.__name__}.")
    files = [module.name.rpartition(".")[2] for module in found if not module.ispkg]
    assert sorted(entry.name for entry in own_commands()) == sorted(files)
    named = [entry.name for entry in own_commands() if entry.name in HELP]
    assert named == HELP
    places = [entry.place for entry in own_commands()]
    assert len(places) == len(set(places))


def test_a_file_without_a_command_is_our_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "doors"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "helper.py").write_text("x = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(discovery, "COMMANDS", "doors")
    importlib.invalidate_caches()
    with pytest.raises(BugError, match=r"doors\.helper declares no COMMAND"):
        own_commands()


def test_a_command_from_outside(install: Callable[[str], None], call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    install("GREET")
    monkeypatch.setattr(command_line, "COMMANDS", CommandTable(own_commands()))
    ended = call("greet-people")
    assert (ended.code, ended.stdout) == (0, "hello from outside\n")
    assert "Further:\n  greet-people  Say hello." in call("--help").stdout


@pytest.mark.parametrize(
    ("attribute", "why"),
    [
        ("RUN", "there is a command 'run' already"),
        ("NO_COMMAND", "it is no CommandEntry"),
        ("ABSENT", "it can't be loaded: AttributeError"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_said(install: Callable[[str], None], attribute: str, why: str) -> None:
    install(attribute)
    with pytest.raises(InputError, match=f"the plug-in 'outside' .*{why}"):
        plugin_commands(taken=HELP)


def test_no_folder_is_crowded() -> None:
    folders = {path.parent for path in Path(commands.__path__[0]).parent.rglob("*.py")}
    assert max(len(list(folder.glob("*.py"))) for folder in folders) <= 25
