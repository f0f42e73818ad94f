"""``shoal verify``: whether a release, a signed PDF, a registry or a budget is as it was written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.governance.registry_place import trusted_key
from shoal.cli.terminal.help import GOVERN
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json, say
from shoal.cli.terminal.progress_view import working
from shoal.errors import InputError


def verify(
    thing: Annotated[
        str, typer.Argument(metavar="RELEASE|PDF|LEDGER", help="A release, a signed PDF, a registry or a budget.")
    ],
    key: Annotated[Path | None, typer.Option("--key", help="The public key of who signed (PEM).")] = None,
    anchor: Annotated[
        list[Path] | None, typer.Option("--anchor", help="A checkpoint that was kept elsewhere. May be repeated.")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option("--policy", help="Of a release: whether it was made by this policy.")
    ] = None,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Verify a release, a signed PDF, a registry or a budget; exit code 0 where it is intact, 1 where it was changed.

    Example: shoal verify release/ --key devi.pem.pub
    """
    from shoal.errors import IntegrityError

    trusted = () if key is None else (trusted_key(key),)
    try:
        with working("verify", silent=json):
            told = _verified(thing, trusted, anchor or [], policy)
    except IntegrityError as error:
        if json:
            print_json({"intact": False, "because": error.message})
        else:
            typer.echo(f"changed: {error.message}")
        raise typer.Exit(1) from None
    if key is None:
        say("without a key this shows changes, not who signed")
    if json:
        print_json({"intact": True, **told})
        return
    typer.echo("intact: " + ", ".join(f"{name} {value}" for name, value in told.items() if not isinstance(value, dict)))


def _verified(thing: str, trusted: tuple[bytes, ...], anchors: list[Path], policy: Path | None) -> dict[str, object]:
    if Path(thing).is_dir():
        return _release(Path(thing), trusted, policy)
    if policy is not None:
        raise InputError("is for release folders", field="policy")
    return _pdf(Path(thing), trusted) if thing.lower().endswith(".pdf") else _registry(thing, trusted, anchors)


def _pdf(document: Path, trusted: tuple[bytes, ...]) -> dict[str, object]:
    from shoal.govern.certificates import fingerprint, verify_pdf_file

    found = verify_pdf_file(document, trusted)
    told = {"document": document.name, "signed by": found.name, "at": found.signed_at}
    return {**told, "signer": fingerprint(found.public), "trusted": found.trusted}


def _release(folder: Path, trusted: tuple[bytes, ...], policy: Path | None) -> dict[str, object]:
    from shoal.govern.certificates import verify_release

    found = verify_release(folder, trusted, policy=policy)
    return {
        "release": found.name,
        "issued": found.issued,
        "signer": found.signer,
        "trusted": found.trusted,
        "files": found.files,
        "figures": dict(found.figures),
    }


def _registry(place: str, trusted: tuple[bytes, ...], anchors: list[Path]) -> dict[str, object]:
    import json

    from shoal.curator.budget_ledger import BudgetLedger
    from shoal.govern.registry import GovernanceRegistry
    from shoal.ledger import Checkpoint

    try:
        kept = [Checkpoint.from_dict(json.loads(path.read_text(encoding="utf-8"))) for path in anchors]
    except (OSError, ValueError):
        raise InputError("can't be read", field="anchor") from None
    if Path(place).is_file() and (budget := BudgetLedger.of_file(Path(place))) is not None:
        with budget:
            facts = budget.verify(signers=trusted, anchors=kept)
        return {"budget of": budget.dataset, "entries": facts.entries, "signed_through": facts.signed_through}
    with GovernanceRegistry.open(place) as registry:
        found = registry.verify(signers=trusted, anchors=kept)
    signed = found.ledger.signed_through
    if trusted and signed < found.entries:
        say(f"entries {signed + 1} to {found.entries} came after the last signature: nothing vouches for them yet")
    return {
        "entries": found.entries,
        "records": found.records,
        "purged": found.purged,
        "signed_through": found.ledger.signed_through,
    }


COMMAND = CommandEntry(verify, place=107, task=GOVERN)
