"""What a review of accounts looks at (G-08)."""

from __future__ import annotations

from shoal.govern.kinds.person import PersonState
from shoal.govern.registry import GovernanceRegistry


def account_rows(registry: GovernanceRegistry) -> list[tuple[str, str, str, str, str, str]]:
    """Person, status, roles, last use, last review, end of training."""
    used = registry.last_use()
    people = {name: one for name, one in registry.states("person").items() if isinstance(one, PersonState)}
    return [
        (
            name,
            one.status,
            ", ".join(one.roles),
            used.get(name, "never"),
            "" if one.reviewed_on is None else one.reviewed_on.isoformat(),
            "" if one.trained_until is None else one.trained_until.isoformat(),
        )
        for name, one in people.items()
    ]
