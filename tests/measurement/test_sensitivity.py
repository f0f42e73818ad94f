"""Sensitivity measures against examples that others have printed, and against contributions weighed one by one."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError, InputError
from shoal.measurement.risk.linear_sensitivity import (
    DominanceRule,
    PPercentRule,
    PriorPosteriorRule,
    SensitivityRule,
    ThresholdRule,
    check_cells,
    check_groups,
)

pytestmark = pytest.mark.requirement("S-05")

CONTRIBUTIONS = st.lists(st.integers(0, 100), min_size=1, max_size=8)
MICRODATA1 = {
    ("A", "female"): [11, 9],
    ("A", "male"): [18, 15, 13, 13, 12, 11, 10, 10, 10, 9, 9, 9, 8, 7, 7, 6, 6, 5],
    ("B", "female"): [18, 16, 14, 14, 13, 13, 12, 12, 11, 10, 10, 9, 9, 8, 8, 8, 7, 7, 5],
    ("B", "male"): [15, 14, 14, 12, 11, 10, 10, 10, 9, 8, 8, 7, 7, 5],
    ("C", "female"): [19, 12, 12, 11, 10, 9, 9, 9, 8, 7],
    ("C", "male"): [18, 12, 12, 11, 11, 11, 10, 9, 6, 6, 6, 6],
    ("D", "female"): [18, 16, 14, 14, 11, 11, 11, 10, 10, 9, 9, 7, 6, 6],
    ("D", "male"): [280, 11, 10, 9, 9, 9, 8, 8, 8, 7, 7],
}
"""A hundred contributions by region and gender: sdcTable's data for its own tests."""
SHARES = st.sampled_from([0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0])


def weights(rule: SensitivityRule, number: int) -> list[float]:
    """Of the ordered contributions, from the definitions: the measure is their weighted sum."""
    match rule:
        case DominanceRule(n, k):
            return [1 - k] * min(n, number) + [-k] * (number - n)
        case PPercentRule(p, coalition):
            return [p] + [0.0] * min(coalition, number - 1) + [-1.0] * (number - 1 - coalition)
        case PriorPosteriorRule(prior, posterior, coalition):
            return weights(PPercentRule(posterior / prior, coalition), number)
    raise AssertionError(rule)


def test_handbook_example_1_one_firm_does_not_dominate_but_the_second_comes_within_two_per_cent() -> None:
    """Hundepool et al., 4.2.1, example 1: 50,000 and 49,000 of 100,000."""
    cell = [50_000, 49_000, 1_000]
    assert DominanceRule(1, 0.9).sensitivity(cell) == pytest.approx(-40_000)
    assert PPercentRule(0.02).sensitivity(cell) == 0
    assert PPercentRule(0.03).sensitivity(cell) == pytest.approx(500)


def test_handbook_example_2_two_firms_dominate_but_p_per_cent_is_kept() -> None:
    """Hundepool et al., 4.2.1, example 2: 52,000 and 50,000 of 110,000; the estimate is 15.4 % off."""
    cell = [52_000, 50_000, 8_000]
    assert DominanceRule(2, 100 / 110).sensitivity(cell) == pytest.approx(2_000)
    assert PPercentRule(0.1).sensitivity(cell) == pytest.approx(-2_800)
    assert PPercentRule(0.153).sensitivity(cell) < 0 < PPercentRule(0.155).sensitivity(cell)


def test_prior_knowledge_makes_the_same_cell_sensitive() -> None:
    """Who knows the small ones to within half of their size comes twice as near."""
    cell = [52_000, 50_000, 8_000]
    assert PriorPosteriorRule(prior=0.5, posterior=0.1).sensitivity(cell) == pytest.approx(0.2 * 52_000 - 8_000)


def test_a_coalition_of_two_subtracts_the_second_and_the_third() -> None:
    cell = [100, 60, 40, 5]
    assert PPercentRule(0.1).sensitivity(cell) == pytest.approx(-35)
    assert PPercentRule(0.1, coalition=2).sensitivity(cell) == pytest.approx(5)


@pytest.mark.parametrize(("people", "measure"), [(1, 2), (2, 1), (3, 0), (4, -1)])
def test_fewer_than_the_threshold_are_sensitive_however_large_the_sum(people: int, measure: float) -> None:
    assert ThresholdRule(3).sensitivity([1e15] * people) == measure


@pytest.mark.parametrize(
    "rule", [ThresholdRule(3), DominanceRule(1, 0.5), PPercentRule(0.1), PriorPosteriorRule(0.5, 0.1)]
)
def test_a_cell_without_contributions_discloses_nobody(rule: SensitivityRule) -> None:
    assert rule.sensitivity([]) == 0


