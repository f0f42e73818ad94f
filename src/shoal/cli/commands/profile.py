"""``shoal profile``: what a table holds, which sets of attributes tell people apart, which identifiers are left."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import FIND
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json
from shoal.cli.terminal.progress_view import progress
from shoal.cli.terminal.reader import NO_FLAGS, ReaderFlags
from shoal.cli.terminal.recognisers import NO_FILES, RecogniserFlags
from shoal.errors import InputError


def profile(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A file, a folder of tables or a database URL.")],
    table: Annotated[str | None, typer.Option(help="Table of a database.")] = None,
    sets: Annotated[bool, typer.Option("--sets", help="Find sets of attributes that single people out.")] = False,  # noqa: FBT002
    max_size: Annotated[int | None, typer.Option(help="With --sets: attributes in a set, at most; else 3.")] = None,
    person: Annotated[str | None, typer.Option(help="With --sets: the column that names the person.")] = None,
    safe_harbor: Annotated[  # noqa: FBT002
        bool, typer.Option("--safe-harbor", help="Look for the 18 identifiers of HIPAA; exit 1 if one is found.")
    ] = False,
    own: RecogniserFlags = NO_FILES,
    reader: ReaderFlags = NO_FLAGS,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Show what a table holds: value types, recognised identifiers, a proposed role and technique, and why.

    Example: shoal profile patients.csv
    """
    from shoal.cli.views.profile import print_report
    from shoal.discover import profile as profile_table
    from shoal.discover.safe_harbor import check_safe_harbor
    from shoal.io import explained
    from shoal.io.row_estimates import estimated_rows
    from shoal.scan.annotators import annotate_by
    from shoal.scan.policy_suggestion import holds_tables
    from shoal.scan.profile_report import ProfileReport, find_sets

    _refuse_senseless(sets=sets, max_size=max_size, person=person)
    if table is None and holds_tables(data):
        if sets or safe_harbor:
            raise InputError("--sets and --safe-harbor are about one table, and there are several")
        _profile_tables(data, reader, own, as_json=json)
        return
    known = own.chosen()
    source = reader.open(f"{data}#{table}" if table else data)
    with explained(source), progress(silent=json) as monitor, monitor.phase("read", estimated_rows(source)):
        frame, columns = source.scan(), monitor.progress("columns")
        found = profile_table(frame, annotate=annotate_by(recognisers=known), recognisers=known, progress=columns)
        asked = ProfileReport(
            found,
            find_sets(frame, found, max_size, person) if sets else None,
            check_safe_harbor(frame, found, recognisers=known) if safe_harbor else None,
        )
    if json:
        print_json(asked.to_dict())
    else:
        print_report(asked, data)
    if not asked.met:
        raise typer.Exit(1)


def _profile_tables(data: str, reader: ReaderFlags, own: RecogniserFlags, *, as_json: bool) -> None:
    """Every table of a folder or a database, and the keys that join them."""
    from shoal.cli.views.profile import print_profile
    from shoal.discover.table_links import domains
    from shoal.scan.policy_suggestion import as_tables, profile_tables_at

    known = own.chosen()
    with progress(silent=as_json) as monitor, monitor.phase("profile tables"):
        found = profile_tables_at(data, reader.options, known)
    for one in found.tables.values():
        reader.tell(one.source)
    joined = domains(as_tables(found), found.constrained)
    if as_json:
        told = {name: {**one.profile.to_dict(), "keys": joined[name]} for name, one in found.tables.items()}
        print_json({"tables": told})
        return
    for name, one in found.tables.items():
        print_profile(one.profile, name)
        for column, domain in joined[name].items():
            typer.echo(f"  {column}: a key of {domain}, by which tables are joined")
        typer.echo("")


def _refuse_senseless(*, sets: bool, max_size: int | None, person: str | None) -> None:
    """Before anything is read."""
    if not sets and (max_size is not None or person is not None):
        option = "--max-size" if max_size is not None else "--person"
        raise InputError(f"{option}: is about sets of attributes", advice="give --sets too")
    if max_size is not None and max_size < 1:
        raise InputError("--max-size: sets have one attribute or more")


COMMAND = CommandEntry(profile, place=50, task=FIND)
