"""The page as text: what it says, what it keeps to itself, what it lets in."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.reports import Read, altered, changed

from shoal.report import AttributeFacts, ModelFacts, ReportFacts, render
from shoal.results.risk_results import ModelResult

EDITIONS = pytest.mark.parametrize("recipient", [False, True], ids=["internal", "recipient"])
SAMPLES = pytest.mark.parametrize("sample", ["facts", "unmet", "aggregated", "empty", "full", "broken"])


@EDITIONS
@SAMPLES
def test_every_page_is_well_formed(sample: str, recipient: bool, read: Read, request: pytest.FixtureRequest) -> None:
    document = read(render(request.getfixturevalue(sample), recipient=recipient))
    assert {"html", "header", "main", "footer", "h1", "h2"} <= document.tags


@pytest.mark.parametrize(
    "broken",
    [
        "<p><b>never closed</p>",
        "<p>never closed",
        '<p id="a"></p><p id="a"></p>',
        '<section aria-labelledby="nothing"></section>',
        "<table><caption>x</caption><tr><th>a</th><th>b</th></tr><tr><td>1</td></tr></table>",
    ],
)
def test_the_reader_of_these_tests_refuses_broken_pages(broken: str, read: Read) -> None:
    with pytest.raises(ValueError, match=r"tag|id|row"):
        read(broken)


@EDITIONS
@SAMPLES
def test_nothing_is_asked_of_the_network(sample: str, recipient: bool, request: pytest.FixtureRequest) -> None:
    page = render(request.getfixturevalue(sample), recipient=recipient)
    assert not re.findall(r"https?://|\bsrc\s*=|@import|url\(|<script|<iframe|<object", page, re.IGNORECASE)
    assert {href for href in re.findall(r'href="([^"]*)"', page) if not href.startswith("#")} == {"data:,"}
    assert "default-src 'none'" in page


@EDITIONS
def test_pages_are_small(facts: ReportFacts, recipient: bool) -> None:
    crowd = replace(facts.after, class_sizes=tuple(range(1, 100_001)))
    wide = tuple(replace(facts.attributes[3], name=f"attribute_{number:03}") for number in range(120))
    page = render(changed(facts, before=crowd, after=crowd, attributes=wide), recipient=recipient)
    assert len(page.encode()) < 100_000


HOSTILE = """<script>alert("x")</script>&amp;'"><img src=x onerror=alert(1)>{{ 7*7 }}"""


@EDITIONS
def test_hostile_names_are_only_text(facts: ReportFacts, recipient: bool, read: Read) -> None:
    hostile = changed(
        facts,
        name=HOSTILE,
        use_case=HOSTILE,
        shoal=HOSTILE,
        data_path=HOSTILE,
        attributes=(*facts.attributes, AttributeFacts(HOSTILE, HOSTILE, (HOSTILE,), (HOSTILE,), released=True)),
        models=(ModelFacts(HOSTILE, HOSTILE, HOSTILE, ModelResult(name=HOSTILE, required=1, achieved=1, met=True)),),
        utility={HOSTILE: 1.0},
        levels={HOSTILE: 1},
        warnings=(HOSTILE,),
    )
    document = read(render(hostile, recipient=recipient))
    assert document.tags.isdisjoint({"script", "img"})
    assert HOSTILE in document.codes
    assert HOSTILE in document.text


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30))
@settings(max_examples=30)
def test_any_attribute_name_is_shown_as_it_is(facts: ReportFacts, read: Read, name: str) -> None:
    named = changed(facts, attributes=(replace(facts.attributes[3], name=name),))
    assert name in read(render(named)).codes


@pytest.mark.requirement("R-01", "R-10")
def test_figures_are_those_of_the_facts(facts: ReportFacts, read: Read) -> None:
    rows = read(render(facts)).rows
    assert rows["Risk of re-identification"][1:] == [
        ["Smallest class, k", "1", "7", "ISO/IEC 20889, 10.2.1"],
        ["People alone in their class", "4,127", "0", "ISO/IEC 20889, 7.2"],
        ["Equivalence classes", "4,470", "144", "ISO/IEC 20889, 10.2.1"],
        ["Highest prosecutor risk", "1", "0.1429", "PDPC, annex D"],
        ["Average prosecutor risk", "0.8947", "0.02896", "PDPC, annex D"],
        ["People in classes", "4,996", "4,973", ""],
        ["Records suppressed", "0", "23", "ISO/IEC 20889, 9.3.4"],
    ]
    assert rows["People by the size of their class"][1:] == [
        ["1", "4,127 82.6%", "0 0%"],
        ["2", "426 8.5%", "0 0%"],
        ["3–4", "401 8%", "0 0%"],
        ["5–9", "42 0.8%", "329 6.6%"],
        ["10–19", "0 0%", "672 13.5%"],
        ["20–49", "0 0%", "1,023 20.6%"],
        ["50–99", "0 0%", "1,224 24.6%"],
        ["100+", "0 0%", "1,725 34.7%"],
    ]


