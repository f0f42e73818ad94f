"""What was found out beyond classes and models: that it is shown, in which edition, and how much of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from typing import Any, TypeVar

import numpy as np
import pytest
from tests.report.conftest import ATTACKERS
from tests.support.reports import Read, altered, attack_result, changed, rate_of
from tests.support.work import calls

from shoal.errors import BugError
from shoal.report import (
    AttributeFacts,
    DistributionFacts,
    FigureTable,
    ReportFacts,
    render,
)
from shoal.report.evidence_section import COUNTED
from shoal.report.small_multiples import MOST_BARS, distribution, interval, reach
from shoal.results.base import ResultModel

EVIDENCE = (
    "assessment", "attackers", "attackers_before", "attacks", "attack_words", "distributions", "usefulness",
    "purpose", "tables", "exploration", "limits",
)  # fmt: skip
T = TypeVar("T")


def _marked(value: T, marks: Iterator[int]) -> T:
    """The same facts, with every word, figure and moment replaced by one that is found nowhere else."""
    changed: Any = value
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        changed = f"secret{next(marks)}"
    elif isinstance(value, int):
        changed = 70000 + next(marks)
    elif isinstance(value, float):
        changed = round(0.3 + next(marks) / 100_000, 6)
    elif isinstance(value, datetime):
        changed = value + timedelta(days=next(marks))
    elif isinstance(value, tuple):
        changed = tuple(_marked(one, marks) for one in value)
    elif isinstance(value, dict):
        changed = {_marked(key, marks): _marked(one, marks) for key, one in value.items()}
    elif isinstance(value, ResultModel):
        changed = value.model_copy(update={name: _marked(one, marks) for name, one in value})
    elif is_dataclass(value) and not isinstance(value, type):
        changed = replace(value, **{f.name: _marked(getattr(value, f.name), marks) for f in fields(value)})
    return changed  # type: ignore[no-any-return]


def _with_marks(facts: ReportFacts, start: int) -> ReportFacts:
    marks = count(start)
    return changed(facts, **{name: _marked(_said(facts, name), marks) for name in EVIDENCE})


def _said(facts: ReportFacts, name: str) -> Any:
    return getattr(facts if hasattr(facts, name) else facts.manifest, name)


@pytest.mark.requirement("R-10", "V-05")
@pytest.mark.parametrize("sample", ["full", "broken"])
def test_of_the_evidence_a_recipient_is_told_verdicts_only(sample: str, request: pytest.FixtureRequest) -> None:
    """Two releases whose evidence differs in every word and figure; what a recipient may know is put back alike."""
    given: ReportFacts = request.getfixturevalue(sample)

    def told(facts: ReportFacts) -> ReportFacts:
        titles = [one.title for one in given.attacks]
        attacks = tuple(
            one if one.found else altered(one, title=title) for one, title in zip(facts.attacks, titles, strict=True)
        )
        assert facts.assessment is not None
        return changed(
            facts,
            attacks=attacks,
            attack_words=facts.attack_words,
            purpose=given.purpose,
            assessment=altered(facts.assessment, harm="medium"),
        )

    one, other = told(_with_marks(given, 100)), told(_with_marks(given, 5000))
    assert "secret1" in render(one)
    assert render(one) != render(other)
    assert render(one, recipient=True) == render(other, recipient=True)
    assert "secret" not in render(one, recipient=True)


@pytest.mark.requirement("R-10", "V-05")
def test_how_much_evidence_there_is_shows_in_no_recipients_page(full: ReportFacts) -> None:
    whole = changed(full, attacks=tuple(altered(one, control=rate_of(0.25)) for one in full.attacks))
    bare = changed(
        full, attackers=None, distributions=(), usefulness=None, tables=(), exploration=None, limits=(),
        attacks=tuple(altered(one, control=None) for one in full.attacks),
    )  # fmt: skip
    assert render(whole, recipient=True) == render(bare, recipient=True)


def test_the_mark_reaches_every_field_of_the_evidence(full: ReportFacts) -> None:
    marked = _with_marks(full, 100)
    assert all(_said(marked, name) != _said(full, name) for name in EVIDENCE)


@pytest.mark.requirement("R-10")
def test_a_recipient_is_told_of_attacks_only_if_all_failed(full: ReportFacts, broken: ReportFacts, read: Read) -> None:
    good = read(render(full, recipient=True)).text
    assert all(f"{one.title}: nothing found" in good for one in full.attacks)
    bad = read(render(broken, recipient=True)).text
    assert not any(one.title in bad for one in broken.attacks)
    assert "nothing found" not in bad
    assert "succeed" not in bad


@pytest.mark.requirement("R-10", "V-05")
def test_a_recipient_is_not_told_which_attack_succeeds(full: ReportFacts) -> None:
    """Whichever it is, the page is the same; and it does not call the file good."""
    pages = {
        render(changed(full, attacks=tuple(altered(one, found=one is beaten) for one in full.attacks)), recipient=True)
        for beaten in full.attacks
    }
    assert len(pages) == 1
    (page,) = pages
    assert 'class="verdict unmet"' in page
    assert "All 3 privacy models are met, but other evidence speaks against handing the file on" in page


@pytest.mark.requirement("R-02", "R-04", "R-10")
def test_the_verdict_is_good_only_if_all_evidence_is(full: ReportFacts, broken: ReportFacts, read: Read) -> None:
    good = read(render(full)).text
    assert "All 3 privacy models are met Everyone" in good
    assert "the risk is within the limit for medium potential harm." in good
    assert (
        "4 attacks were tried; none found more than guessing, or than is true of people who are not in the file."
        in good
    )
    bad = read(render(broken)).text
    assert "All 3 privacy models are met, but the assessed risk is above its limit and 2 of 4 attacks succeed" in bad
    assert "2 of 4 attacks found more than guessing, or than is true of people who are not in the file: Linking;" in bad
    assert 'class="verdict unmet"' in render(broken)
    assert 'class="verdict met"' in render(full)


def test_a_file_that_was_not_attacked_is_said_so_on_the_first_screen(facts: ReportFacts, read: Read) -> None:
    first = read(render(facts)).text.partition("Smallest class, k")[0]
    assert "The file was not attacked" in first
    assert "attacked" not in read(render(facts, recipient=True)).text


def test_one_attack_is_singular(full: ReportFacts, broken: ReportFacts, read: Read) -> None:
    assert (
        "1 attack was tried; it found no more than guessing"
        in read(render(changed(full, attacks=full.attacks[:1]))).text
    )
    assert "1 of 1 attack succeeds" in read(
        render(changed(full, attacks=broken.attacks[1:2]))
    ).text  # fmt: skip


@pytest.mark.requirement("R-01", "R-02", "R-04", "R-07", "R-10")
def test_evidence_is_shown_as_it_was_found(full: ReportFacts, read: Read) -> None:
    rows = read(render(full)).rows
    assert rows["How the risk was assessed"][-2:] == [
        ["Risk", "0.05143", "Of re-identification: what the parts come to together."],
        ["Limit", "0.1", "For medium potential harm."],
    ]
    assert rows["Three kinds of attacker"] == [
        ["Attacker", "Highest", "Average", "Above 0.2", "Basis"],
        ["Prosecutor", "1 → 0.1429", "0.8947 → 0.02896", "93.1% → 0%", COUNTED],
        ["Journalist", "1 → 0.0417", "0.2279 → 0.00713", "33.7% → 0%", "a population table of 48,213 people"],
        ["Marketer", "–", "0.2279 → 0.00713", "–", "a population table of 48,213 people"],
    ]
    inference = rows["Attacks on the released file and what came of them"][3]
    assert inference[0] == "Inference diagnosis all quasi-identifiers of the person"
    assert inference[2:] == ["27.1% 24.4% – 30.1%", "25.5%", "–", "0.0217", "nothing found"]
    assert rows["age: share of records before and after"][2] == ["20-39", "", "31.3%", "31.3%"]
    assert rows["What the purpose depends on"][2][0] == "All associations change"
    assert rows["Also measured"][1][2] == "0.0381"
    assert rows["Special uniques"][1] == ["age", "61.7%", "317"]


def test_limits_follow_the_evidence(facts: ReportFacts, full: ReportFacts, read: Read) -> None:
    bare, whole = read(render(facts)).text, read(render(full)).text
    for limit, in_bare, in_whole in [
        ("Journalist risk is not estimated.", True, False),
        ("rest on the population", False, True),
        ("The risk is that of an attempt.", True, False),
        ("was judged, not measured", False, True),
        ("The file was not attacked.", True, False),
        ("Not every attack has a control group.", False, True),
        ("The control group was 613 people of a neighbouring district.", False, True),
        ("background knowledge named", False, True),
        ("in years to come", True, True),
        ("Only the declared quasi-identifiers count.", True, True),
    ]:
        assert ((limit in bare), (limit in whole)) == (in_bare, in_whole), limit


def test_without_evidence_there_is_no_section_for_it(facts: ReportFacts, read: Read) -> None:
    rows = read(render(facts)).rows
    assert not {"Three kinds of attacker", "Attacks on the released file and what came of them"} & set(rows)
    assert 'class="contents"' not in render(facts)


def test_a_promise_for_k_of_two_is_singular(facts: ReportFacts, read: Read) -> None:
    model = replace(facts.models[0], explanation="Everyone shares their values with at least 1 other people.")
    assert "with at least 1 other person." in read(render(changed(facts, models=(model,)))).text


@pytest.mark.parametrize("recipient", [False, True])
def test_hostile_evidence_is_only_text(full: ReportFacts, read: Read, recipient: bool) -> None:
    bad = """<script>alert("x")</script>'"><img src=x onerror=alert(1)>{{ 7*7 }}"""
    assert full.assessment is not None
    assert full.exploration is not None
    tries = tuple(replace(one, recoding=bad) for one in full.exploration.tries)
    facts = changed(
        full,
        purpose=bad,
        assessment=altered(full.assessment, harm=bad, parts={bad: 0.1}, words=(bad,)),
        attackers=altered(ATTACKERS, basis_in_words=bad),
        attacks=tuple(altered(one, title=bad, attribute=bad, knows=bad) for one in full.attacks),
        attack_words=(bad,) * len(full.attacks),
        distributions=(DistributionFacts(bad, bad, ((bad, 0.5, 0.5),), 0.1, ((bad, 0.5),)),),
        tables=(FigureTable(bad, bad, bad, (bad, bad), ((bad, bad),)),),
        exploration=replace(full.exploration, tries=tries),
        limits=(bad,),
    )
    document = read(render(facts, recipient=recipient))
    assert document.tags.isdisjoint({"script", "img"})
    assert bad in document.text


