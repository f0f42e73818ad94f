"""``shoal normalise``: several records per person to one."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import PREPARE
from shoal.cli.terminal.output import print_json
from shoal.cli.terminal.progress_view import working
from shoal.cli.terminal.reader import NO_FLAGS, ReaderFlags


def normalise(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A file or a database URL.")],
    person: Annotated[str, typer.Option(help="The column that names the person.")],
    view: Annotated[str, typer.Option(help="binary, transposed or combined.")],
    output: Annotated[str, typer.Option("--output", "-o", help="The file to write.")],
    columns: Annotated[str | None, typer.Option(help="Only these columns, separated by commas.")] = None,
    together: Annotated[str | None, typer.Option(help="Columns that are joined into one first.")] = None,
    joined_by: Annotated[str, typer.Option(help="Between values of a combined cell.")] = ";",
    most: Annotated[int, typer.Option(help="Columns that a view may add, at most.")] = 500,
    reader: ReaderFlags = NO_FLAGS,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines, and nothing else, on stdout.")] = False,  # noqa: FBT002
) -> None:
    """Turn several records per person into one (ISO/IEC 20889, annex D): a binary, transposed or combined view.

    Example: shoal normalise visits.csv --person patient_id --view transposed -o patients.csv
    """
    import polars as pl

    from shoal.discover.normalise import NormalisedView
    from shoal.discover.normalise import normalise as normalised
    from shoal.errors import DataError, InputError
    from shoal.io import explained, open_target, parse_target
    from shoal.io.row_estimates import estimated_rows
    from shoal.schema.registry import did_you_mean

    views = tuple(str(one) for one in NormalisedView)
    if view not in views:
        raise InputError(f"--view: there is none called '{view}'{did_you_mean(view, views)}", advice=", ".join(views))
    if not joined_by or most < 1:
        raise InputError("--joined-by needs a character, and --most a column")
    source = reader.open(data)
    try:
        target = open_target(parse_target(output), like=source)
    except ValueError as error:
        raise InputError(str(error)) from None
    with explained(source), working("read", estimated_rows(source), silent=json):
        frame = source.scan()
        if columns is not None:
            known = frame.collect_schema().names()
            chosen = list(dict.fromkeys((person, *_listed(columns))))
            for name in chosen:
                if name not in known:
                    raise DataError(f"the data has no column '{name}'{did_you_mean(name, tuple(known))}")
            frame = frame.select(pl.col(name) for name in known if name in chosen)
        found = normalised(
            frame, person, NormalisedView(view), together=_listed(together or ""), separator=joined_by, most=most
        )
    with working("write", found.frame.height, silent=json):
        target.write(found.frame.lazy())
    if json:
        print_json({**found.to_dict(), "output": target.label})
        return
    typer.echo(f"{found.records:,} records of {found.frame.height:,} people: {found.frame.width:,} columns")
    if found.varying:
        typer.echo(f"several values per person: {', '.join(found.varying)}")
    typer.echo(f"data:     {target.label}")


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


COMMAND = CommandEntry(normalise, place=70, task=PREPARE)
