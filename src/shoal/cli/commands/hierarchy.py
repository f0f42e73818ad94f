"""``shoal hierarchy``: a hierarchy for a column, proposed by its values; any hierarchy drawn as a tree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import PREPARE
from shoal.cli.terminal.options import Input, Json
from shoal.cli.terminal.output import print_json, warn
from shoal.cli.terminal.progress_view import working
from shoal.cli.terminal.reader import NO_FLAGS, ReaderFlags
from shoal.errors import InputError, TargetError

if TYPE_CHECKING:
    from shoal.discover.suggestion.hierarchy_choice import HierarchyChoice
    from shoal.hierarchy.tree import HierarchyTree

app = typer.Typer(
    name="hierarchy",
    help="Find a hierarchy for a column, or draw one.\n\nExample: shoal hierarchy suggest patients.csv diagnosis",
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)
SHOWN = 12
"""Values of one group that are drawn; with ``--all``, all of them."""


@app.command()
def suggest(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A file, or a table of a database.")],
    column: Annotated[str, typer.Argument(metavar="COLUMN", help="The column.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write value and labels of each level (CSV, as ARX reads it).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file that is there.")] = False,  # noqa: FBT002
    reader: ReaderFlags = NO_FLAGS,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Propose a hierarchy for a column: intervals, periods, codes of a classification, places, prefixes.

    Example: shoal hierarchy suggest patients.csv diagnosis
    """
    from shoal.discover.suggestion.hierarchy_choice import choose_hierarchy
    from shoal.discover.suggestion.policy_yaml import setting
    from shoal.io import explained
    from shoal.io.row_estimates import estimated_rows

    if output is not None and output.exists() and not force:
        raise TargetError(f"{output}: exists already", advice="--force replaces it")
    source = reader.open(data)
    with explained(source), working("read", estimated_rows(source), silent=json):
        found = choose_hierarchy(source.scan(), column)
    if output is not None:
        _write(found, output)
        warn(f"{output} lists the values of '{column}': keep it where the data is kept")
    levels = _levels(found)
    if json:
        print_json({"column": column, "hierarchy": found.setting, "reason": found.reason, "source": found.source,
                    "values": len(found.values), "levels": levels})  # fmt: skip
        return
    typer.echo(f"{column}: {found.reason}")
    if found.source:
        typer.echo(f"facts:  {found.source}")
    counted = " → ".join(f"{number:,}" for number in levels)
    typer.echo(f"levels: {counted} (distinct labels, from the value as it is to *)")
    entry: dict[str, object] = {"role": "quasi"} | ({} if found.setting is None else {"hierarchy": found.setting})
    typer.echo(f"\nattributes:\n  {setting(column)}: {setting(entry)}")


@app.command()
def show(
    place: Annotated[str, typer.Argument(metavar="FILE|POLICY|NAME", help="A hierarchy file, a policy, or as icd-10.")],
    column: Annotated[str | None, typer.Argument(metavar="[COLUMN]", help="Of a policy: whose hierarchy.")] = None,
    input: Input = None,  # noqa: A002  # the option is called --input
    everything: Annotated[bool, typer.Option("--all", help="Draw every value, not only the first of a group.")] = False,  # noqa: FBT002
    json: Json = False,  # noqa: FBT002
) -> None:
    """Draw a hierarchy as a tree. Where it depends on the data, its groups are drawn and no value.

    Example: shoal hierarchy show hierarchies/education.csv
    """
    from shoal.plan.hierarchy_view import view_hierarchy

    if input is not None and column is None:
        raise InputError("--input: goes with a policy and a column")
    with working("read", silent=json):
        tree = view_hierarchy(place, column, input)
    if json:
        print_json(tree.to_dict())
    else:
        _draw(tree, column or place, everything=everything)


def _levels(found: HierarchyChoice) -> list[int]:
    return [
        int(found.bound.generalise(found.values, level).n_unique()) for level in range(found.bound.height + 1)
    ]  # fmt: skip


def _write(found: HierarchyChoice, output: Path) -> None:
    import csv

    from shoal.io import atomic_text

    levels = range(found.bound.height + 1)
    columns = [found.bound.generalise(found.values, level).cast(str).to_list() for level in levels]
    with atomic_text(output, private=True) as file:
        csv.writer(file, delimiter=";", lineterminator="\n").writerows(zip(*columns, strict=True))


def _draw(tree: HierarchyTree, title: str, *, everything: bool) -> None:
    import sys

    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

    from shoal.errors import printable

    def grow(branch: Tree, groups: tuple[HierarchyTree, ...]) -> None:
        inner = [group for group in groups if group.groups]
        alone = [group for group in groups if not group.groups]
        shown = alone if everything else alone[:SHOWN]
        for group in (*inner, *shown):
            many = f"  ({group.values:,})" if group.values > 1 or group.groups else ""
            grow(branch.add(Text(printable(group.label) + many)), group.groups)
        if len(alone) > len(shown):
            branch.add(Text(f"… {len(alone) - len(shown):,} more (--all draws them)"))

    drawn = Tree(Text(f"{printable(title)}: * ({tree.values:,})"))
    grow(drawn, tree.groups)
    Console(width=None if sys.stdout.isatty() else 200).print(drawn)


COMMAND = CommandEntry(app, place=65, task=PREPARE)