@pytest.mark.requirement("R-10")
def test_tables_say_what_was_done_and_what_holds(facts: ReportFacts, read: Read) -> None:
    rows = read(render(facts)).rows
    models = rows["Formal privacy models and whether the released file meets them"]
    assert [[row[0], *row[2:5]] for row in models[1:]] == [
        ["k-anonymity", "5", "7", "met"],
        ["l-diversity of diagnosis", "3", "4", "met"],
        ["t-closeness of diagnosis", "0.35", "0.2871", "met"],
    ]
    attributes = {row[0]: row[1:] for row in rows["Attributes, their roles and the techniques applied"]}
    assert attributes["name"] == ["Direct identifier", "left out", "ISO/IEC 20889, 9.3.1", "no"]
    assert attributes["diagnosis"] == ["Sensitive", "left as it is", "–", "yes"]
    assert attributes["bill"] == [
        "Insensitive",
        "rounded to multiples of 100 Laplace noise added, scale 50",
        "ISO/IEC 20889, 9.6.2 ISO/IEC 20889, 9.7.2",
        "yes",
    ]
    usefulness = rows["Measures of usefulness of the released file"]
    assert [(row[0], row[2]) for row in usefulness[1:]] == [
        ("Generalisation loss", "0.2862"),
        ("Average class size", "34.78"),
        ("Discernibility", "481,207"),
        ("Correlation kept", "0.9417"),
    ]


@pytest.mark.requirement("R-02")
@pytest.mark.parametrize(("k", "within"), [(4, 0), (5, 1), (9, 1), (10, 2), (99, 2), (100, 3), (5000, 3)])
def test_thresholds_include_their_own_value(facts: ReportFacts, read: Read, k: int, within: int) -> None:
    text = read(render(changed(facts, after=replace(facts.after, k=k, prosecutor_max=1 / k)))).text
    assert (text.count("within the limit"), text.count("above the limit")) == (within, 3 - within)


def test_the_summary_gives_the_verdict_in_words(facts: ReportFacts, unmet: ReportFacts, read: Read) -> None:
    good = read(render(facts)).text
    assert (
        "All 3 privacy models are met Everyone whose quasi-identifying values are in the released file shares" in good
    )
    assert "with at least 6 other people." in good
    assert "chance of at most 1 in 7." in good
    assert "Smallest class, k before 1 → , after 7 people who look alike" in good
    assert "Detail kept 71.4%" in good
    assert "Usefulness kept" not in good
    assert "Suppressed 23 of 5,003 records, 0.5%" in good
    bad = read(render(unmet)).text
    assert "1 of 3 privacy models is not met Do not release this file as it is. 2 records can be singled out" in bad
    assert "A record is taken for a person." in bad
    assert "A record is taken for a person." not in good


def test_one_model_and_one_neighbour_are_singular(facts: ReportFacts, read: Read) -> None:
    pair = replace(facts.after, k=2, prosecutor_max=0.5)
    text = read(render(changed(facts, models=facts.models[:1], after=pair))).text
    assert "The privacy model is met" in text
    assert "with at least 1 other person." in text


def test_a_table_of_totals_claims_no_risk(aggregated: ReportFacts, read: Read) -> None:
    text = read(render(aggregated)).text
    assert "No privacy model was asked for" in text
    assert "Highest risk – not measured" in text
    assert "The risk of re-identification is not measured." in text
    assert "potential harm" not in text
    assert "100%" not in text


def test_one_big_class_for_want_of_quasi_identifiers_is_no_evidence(facts: ReportFacts, read: Read) -> None:
    whole = replace(facts.after, k=4973, prosecutor_max=1 / 4973, class_sizes=(4973,))
    plain = tuple(one for one in facts.attributes if one.role != "quasi")
    text = read(render(changed(facts, after=whole, attributes=plain))).text
    assert "not measured" in text
    assert "potential harm" not in text


