"""The verdict of several tables: what they say together comes first, and only that makes it good."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shoal.report.multi_table import (
    JoinedFacts,
    MultiTableFacts,
    TableFacts,
    TableRow,
    compose_multi_table,
    joined_verdict,
)
from shoal.report.render import render_multi_table
from shoal.results.manifest import DataFile, Manifest, SourceIdentity
from shoal.results.risk_results import ModelResult, ReleasedRisk, RiskResult

CREATED = datetime(2026, 3, 1, 9, 5, tzinfo=UTC)

WORDS = "joined by a.id, b.a, the tables leave k = 1"


@pytest.mark.requirement("R-10")
@pytest.mark.parametrize(
    ("facts", "kind", "headline"),
    [
        (JoinedFacts(k=7, required=5, met=True, tables_met=True), "met", "meet what is asked of them: k = 7"),
        (
            JoinedFacts(k=None, required=5, met=True, tables_met=True),
            "met",
            "Every table meets what is asked of it, and nothing joins them",
        ),
        (JoinedFacts(k=1, required=5, met=False, accepted="x", tables_met=True), "unmet", "do not have the k = 5"),
        (JoinedFacts(k=7, required=5, met=False, accepted="x", tables_met=True), "unmet", "do not meet what is asked"),
        (JoinedFacts(k=1, met=None, tables_met=True), "none", "Joined, the tables leave k = 1"),
        (JoinedFacts(k=None, met=None, tables_met=True), "met", "Nothing is asked of the joined tables"),
        (JoinedFacts(k=None, met=None, tables_met=None), "none", "Nothing is asked of the joined tables"),
        (JoinedFacts(k=7, required=5, met=True, tables_met=False), "unmet", "A table does not meet"),
    ],
)
def test_the_verdict_is_that_of_the_joined_tables(facts: JoinedFacts, kind: str, headline: str) -> None:
    found = joined_verdict(facts, recipient=False)
    assert (found.kind, headline in found.headline) == (kind, True)


def test_the_reason_and_the_models_are_told() -> None:
    facts = JoinedFacts(
        k=1,
        required=5,
        met=False,
        accepted="two analysts",
        words=WORDS,
        models=(("joined l_diversity", "2", "1", False),),
    )
    said = " ".join(joined_verdict(facts, recipient=False).sentences)
    assert said.startswith("Joined by a.id, b.a, the tables leave k = 1.")
    assert "Joined l_diversity: 2 required, 1 found." in said
    assert said.endswith("Accepted, for this reason: two analysts")


def test_a_recipient_learns_neither_figure_nor_reason() -> None:
    for met in (True, False, None):
        facts = JoinedFacts(k=3, required=5, met=met, accepted="two analysts", words=WORDS)
        verdict = joined_verdict(facts, recipient=True)
        assert verdict.kind == ("met" if met else "none")
        assert not {"3", "5", "analysts"} & set(" ".join((verdict.headline, *verdict.sentences)).split())


@pytest.mark.requirement("R-10")
def test_what_is_signed_is_all_tables_with_their_figures_and_files() -> None:
    manifest = Manifest(
        data=DataFile(path="data.csv", rows=90, sha256="f" * 64),
        source=SourceIdentity(name="people.csv", bytes=9, sha256="e" * 64),
        risk=ReleasedRisk(k=5, prosecutor_max=0.2),
        risk_before=RiskResult(k=1),
        models=(ModelResult(name="k_anonymity", required=5, achieved=5, met=True),),
        utility={"detail_kept": 0.756},
        purpose="A study of allergies",
    )
    facts = MultiTableFacts("clinic", CREATED, "0", "d" * 64, (TableFacts("people", "people", manifest),))
    owner, recipient = (compose_multi_table(facts, recipient=whose) for whose in (False, True))
    row = owner.tables[0]
    assert (row.before, row.k, row.risk, row.detail, row.suppressed, row.met) == ("1", "5", "20%", "75.6%", "0", True)
    assert recipient.tables == (TableRow("people", "people", "90", "5", "20%"),)
    assert [one.text for one in owner.stated] == ["A study of allergies", "not stated (responsible: in the policy)"]
    assert [one.text for one in recipient.stated] == ["A study of allergies"]
    assert owner.files == (("people", (("made from people.csv", "e" * 64), ("released as people/data.csv", "f" * 64))),)
    assert (recipient.files, recipient.signed) == ((), ())
    page = render_multi_table(facts)
    for said in ("Prepared by", "Sign-off", "e" * 64, "f" * 64, "d" * 64, owner.verdict.headline, "Highest risk"):
        assert said in page
    told = render_multi_table(facts, recipient=True)
    assert not any(said in told for said in ("Sign-off", "e" * 64, "Suppressed", "75.6%"))
