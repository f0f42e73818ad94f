"""How much a command says beside its result, and in which colours: options of every command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated, Final

import typer

from shoal.cli.terminal.option_sets import OptionSet

NO_COLOR: Final = "NO_COLOR"
"""The variable by which a user says so once and for all (no-color.org)."""
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


@dataclass(frozen=True)
class ConsoleFlags(OptionSet):
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No notes and no progress; results, warnings and errors stay.")
    ] = False
    no_color: Annotated[bool, typer.Option("--no-color", help="No colours; or NO_COLOR in the environment.")] = False

    @contextmanager
    def around(self) -> Iterator[None]:
        """While a command runs."""
        before, token = os.environ.get(NO_COLOR), _quiet.set(self.quiet)
        if self.no_color:
            os.environ[NO_COLOR] = "1"
        try:
            yield
        finally:
            _quiet.reset(token)
            if self.no_color and before is None:
                del os.environ[NO_COLOR]


def is_quiet() -> bool:
    return _quiet.get()
