"""The register of people who withdrew: how they get into it, and how a release is kept clear of them (G-13)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final

from shoal.crypto import Key
from shoal.crypto.domain_keys import KeyHolder, domain_key
from shoal.errors import InputError
from shoal.govern.kinds.opt_out import OptOutState
from shoal.govern.registry import GovernanceRegistry
from shoal.io.withdrawn_people import WithdrawnPeople, identity_digest

DOMAIN: Final = "opt-outs"
"""Of the vault whose key makes digests of identifiers."""
PURPOSE: Final = "opt-out"


def opt_out_key(vault: KeyHolder, *, new: bool = False) -> Key:
    """Of the vault's domain for it, which ``new`` makes where there is none."""
    return domain_key(vault, DOMAIN, PURPOSE, new=new)


def withdraw_people(
    registry: GovernanceRegistry, key: Key, identifiers: Iterable[str], *, by: str, projects: Collection[str] = ()
) -> int:
    """Enter people by their identifiers, which are not kept. How many are new; who is there already is not counted."""
    asked = {identity_digest(key, one) for one in identifiers if one.strip()}
    if not asked:
        raise InputError("nobody is named: one identifier in a line")
    known = _known(registry)
    _require_one_key(known.values(), key)
    told = {"key_fingerprint": key.fingerprint(), "projects": tuple(projects)}
    new = asked - known.keys()
    back = {one for one in asked & known.keys() if known[one].status == "returned"}
    narrow = [
        one for one in asked & known.keys() - back if known[one].projects and set(known[one].projects) != set(projects)
    ]
    for act, who in (("withdraw", new), ("again", back), ("widen", narrow)):
        if who:
            registry.perform_all("opt-out", act, dict.fromkeys(sorted(who), told), by=by)
    return len(new) + len(back)


def people_who_come_back(registry: GovernanceRegistry, key: Key, identifiers: Iterable[str], *, by: str) -> int:
    """Take people in again. Who never withdrew is refused, as it may be a slip of the pen."""
    digests = [identity_digest(key, one) for one in identifiers if one.strip()]
    registry.perform_all("opt-out", "return", {digest: {} for digest in digests}, by=by)
    return len(digests)


def withdrawn_people(registry: GovernanceRegistry, project: str, key: Callable[[], Key]) -> WithdrawnPeople | None:
    """Who is to be left out of what a project releases; None where nobody withdrew. The key is asked for if needed.

    Refused where a digest was made with another key: it would fit nobody, and somebody would be let through.
    """
    found = registry.state("project", project)
    if found.status != "open":
        raise InputError(f"project '{project}' is {found.status}")
    gone = {digest: one for digest, one in _known(registry).items() if one.holds_for(project)}
    if not gone:
        return None
    opened = key()
    _require_one_key(gone.values(), opened)
    return WithdrawnPeople(opened, frozenset(gone))


def _known(registry: GovernanceRegistry) -> dict[str, OptOutState]:
    return {digest: one for digest, one in registry.states("opt-out").items() if isinstance(one, OptOutState)}


def _require_one_key(states: Iterable[OptOutState], key: Key) -> None:
    if any(one.key_fingerprint != key.fingerprint() for one in states if one.status == "withdrawn"):
        raise InputError(
            "people withdrew under another key than this vault's, and would not be known",
            advice="open the vault that they were entered with, or enter them again",
        )