@given(CONTRIBUTIONS, st.integers(1, 3), SHARES, SHARES, st.integers(1, 3))
def test_measures_are_the_weighted_sums_of_ordered_contributions(
    cell: list[int], n: int, one: float, other: float, coalition: int
) -> None:
    rules = (
        DominanceRule(n, one),
        PPercentRule(one, coalition),
        PriorPosteriorRule(max(one, other), min(one, other), coalition),
    )
    for rule in rules:
        weighed = weights(rule, len(cell))
        assert weighed == sorted(weighed, reverse=True)
        by_hand = sum(weight * size for weight, size in zip(weighed, sorted(cell, reverse=True), strict=True))
        assert rule.sensitivity(cell) == pytest.approx(by_hand, abs=1e-9)


@given(CONTRIBUTIONS, SHARES)
def test_what_is_safe_by_the_two_largest_is_safe_by_p_per_cent(cell: list[int], p: float) -> None:
    """Hundepool et al., 4.2.1, statement A: with k = 1/(1 + p)."""
    if DominanceRule(2, 1 / (1 + p)).sensitivity(cell) <= 0:
        assert PPercentRule(p).sensitivity(cell) <= 0


@given(CONTRIBUTIONS, SHARES)
def test_p_per_cent_is_kept_exactly_if_no_other_contributor_can_come_near_to_any(cell: list[int], p: float) -> None:
    """Brute force over all pairs of one who is estimated and one who estimates."""
    pairs = [(target, seeker) for target in range(len(cell)) for seeker in range(len(cell)) if target != seeker]
    near = any(sum(cell) - cell[seeker] - cell[target] < p * cell[target] - 1e-9 for target, seeker in pairs)
    alone = len(cell) == 1 and cell[0] > 0
    assert (PPercentRule(p).sensitivity(cell) > 0) == (near or alone)


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from(["x", "y"]), st.integers(-50, 50) | st.none()),
        max_size=40,
    )
)
def test_cells_of_a_table_are_judged_like_single_cells(rows: list[tuple[str | None, str, int | None]]) -> None:
    table = pl.DataFrame(rows, schema={"town": pl.String, "branch": pl.String, "sum": pl.Int64}, orient="row")
    rules = (ThresholdRule(3), DominanceRule(2, 0.75), PPercentRule(0.1, coalition=2), PriorPosteriorRule(0.5, 0.1))
    found = check_cells(table, ["town", "branch"], "sum", rules)
    by_hand = {
        key: [size for *of, size in rows if tuple(of) == key and size is not None] for key in {row[:2] for row in rows}
    }
    assert found.number == len(by_hand)
    for line in found.cells.iter_rows(named=True):
        cell = by_hand[line["town"], line["branch"]]
        measured = [rule.sensitivity(cell) for rule in rules]
        assert [line[str(rule)] for rule in rules] == pytest.approx(measured)
        assert line["contributions"] == len(cell)
        assert line["sensitive"] == any(each > 0 for each in measured)
    assert found.sensitive == sum(found.cells["sensitive"])


def test_records_of_one_person_are_one_contribution() -> None:
    table = pl.DataFrame({"firm": ["A", "A", "A", "B"], "turnover": [4, 4, 4, 1]})
    assert not check_cells(table, [], "turnover", [ThresholdRule(3)]).sensitive
    assert check_cells(table, [], "turnover", [ThresholdRule(3)], person="firm").cells["threshold (3)"].to_list() == [
        1.0
    ]


def test_classes_of_microdata_leave_suppressed_records_out() -> None:
    table = pl.DataFrame({"age": ["20-29", "20-29", "*"], "sex": ["F", "F", "*"], "income": [10, 90, 5]})
    found = check_groups(table, ["age", "sex"], "income", [DominanceRule(1, 0.8)])
    assert found.cells.rows() == [("20-29", "F", 2, pytest.approx(10), True)]
    assert found.to_dict() == {"cells": 1, "sensitive": 1, "by_rule": {"dominance (1, 0.8)": 1}}


def test_edges_of_tables() -> None:
    nothing = pl.DataFrame(schema={"q": pl.String, "x": pl.Float64})
    assert check_cells(nothing, ["q"], "x", [ThresholdRule(3)]).number == 0
    missing = pl.DataFrame({"q": ["a"], "x": [None]}, schema={"q": pl.String, "x": pl.Float64})
    assert check_cells(missing, ["q"], "x", [ThresholdRule(3), PPercentRule(0.1)]).cells.row(0) == (
        "a",
        0,
        0.0,
        0.0,
        False,
    )


