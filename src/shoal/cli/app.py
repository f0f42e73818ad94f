"""The ``shoal`` command and its exit codes: 0 done, 1 a required threshold is not met, 2 wrong input, 3 our bug.

Beyond these, as shells count them: 130 interrupted, 143 asked to end (SIGTERM), 129 the terminal is gone (SIGHUP), 141
the reader of the output went away.
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from shoal import __version__
from shoal.cli.discovery import CommandTable, own_commands
from shoal.cli.terminal.help import CONTEXT, PlainGroup, summary
from shoal.cli.terminal.output import fail, fail_with_bug
from shoal.cli.terminal.signals import INTERRUPTED, ended_by_signals
from shoal.cli.terminal.streams import READER_GONE, give_up, last_words, printing, settled
from shoal.errors import Cancelled, DataError, InputError, ShoalError, is_panic

COMMANDS = CommandTable(own_commands())


class CommandLine(PlainGroup):
    """Builds a command when it is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = COMMANDS

    def described(self, name: str) -> tuple[str, str]:
        entry = COMMANDS.entries[name]
        return summary(entry.help), entry.task


app = typer.Typer(
    name="shoal",
    cls=CommandLine,
    help="Make personal data safe to share, and prove it.\n\n"
    "Example: shoal run policy.yaml --input patients.csv --output release/",
    context_settings=CONTEXT,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:  # noqa: FBT001  # the signature of a Typer callback
    if wanted:
        typer.echo(f"shoal {__version__}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", "-V", help="Show the version and exit.", callback=_show_version, is_eager=True)
]


@app.callback(invoke_without_command=True)
def _shoal(
    context: typer.Context,
    version: Version = False,  # noqa: ARG001, FBT002
) -> None:
    """Without a command, the help."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _run() -> int:
    """The exit code of the command; an interrupt, which Typer turns into a code, as what it is."""
    COMMANDS.load_plugins()
    code = int(app(prog_name="shoal", standalone_mode=False) or 0)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return code


def _plainly(error: TyperException) -> str:
    """What Typer says of an argument; where it passes on what Pydantic says, in our words."""
    from pydantic import ValidationError

    from shoal.schema.validation_messages import validation_message

    if isinstance(error, typer.BadParameter) and isinstance(error.__cause__, ValidationError):
        error.message = validation_message(error.__cause__.errors()[0])
    said: str = getattr(error, "format_message", error.__str__)()
    return said


def main() -> None:
    with settled(), ended_by_signals():
        _main(as_json="--json" in sys.argv)


def _main(*, as_json: bool) -> None:
    try:
        with printing():
            sys.exit(_run())
    except (KeyboardInterrupt, typer.Abort, Cancelled):
        with last_words(sys.stderr):
            typer.echo("interrupted: nothing was written", err=True)
        sys.exit(INTERRUPTED)
    except ShoalError as error:
        fail(error, as_json=as_json)
    except TyperException as error:
        fail(InputError(_plainly(error), advice="see --help"), as_json=as_json)
    except BrokenPipeError:
        give_up(sys.stdout)
        sys.exit(READER_GONE)
    except Exception as error:  # noqa: BLE001  # the last line of defence: whatever it is, it is our bug
        if os.environ.get("SHOAL_DEBUG"):
            traceback.print_exc()
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        fail_with_bug(f"{type(error).__name__} at {where}", as_json=as_json)
    except BaseException as error:
        if not is_panic(error):
            raise
        fail(DataError("a library broke down on this data; a file is probably damaged"), as_json=as_json)
