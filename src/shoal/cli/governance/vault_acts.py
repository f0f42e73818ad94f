"""What is done in the vault and recorded in the registry: new pseudonyms after a loss, destruction at the end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.governance.registry_place import NO_ACTOR, NO_REGISTRY, ActorOption, RegistryOption
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json
from shoal.cli.vault.connection import NO_VAULT, VaultFlags

if TYPE_CHECKING:
    from shoal.vault import Vault


def reissue(
    incident: Annotated[str, typer.Argument(metavar="ID", help="The incident.")],
    domain: Annotated[str, typer.Option(help="The domain of the vault whose mapping was lost.")],
    registry: RegistryOption = NO_REGISTRY,
    actor: ActorOption = NO_ACTOR,
    door: VaultFlags = NO_VAULT,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Issue new pseudonyms for everybody in a domain after its mapping was lost, and record it in the incident.

    Example: shoal register reissue I-1 --domain patients --vault keys.vault --by asha
    """
    with registry.opened() as opened:
        opened.require("incident", "reissue", incident, by=actor.name)
        with door.connection().open() as vault:
            count = vault.reissue(domain, f"incident {incident}")
        opened.perform("incident", "reissue", incident, {"domain": domain, "pseudonyms": count}, by=actor.name)
    if json:
        print_json({"incident": incident, "domain": domain, "pseudonyms": count})
        return
    typer.echo(f"incident {incident}: {count} pseudonyms of {domain} were issued anew")


def destroy(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="Of the destruction, as D-1.")],
    release: Annotated[str, typer.Option(help="The registered release.")],
    folder: Annotated[Path, typer.Option(help="Its folder, which is deleted.")],
    reason: Annotated[str, typer.Option(help="Why its time is over.")],
    domain: Annotated[str, typer.Option(help="A domain of the vault, whose keys are shredded.")] = "",
    registry: RegistryOption = NO_REGISTRY,
    actor: ActorOption = NO_ACTOR,
    door: VaultFlags = NO_VAULT,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Destroy a release whose time is over, and what leads back to people; the proof stays in the registry.

    Example: shoal register destroy D-1 --release 2026-q1 --folder release/ --reason "the study is over" --by chan
    """
    from shoal.govern.destruction import destroy_release

    opened_vaults: list[Vault] = []

    def vault() -> Vault:
        opened_vaults.append(door.connection().open())
        return opened_vaults[0]

    try:
        with registry.opened() as opened:
            done = destroy_release(
                opened,
                identifier,
                release=release,
                folder=folder,
                reason=reason,
                by=actor.name,
                domain=domain,
                vault=vault,
            )
    finally:
        for one in opened_vaults:
            one.__exit__(None, None, None)
    if json:
        print_json(done.model_dump(mode="json"))
        return
    typer.echo(f"destruction {identifier}: {len(done.files)} files, {done.mappings} mappings are gone")