def test_wrong_use_is_told() -> None:
    table = pl.DataFrame({"town": ["Pune"], "income": ["much"], "size": [1.0], "odd": [float("nan")]})
    with pytest.raises(InputError, match="no column 'twon'; did you mean 'town'"):
        check_cells(table, ["twon"], "size", [ThresholdRule(3)])
    with pytest.raises(DataError, match="'income' holds no numbers"):
        check_cells(table, ["town"], "income", [ThresholdRule(3)])
    with pytest.raises(DataError, match="no finite numbers"):
        check_cells(table, ["town"], "odd", [ThresholdRule(3)])
    with pytest.raises(InputError, match="no rule"):
        check_cells(table, ["town"], "size", [])
    with pytest.raises(InputError, match="called like"):
        check_cells(table.rename({"town": "sensitive"}), ["sensitive"], "size", [ThresholdRule(3)])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: ThresholdRule(0),
        lambda: DominanceRule(0, 0.5),
        lambda: DominanceRule(1, 75),
        lambda: PPercentRule(10),
        lambda: PPercentRule(0.1, coalition=0),
        lambda: PriorPosteriorRule(prior=0.1, posterior=0.5),
    ],
)
def test_parameters_have_limits(wrong: type[SensitivityRule]) -> None:
    with pytest.raises(InputError):
        wrong()


@pytest.mark.parametrize(("largest", "p"), [(80, 0.25), (95, 0.0526)])
def test_dominance_and_p_per_cent_that_the_handbook_pairs(largest: int, p: float) -> None:
    """Handbook on SDC, 4.2.1: (2, 80) goes with p = 25 and (2, 95) with p = 5.26.

    One large contribution and many tiny ones make 100: both rules turn at the same size of the large one.
    """
    for size, sensitive in ((largest + 0.1, True), (largest - 0.1, False)):
        cell = [size, *[(100 - size) / 100_000] * 100_000]
        assert (DominanceRule(2, largest / 100).sensitivity(cell) > 0) is sensitive
        assert (PPercentRule(p).sensitivity(cell) > 0) is sensitive


def test_p_per_cent_of_the_handbooks_weighted_cell() -> None:
    """Handbook on SDC, 4.2.1, sampling weights: 100, 100 and three of 1, in all 203, sensitive for any p above 3."""
    cell = [100, 100, 1, 1, 1]
    assert sum(cell) == 203
    assert PPercentRule(0.03).sensitivity(cell) == 0
    assert PPercentRule(0.0301).sensitivity(cell) > 0


@pytest.mark.parametrize(
    "rule", [DominanceRule(2, 0.75), PPercentRule(0.7), PriorPosteriorRule(prior=0.8, posterior=0.6)]
)
def test_rules_as_sdctable_prints_them(rule: SensitivityRule) -> None:
    """sdcTable, test-primarySuppression.r, on its microdata1: (2, 75), p = 70 and (p, q) = (60, 80).

    Each makes the cells of women in A and of men in D sensitive, and none of the other thirteen, totals among them.
    """
    rows = [(*key, size) for key, sizes in MICRODATA1.items() for size in sizes]
    table = pl.DataFrame(rows, schema=["region", "gender", "value"], orient="row")
    cells = [check_cells(table, by, "value", [rule]).cells for by in ([], ["region"], ["gender"], ["region", "gender"])]
    assert sum(each.height for each in cells) == 15
    assert [each.filter("sensitive").height for each in cells] == [0, 0, 0, 2]
    assert cells[-1].filter("sensitive").select("region", "gender").rows() == [("A", "female"), ("D", "male")]


def test_losses_count_by_their_size() -> None:
    """Handbook on SDC, 4.3.3, "Tables with negative values": judge the absolute values; it prints no example.

    So its example 2 of 4.2.1, 52 + 50 + 8 = 110, has the same measures with the 50 as a loss: 102 − 110/1.1 = 2 by
    dominance (2, 90.9), and 10 % of 52 − 8 = −2.8. The sum that is published, 10, plays no part.
    """
    table = pl.DataFrame({"result": [52, -50, 8]})
    rules = [DominanceRule(2, 1 / 1.1), PPercentRule(0.1)]
    found = check_cells(table, [], "result", rules).cells
    assert [found[str(rule)].item() for rule in rules] == pytest.approx([2, -2.8])
    assert found["sensitive"].item()


def test_threshold_of_the_handbook() -> None:
    """Handbook on SDC, 4.2.1: with the usual minimum of 3, cells of one and of two respondents are unsafe."""
    assert [ThresholdRule(3).sensitivity([7.0] * people) > 0 for people in (1, 2, 3)] == [True, True, False]
