"""What keeps a vault healthy: keys exchanged, pseudonyms ended, domains shredded, copies, checks, the audit trail."""

from __future__ import annotations

import datetime
import json as json_text
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json, print_table
from shoal.cli.terminal.progress_view import progress
from shoal.cli.vault.connection import VaultConnection, need_terminal
from shoal.cli.vault.domains import DomainName
from shoal.cli.vault.re_identification import moment_of
from shoal.errors import InputError, SourceError, TargetError

if TYPE_CHECKING:
    from shoal.vault.audit import AuditEntry
    from shoal.vault.verification import VerificationResult

Pseudonyms = Annotated[list[str], typer.Argument(metavar="PSEUDONYM", help="One or several.")]
Reason = Annotated[str, typer.Option(help="Why, in words; kept in the audit trail.")]
BackupFile = Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")]

_MOMENTS = frozenset({"until"})
"""Details that are seconds since 1970."""


def rotate(
    door: VaultConnection,
    domain: Annotated[str | None, typer.Argument(metavar="DOMAIN", help="The domain's name.")] = None,
    master: Annotated[bool, typer.Option("--master", help="Exchange the master key.")] = False,  # noqa: FBT002
    json: Json = False,  # noqa: FBT002
) -> None:
    """Exchange the key of a domain, or the master key.

    Pseudonyms stay, and others go on working meanwhile. A rotation that was cut short is taken up where it ended.

    Example: shoal vault rotate patients
    """
    if domain is None and not master:
        raise InputError("name a domain, or --master")
    with door.open() as vault, progress() as monitor:
        if domain is not None:
            vault.rotate(domain, None if monitor.sink is None else monitor.progress("rotate"))
        if master:
            vault.change_master()
    if json:
        print_json({"domain": domain, "master": master})
        return
    done = [f"domain '{domain}' has a new key"] if domain else []
    typer.echo("; ".join([*done, *(["the master key is a new one"] if master else [])]))


