"""``shoal measure``: formal figures, linear sensitivity and gates at the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Call
from tests.support.policies import policy_text

pytestmark = pytest.mark.requirement("S-05", "R-03", "V-05")

FIRMS = """\
region,branch,turnover,kind,firm,weight,household,empty
north,steel,52000,a,1,2,1,
north,steel,50000,b,2,2,1,
north,steel,8000,a,3,1.5,2,
south,paper,10,a,4,3,2,
south,paper,10,b,5,3,3,
south,paper,10,b,6,3,3,
"""


@pytest.fixture(autouse=True)
def firms(tmp_path: Path) -> Path:
    path = tmp_path / "firms.csv"
    path.write_text(FIRMS)
    (tmp_path / "one.csv").write_text("".join(FIRMS.splitlines(keepends=True)[:2]))
    (tmp_path / "elsewhere.csv").write_text(FIRMS.replace("000,", "000000000,").replace("paper,10", "paper,9000000000"))
    return path


def measure(call: Call, *arguments: str, table: str = "firms.csv", qi: str = "region,branch") -> tuple[int, dict]:
    ended = call("measure", table, "--qi", qi, "--json", *arguments)
    return ended.code, ended.found


def test_formal_figures_of_any_table(call: Call) -> None:
    code, found = measure(call, "--sensitive", "kind,turnover")
    formal = found["formal"]
    assert code == 0
    assert formal["k"] == 3
    assert formal["attributes"]["kind"]["distinct_l"] == 2
    assert formal["attributes"]["kind"]["alpha"] == pytest.approx(2 / 3)
    assert formal["attributes"]["turnover"]["delta"] is None
    assert "t_ordered" in formal["attributes"]["turnover"]
    assert "t_ordered" in formal["left_out"]["kind"]


def test_numbers_of_a_text_file_are_in_the_order_of_numbers(call: Call, tmp_path: Path) -> None:
    """As text, 10 and 11 stand between 1 and 9. Li et al. 2007: 0.375."""
    rows = [
        f"{group},{salary}000"
        for group, several in ((1, (3, 4, 5)), (2, (6, 8, 11)), (3, (7, 9, 10)))
        for salary in several
    ]
    (tmp_path / "salaries.csv").write_text("group,salary\n" + "\n".join(rows) + "\n")
    _, found = measure(call, "--sensitive", "salary", table="salaries.csv", qi="group")
    assert found["formal"]["attributes"]["salary"]["t_ordered"] == pytest.approx(0.375)


def test_thresholds_hold_for_every_sensitive_attribute(call: Call) -> None:
    code, found = measure(call, "--sensitive", "kind,turnover", "--require", "distinct_l=2", "--require", "alpha=0.7")
    verdicts = {one["name"]: one["met"] for one in found["models"]}
    assert code == 1
    assert verdicts == {
        "distinct_l.kind": True,
        "distinct_l.turnover": False,
        "alpha.kind": True,
        "alpha.turnover": False,
    }
    code, _ = measure(call, "--sensitive", "kind,turnover", "--require", "distinct_l.kind=2")
    assert code == 0


def test_two_firms_dominate_but_p_per_cent_is_kept(call: Call) -> None:
    """Hundepool et al., 4.2.1, example 2: 52,000 and 50,000 of 110,000. The second region has equal ones."""
    rules = ["--rule", "dominance=2,0.9", "--rule", "p=0.1", "--rule", "pq=0.1,0.5", "--rule", "threshold=4"]
    code, found = measure(call, "--sensitive", "turnover,kind", *rules, "--require", "sensitive_cells=0")
    assert code == 1
    assert found["sensitivity"]["turnover"] == {
        "cells": 2,
        "sensitive": 2,
        "by_rule": {"dominance (2, 0.9)": 1, "p % (10)": 0, "p/q (0.1, 0.5)": 1, "threshold (4)": 2},
    }
    assert found["sensitivity_left_out"] == ["kind"]
    code, _ = measure(call, "--sensitive", "turnover", "--rule", "p=0.1", "--require", "sensitive_cells=0")
    assert code == 0


def test_records_of_one_firm_are_one_contribution(call: Call, tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("region,amount,firm\n" + "n,5,1\nn,5,1\nn,5,2\n")
    arguments = ["--sensitive", "amount", "--rule", "threshold=3"]
    _, by_record = measure(call, *arguments, table="visits.csv", qi="region")
    _, by_firm = measure(call, *arguments, "--person", "firm", table="visits.csv", qi="region")
    assert by_record["sensitivity"]["amount"]["sensitive"] == 0
    assert by_firm["sensitivity"]["amount"]["sensitive"] == 1


def test_weights_of_a_text_file_are_numbers(call: Call) -> None:
    code, found = measure(call, "--weight", "weight", "--household", "household")
    assert code == 0
    assert found["sample_risk"]["records"] == 6
    assert found["sample_risk"]["expected_in_households"] > found["sample_risk"]["expected_reidentifications"]


def test_risk_before_is_measured_by_the_same_population(call: Call, tmp_path: Path) -> None:
    (tmp_path / "released.csv").write_text(FIRMS.replace("north", "*").replace("south", "*"))
    arguments = ["--original", "firms.csv", "--population-size", "600"]
    _, found = measure(call, *arguments, table="released.csv", qi="region")
    assert found["attackers_before"]["basis"] == found["attackers"]["basis"] == "estimate"
    assert found["attackers_before"]["prosecutor"]["max"] == pytest.approx(1 / 3)
    assert found["attackers"]["prosecutor"]["max"] == pytest.approx(1 / 6)


def test_a_table_of_the_population_is_a_gate(call: Call, tmp_path: Path) -> None:
    (tmp_path / "register.csv").write_text("region,name\n" + "north,x\n" * 6 + "south,y\n" * 4)
    arguments = ("--population", "register.csv", "--require", "k_map=5", "--require", "delta_presence=0.75")
    code, found = measure(call, *arguments, qi="region")
    assert code == 1
    assert [(one["name"], one["achieved"], one["met"]) for one in found["models"]] == [
        ("k_map", 4, False),
        ("delta_presence", 0.75, True),
    ]
    assert found["risk"]["journalist_max"] == pytest.approx(1 / 4)
    assert found["risk"]["marketer"] == pytest.approx((3 / 6 + 3 / 4) / 6)
    ended = call("measure", "firms.csv", "--qi", "region,branch", "--population", "register.csv")
    assert ended.code == 2
    assert "the population has no column 'branch'" in ended.stderr


def test_records_are_never_called_people(call: Call, tmp_path: Path) -> None:
    rest = "person: owner\nprivacy: [{k_anonymity: {k: 3}}]\n"
    (tmp_path / "policy.yaml").write_text(policy_text("firms.csv", rest, direct="owner", quasi="region"))
    refused = call("measure", "firms.csv", "--policy", "policy.yaml")
    assert refused.code == 2
    assert "no column 'owner', so people can't be counted by it" in refused.stderr
    counted = call("measure", "firms.csv", "--policy", "policy.yaml", "--by-records")
    assert counted.code == 0
    assert "records alone in their class" in counted.stdout
    assert "people alone" not in counted.stdout


def test_a_model_that_cannot_be_measured_is_not_met(call: Call, tmp_path: Path) -> None:
    rest = "privacy: [{k_anonymity: {k: 3}}, {k_map: {k: 5, population: away.csv}}]\n"
    (tmp_path / "policy.yaml").write_text(policy_text("firms.csv", rest, quasi="region"))
    ended = call("measure", "firms.csv", "--policy", "policy.yaml")
    assert ended.code == 1
    assert "k_map can't be measured: away.csv: there is no such file" in ended.stdout
    assert "not met: k_map: required 5, no figure could be found" in ended.stderr


def test_people_read_sections_and_no_wall(call: Call) -> None:
    ended = call(
        *("measure", "firms.csv", "--qi", "region,branch", "--sensitive", "kind,turnover", "--rule", "p=0.1"),
        *("--harm", "low", "--suda", "--weight", "weight", "--population-size", "600", "--require", "k=3"),
        *("--original", "firms.csv", "--purpose", "research"),
    )
    titles = (
        "Classes",
        "Risk",
        "Probability of re-identification",
        "Special uniques",
        "Risk of a sample file",
        "People unique in the population",
        "Formal models",
        "Linear sensitivity",
        "Usefulness",
        "Required",
    )
    places = [next(n for n, line in enumerate(ended.stdout.splitlines()) if line.startswith(title)) for title in titles]
    assert ended.code == 1
    assert ended.stderr == "not met: reidentification: required 0.2, found 0.333333\n"
    assert places == sorted(places)
    assert max(map(len, ended.stdout.splitlines())) <= 140
    assert len(ended.stdout.splitlines()) < 110
    assert "52000" not in ended.stdout


def test_the_hierarchical_distance_takes_the_hierarchy_of_a_policy(call: Call, tmp_path: Path) -> None:
    """By hand: shares 2 ÷ 3 beside 1 ÷ 2 on the level of the values; on the next level a and b are one group."""
    (tmp_path / "policy.yaml").write_text(
        "shoal: 1\nname: firms\nattributes:\n  region: {role: quasi}\n"
        "  kind: {role: sensitive, hierarchy: {taxonomy: {tree: {known: [a, b], other: [c]}}}}\n"
        "privacy: [{t_closeness: {attribute: kind, t: 0.5, distance: hierarchical}}]\n"
    )
    ended = call("measure", "firms.csv", "--policy", "policy.yaml", "--require", "t_hierarchical=0.1", "--json")
    figures = ended.found["formal"]["attributes"]["kind"]
    assert ended.code == 0
    assert figures["t"] == pytest.approx(1 / 6)
    assert figures["t_hierarchical"] == pytest.approx(1 / 12)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--qi", "regon"), "no column 'regon'; did you mean 'region'"),
        (("--qi", "region", "--sensitive", "region"), "named twice"),
        (("--qi", "empty"), "column 'empty' has no values"),
        (("--qi", "region", "--sensitive", "empty"), "column 'empty' has no values"),
        (("--qi", "region", "--person", "who"), "no column 'who'"),
        (("--qi", "region", "--household", "household"), "needs sampling weights"),
        (("--qi", "region", "--weight", "kind"), "not numbers"),
        (("--qi", "region", "--sensitive", "kind", "--rule", "p=0.1"), "no numbers to add up in 'kind'"),
        (("--qi", "region", "--rule", "p=0.1"), "which numbers?"),
        (("--qi", "region", "--sensitive", "turnover", "--rule", "p=10"), "at most 1"),
        (("--qi", "region", "--sensitive", "kind", "--require", "t_ordered=0.1"), "neither numbers nor dates"),
        (("--qi", "region", "--sensitive", "kind", "--require", "t_hierarchical=0.1"), "hierarchy"),
        (("--qi", "region", "--sensitive", "kind", "--require", "t.knd=0.1"), "did you mean 'kind'"),
        (("--qi", "region", "--require", "distinct_l=2"), "needs a sensitive attribute"),
        (("--qi", "region", "--require", "k_map=2"), "needs a table of the population"),
        (("--qi", "region", "--by-records", "--person", "firm"), "give one of them"),
        (("--qi", "region", "--require", "sensitive_cells=0"), "needs --rule"),
        (("--qi", "", "--require", "k=1"), "--qi names no column"),
        (("--qi", ",", "--require", "k=1"), "--qi names no column"),
        (("--qi", "region", "--target", "kind"), "needs --original"),
        (("--qi", "region", "--original", "one.csv"), "can't belong together"),
        (("--qi", "turnover", "--original", "elsewhere.csv"), "no value in common"),
    ],
)
def test_wrong_use_is_one_clear_line(call: Call, arguments: tuple[str, ...], says: str) -> None:
    ended = call("measure", "firms.csv", *arguments)
    assert ended.code == 2
    assert ended.stdout == ""
    assert len(ended.stderr.splitlines()) == 1
    assert says in ended.stderr


def test_one_record_has_nobody_to_hide_among(call: Call) -> None:
    ended = call("measure", "one.csv", "--qi", "region")
    assert ended.code == 2
    assert "one record" in ended.stderr


@pytest.mark.requirement("R-02")
def test_a_verdict_above_its_threshold_is_an_exit_code(call: Call) -> None:
    """Smallest class 3: 1/3 is above 0.01, and 0.03/3 is exactly 0.01, which PDPC allows and MeitY does not."""
    asked = ("measure", "firms.csv", "--qi", "region", "--harm", "high")
    above = call(*asked, "--json")
    assert above.code == 1
    assert above.found["assessment"]["within"] is False
    assert above.found["models"][-1]["name"] == "reidentification"
    k = above.found["risk"]["k"]
    reached = (*asked, "--controls", "high", "--motive", "low", "--threshold", str(0.03 / k))
    assert call(*reached).code == 0
    by_meity = call(*reached, "--procedure", "meity")
    assert by_meity.code == 1
    assert "has to be less than the threshold" in by_meity.stdout


@pytest.mark.requirement("R-02")
def test_annex_d_gives_no_verdict_on_a_public_release(call: Call) -> None:
    asked = ("measure", "firms.csv", "--qi", "region", "--harm", "high", "--controls", "none")
    ended = call(*asked, "--json")
    assert ended.code == 0
    assert "assessment" not in ended.found
    assert "assumes a release that is not public" in ended.found["not_assessed"]
    assert "No verdict" in call(*asked).stdout
    required = call(*asked, "--require", "reidentification=0.5")
    assert required.code == 2
    assert "there is no probability of re-identification" in required.stderr
    assert call(*asked, "--procedure", "meity").code == 1


@pytest.mark.requirement("R-01")
def test_an_average_hides_nobody_who_is_alone_or_one_of_two(call: Call) -> None:
    by_region = call("measure", "firms.csv", "--qi", "region", "--json").found["attackers"]["prosecutor"]
    assert by_region["max"] <= 1 / 3
    assert by_region["strict_average"] == by_region["average"]
    finer = call("measure", "firms.csv", "--qi", "region,turnover", "--json").found["attackers"]["prosecutor"]
    assert finer["average"] < finer["max"] or finer["max"] == 1
    assert finer["strict_average"] == finer["max"]
    assert call("measure", "firms.csv", "--qi", "region,turnover", "--require", "strict_average=0.4").code == 1


@pytest.mark.requirement("R-06")
def test_notes_are_of_figures_that_are_shown(call: Call) -> None:
    asked = ("measure", "firms.csv", "--qi", "region", "--original", "firms.csv")
    short = call(*asked).stdout
    assert "Count error, typical: 95 % interval" in short
    assert "Count error, mean" not in short
    assert "Count error" not in call(*asked, "--purpose", "linking_back").stdout
