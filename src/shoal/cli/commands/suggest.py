"""``shoal suggest``: a policy to start from, for a table, a folder of tables or a whole database."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.flags import flag
from shoal.cli.terminal.help import PREPARE
from shoal.cli.terminal.output import print_json
from shoal.cli.terminal.progress_view import progress
from shoal.cli.terminal.reader import NO_FLAGS, ReaderFlags
from shoal.cli.terminal.recognisers import NO_FILES, RecogniserFlags

if TYPE_CHECKING:
    from shoal.discover.suggestion.policy_draft import Suggestion
    from shoal.schema.progress import Monitor


def suggest(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A file, a folder of tables or a database URL.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The policy file; else it is printed.")] = None,
    use_case: Annotated[
        str,
        typer.Option(
            help="internal-deidentified, internal-anonymised, external-sharing, retention, test-data, public."
        ),
    ] = "external-sharing",
    person: Annotated[str | None, typer.Option(help="The column that names the person, where it is not found.")] = None,
    purpose: Annotated[
        str | None, typer.Option(help='What the data is for, by its columns: "diabetes by age". The rest is left out.')
    ] = None,
    name: Annotated[str | None, typer.Option(help="What the policy is called; else by the data.")] = None,
    keep_joinable: Annotated[  # noqa: FBT002
        bool, typer.Option("--keep-joinable", help="Several tables: keep keys as pseudonyms, for outsiders too.")
    ] = False,
    rules: Annotated[  # noqa: FBT002
        bool,
        typer.Option("--rules", help="Add edit rules: values that many have, nobody together. It names them."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file that is there.")] = False,  # noqa: FBT002
    own: RecogniserFlags = NO_FILES,
    reader: ReaderFlags = NO_FLAGS,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines, and nothing else, on stdout.")] = False,  # noqa: FBT002
) -> None:
    """Suggest a policy that runs as it is: a role and a technique for each column, with the reason as a comment.

    Example: shoal suggest patients.csv -o policy.yaml --use-case external-sharing
    """
    from shoal.errors import InputError, TargetError
    from shoal.policy import UseCase
    from shoal.schema.registry import did_you_mean

    cases = tuple(str(case) for case in UseCase)
    if use_case not in cases:
        raise InputError(
            f"--use-case: there is none called '{use_case}'{did_you_mean(use_case, cases)}", advice=", ".join(cases)
        )
    if output is not None and output.exists() and not force:
        raise TargetError(f"{output}: exists already", advice="--force replaces it")
    if output is not None and not output.parent.is_dir():
        raise TargetError(f"{output}: its folder does not exist")
    with progress(silent=json) as monitor:
        found = _suggested(
            data,
            UseCase(use_case),
            output,
            reader,
            own,
            monitor,
            person=person,
            purpose=purpose,
            name=name,
            keep_joinable=keep_joinable,
            rules=rules,
        )
    if output is not None:
        from shoal.io import write_atomic

        write_atomic(output, found.text)
    if json:
        print_json({"policy": found.text, "person": found.person, "notes": list(found.notes), **_told(found)})
    elif output is None:
        typer.echo(found.text, nl=False)
    else:
        _print(found, output)


def _suggested(
    data: str,
    use_case: object,
    output: Path | None,
    reader: ReaderFlags,
    own: RecogniserFlags,
    monitor: Monitor,
    *,
    person: str | None,
    purpose: str | None,
    name: str | None,
    keep_joinable: bool,
    rules: bool,
) -> Suggestion:
    from shoal.discover.suggestion.policy_draft import suggest as suggest_table
    from shoal.discover.suggestion.rule_proposals import with_rules
    from shoal.errors import InputError
    from shoal.policy import UseCase
    from shoal.release.suggestion_trial import try_out
    from shoal.scan.policy_suggestion import (
        beside,
        holds_tables,
        policy_name,
        profile_tables_at,
        profiled,
        suggest_multi_table,
    )
    from shoal.scrub.own_recognisers import recognisers_with

    case = UseCase(str(use_case))
    folder = (output.parent if output is not None else Path()).resolve()
    title = name or policy_name(data)
    files = own.files(folder=folder)
    known = recognisers_with(files)
    if holds_tables(data):
        if person is not None or purpose is not None or rules:
            raise InputError("--person, --purpose and --rules are about one table, and there are several")
        with monitor.phase("profile tables"):
            tables = profile_tables_at(data, reader=reader.options, recognisers=known)
        return suggest_multi_table(tables, title, case, folder, keep_joinable=keep_joinable, style=flag)
    if keep_joinable:
        raise InputError("--keep-joinable is about several tables, and there is one")
    table = profiled(data, reader.open(data), reader.options, known, monitor=monitor)
    source = table.source_setting(folder)
    named = [beside(path, folder) for path in files]
    draft = partial(
        suggest_table,
        table.profile,
        name=title,
        use_case=case,
        source=source,
        person=person,
        purpose=purpose,
        recognisers=named,
    )
    found = try_out(draft(), draft, table.source)
    return found if not rules else with_rules(found, table.source.scan(), case)


def _told(found: Suggestion) -> dict[str, object]:
    return {
        "attributes": {name: {**one.entry, "reason": one.reason} for name, one in found.choices.items()},
    }


def _print(found: Suggestion, output: Path) -> None:
    from shoal.errors import styled
    from shoal.schema import Role

    for note in found.notes:
        typer.echo(f"note: {styled(note, flag)}")
    roles = ", ".join(
        f"{sum(one.role is role for one in found.choices.values())} {role}"
        for role in Role
        if any(one.role is role for one in found.choices.values())
    )
    typer.echo(f"{output}: {len(found.choices)} attributes ({roles})")
    typer.echo(f"next:    shoal run {output}")


COMMAND = CommandEntry(suggest, place=60, task=PREPARE)
