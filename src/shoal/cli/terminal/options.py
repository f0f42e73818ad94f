"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from shoal.errors import InputError

PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy file (YAML).")]
Input = Annotated[str | None, typer.Option("--input", "-i", help="Data to use instead of the policy's source.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines, and nothing else, on stdout.")]


def refuse_for_multi_table(options: Mapping[str, object]) -> None:
    """Options about the columns of one table."""
    for option, given in options.items():
        if given:
            raise InputError(f"{option}: is about one table, and there are several")