def test_names_in_any_script_keep_their_own_direction(full: ReportFacts, read: Read) -> None:
    name = "العمر بالسنوات"
    attributes = (AttributeFacts(name, "quasi", (), (), released=True),)
    page = render(changed(full, attributes=attributes, distributions=(DistributionFacts(name, "numbers", ()),)))
    assert page.count(f'<code dir="auto">{name}</code>') == 2
    assert name in read(page).codes


def test_names_from_right_to_left_do_not_turn_sentences_round(full: ReportFacts) -> None:
    name = "عمر_7"
    beaten = tuple(altered(one, found=True, attribute=name, knows=f"{name}, sex") for one in full.attacks)
    page = render(changed(full, attacks=beaten, warnings=(f"Attribute '{name}' is released as it is.",)))
    assert f"of <bdi>{name}</bdi>;" in page
    assert f'<span class="knows"><bdi>{name}</bdi>, sex</span>' in page
    assert f"Attribute &#39;<bdi>{name}</bdi>&#39; is released" in page


@pytest.mark.parametrize("recipient", [False, True])
def test_many_attributes_that_were_left_as_they_are_are_named_only(
    full: ReportFacts, read: Read, recipient: bool
) -> None:
    untouched = tuple(AttributeFacts(f"plain{place}", "insensitive", (), (), released=True) for place in range(40))
    page = render(changed(full, attributes=(*full.attributes, *untouched)), recipient=recipient)
    document = read(page)
    rows = [row[0] for row in document.rows["Attributes, their roles and the techniques applied"]]
    assert "age" in rows
    assert not {"plain7", "diagnosis"} & set(rows)
    assert {"plain7", "diagnosis"} <= set(document.codes)
    few = read(render(changed(full, attributes=(*full.attributes, *untouched[:5])), recipient=recipient))
    assert "plain4" in [row[0] for row in few.rows["Attributes, their roles and the techniques applied"]]


