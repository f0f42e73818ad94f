"""The verdict of several tables: what they say together comes first, and only that makes it good."""

from __future__ import annotations

import pytest

from shoal.report.multi_table import JoinedFacts, joined_verdict

WORDS = "joined by a.id, b.a, the tables leave k = 1"


@pytest.mark.requirement("R-10")
@pytest.mark.parametrize(
    ("facts", "kind", "headline"),
    [
        (JoinedFacts(k=7, required=5, met=True, tables_met=True), "met", "meet what is asked of them: k = 7"),
        (
            JoinedFacts(k=None, required=5, met=True, tables_met=True),
            "met",
            "meet what is asked of them: nothing joins",
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
