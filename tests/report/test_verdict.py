"""The verdict where it is open what an attack would find: neither good nor bad, and said on the first screen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.reports import altered, changed

from shoal.report import ReportFacts, render
from shoal.report.wording import give_verdict
from shoal.results.manifest import StateResult

pytestmark = pytest.mark.requirement("R-10")


def test_an_attack_that_nobody_could_judge_takes_the_green_away(full: ReportFacts) -> None:
    assert give_verdict(full, recipient=False).kind == "met"
    left = changed(full, attacks_unjudged=("distance linking",))
    verdict = give_verdict(left, recipient=False)
    assert verdict.kind == "none"
    assert verdict.headline.endswith("but 1 attack not judged")
    assert "Not judged, so that it is open what they find: distance linking." in verdict.sentences
    assert 'class="verdict none"' in render(left)


def test_a_recipient_learns_that_something_is_open_but_not_what(full: ReportFacts) -> None:
    left = changed(full, attacks_unjudged=("distance linking",))
    verdict = give_verdict(left, recipient=True)
    assert (verdict.kind, "not all evidence could be judged" in verdict.headline) == ("none", True)
    page = render(left, recipient=True)
    assert "distance linking" not in page
    assert all(one.title not in page for one in full.attacks)


def test_what_is_bad_stays_bad(broken: ReportFacts) -> None:
    assert give_verdict(changed(broken, attacks_unjudged=("distance linking",)), recipient=False).kind == "unmet"


def test_nothing_but_open_questions_is_not_called_unattacked(full: ReportFacts) -> None:
    left = give_verdict(changed(full, attacks=(), attacks_unjudged=("frequency",)), recipient=False)
    assert left.kind == "none"
    assert not any("was not attacked" in sentence for sentence in left.sentences)


@pytest.mark.requirement("R-11")
def test_data_that_are_still_personal_get_no_green_tick(full: ReportFacts) -> None:
    told = StateResult(qualifier="unlinked_pseudonymised", clause="B.2", still_personal=True, because="because")
    state, brief = told.words, told.brief
    assert (
        state == "The file holds unlinked pseudonymised data (ISO/IEC 20889, table B.2), still personal data: because."
    )
    left = changed(full, state=told)
    for recipient in (False, True):
        verdict = give_verdict(left, recipient=recipient)
        assert verdict.kind == "none"
        assert verdict.headline.endswith("but the data are still personal")
        assert (brief if recipient else state) in verdict.sentences
    assert "because" not in render(left, recipient=True)
    assert 'class="verdict none"' in render(left)


@pytest.mark.requirement("R-10")
def test_k_by_starring_everything_is_said_aloud(full: ReportFacts) -> None:
    verdict = give_verdict(changed(full, nothing_left=True), recipient=False)
    assert verdict.kind == "none"
    assert verdict.headline.endswith("but only because nothing is left that tells records apart")


@pytest.mark.requirement("R-02")
def test_a_public_release_gets_no_verdict_by_harm(full: ReportFacts) -> None:
    left = changed(full, assessment=None, not_assessed="annex D is for others")
    assert (
        "There is no verdict by potential harm: annex D is for others." in give_verdict(left, recipient=False).sentences
    )
    assert "potential harm</b>" not in render(left)


@pytest.mark.requirement("R-10")
def test_the_top_level_is_called_a_star(full: ReportFacts) -> None:
    first = next(iter(full.solution.levels))
    page = render(changed(full, levels={first: 4}, heights={first: 4}))
    assert "4 of 4: *" in page


@pytest.mark.requirement("R-04")
def test_it_is_said_where_nobody_could_compare_with_strangers(broken: ReportFacts) -> None:
    lone = changed(broken, attacks=tuple(altered(one, control=None) for one in broken.attacks), models=())
    assert any(one.found for one in lone.attacks)
    verdict = give_verdict(lone, recipient=False)
    assert "more than guessing (no control group was given)" in verdict.headline
    assert "No control group was given, so what is true of people in general counts as found." in verdict.sentences


@pytest.mark.requirement("R-10")
def test_what_is_not_compared_has_no_distance(full: ReportFacts) -> None:
    first = replace(full.distributions[0], bars=(), distances=(("total variation", 0.949),))
    page = render(changed(full, distributions=(first,)))
    assert "Not compared" in page
    assert "0.949" not in page
