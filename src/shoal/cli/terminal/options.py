"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy file (YAML).")]
Input = Annotated[str | None, typer.Option("--input", "-i", help="Data to use instead of the policy's source.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines, and nothing else, on stdout.")]
Sheet = Annotated[str | None, typer.Option(help="Sheet of an Excel file.")]
