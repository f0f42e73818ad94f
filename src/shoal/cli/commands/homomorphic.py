"""``shoal homomorphic``: sums of an encrypted column, computed without the key, opened with it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import KEEP
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json, print_table
from shoal.cli.terminal.progress_view import working
from shoal.cli.vault.connection import NO_VAULT, VaultFlags
from shoal.errors import DataError, InputError

if TYPE_CHECKING:
    import polars as pl

    from shoal.pseudonyms import Secrets
    from shoal.secure_aggregation.opened_total import OpenedTotal

    Opening = Callable[[], AbstractContextManager[Secrets]]

MOST_GROUPS = 1_000
"""Each total is a ciphertext of some 600 kB in the file."""

homomorphic = typer.Typer(
    name="homomorphic",
    add_completion=False,
    help="Add up an encrypted column without the key, and open the totals with it.\n\n"
    "Example: shoal homomorphic sum release/ --column pay --by ward -o totals.json",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@homomorphic.command("sum")
def sum_(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The folder of the release.")],
    column: Annotated[str, typer.Option(help="The encrypted column.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the encrypted totals.")],
    where: Annotated[str | None, typer.Option(metavar="COLUMN=VALUE", help="Only records that say so.")] = None,
    by: Annotated[str | None, typer.Option(metavar="COLUMN", help="A total for each value of this column.")] = None,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Add up an encrypted column, all of it or by another column of the released table. Needs no key.

    The totals are encrypted too: send the file to the owner of the data, who opens it.

    Example: shoal homomorphic sum release/ --column pay --where ward=north -o total.json
    """
    from shoal.secure_aggregation.homomorphic import ALL, encrypted_file, encrypted_sums

    if where is not None and by is not None:
        raise InputError("give --where or --by, not both")
    file = encrypted_file(release, column)
    with working("add up", silent=json):
        masks = {ALL: None} if where is None and by is None else _masks(release, where, by)
        totals = encrypted_sums(file, masks)
    totals.write(output)
    records = {name: total.records for name, total in totals.totals.items()}
    if json:
        print_json({"path": str(output), "column": column, "records": records})
    else:
        typer.echo(f"{output}: {len(records)} encrypted total(s) of {column}, over {sum(records.values()):,} records")


@homomorphic.command("open")
def open_(
    totals: Annotated[Path, typer.Argument(metavar="TOTALS", help="The file of encrypted totals.")],
    key: Annotated[str | None, typer.Option(help="The key as the policy names it; by default the column's.")] = None,
    door: VaultFlags = NO_VAULT,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Open encrypted totals, with the vault or the key file that the policy named.

    Example: shoal homomorphic open totals.json --vault hospital.vault
    """
    open_and_print(totals, key, lambda: door.connection().open(), as_json=json)


def open_and_print(path: Path, key: str | None, secrets: Opening, *, as_json: bool) -> None:
    """``secrets`` is asked only where the key is a domain of the vault."""
    from pydantic import ValidationError

    from shoal.secure_aggregation.homomorphic import EncryptedTotals, open_totals
    from shoal.techniques.cryptographic.encryption.encrypt import FILE, Encrypt, EncryptionScheme

    totals = EncryptedTotals.read(path)
    try:
        technique = Encrypt(scheme=EncryptionScheme.HOMOMORPHIC, key_name=key).resolve(Path())
    except ValidationError:
        raise InputError("--key: give the name of a domain of the vault, or file:PATH") from None
    with nullcontext() if key is not None and key.startswith(FILE) else secrets() as found:
        secret = technique.secret(totals.column, found)
    opened = open_totals(totals, secret)
    if as_json:
        print_json({"column": totals.column, "totals": {name: each.to_dict() for name, each in opened.items()}})
    else:
        _print(totals.column, opened)


def _masks(release: Path, where: str | None, by: str | None) -> dict[str, pl.Series]:
    """The records of each group, in the order in which they were released."""
    name, said, value = (by or where or "").partition("=")
    if (said == "=") != (where is not None) or not name:
        raise InputError("--where takes COLUMN=VALUE, and --by takes COLUMN")
    values = _column(release, name)
    if where is not None:
        return {where: values == value}
    groups = values.unique().sort()
    if len(groups) > MOST_GROUPS:
        raise DataError(f"--by: column '{name}' has more than {MOST_GROUPS:,} values")
    return {f"{name}={'' if group is None else group}": values.eq_missing(group) for group in groups}


def _column(release: Path, name: str) -> pl.Series:
    import polars as pl

    from shoal.io import explained
    from shoal.io.frames import source_at
    from shoal.results.release_folder import ReleaseFolder
    from shoal.schema.registry import did_you_mean

    folder = ReleaseFolder.at(str(release))
    folder.require_untouched()
    source = source_at(folder.data)
    with explained(source):
        frame = source.scan()
        names = tuple(frame.collect_schema())
        if name not in names:
            raise DataError(f"the released table has no column '{name}'{did_you_mean(name, names)}")
        return frame.select(pl.col(name).cast(pl.String)).collect()[name]


def _print(column: str, opened: dict[str, OpenedTotal]) -> None:
    rows = [
        (name or "all records", f"{each.records:,}", f"{each.present:,}", each.sum, _mean(each))
        for name, each in opened.items()
    ]
    print_table(f"{column}, opened", ("", "records", "with a value", "sum", "mean"), rows)


def _mean(total: OpenedTotal) -> str:
    return "" if total.mean is None else f"{total.mean:g}"


COMMAND = CommandEntry(homomorphic, place=140, task=KEEP)
