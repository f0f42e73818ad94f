"""``shoal vault decrypt``: a column that ``encrypt`` made unreadable, readable again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json
from shoal.cli.vault.connection import VaultConnection
from shoal.errors import BugError, InputError

if TYPE_CHECKING:
    import polars as pl

    from shoal.crypto import Key
    from shoal.techniques.cryptographic.encryption.encrypt import Encrypt
    from shoal.vault import Vault


def decrypt(  # noqa: PLR0913, PLR0917  # one parameter for each option
    door: VaultConnection,
    data: Annotated[str, typer.Argument(metavar="DATA", help="A release folder or its data file.")],
    column: Annotated[str, typer.Option(help="The column to decrypt.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    reason: Annotated[str, typer.Option(help="Why, in words; kept in the audit trail.")],
    policy: Annotated[Path | None, typer.Option(help="Take scheme and domain from the policy of the release.")] = None,
    scheme: Annotated[str | None, typer.Option(help="deterministic (or left out), format_preserving.")] = None,
    domain: Annotated[str | None, typer.Option(help="The domain of its key; left out, the column's name.")] = None,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Decrypt a column of a release into a new file.

    A whole column can't be approved: where the domain asks for approvals it is refused.

    Example: shoal vault decrypt release/ --column phone --policy policy.yaml -o opened.csv --reason "recall of a drug"
    """
    from shoal.io import explained, file_target
    from shoal.io.frames import source_at
    from shoal.results.release_folder import ReleaseFolder

    if policy is not None and (scheme is not None or domain is not None):
        raise InputError("--policy: says which scheme and domain; leave them out")
    technique = _from_options(scheme, domain) if policy is None else _from_policy(policy, column)
    _refuse_scheme(technique)
    source = source_at(ReleaseFolder.at(data).data)
    target = file_target(output, like=source, private=True)
    with explained(source):
        frame = source.scan()
        if column not in frame.collect_schema().names():
            raise InputError(f"the data has no column '{column}'")
        with door.open() as vault:
            opened = _opened(frame, column, technique, _Opening(vault, reason))
        target.write(opened)
    if json:
        print_json({"column": column, "path": str(target.path)})
        return
    typer.echo(f"{target.path}: '{column}' is readable")


@dataclass(frozen=True)
class _Opening:
    """The vault as the technique sees it: each key that it asks for is in the audit trail first."""

    vault: Vault
    reason: str
    lasting: ClassVar[bool] = True

    def key(self, domain: str, purpose: str) -> Key:
        return self.vault.key_for_decryption(domain, purpose, self.reason)

    def issue(self, *_: Any) -> Any:
        raise BugError("decrypting issues no pseudonyms")

    remember = issue


def _opened(frame: pl.LazyFrame, column: str, technique: Encrypt, opening: _Opening) -> pl.LazyFrame:
    """The work is done once for each distinct value."""
    import polars as pl

    from shoal.kernels.replacing import replaced

    sealed = frame.select(pl.col(column).cast(pl.String).unique()).collect(engine="streaming").to_series().drop_nulls()
    plain = technique.undo(column, sealed, opening)
    return frame.with_columns(replaced(pl.col(column).cast(pl.String), sealed, plain, pl.String()).alias(column))


def _refuse_scheme(technique: Encrypt) -> None:
    """Before the key is asked for: the audit trail tells of what was opened, not of what can't be."""
    from shoal.techniques.cryptographic.encryption.encrypt import EncryptionScheme

    if technique.scheme not in (EncryptionScheme.DETERMINISTIC, EncryptionScheme.FORMAT_PRESERVING):
        raise InputError(f"columns of the scheme {technique.scheme} can't be decrypted by this command")


def _from_options(scheme: str | None, domain: str | None) -> Encrypt:
    from pydantic import ValidationError

    from shoal.techniques.cryptographic.encryption.encrypt import Encrypt, EncryptionScheme

    if scheme is not None and scheme not in tuple(EncryptionScheme):
        raise InputError(f"--scheme: there is no scheme '{scheme}'", advice=", ".join(EncryptionScheme))
    said: Mapping[str, str | None] = {"scheme": scheme, "key": domain}
    try:
        return Encrypt(**{name: given for name, given in said.items() if given is not None})
    except ValidationError:
        raise InputError("--domain: is no name of a domain") from None


def _from_policy(path: Path, column: str) -> Encrypt:
    from shoal.policy import Policy
    from shoal.techniques.cryptographic.encryption.encrypt import FILE, Encrypt

    attribute = Policy.load(path).attributes.get(column)
    last = attribute.steps[-1] if attribute is not None and attribute.steps else None
    if not isinstance(last, Encrypt):
        raise InputError(f"the policy doesn't end with `encrypt` for '{column}'")
    if last.key_name is not None and last.key_name.startswith(FILE):
        raise InputError(f"the key of '{column}' is in a file, not in the vault")
    return last
