"""The whole matrix of the rights file (G-08): every act, each role, any status; what no line allows is refused."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from tests.govern.test_registry import STATUSES, usual_of

from shoal.errors import AccessError
from shoal.govern import registry as registry_module
from shoal.govern import rights
from shoal.govern.record_kinds import RecordState, record_kinds
from shoal.govern.registry import PURGED, GovernanceRegistry
from shoal.govern.rights import is_allowed, role_rights

pytestmark = pytest.mark.requirement("G-08")


@pytest.mark.parametrize("kind", STATUSES)
def test_no_status_of_a_record_gives_a_right(
    registry: GovernanceRegistry, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Who has no right is told so before anything else is looked at, and the ledger stays as it was."""
    known = registry_module._RegistryTransaction._found  # the one place that a status comes from
    model, before, refused = record_kinds.get(kind).state, registry.verify().entries, 0
    for status in ["", *STATUSES[kind]]:

        def found(self: Any, asked: str, identifier: str, status: str = status) -> RecordState | None:
            if (asked, identifier) != (kind, "one"):
                return known(self, asked, identifier)
            return model.model_construct(status=status) if status else None

        monkeypatch.setattr(registry_module._RegistryTransaction, "_found", found)
        for act, role in product([*record_kinds.get(kind).acts, PURGED], role_rights()):
            if is_allowed([role], f"{kind}.{act}"):
                continue
            with pytest.raises(AccessError, match=f"{role} has no right to {kind}.{act}"):
                if act == PURGED:
                    registry.purge(kind, "one", by=role, reason="no use")
                else:
                    registry.perform(kind, act, "one", usual_of(kind, act), by=role)
            refused += 1
    assert refused > len(role_rights()), "the file does refuse"
    monkeypatch.undo()
    assert registry.verify().entries == before


def test_what_the_file_does_not_say_is_refused(registry: GovernanceRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    """An act of a plug-in that nobody has entered in it, a role that it doesn't know, a file without its lines."""
    assert not is_allowed(role_rights(), "sample.take")
    assert not is_allowed(["owner", ""], "project.open")
    registry.perform("project", "open", "one", {"use_case": "retention"}, by="chief-investigator")
    empty = rights.RightsTable(
        everyone=(), roles={name: one.model_copy(update={"acts": ()}) for name, one in role_rights().items()}
    )
    monkeypatch.setattr(rights, "_rights", lambda: empty)
    for role in role_rights():
        with pytest.raises(AccessError, match="no right"):
            registry.perform("project", "open", "two", {"use_case": "retention"}, by=role)