def test_nothing_is_claimed_of_a_file_with_every_record_suppressed(facts: ReportFacts, read: Read) -> None:
    gone = replace(facts.after, k=0, people=0, suppressed=5003, prosecutor_max=0.0, class_sizes=())
    text = read(render(changed(facts, after=gone))).text
    assert "Every record was suppressed: no quasi-identifying value is left in the file." in text
    assert "Suppressed 5,003 of 5,003 records, 100%" in text
    assert "potential harm" not in text


def test_an_original_that_was_not_measured_has_no_figures(
    facts: ReportFacts, aggregated: ReportFacts, read: Read
) -> None:
    document = read(render(changed(facts, before=aggregated.before)))
    assert [row[1] for row in document.rows["Risk of re-identification"][1:]] == ["–"] * 7
    assert "before 1" not in document.text


@pytest.mark.requirement("R-10", "V-05")
def test_the_recipient_learns_nothing_from_what_is_kept_back(facts: ReportFacts, unmet: ReportFacts) -> None:
    """Two releases that differ in everything secret, and in nothing else, give the same page."""
    kept = tuple(replace(one, done=("another parameter",)) if one.done else one for one in facts.attributes)
    other = changed(
        facts,
        policy_sha256="0" * 64,
        data_path="C:\\elsewhere\\data.csv",
        before=unmet.after,
        after=replace(facts.after, suppressed=99, records=7001),
        models=tuple(
            replace(model, found=altered(model.found, required=0.001), explanation="Another promise.")
            for model in facts.models
        ),
        attributes=(AttributeFacts("secret_column", "direct", ("left out",), (), released=False), *kept[1:]),
        utility={"loss": 0.9},
        levels={"age": 4},
        optimal=False,
        nodes_checked=1,
        nodes_total=2,
        warnings=("Another warning.",),
    )
    assert render(facts) != render(other)
    assert render(facts, recipient=True) == render(other, recipient=True)


@pytest.mark.requirement("V-05")
@pytest.mark.parametrize(
    "secret",
    [
        "level 2 of 4",
        "last 4 kept",
        "scale 50",
        "top-coded at 12",
        "4,127",
        "0.8947",
        "0.35",
        "at least 4 other",
        "9f2c5b1d7e0a",
        "releases/",
        "118 of 560",
        "481,207",
        "speak of it",
        "remarks",
        "Suppressed 23",
        "Records suppressed",
    ],
)
def test_the_recipient_is_not_told(facts: ReportFacts, read: Read, secret: str) -> None:
    assert secret in read(render(facts)).text
    assert secret not in read(render(facts, recipient=True)).text


@pytest.mark.requirement("R-10")
def test_the_recipient_is_told_what_the_values_can_be_used_for(facts: ReportFacts, read: Read) -> None:
    rows = read(render(facts, recipient=True)).rows["Attributes, their roles and the techniques applied"]
    assert {row[0]: row[2] for row in rows[1:]} == {
        "aadhaar": "Suppressed in part",
        "age": "Generalised",
        "sex": "Generalised",
        "postal_code": "Generalised",
        "admitted": "Generalised",
        "diagnosis": "Not changed",
        "bill": "Generalised Randomised: a single value may not be true of the person",
        "visits": "Generalised",
    }


def test_a_technique_without_a_clause_is_a_change_all_the_same(facts: ReportFacts, read: Read) -> None:
    odd = AttributeFacts("x", "quasi", ("turned by 13",), ("own rule 4.2",), released=True)
    rows = read(render(changed(facts, attributes=(odd,)), recipient=True)).rows
    assert rows["Attributes, their roles and the techniques applied"][1][2] == "Changed"


@EDITIONS
def test_limits_are_always_told(facts: ReportFacts, recipient: bool, read: Read) -> None:
    text = read(render(facts, recipient=recipient)).text
    assert "not what can be learnt" in text
    assert ("Journalist risk is not estimated." in text) is not recipient
    assert "upper bound" in text
    assert "Noise is not differential privacy." in text
    assert "Measured from the written file." in text


def test_equal_facts_give_equal_pages(facts: ReportFacts) -> None:
    assert render(facts) == render(changed(facts))