def test_many_distributions_that_are_the_same_are_named_only(full: ReportFacts, read: Read) -> None:
    same = tuple(DistributionFacts(f"plain{place}", "categories", (("1st", 1.0, 1.0),)) for place in range(40))
    hidden = replace(same[0], name="hidden", suppressed=0.01)
    unknown = DistributionFacts("unknown", "dates", ())
    document = read(render(changed(full, distributions=(*full.distributions, *same, hidden, unknown))))
    drawn = {caption.partition(":")[0] for caption in document.rows if caption.endswith("before and after")}
    assert {"age", "sex", "hidden"} <= drawn
    assert not {"plain7", "diagnosis"} & drawn
    assert {"plain7", "diagnosis", "unknown"} <= set(document.codes)


def test_a_table_with_ragged_rows_is_refused() -> None:
    with pytest.raises(BugError, match="more or fewer cells"):
        FigureTable("Title", "", "", ("a", "b"), (("1", "2"), ("3",)))


def test_only_columns_of_figures_stand_right(full: ReportFacts) -> None:
    table = FigureTable(
        "T", "", "", ("name", "share", "remark"), (("1", "<0.1%", "2 of them were chosen by hand"), ("2", "–", ""))
    )
    page = render(changed(full, tables=(table,)))
    assert (
        '<th scope="col" role="columnheader">name</th><th scope="col" role="columnheader" class="amount">share</th>'
        in page
    )
    assert '<th scope="col" role="columnheader">remark</th>' in page


