"""What of a policy takes keys or pseudonyms from a vault, and where that vault is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from shoal.techniques import Technique
from shoal.techniques.cryptographic.encryption.encrypt import FILE, Encrypt
from shoal.techniques.free_text.scrub import Scrub
from shoal.techniques.pseudonymisation.identity import Identity
from shoal.techniques.pseudonymisation.pseudonymise import Pseudonymise
from shoal.techniques.randomisation.shift_dates import ShiftDates

if TYPE_CHECKING:
    from shoal.policy.model import Policy


def needs_vault(policy: Policy) -> bool:
    """Whether a run would ask a vault for anything."""
    return any(_pseudonymised(policy)) or any(_encrypted(policy)) or Identity.key in policy.table_steps


def vault_of(policy: Policy) -> str | None:
    """Where the policy's vault is: an address as it stands, a path from the policy's folder."""
    if policy.vault is None or "://" in policy.vault:
        return policy.vault
    return str(policy.folder / policy.vault)


def warnings_without_vault(policy: Policy, *, vaulted: bool) -> Iterator[str]:
    """Encryption without a vault is refused, so there is nothing to warn of."""
    names = ", ".join(f"'{name}'" for name in dict.fromkeys(_pseudonymised(policy)))
    if names and not vaulted:
        yield (
            f"no vault is named, so the pseudonyms of {names} are of this run only: no other release has the same, and "
            "nobody can be found by them"
        )


def _pseudonymised(policy: Policy) -> Iterator[str]:
    for name, attribute in policy.attributes.items():
        yield from (name for step in attribute.steps if isinstance(step, Pseudonymise | ShiftDates) or _stands_in(step))


def _stands_in(step: Technique) -> bool:
    """Whether a text gets stand-ins or shifted dates, which come from a key."""
    return isinstance(step, Scrub) and (step.replace == "pseudonym" or step.dates == "shift")


def _encrypted(policy: Policy) -> Iterator[str]:
    for name, attribute in policy.attributes.items():
        for step in attribute.steps:
            if isinstance(step, Encrypt) and not (step.key_name or "").startswith(FILE):
                yield name
