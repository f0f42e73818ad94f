"""The verdict where it is open what an attack would find: neither good nor bad, and said on the first screen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shoal.report import ReportFacts, render
from shoal.report.words import give_verdict

pytestmark = pytest.mark.requirement("R-10")


def test_an_attack_that_nobody_could_judge_takes_the_green_away(full: ReportFacts) -> None:
    assert give_verdict(full, recipient=False).kind == "met"
    left = replace(full, unjudged=("distance linking",))
    verdict = give_verdict(left, recipient=False)
    assert verdict.kind == "none"
    assert verdict.headline.endswith("but 1 attack not judged")
    assert "Not judged, so that it is open what they find: distance linking." in verdict.sentences
    assert 'class="verdict none"' in render(left)


def test_a_recipient_learns_that_something_is_open_but_not_what(full: ReportFacts) -> None:
    left = replace(full, unjudged=("distance linking",))
    verdict = give_verdict(left, recipient=True)
    assert (verdict.kind, "not all evidence could be judged" in verdict.headline) == ("none", True)
    page = render(left, recipient=True)
    assert "distance linking" not in page
    assert all(one.title not in page for one in full.attacks)


def test_what_is_bad_stays_bad(broken: ReportFacts) -> None:
    assert give_verdict(replace(broken, unjudged=("distance linking",)), recipient=False).kind == "unmet"


def test_nothing_but_open_questions_is_not_called_unattacked(full: ReportFacts) -> None:
    left = give_verdict(replace(full, attacks=(), unjudged=("frequency",)), recipient=False)
    assert left.kind == "none"
    assert not any("was not attacked" in sentence for sentence in left.sentences)
