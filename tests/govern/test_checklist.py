"""Checklists answer from evidence, with links to it, and leave open what nothing shows (G-05)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.govern.conftest import AGREEMENT, FORM, Clock, Do, complete_steps, enter_release, open_project

from shoal.crypto import Key
from shoal.errors import InputError
from shoal.govern.checklist import (
    FilledChecklist,
    LineStatus,
    checklist_document,
    checklists,
    fill,
)
from shoal.govern.drafts import GAP, draft_forms, drafted
from shoal.govern.evidence_base import EvidenceBase, gather
from shoal.govern.opt_outs import withdraw_people
from shoal.govern.record_kinds import record_kinds
from shoal.govern.registry import GovernanceRegistry
from shoal.policy import Policy
from shoal.policy.presets import UseCase
from shoal.release.run import release_folder

pytestmark = pytest.mark.requirement("G-05")

POLICY = """
shoal: 1
name: ward
use_case: external-sharing
attributes:
  name: {role: direct, technique: suppress}
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 100]}}}
  ill: {role: sensitive}
privacy: [{k_anonymity: {k: 5}}]
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release folder, and its policy beside it."""
    folder = tmp_path_factory.mktemp("ward")
    (folder / "policy.yaml").write_text(POLICY)
    rows = [{"name": f"n{place}", "age": 20 + place % 40, "ill": "ab"[place % 2]} for place in range(60)]
    pl.DataFrame(rows).write_csv(folder / "ward.csv")
    policy = Policy.of(folder / "policy.yaml")
    release_folder(policy, folder / "release", data=str(folder / "ward.csv"), seed=1, evidence=True)
    return folder


def all_lines(filled: tuple[FilledChecklist, ...]) -> Iterator[Any]:
    return (line for one in filled for line in one.lines)


def test_every_query_is_about_something_that_there_is() -> None:
    known = {name: {*kind.state.model_fields, *kind.state.FACTS} for name, kind in record_kinds}
    for line in (line for one in checklists() for line in one.lines):
        for query in line.evidence:
            assert query.kind in {*known, "manifest", "policy"}
            for path in (*query.fields, *query.without, *query.where):
                assert query.kind in {"manifest", "policy"} or path.split(".")[0] in known[query.kind], path


def test_a_new_project_has_nothing_to_show(registry: GovernanceRegistry, do: Do) -> None:
    open_project(do)
    filled = fill(gather(registry, "hospital"), UseCase.EXTERNAL_SHARING)
    about_releases = [line for line in all_lines(filled) if line.status is LineStatus.ANSWERED]
    assert {link.where.partition("/")[0] for line in about_releases for link in line.evidence} == {"person"}
    assert all(line.closes for line in all_lines(filled) if line.status is LineStatus.OPEN)


def test_the_table_of_the_guide_says_what_is_not_needed(registry: GovernanceRegistry, do: Do) -> None:
    open_project(do)
    base = gather(registry, "hospital")
    needed = {case: fill(base, case)[-2].needed for case in UseCase}
    assert needed == {
        UseCase.INTERNAL_DEIDENTIFIED: 13, UseCase.INTERNAL_ANONYMISED: 11, UseCase.EXTERNAL_SHARING: 11,
        UseCase.RETENTION: 6, UseCase.TEST_DATA: 0, UseCase.PUBLIC: 0,
    }  # fmt: skip


@pytest.fixture
def filled(registry: GovernanceRegistry, do: Do, release: Path) -> tuple[FilledChecklist, ...]:
    """What an ordinary project has recorded by the time data is handed over."""
    open_project(do)
    complete_steps(do)
    do("manager", "source.add", "wards", title="wards", owner="asha", access=["asha"], legal_basis="consent")
    do("manager", "source.scanned", "wards", kinds=["name"])
    for about in ("decision", "qualification", "raw data"):
        do("chief-investigator", "project.note", "hospital", about=about, text="as written")
    for topic in ("incident-plan", "anonymisation-policy"):
        do("manager", "document.add", topic, topic=topic, sha256="c" * 64)
        do("chief-investigator", "document.approve", topic)
    do("data-manager", "release.enter", "2026-q1", project="hospital", folder=str(release / "release"))
    do("manager", "request.submit", "R-1", project="hospital", **FORM)
    do("chief-investigator", "request.review", "R-1")
    do("co-director", "request.approve", "R-1")
    do("manager", "request.agree", "R-1", **AGREEMENT, clauses=["no-re-identification", "protection"])
    withdraw_people(registry, Key(bytes(32)), ["P-1"], by="manager")
    base = gather(registry, "hospital", [release / "release"], [release / "policy.yaml"])
    return fill(base, UseCase.EXTERNAL_SHARING)


def test_more_than_half_is_answered_each_with_evidence_that_is_there(
    filled: tuple[FilledChecklist, ...], registry: GovernanceRegistry
) -> None:
    for one in filled:
        assert one.answered > one.needed / 2, one.title
        for line in one.lines:
            assert bool(line.evidence) == (line.status is LineStatus.ANSWERED)
            for link in line.evidence:
                kind, _, name = link.where.partition(" ")[0].partition("/")
                assert link.entry in [entry.number for entry in registry.history(kind, name)], link
    open_lines = {line.asks for line in all_lines(filled) if line.status is LineStatus.OPEN}
    assert "A third party audited what is anonymised and how" in open_lines
    assert "Data is used for permitted purposes, and liability is settled" in open_lines


def answer(registry: GovernanceRegistry, asks: str) -> LineStatus:
    filled = fill(gather(registry, "hospital"), UseCase.INTERNAL_ANONYMISED)
    [status] = {line.status for line in all_lines(filled) if line.asks.startswith(asks)}
    return status


def test_training_of_one_is_no_training_of_all(registry: GovernanceRegistry, do: Do, clock: Clock) -> None:
    open_project(do)
    asks = "Employees with access are trained"
    assert answer(registry, asks) is LineStatus.ANSWERED
    do("devi", "person.admit", "newcomer", roles=["data-manager"])
    assert answer(registry, asks) is LineStatus.OPEN
    do("devi", "person.train", "newcomer", topic="breaches", marks=80)
    assert answer(registry, asks) is LineStatus.ANSWERED
    assert answer(registry, "Accounts are reviewed") is LineStatus.ANSWERED
    clock.pass_days(366)
    assert answer(registry, asks) is LineStatus.OPEN
    assert answer(registry, "Accounts are reviewed") is LineStatus.OPEN


@pytest.mark.parametrize(("hours", "status"), [(71, LineStatus.ANSWERED), (73, LineStatus.OPEN)])
def test_the_authority_is_told_within_72_hours_or_the_line_stays_open(
    registry: GovernanceRegistry, do: Do, clock: Clock, hours: int, status: LineStatus
) -> None:
    open_project(do)
    told = {"title": "a laptop was lost", "lost": ["raw"], "jurisdiction": "india", "project": "hospital"}
    do("seeker", "incident.report", "I-1", **told)
    clock.pass_days(hours / 24)
    do("chief-investigator", "incident.notify", "I-1")
    assert answer(registry, "The authority is told") is status


def test_a_source_that_nobody_decided_on_keeps_the_line_open(registry: GovernanceRegistry, do: Do) -> None:
    open_project(do)
    enter_release(do, policy_sha256="d" * 64)
    asks = "De-identification is used wherever possible"
    for name in ("wards", "clinics"):
        do("manager", "source.add", name, title=name, owner="asha")
        assert answer(registry, asks) is LineStatus.OPEN
    do("manager", "source.anonymised", "wards")
    assert answer(registry, asks) is LineStatus.OPEN
    do("manager", "source.exempt", "clinics", reason="patients are treated by it")
    assert answer(registry, asks) is LineStatus.ANSWERED


def test_what_is_only_planned_is_no_evidence(registry: GovernanceRegistry, do: Do) -> None:
    open_project(do)
    enter_release(do, retain_until="2027-01-01")
    assert answer(registry, "Data is purged") is LineStatus.OPEN
    assert answer(registry, "The risk is assessed before and after") is LineStatus.OPEN


def test_iso_lines_are_those_of_the_techniques_that_were_used(filled: tuple[FilledChecklist, ...]) -> None:
    assert [line.asks for line in filled[-1].lines] == [
        "Properties of suppress", "Properties of k_anonymity", "Properties of generalise"
    ]  # fmt: skip


def test_no_answer_without_its_evidence(filled: tuple[FilledChecklist, ...], registry: GovernanceRegistry) -> None:
    """Whatever is taken away from the evidence, only lines that had a link to it open, and they do."""
    base = gather(registry, "hospital")
    for kind in ("source", "document", "request", "release", "person", "opt-out"):
        less = EvidenceBase("hospital", {name: found for name, found in base.documents.items() if name != kind})
        before = {line.asks: line for line in all_lines(fill(base, UseCase.EXTERNAL_SHARING))}
        for line in all_lines(fill(less, UseCase.EXTERNAL_SHARING)):
            leaned = any(link.where.startswith(f"{kind}/") for link in before[line.asks].evidence)
            assert (line.status is before[line.asks].status) != leaned


def test_foreign_evidence_is_refused(registry: GovernanceRegistry, do: Do, release: Path, tmp_path: Path) -> None:
    open_project(do)
    with pytest.raises(InputError, match="is no release of this project"):
        gather(registry, "hospital", [release / "release"])
    (tmp_path / "other.yaml").write_text(POLICY)
    with pytest.raises(InputError, match="no release of this project"):
        gather(registry, "hospital", [], [tmp_path / "other.yaml"])


def test_every_form(filled: tuple[FilledChecklist, ...]) -> None:
    document = checklist_document("hospital", filled, "2026-03-02")
    lines = sum(len(one.lines) for one in filled)
    assert document.to_html().count("<td>") == 4 * lines
    assert len(document.to_csv().splitlines()) == lines + 1
    assert document.to_markdown().count("\n| ") == lines + len(filled)


@pytest.mark.requirement("G-14")
@pytest.mark.parametrize("what", ["dpia", "expert"])
def test_drafts_tell_what_is_recorded_and_show_gaps(
    filled: tuple[FilledChecklist, ...], registry: GovernanceRegistry, release: Path, what: str
) -> None:
    form = draft_forms()[what]
    empty = drafted(form, EvidenceBase("hospital", {}), "2026-03-02")
    rows = [row for section in empty.sections for row in section.rows]
    assert rows and all(row[1].startswith(GAP) and not row[2] for row in rows)
    base = gather(registry, "hospital", [release / "release"], [release / "policy.yaml"])
    made = drafted(form, base, "2026-03-02")
    rows = [row for section in made.sections for row in section.rows]
    with_evidence = [row for row in rows if not row[1].startswith(GAP)]
    assert len(with_evidence) > len(rows) / 2
    assert all("entry" in row[2] for row in with_evidence)
    assert any(row[1].startswith(GAP) for row in rows), "nobody has tested it, no threshold was set"
    assert "as written" in made.to_html()
