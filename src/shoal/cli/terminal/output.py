"""What a command prints: tables for people, JSON for machines, errors on one clear line."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

import typer

from shoal.cli.terminal.console import is_quiet
from shoal.cli.terminal.flags import flag, with_flags
from shoal.cli.terminal.streams import last_words
from shoal.errors import BugError, PolicyError, ShoalError, printable, styled

if TYPE_CHECKING:
    pass

PIPED_WIDTH = 120
"""Columns of a table that goes to a file or a pipe."""


def print_json(value: object) -> None:
    typer.echo(json.dumps(with_flags(value), indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False))


def table_width() -> int:
    """Columns that a table may take."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPED_WIDTH


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=printable(title), title_justify="left", box=SIMPLE)
    for name in header:
        table.add_column(printable(name), overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(str(cell))) for cell in row))
    Console(width=None if sys.stdout.isatty() else PIPED_WIDTH).print(table)


class DoubtfulResult(Protocol):
    @property
    def doubts(self) -> Sequence[str]: ...

    def to_dict(self) -> dict[str, Any]: ...


Shown = TypeVar("Shown", bound=DoubtfulResult)


def tell(found: Shown, show: Callable[[Shown], None], *, as_json: bool) -> None:
    """What was found, for machines or for people; what is doubtful about it on stderr, before it."""
    for doubt in found.doubts:
        warn(doubt)
    if as_json:
        print_json(found.to_dict())
    else:
        show(found)


def warn(text: str) -> None:
    """A line on stderr."""
    typer.echo(f"warning: {printable(styled(text, flag))}", err=True)


def say(text: str) -> None:
    """A line on stderr that is no reason for worry."""
    if is_quiet():
        return
    typer.echo(f"note: {printable(styled(text, flag))}", err=True)


def note(text: str | None) -> None:
    """A line on stderr, if that is a terminal."""
    if text and sys.stderr.isatty() and not is_quiet():
        typer.echo(text, err=True)


def fail(error: ShoalError, *, as_json: bool) -> NoReturn:
    if as_json:
        with last_words(sys.stdout):
            print_json({"error": _error_dict(error)})
    with last_words(sys.stderr):
        if isinstance(error, PolicyError):
            for problem in error.problems:
                typer.echo(f"{printable(error.source)}: {problem}", err=True)
        else:
            typer.echo(f"error [{error.code}]: {error.styled(flag)}", err=True)
    sys.exit(error.exit_code)


def fail_with_bug(what: str, *, as_json: bool) -> NoReturn:
    fail(
        BugError(f"this is a bug in Shoal: {what}", advice="set SHOAL_DEBUG=1 for the details; they may show data"),
        as_json=as_json,
    )


def _error_dict(error: ShoalError) -> dict[str, Any]:
    described: dict[str, Any] = {"code": error.code, "message": error.styled(flag), "docs": error.anchor()}
    if isinstance(error, PolicyError):
        described["problems"] = [
            {"line": problem.line, "column": problem.column, "path": problem.path, "message": problem.message}
            for problem in error.problems
        ]
    return described
