"""Incidents: PDPC's consequence for what was lost, the clock of the law, no end before everything is done (G-06)."""

from __future__ import annotations

import datetime
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest
from tests.govern.conftest import START, Do
from tests.support.commands import Call

from shoal.errors import InputError
from shoal.govern.drafts import GAP, notification
from shoal.govern.jurisdictions import incident_law, incident_rule
from shoal.govern.kinds.incident import IncidentState, LostThing
from shoal.govern.registry import GovernanceRegistry
from shoal.pseudonyms import pseudonym_formats
from shoal.vault import Passphrase, Vault

pytestmark = pytest.mark.requirement("G-06")
REPORT = {"title": "a laptop was lost", "jurisdiction": "india"}


@pytest.mark.parametrize(
    ("lost", "reportable", "task"),
    [
        ({"mapping", "de-identified"}, True, "tell those who are affected, where the law says so"),
        ({"de-identified"}, True, "assess whether the breach has to be notified"),
        ({"mapping", "anonymised"}, True, "assess the risk of re-identification"),
        ({"anonymised"}, False, "investigate the cause and improve the safeguards"),
        ({"mapping"}, False, "issue new pseudonyms and a new mapping"),
        ({"raw", "anonymised"}, True, "tell those who are affected, where the law says so"),
    ],
)
def test_consequences_are_those_of_the_guide(lost: set[str], reportable: bool, task: str) -> None:
    rule = incident_rule("singapore", frozenset(lost))
    assert (rule.notify_within_hours is not None) == reportable
    assert task in rule.actions


def test_every_combination_has_a_consequence_in_every_place() -> None:
    things = [str(thing) for thing in LostThing]
    for place in incident_law().jurisdictions:
        for size in range(1, len(things) + 1):
            for lost in combinations(things, size):
                assert incident_rule(place, frozenset(lost)).actions


def test_losing_more_is_never_less_reportable() -> None:
    things = [str(thing) for thing in LostThing]
    for size in range(1, len(things)):
        for lost in combinations(things, size):
            fewer = incident_rule("india", frozenset(lost)).notify_within_hours
            for further in things:
                more = incident_rule("india", frozenset({*lost, further})).notify_within_hours
                assert fewer is None or more is not None


def test_the_clock_runs_from_when_it_was_noticed(do: Do, registry: GovernanceRegistry) -> None:
    noticed = START - datetime.timedelta(hours=70)
    state = do("tester", "incident.report", "I-1", lost=["raw"], noticed_at=noticed.isoformat(), **REPORT)
    assert isinstance(state, IncidentState)
    assert state.notify_by == START + datetime.timedelta(hours=2)
    told = [one.what for one in registry.due(START.date())]
    assert "tell the supervisory authority by 11:00 UTC" in told


def test_it_ends_when_everything_is_done(do: Do, registry: GovernanceRegistry) -> None:
    do("seeker", "incident.report", "I-1", lost=["mapping", "de-identified"], **REPORT)
    do("chief-investigator", "incident.assess", "I-1", severity="high")
    with pytest.raises(InputError, match="a task is open"):
        do("chief-investigator", "incident.close", "I-1", root_cause="no lock")
    with pytest.raises(InputError, match="no such task is open"):
        do("chief-investigator", "incident.do", "I-1", what="sing")
    state = registry.state("incident", "I-1")
    assert isinstance(state, IncidentState)
    for task in state.open_tasks:
        do("chief-investigator", "incident.do", "I-1", what=task)
    with pytest.raises(InputError, match="was not told yet"):
        do("chief-investigator", "incident.close", "I-1", root_cause="no lock")
    do("chief-investigator", "incident.notify", "I-1", note="by e-mail")
    assert do("chief-investigator", "incident.close", "I-1", root_cause="no lock").status == "closed"
    assert not [one for one in registry.due(START.date().replace(year=2030)) if one.kind == "incident"]


def test_whether_to_tell_is_decided_before_it_is_too_late_to_tell(do: Do, registry: GovernanceRegistry) -> None:
    do("seeker", "incident.report", "I-1", lost=["mapping", "anonymised"], **REPORT)
    days = {one.what: (one.on - START.date()).days for one in registry.due(START.date().replace(year=2030))}
    assert days["assess whether the breach has to be notified"] == days["assess the risk of re-identification"] == 3
    assert days["issue new pseudonyms and a new mapping"] == 30


