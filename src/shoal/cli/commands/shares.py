"""``shoal shares``: what the parties of a secret sharing do with their files."""

from __future__ import annotations

import json as texts
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import KEEP
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json, print_table
from shoal.cli.terminal.progress_view import working
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.secure_aggregation.secret_sharing import SharedTotal, SumOfShares

shares = typer.Typer(
    name="shares",
    add_completion=False,
    help="Add up shares of a column, and put them together.\n\n"
    "Example: shoal shares sum release/shares/party-1/pay.parquet -o sum-1.json",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Files = Annotated[
    list[Path], typer.Argument(metavar="FILE…", help="Files of shares (Parquet), of one or more parties.")
]
Sums = Annotated[
    list[Path], typer.Argument(metavar="FILE…", help="A party's shares (Parquet), or sums that parties wrote (JSON).")
]


@shares.command("sum")
def sum_(
    files: Sums,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to write a party's sum.")] = None,
    json: Json = False,  # noqa: FBT002  # the signature of a Typer command
) -> None:
    """Add up a party's shares, or put the sums of enough parties together.

    Each party adds up its own file and writes the sum; a sum by itself is a random number. With the sums of as many
    parties as the policy asked for, the sum of the column comes out, and no single value does.

    Example: shoal shares sum party-1/pay.parquet -o sum-1.json, then shoal shares sum sum-1.json sum-2.json
    """
    from shoal.secure_aggregation.secret_sharing import combine_shares, read_sum, sum_of_shares

    with working("add up", silent=json):
        sums = [read_sum(file) if file.suffix == ".json" else sum_of_shares(file) for file in files]
    if len(sums) > 1:
        if output is not None:
            raise InputError("--output: writes the sum of one party; give one file of shares")
        _print_total(combine_shares(sums), as_json=json)
        return
    if output is not None:
        from shoal.io import write_atomic

        write_atomic(output, texts.dumps(sums[0].to_dict(), indent=1) + "\n")
    _print_share(sums[0], output, as_json=json)


@shares.command()
def rebuild(
    files: Files,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the table (CSV or Parquet).")],
    json: Json = False,  # noqa: FBT002
) -> None:
    """Put the values together again, from the files of enough parties.

    This is re-identification: the file that comes out is the column as it was.

    Example: shoal shares rebuild party-1/pay.parquet party-3/pay.parquet -o pay.csv
    """
    from shoal.io import file_target
    from shoal.io.frames import FrameSource
    from shoal.secure_aggregation.secret_sharing import rebuild as put_together

    if output.suffix not in (".csv", ".parquet"):
        raise InputError(f"{output}: give a name that ends in .csv or .parquet")
    if output.exists():
        raise InputError(f"{output}: is there already")
    with working("put together", silent=json):
        table = put_together(files)
        file_target(output, like=FrameSource(table.lazy()), private=True).write(table.lazy())
    if json:
        print_json({"path": str(output), "records": table.height, "columns": table.columns[1:]})
    else:
        typer.echo(f"{output}: {table.height:,} records of {', '.join(table.columns[1:])}")


def _print_total(total: SharedTotal, *, as_json: bool) -> None:
    if as_json:
        print_json(total.to_dict())
        return
    row = (f"{total.records:,}", f"{total.present:,}", total.sum, "" if total.mean is None else f"{total.mean:g}")
    print_table(f"{total.column}: all records", ("records", "with a value", "sum", "mean"), [row])


def _print_share(share: SumOfShares, output: Path | None, *, as_json: bool) -> None:
    if as_json:
        print_json(share.to_dict())
        return
    about = share.about
    where = "print it with --json or write it with -o" if output is None else str(output)
    typer.echo(f"{about.column}: party {about.party}'s share of the sum of {share.records:,} records: {where}")
    typer.echo(f"{about.threshold} of {about.parties} parties' sums together are the sum of the column")


COMMAND = CommandEntry(shares, place=130, task=KEEP)
