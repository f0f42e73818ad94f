"""Sensitivity measures against the handbook's examples and against contributions weighed one by one."""

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