def test_bad_reports(do: Do) -> None:
    with pytest.raises(InputError, match="still to come"):
        do("tester", "incident.report", "I-1", lost=["raw"], noticed_at="2026-03-03T00:00:00+00:00", **REPORT)
    with pytest.raises(InputError, match="did you mean 'india'"):
        do("tester", "incident.report", "I-1", title="x", lost=["raw"], jurisdiction="indai")
    with pytest.raises(InputError, match="there is no release"):
        do("tester", "incident.report", "I-1", lost=["raw"], releases=["none"], **REPORT)


def test_severity_sets_until_when_it_is_resolved(do: Do, registry: GovernanceRegistry) -> None:
    do("seeker", "incident.report", "I-1", lost=["anonymised"], **REPORT)
    days = {one.what: (one.on - START.date()).days for one in registry.due(START.date().replace(year=2030))}
    assert days["acknowledge it and say how bad it is"] == 2
    for severity, within in (("low", 30), ("medium", 14), ("high", 7)):
        do("chief-investigator", "incident.assess", "I-1", severity=severity)
        days = {one.what: (one.on - START.date()).days for one in registry.due(START.date().replace(year=2030))}
        assert days["resolve it: the cause, and who answers"] == within


def test_a_report_from_outside_is_kept_with_whom_to_answer_until_purged(do: Do, registry: GovernanceRegistry) -> None:
    state = do("seeker", "incident.report", "I-1", lost=["raw"], outside="a reader, reader@example.org", **REPORT)
    assert isinstance(state, IncidentState)
    assert state.from_outside
    assert "reader" not in state.model_dump_json(), "whom to answer stands in the history only"
    assert registry.history("incident", "I-1")[0].given["outside"] == "a reader, reader@example.org"  # type: ignore[index]


@pytest.mark.parametrize("place", ["india", "singapore", "european-union"])
def test_notifications_are_drafted_with_what_is_known_and_blanks(do: Do, place: str) -> None:
    do("seeker", "incident.report", "I-1", title="a laptop was lost", lost=["raw"], jurisdiction=place)
    state = do("chief-investigator", "incident.assess", "I-1", severity="high")
    assert isinstance(state, IncidentState)
    authority, people = notification("I-1", state, START)
    told = {row[0]: row[1] for row in authority.sections[0].rows}
    assert told["what was lost"] == "raw"
    assert told["root cause"].startswith(GAP)
    assert state.rule.authority in authority.sections[0].title
    assert "2026-03-05 09:00 UTC" in authority.sections[0].paragraphs[0]
    assert "a laptop was lost" in people.to_markdown()


@pytest.mark.requirement("V-03")
def test_pseudonyms_are_issued_anew_from_the_incident(shoal: Call, tmp_path: Path) -> None:
    way = Passphrase("asha", "a long enough phrase")
    with Vault.open(tmp_path / "shoal.vault", way) as vault:
        vault.add_domain("patients")
        form = next(kind for _, kind in pseudonym_formats)()
        before = vault.issue("patients", pl.Series(["P-1", "P-2"]), form).to_list()
    report = "register incident report I-1 --title lost --lost mapping --jurisdiction india --by asha"
    assert shoal(*report.split()).code == 0
    stranger = shoal("register", "reissue", "I-1", "--domain", "patients", "--by", "devi")
    assert (stranger.code, "no right" in stranger.stderr) == (2, True)
    done = shoal("register", "reissue", "I-1", "--domain", "patients", "--by", "asha", "--json")
    assert done.found["pseudonyms"] == 2
    with Vault.open(tmp_path / "shoal.vault", way) as vault:
        assert set(vault.lookup("patients", ["P-1", "P-2"])).isdisjoint(before)
    shown = shoal("register", "show", "incident", "I-1", "--json").found["state"]
    assert shown["tasks"][0]["evidence"] == "vault domain patients: 2 issued anew"
    gone = shoal("register", "reissue", "I-9", "--domain", "patients", "--by", "asha")
    assert (gone.code, "there is no incident" in gone.stderr) == (2, True)