def test_bars_beyond_what_can_be_read_are_put_together() -> None:
    bars = tuple((f"label {place}", 0.02, 0.01) for place in range(50))
    drawn = distribution(DistributionFacts("x", "categories", bars)).bars
    assert len(drawn) == MOST_BARS
    assert (drawn[-1].label, drawn[-1].before, drawn[-1].after) == ("39 others", "78%", "39%")


def test_long_labels_are_cut() -> None:
    (bar,) = distribution(DistributionFacts("x", "categories", (("y" * 500, 1.0, 1.0),))).bars
    assert len(bar.label) == 60


@pytest.mark.parametrize(("high", "end"), [(0.004, 0.01), (0.01, 0.01), (0.11, 0.2), (0.8, 1.0), (1.0, 1.0)])
def test_all_attacks_share_a_round_scale(high: float, end: float) -> None:
    attack = attack_result("a", high / 2, (0.0, high), 0.0, None)
    assert reach([attack]) == end
    assert 'width="100.00%"' not in interval(attack, end)


def test_a_scale_holds_what_guessing_and_strangers_reach() -> None:
    attack = attack_result("a", 0.01, (0.0, 0.02), 0.31, 0.45)
    assert reach([attack]) == 0.5
    assert reach([]) == 1.0


@pytest.fixture(scope="module")
def wide(full: ReportFacts) -> ReportFacts:
    """A million classes, 200 attributes and more."""
    sizes = np.arange(1_000_000) % 300 + 1
    bars = tuple((f"a label of some length {place}", 0.02, 0.01) for place in range(50))
    risk = replace(full.after, class_sizes=sizes)
    return changed(
        full,
        before=replace(risk, class_sizes=tuple(sizes.tolist())),
        after=risk,
        attributes=tuple(replace(full.attributes[3], name=f"attribute_{place:03}") for place in range(200)),
        distributions=tuple(DistributionFacts(f"attribute_{place:03}", "numbers", bars) for place in range(230)),
        tables=(FigureTable("Long", "", "", ("a", "b"), tuple((f"{place}", "1") for place in range(5000))),),
    )


@pytest.mark.requirement("R-10")
def test_a_wide_release_is_shown_with_little_work_and_in_a_small_file(wide: ReportFacts, read: Read) -> None:
    """A million classes are counted as an array: they take hardly more calls than ten thousand."""
    page = render(wide)
    few = np.arange(10_000) % 300 + 1
    fewer = changed(wide, before=replace(wide.after, class_sizes=few), after=replace(wide.after, class_sizes=few))
    assert calls(partial(render, wide)) < 1.1 * calls(partial(render, fewer))
    assert len(page.encode()) < 2_000_000
    document = read(page)
    assert "30 more attributes not shown." in document.text
    assert "4,800 more rows not shown." in document.text
    assert len(document.rows["Long"]) == 201
    assert len(document.rows["Attributes, their roles and the techniques applied"]) == 201