def revoke(
    door: VaultConnection,
    domain: DomainName,
    pseudonyms: Pseudonyms,
    reason: Reason,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Make pseudonyms invalid; the next run issues new ones.

    Example: shoal vault revoke patients 2f3k7q0a5m8r1t6w --reason "published by mistake"
    """
    with door.open() as vault:
        revoked = vault.revoke(domain, pseudonyms, reason)
    if json:
        print_json({"domain": domain, "revoked": revoked})
        return
    typer.echo(f"revoked: {revoked:,}")


def reissue(door: VaultConnection, domain: DomainName, reason: Reason, json: Json = False) -> None:  # noqa: FBT002
    """Give everybody in a domain a new pseudonym, after a loss.

    The old ones lead to their people still, for those who may reveal, and are never used again.

    Example: shoal vault reissue patients --reason "a mapping table was lost"
    """
    with door.open() as vault, _working("reissue"):
        issued = vault.reissue(domain, reason)
    if json:
        print_json({"domain": domain, "reissued": issued})
        return
    typer.echo(f"issued anew: {issued:,}; pseudonyms that are derived from a key change with the next run")


def shred(  # noqa: PLR0913, PLR0917  # one parameter for each option
    door: VaultConnection,
    domain: DomainName,
    reason: Reason,
    certificate: Annotated[Path | None, typer.Option(help="Write the proof to this file, as JSON.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,  # noqa: FBT002
    json: Json = False,  # noqa: FBT002
) -> None:
    """Destroy a domain for good, with proof.

    Its keys and entries go; nobody will name its people again. A backup that was made before still holds the keys,
    wrapped by the master key of its day: destroy it too.

    Example: shoal vault shred patients --reason "retention period over" --certificate shredded.json
    """
    if not yes:
        need_terminal("shredding is asked back", "give --yes")
        typer.echo(f"This destroys domain '{domain}' for good. Type its name to go on: ", err=True, nl=False)
        if input() != domain:
            raise InputError("that is not the domain's name; nothing was shredded")
    with door.open() as vault, _working("shred"), _certificate(certificate) as file:
        proof = vault.shred(domain, reason).to_dict()
        if file is not None:
            json_text.dump(proof, file, indent=2, sort_keys=True, ensure_ascii=False)
            file.write("\n")
    if json:
        print_json(proof)
        return
    typer.echo("shredded for good")
    for key, told in proof.items():
        typer.echo(f"  {key.replace('_', ' ') + ':':<12} {_words(told)}")


def verify(door: VaultConnection, json: Json = False) -> None:  # noqa: FBT002
    """Check that nothing in the vault is damaged, altered or missing.

    Example: shoal vault verify
    """
    with door.open() as vault, _working("verify"):
        found = vault.verify()
    if json:
        print_json({"domains": found.domains, "entries": found.entries, "audit_entries": found.audit_entries})
        return
    typer.echo(f"nothing wrong: {_counted(found)}")


def audit(
    door: VaultConnection,
    since: Annotated[str | None, typer.Option(help="From this day or moment on: 2026-11-01, 2026-11-01T09:00.")] = None,
    domain: Annotated[str | None, typer.Option(help="Of this domain only.")] = None,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Read the audit trail: who did what, when, why.

    Example: shoal vault audit --since 2026-11-01 --domain patients
    """
    first = _moment(since)
    with door.open() as vault:
        trail = vault.audit()
    shown = [
        entry
        for entry in trail
        if (first is None or datetime.datetime.fromisoformat(entry.at) >= first) and domain in (None, entry.domain)
    ]
    if json:
        print_json({"entries": [entry.to_dict() for entry in shown]})
        return
    rows = [(one.number, one.at, one.person, one.action, one.domain or "", _details(one)) for one in shown]
    print_table("Audit trail", ("entry", "at", "person", "did", "domain", "details"), rows)


def backup(door: VaultConnection, file: BackupFile, json: Json = False) -> None:  # noqa: FBT002
    """Copy the vault to a file, sealed as it is.

    The copy is opened by the same people in the same ways.

    Example: shoal vault backup hospital-2026-11.backup
    """
    with door.open() as vault, _working("backup"):
        rows = vault.backup(file)
    if json:
        print_json({"backup": str(file), "rows": rows})
        return
    typer.echo(f"{file}: {rows:,} rows")


def restore(
    door: VaultConnection,
    file: BackupFile,
    skip: Annotated[
        int | None, typer.Option(help="Pseudonyms issued since the backup, at most; where this machine can't know.")
    ] = None,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Make a vault from a backup; no pseudonym is used twice.

    Example: shoal vault restore hospital-2026-11.backup --vault hospital.vault
    """
    from shoal.vault import Vault

    if not file.is_file():
        raise SourceError(f"{file}: there is no such backup")
    if skip is not None and skip < 0:
        raise InputError("--skip: can't be negative")
    way = door.way_in()
    with _working("restore"), Vault.restore(file, door.place, way, skip=skip) as vault:
        found = vault.verify()
    if json:
        print_json({"vault": vault.name, "domains": found.domains, "entries": found.entries})
        return
    typer.echo(f"restored: {_counted(found)}")


@contextmanager
def _working(phase: str) -> Iterator[None]:
    """A sign of life on long work, if stderr is a terminal."""
    with progress() as monitor:
        monitor.progress(phase)(0, None)
        yield


def _counted(found: VerificationResult) -> str:
    from shoal.results.number_format import count

    trail = count(found.audit_entries, "audit entry", "audit entries")
    return f"{count(found.domains, 'domain')}, {count(found.entries, 'entry', 'entries')}, {trail}"


@contextmanager
def _certificate(path: Path | None) -> Iterator[IO[str] | None]:
    """The file is there before anything is destroyed, and gone again where nothing was."""
    if path is None:
        yield None
        return
    from shoal.io import new_file

    with ExitStack() as held:
        try:
            file = held.enter_context(new_file(path))
        except OSError as error:
            raise TargetError(f"{path}: the certificate can't be written ({error.strerror})") from None
        yield file


def _moment(since: str | None) -> datetime.datetime | None:
    """In UTC, if it names no other."""
    if since is None:
        return None
    try:
        found = datetime.datetime.fromisoformat(since)
    except ValueError:
        raise InputError("--since: a day or a moment as 2026-11-01 or 2026-11-01T09:00") from None
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)


def _details(entry: AuditEntry) -> str:
    return "; ".join(
        f"{key.replace('_', ' ')}: {moment_of(told) if key in _MOMENTS else _words(told)}"
        for key, told in entry.details.items()
        if told is not None
    )


def _words(told: Any) -> str:
    return ", ".join(str(one) for one in told) if isinstance(told, list) else str(told)
