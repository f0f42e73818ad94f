"""``shoal merge``: several sources to one table, by a mapping file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import PREPARE
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json
from shoal.cli.terminal.progress_view import progress
from shoal.cli.terminal.reader import NO_FLAGS, ReaderFlags
from shoal.errors import InputError


def merge(
    mapping: Annotated[Path | None, typer.Argument(metavar="MAPPING", help="The mapping file (YAML).")] = None,
    output: Annotated[str | None, typer.Option("--output", "-o", help="The file to write; else it is checked.")] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of mappings, for editors.")] = False,  # noqa: FBT002
    reader: ReaderFlags = NO_FLAGS,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Merge several sources into one table: columns renamed, values, dates and units brought into one form.

    Example: shoal merge hospitals.yaml -o patients.csv
    """
    from shoal.io import explained, open_target, parse_target
    from shoal.policy.source_mapping import mapping_schema
    from shoal.policy.sources import open_merged

    if schema:
        print_json(mapping_schema())
        return
    if mapping is None:
        raise InputError("which mapping? (shoal merge MAPPING, or shoal merge --schema)")
    target = None
    with progress(silent=json) as monitor:
        with monitor.phase("check"):
            merged = open_merged(mapping, str(mapping), reader.options)
        if output is not None:
            try:
                target = open_target(parse_target(output), like=merged)
            except ValueError as error:
                raise InputError(str(error)) from None
            with monitor.phase("write", merged.rows), explained(merged):
                target.write(merged.scan())
    written = None if target is None else target.label
    if json:
        sources = [{"source": table.source.label, "records": table.records} for table in merged.tables]
        columns = {name: str(column.type) for name, column in merged.columns.items()}
        print_json({"records": merged.rows, "sources": sources, "columns": columns, "output": written})
        return
    for table in merged.tables:
        typer.echo(f"{table.records:>12,} records of {table.source.label}")
    typer.echo(f"{merged.rows:>12,} records in {len(merged.columns):,} columns")
    typer.echo(f"data:     {written}" if written else f"{mapping}: no problems (nothing is written without --output)")


COMMAND = CommandEntry(merge, place=75, task=PREPARE)
