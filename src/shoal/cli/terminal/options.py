"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer

from shoal.errors import InputError

PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy file (YAML).")]
Input = Annotated[str | None, typer.Option("--input", "-i", help="Data to use instead of the policy's source.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines, and nothing else, on stdout.")]
TextKind = Annotated[
    Literal["auto", "log", "prose"], typer.Option(help="What the texts are; auto tells by their lines.")
]


def refuse_for_multi_table(options: Mapping[str, object]) -> None:
    """Options about the columns of one table."""
    for option, given in options.items():
        if given:
            raise InputError(f"{option}: is about one table, and there are several")


def refuse_for_synthetic(options: Mapping[str, object]) -> None:
    """Options about records that stem from records."""
    for option, given in options.items():
        if given:
            raise InputError(f"{option}: is about records that people are behind, and the release is synthetic")
