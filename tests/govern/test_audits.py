"""Audits are planned every year, with vendors in scope, and findings are followed until closed (G-14)."""

from __future__ import annotations

import datetime

import pytest
from tests.govern.conftest import Clock, Do

from shoal.errors import AccessError, InputError
from shoal.govern.registry import GovernanceRegistry

pytestmark = pytest.mark.requirement("G-14")
PLAN = {"kind": "third-party", "on": "2026-06-01", "auditor": "Firm", "vendors": ["Cloud Ltd", "its subcontractor"]}
FINDING = {"text": "a key is shared", "severity": "major", "correct_by": "2026-07-01", "owner": "manager"}


def held(do: Do) -> None:
    do("manager", "audit.plan", "A-1", **PLAN)
    do("auditor", "audit.hold", "A-1", sha256="d" * 64)


def dues(registry: GovernanceRegistry, until: datetime.date) -> list[str]:
    return [one.what for one in registry.due(until) if one.kind == "audit"]


def test_an_audit_is_due_then_the_next_one(do: Do, registry: GovernanceRegistry, clock: Clock) -> None:
    do("manager", "audit.plan", "A-1", **PLAN)
    assert dues(registry, datetime.date(2026, 6, 1)) == ["third-party audit"]
    clock.pass_days(90)
    do("auditor", "audit.hold", "A-1", sha256="d" * 64)
    assert dues(registry, clock().date() + datetime.timedelta(days=364)) == []
    assert dues(registry, clock().date() + datetime.timedelta(days=365)) == ["plan the next third-party audit"]


def test_a_finding_is_corrected_by_one_and_accepted_by_another(do: Do, registry: GovernanceRegistry) -> None:
    held(do)
    do("auditor", "audit.find", "A-1", **FINDING)
    assert "finding 1: correct it and show that it works" in dues(registry, datetime.date(2026, 7, 1))
    with pytest.raises(InputError, match="finding 1 is open"):
        do("auditor", "audit.close", "A-1")
    with pytest.raises(InputError, match="not corrected yet"):
        do("auditor", "audit.accept", "A-1", finding=1)
    do("manager", "audit.correct", "A-1", finding=1, root_cause="no rule", action="a key for each")
    do("auditor", "audit.accept", "A-1", finding=1)
    with pytest.raises(InputError, match="is closed"):
        do("manager", "audit.correct", "A-1", finding=1, root_cause="x", action="y")
    assert do("auditor", "audit.close", "A-1").status == "closed"


def test_nobody_audits_what_they_planned_or_accepts_their_own_correction(registry: GovernanceRegistry, do: Do) -> None:
    registry.perform("person", "admit", "both", {"roles": ["auditor", "manager"]}, by="devi")
    do("both", "audit.plan", "A-1", **PLAN)
    with pytest.raises(AccessError, match="somebody else"):
        do("both", "audit.hold", "A-1", sha256="d" * 64)
    do("auditor", "audit.hold", "A-1", sha256="d" * 64)
    do("auditor", "audit.find", "A-1", **FINDING)
    do("both", "audit.correct", "A-1", finding=1, root_cause="no rule", action="a key for each")
    with pytest.raises(AccessError, match="somebody else"):
        do("both", "audit.accept", "A-1", finding=1)


def test_bad_input(do: Do) -> None:
    with pytest.raises(InputError, match="a day that is over"):
        do("manager", "audit.plan", "A-1", **{**PLAN, "on": "2026-01-01"})
    do("manager", "audit.plan", "A-1", **PLAN)
    with pytest.raises(InputError, match="which report"):
        do("auditor", "audit.hold", "A-1")
    do("auditor", "audit.hold", "A-1", sha256="d" * 64)
    with pytest.raises(InputError, match="no finding 3"):
        do("auditor", "audit.accept", "A-1", finding=3)


@pytest.mark.requirement("G-05")
def test_documents_are_approved_by_somebody_else_and_looked_at_again(
    do: Do, registry: GovernanceRegistry, clock: Clock
) -> None:
    do("chief-investigator", "document.add", "policy", topic="anonymisation-policy", sha256="e" * 64)
    with pytest.raises(AccessError, match="somebody else"):
        do("chief-investigator", "document.approve", "policy")
    do("co-director", "document.approve", "policy")
    year = clock().date() + datetime.timedelta(days=365)
    assert [one.what for one in registry.due(year) if one.kind == "document"] == [
        "look at the anonymisation-policy again"
    ]
    do("chief-investigator", "document.revise", "policy", topic="anonymisation-policy", sha256="f" * 64)
    assert registry.state("document", "policy").status == "entered"
