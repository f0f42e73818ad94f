"""``shoal dp``: datasets that are asked with differential privacy: describing them, and what was spent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import ASK
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json, print_table, say, warn
from shoal.cli.terminal.reader import NO_FLAGS, ReaderFlags
from shoal.errors import InputError, TargetError

if TYPE_CHECKING:
    from shoal.curator.described_values import TableFit

dp = typer.Typer(
    name="dp",
    add_completion=False,
    help="Describe a dataset for private answers, and see what was spent.\n\n"
    "Example: shoal dp describe patients.csv --person patient_id -o hospital.yaml",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Description = Annotated[Path, typer.Argument(metavar="DATASET", help="The description of the dataset (YAML).")]


@dp.command()
def describe(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A file or a database URL.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the description.")],
    person: Annotated[str | None, typer.Option(help="The column that names the person.")] = None,
    rows_per_person: Annotated[int, typer.Option(help="How many rows a person may have at most.")] = 1,
    epsilon: Annotated[str, typer.Option(help="The budget in all.")] = "1",
    codebook: Annotated[Path | None, typer.Option(help="A policy whose hierarchies list categories.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file that is there.")] = False,  # noqa: FBT002
    reader: ReaderFlags = NO_FLAGS,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Draft the description of a dataset; bounds and categories are left for you to fill in, since data would tell.

    Example: shoal dp describe patients.csv --person patient_id --rows-per-person 3 -o hospital.yaml
    """
    from shoal.curator.drafting import DraftRequest, drafted
    from shoal.io import write_atomic

    if output.exists() and not force:
        raise TargetError(f"{output}: exists already", advice="--force replaces it")
    draft = drafted(
        reader.open_all({"data": data})["data"],
        DraftRequest(data, output, person, rows_per_person, epsilon, codebook),
    )
    write_atomic(output, draft.text)
    if json:
        print_json({"output": str(output), "open": list(draft.open)})
        return
    say("types were taken from the data, which is not private; bounds and categories were not")
    if person is None:
        say("each row counts as a person of its own; --person names the column that tells whose it is")
    if draft.open:
        typer.echo(f"{output}: fill in {', '.join(draft.open)}, then: shoal dp check {output}")
    else:
        typer.echo(f"{output}: complete; look it through, then: shoal query {output} …")


@dp.command()
def check(
    dataset: Annotated[Path | None, typer.Argument(metavar="DATASET", help="The description (YAML).")] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of descriptions.")] = False,  # noqa: FBT002
    data: Annotated[bool, typer.Option("--data", help="Read the data too: count what does not fit.")] = False,  # noqa: FBT002
    json: Json = False,  # noqa: FBT002
) -> None:
    """Check a description: every problem at once, with line numbers.

    Example: shoal dp check hospital.yaml
    """
    from shoal.dp.description import DatasetDescription

    if schema:
        print_json(DatasetDescription.json_schema())
        return
    if dataset is None:
        raise InputError("which description? (shoal dp check DATASET, or shoal dp check --schema)")
    described = DatasetDescription.load(dataset)
    tables = _fits(dataset) if data else ()
    if json:
        counted = {"tables": [one.to_dict() for one in tables]} if data else {}
        print_json({"ok": True, "dataset": described.name, **counted})
        return
    for table in tables:
        _print_fit(table)
    if data:
        say("these counts are exact, which is not private: they are for who keeps the data")
    if described.analysts and not described.analysts_only:
        say("who asks without --analyst pays from the dataset's budget alone; `analysts_only: true` refuses that")
    typer.echo(f"{dataset}: no problems")


def _fits(dataset: Path) -> tuple[TableFit, ...]:
    from shoal.curator.described_values import described_values

    return described_values(dataset)


def _print_fit(table: TableFit) -> None:
    """In an answer, none of it is said: what is not as described counts as missing there."""
    rows = [[one.column, f"{one.values:,}", f"{one.unlike:,}", f"{one.beyond:,}"] for one in table.columns]
    print_table(f"{table.table}: {table.rows:,} rows", ("column", "values", "not as described", "beyond bounds"), rows)
    if table.people_above or table.nameless:
        typer.echo(f"people with more rows than are used: {table.people_above:,}")
        typer.echo(f"rows that name nobody, and count for nothing: {table.nameless:,}")


@dp.command()
def begin(
    dataset: Description,
    anew: Annotated[bool, typer.Option("--anew", help="Begin another budget; the one before is lost.")] = False,  # noqa: FBT002
    moved: Annotated[bool, typer.Option("--moved", help="The dataset has another source than before.")] = False,  # noqa: FBT002
    json: Json = False,  # noqa: FBT002
) -> None:
    """Begin the budget of a dataset before its first question does, or begin another where it was lost.

    Example: shoal dp begin hospital.yaml
    """
    from shoal.curator.curator import Curator

    curator = Curator(dataset)
    made = curator.begin(anew=anew, moved=moved)
    if json:
        print_json({"dataset": curator.description.name, "begun": made})
        return
    typer.echo(f"{curator.description.name}: {'the budget is begun' if made else 'the budget was begun before'}")


@dp.command()
def budget(
    dataset: Description,
    family: Annotated[int, typer.Option(help="Say also what it means for so many people together.")] = 4,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Show what was spent and what is left, of the dataset and of each analyst.

    Example: shoal dp budget hospital.yaml
    """
    from shoal.curator.budget_state import budget_state

    if family < 1:
        raise InputError("at least 1", field="family")
    state = budget_state(dataset, family=family)
    if json:
        print_json(state.to_dict())
        return
    rows = [[one.account, f"{one.limit:g}", f"{one.spent:g}", f"{one.left:g}"] for one in state.accounts]
    print_table(state.dataset, ("budget of", "ε in all", "spent", "left"), rows)
    typer.echo(f"spent so far means ε {state.family_epsilon:g} for {family} people together, such as a family")


@dp.command()
def audit(
    dataset: Description,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Verify the ledger of a budget, and list what was asked, by whom, and what it cost.

    Example: shoal dp audit hospital.yaml
    """
    from shoal.curator.budget_state import audited

    found = audited(dataset)
    if json:
        print_json(found.to_dict())
        return
    rows = [
        [one.number, one.at, one.kind, one.analyst or "", one.epsilon or "", one.sql or one.fitted or ""]
        for one in found.entries
    ]
    print_table(found.dataset, ("no.", "when", "what", "who", "ε", "question"), rows)
    for doubt in found.doubts:
        warn(doubt)
    typer.echo(f"intact: {found.verified} entries, every one fits the one before; sums agree")


COMMAND = CommandEntry(dp, place=96, task=ASK)
