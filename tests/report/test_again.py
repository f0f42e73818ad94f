"""A report that is filled with later looks: what it says then, and what stays as it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

import pytest
from tests.support.reports import changed

from shoal.report import ReassessmentFacts, ReassessmentOutcome, ReportFacts, add_reassessments, render

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.requirement("R-09", "R-10")

CAPTION = "Later looks at the release"
GREEN = "getComputedStyle(document.querySelector('.verdict.met')).backgroundColor"


class Document(Protocol):
    text: str
    rows: dict[str, list[list[str]]]
    tags: set[str]


Read = Callable[[str], Document]
History: TypeAlias = tuple[ReassessmentFacts, ...]


def again(report: str, history: History) -> str:
    page = add_reassessments(report, history)
    assert page is not None
    return page


def test_every_look_is_told_with_its_result(full: ReportFacts, history: History, read: Read) -> None:
    others = [
        replace(history[0], outcome=outcome) for outcome in (ReassessmentOutcome.OPEN, ReassessmentOutcome.NOTHING)
    ]
    rows = read(again(render(full), (*history, *others))).rows[CAPTION]
    assert [row[3] for row in rows] == ["Result", "holds", "no longer holds", "not shown to hold", "says nothing"]
    assert rows[2][:3] == ["1 June 2027, 08:00 UTC", "Linked with a leaked list", "14.2% linked, guessing 1.7%"]


def test_a_release_that_no_longer_holds_is_not_shown_as_a_good_one(
    full: ReportFacts, history: History, read: Read
) -> None:
    page = again(render(full), history)
    first = read(page).text.partition("Smallest class, k")[0]
    assert "Looked at again on 1 June 2027, 08:00 UTC: no longer holds" in first
    assert first.index("no longer holds") < first.index("privacy models are met")


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        ((ReassessmentOutcome.HOLDS,), None),
        ((ReassessmentOutcome.NOTHING,), None),
        ((ReassessmentOutcome.OPEN,), "not shown to hold"),
        ((ReassessmentOutcome.OPEN, ReassessmentOutcome.HOLDS), None),
        ((ReassessmentOutcome.BROKEN, ReassessmentOutcome.HOLDS, ReassessmentOutcome.OPEN), "no longer holds"),
    ],
)
def test_what_is_said_first(
    full: ReportFacts, history: History, read: Read, outcomes: tuple[ReassessmentOutcome, ...], said: str | None
) -> None:
    """A broken promise stays broken; what was left open is settled by a later look."""
    page = again(render(full), tuple(replace(history[0], outcome=one) for one in outcomes))
    first = read(page).text.partition("Smallest class, k")[0]
    assert ("Looked at again" in first) is (said is not None)
    assert (said or "") in first


def test_the_old_verdict_loses_its_green(full: ReportFacts, history: History, screen: Page) -> None:
    seen = []
    for page in (render(full), again(render(full), history)):
        screen.emulate_media(media="screen", color_scheme="light")
        screen.set_content(page)
        seen.append(screen.evaluate(GREEN))
    assert seen == ["rgb(229, 243, 238)", "rgb(243, 245, 248)"]


def test_nobody_has_looked_yet(full: ReportFacts, read: Read) -> None:
    document = read(render(full))
    assert "Nobody has looked at the release again since it was made." in document.text
    assert CAPTION not in document.rows


def test_a_report_can_be_filled_again_and_again(full: ReportFacts, history: History) -> None:
    once = again(render(full), history)
    assert again(again(once, history[:1]), history) == once
    assert again(once, ()) == render(full)


def test_a_recipients_page_has_no_place_for_it(full: ReportFacts, history: History) -> None:
    assert add_reassessments(render(full, recipient=True), history) is None
    assert "<!--" not in render(full, recipient=True)


def test_no_name_can_pass_for_a_place(facts: ReportFacts, history: History, read: Read) -> None:
    name = "<!-- later: looks --><!-- end of looks --><!-- later: notice -->"
    attributes = (replace(facts.attributes[3], name=name),)
    forged = tuple(replace(one, what=name, verdict=f"{name}<script>") for one in history)
    page = again(again(render(changed(facts, name=name, attributes=attributes)), forged), forged)
    assert page.count("<!-- later: ") == 3
    assert "script" not in read(page).tags
    assert name in read(page).text


def test_a_page_of_another_kind_is_left_alone(history: History) -> None:
    assert add_reassessments("<p>not a report</p>", history) is None
