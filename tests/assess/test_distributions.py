"""How attributes are spread before and after: right shares, on labels that give nothing away."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.assess.comparison.paired_tables import TablePair, typed
from shoal.assess.evidence.distributions import OTHERS, distributions_of
from shoal.measurement.usefulness.distances import DistributionDistance
from shoal.measurement.usefulness.distribution_bins import LEAST_RECORDS, MOST_BARS, date_bins, number_bins
from shoal.policy import Policy
from shoal.results.evidence_facts import DistributionFacts

pytestmark = pytest.mark.requirement("R-10", "V-05")

POLICY = Policy.from_text("""
shoal: 1
name: clinic
person: who
attributes:
  who: {role: insensitive}
  name: {role: direct, technique: {mask: {keep_last: 2}}}
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 20]}}}
  pin: {role: quasi, hierarchy: {redact: {side: right, char: "x"}}}
  born: {role: quasi, hierarchy: dates}
  ward: {role: insensitive}
privacy: [{k_anonymity: {k: 2}}]
""")


def pairing(original: dict[str, object], released: dict[str, object]) -> TablePair:
    before, after = typed(pl.DataFrame(original)), typed(pl.DataFrame(released))
    return TablePair(before, after, before.height, after.height)


def only(original: object, released: object, *, name: str = "x", policy: Policy | None = None) -> DistributionFacts:
    (facts,) = distributions_of(pairing({name: original}, {name: released}), policy)
    return facts


def test_a_generalised_attribute_stands_under_its_released_labels_in_their_order() -> None:
    ages = [25, 31, 38, 90] * 10 + [31] * 10
    labels = ["20-29", "30-39", "30-39", "90-99"] * 10 + ["*"] * 10
    facts = only(ages, labels, name="age", policy=POLICY)
    assert facts.kind == "numbers"
    assert facts.bars == (("20-29", 0.2, 0.2), ("30-39", 0.6, 0.4), ("90-99", 0.2, 0.2))
    assert facts.suppressed == 0.2


def test_several_levels_are_put_on_the_coarsest_that_occurs() -> None:
    ages = [25] * 10 + [31] * 20 + [45] * 10
    released = ["25"] * 5 + ["20-29"] * 5 + ["30-39"] * 10 + ["20-39"] * 10 + ["40-49"] * 10
    facts = only(ages, released, name="age", policy=POLICY)
    assert facts.bars == (("20-39", 0.75, 0.75), ("40-59", 0.25, 0.25))


def test_a_label_that_is_not_in_the_release_is_not_shown_either() -> None:
    pins = ["560001"] * 20 + ["570002"] * 15 + ["110003"] * 25
    released = ["56xxxx"] * 20 + ["*"] * 15 + ["11xxxx"] * 25
    facts = only(pins, released, name="pin", policy=POLICY)
    assert facts.bars == (("11xxxx", 0.417, 0.417), ("56xxxx", 0.333, 0.333), (OTHERS, 0.25, 0.0))


def test_a_label_that_is_also_a_value_of_the_original_is_not_named(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("Nurse;Nurse;*\nSurgeon;Doctor;*\nDentist;Doctor;*\n")
    policy = Policy.from_text(
        "shoal: 1\nname: jobs\nattributes:\n  job: {role: quasi, hierarchy: {csv: jobs.csv}}\n", folder=tmp_path
    )
    jobs = ["Nurse"] * 20 + ["Surgeon"] * 15 + ["Dentist"] * 15
    facts = only(jobs, ["Nurse"] * 20 + ["Doctor"] * 30, name="job", policy=policy)
    assert facts.bars == (("Doctor", 0.6, 0.6), ("2nd", 0.4, 0.4))


def test_values_that_are_released_as_they_are_get_a_rank_that_stands_for_the_same_category_on_both_sides() -> None:
    before = ["Zebra"] * 20 + ["Yak"] * 30 + ["Emu"] * 50
    after = ["Zebra"] * 45 + ["Yak"] * 35 + ["Emu"] * 20
    assert only(before, after).bars == (("1st", 0.5, 0.2), ("2nd", 0.3, 0.35), ("3rd", 0.2, 0.45))


def test_few_numbers_are_names_of_categories() -> None:
    codes = [7731] * 60 + [7732] * 40
    facts = only(codes, [*codes[1:], 7731])
    assert [label for label, _, _ in facts.bars] == ["1st", "2nd"]


def test_numbers_that_were_altered_share_round_bins_and_an_outlier_does_not_stretch_them() -> None:
    salaries = [20_000 + 100 * place for place in range(600)] + [99_999_937]
    facts = only(salaries, [salary + 37 for salary in salaries])
    assert facts.kind == "numbers"
    assert facts.bars[0] == ("20,000 to 25,000", 0.083, 0.083)
    assert facts.bars[-1][0] == "75,000 or more"
    assert len(facts.bars) == MOST_BARS
    assert sum(before for _, before, _ in facts.bars) == pytest.approx(1, abs=0.006)


def test_stars_do_not_keep_numbers_from_being_numbers() -> None:
    ages = list(range(20, 70)) * 4
    facts = only(ages, ["*" if place % 4 == 0 else str(age) for place, age in enumerate(ages)])
    assert facts.suppressed == 0.25
    assert facts.bars[0] == ("20 to 25", 0.1, 0.07)


@pytest.mark.parametrize(
    ("days", "label"), [(1, "2020-01"), (30, "2020"), (300, "2020s"), (3_000, "2000 to 2099")]
)  # fmt: skip
def test_dates_stand_in_the_finest_periods_that_are_few(days: int, label: str) -> None:
    dates = [date(2020, 1, 1) + timedelta(days=days * place) for place in range(120)]
    facts = only(dates * 20, dates * 20)
    assert facts.kind == "dates"
    assert facts.bars[0][0].removesuffix(" or earlier") == label
    assert 1 < len(facts.bars) <= MOST_BARS


def test_few_records_are_pooled_and_the_pool_is_never_few_itself() -> None:
    values = ["a"] * 60 + ["b"] * 28 + ["c"] * 12
    assert [one[0] for one in only(values, values).bars] == ["1st", "2nd", "3rd"]
    alone = [*values, "d"]
    assert only(alone, alone).bars == (("1st", 0.594, 0.594), ("2nd", 0.277, 0.277), (OTHERS, 0.129, 0.129))
    many = [f"v{place}" for place in range(30) for _ in range(20)]
    bars = only(many, many).bars
    assert len(bars) == MOST_BARS
    assert bars[-1] == (OTHERS, 0.633, 0.633)


def test_one_person_in_a_large_table_does_not_show() -> None:
    values = ["a"] * 60_000 + ["b"] * 40_000
    facts = only([*values, "c"], [*values, "*"])
    assert facts.suppressed == 0.0
    assert "3rd" not in {label for label, _, _ in facts.bars}


def test_identifiers_and_odd_columns_are_left_out() -> None:
    table: dict[str, object] = {
        "who": [f"p{place // 20}" for place in range(100)],
        "name": ["x1", "x2"] * 50,
        "nothing": pl.Series([None] * 100, dtype=pl.String),
        "one": ["same"] * 100,
        "lists": [[1, 2], [3]] * 50,
        "pin": [["1"], ["2", "3"]] * 50,
        "free": [f"text {place}" for place in range(100)],
        "ward": ["a", "b"] * 50,
    }
    found = {facts.name: facts for facts in distributions_of(pairing(table, table), POLICY)}
    assert set(found) == {"free", "ward"}
    assert found["free"].bars == ()
    assert distributions_of(pairing(table, table), None)


def test_columns_that_are_stored_differently_on_both_sides() -> None:
    numbers = [1.0, 1.5, 2.0] * 20
    whole = [1, 2] * 20
    assert only(numbers, whole).bars == (("1st", 0.333, 0.5), ("2nd", 0.333, 0.0), ("3rd", 0.333, 0.5))
    words = pl.Series(["a", "a", "b"] * 20)
    facts = only(words.cast(pl.Categorical), words.set(words == "b", "*").cast(pl.Categorical))
    assert (facts.suppressed, facts.bars) == (0.333, (("1st", 0.667, 0.667), ("2nd", 0.333, 0.0)))
    assert only(words, [None] * 60).suppressed == 1


def test_what_is_hidden_altogether_is_told_without_bars() -> None:
    facts = only(["a", "b"] * 20, ["*"] * 40)
    assert (facts.bars, facts.suppressed, facts.distances) == ((), 1.0, ())


def test_labels_that_nobody_can_place_get_no_bars_but_the_distance() -> None:
    ages = [*range(20, 60)] * 3
    facts = only(ages, [f"{age // 10 * 10}-{age // 10 * 10 + 9}" for age in ages])
    assert facts.bars == ()
    assert {name for name, _ in facts.distances} == {"Wasserstein", "KS"}


def test_a_hierarchy_that_does_not_know_the_values_is_no_failure() -> None:
    words = ["abc", "def"] * 20
    assert only(words, words, name="age", policy=POLICY).bars == (("1st", 0.5, 0.5), ("2nd", 0.5, 0.5))


def test_distances_that_were_measured_are_told_as_they_are() -> None:
    table = pairing({"x": ["a", "b"] * 20}, {"x": ["a", "b"] * 20})
    (facts,) = distributions_of(table, None, [DistributionDistance("x", "category", 0, 0, total_variation=0.25)])
    assert facts.distances == (("total variation", 0.25),)


def inside(label: str, number: float) -> bool:
    """Whether a number belongs under a label, by reading the label as people do."""
    edges = [float(edge.replace(",", "")) for edge in re.findall(r"-?[\d,]+(?:\.\d+)?(?:e[+-]\d+)?", label)]
    if label.startswith("below"):
        return number < edges[0]
    return number >= edges[0] and (label.endswith("or more") or number < edges[1])


WHOLE = st.integers(-(10**12), 10**12)
SMALL = st.integers(-30, 30)


@given(st.lists(st.one_of(WHOLE, SMALL), min_size=2).filter(lambda numbers: len(set(numbers)) > 1), st.lists(SMALL))
def test_each_number_is_in_the_bin_whose_label_says_so(before: list[int], after: list[int]) -> None:
    bins = number_bins(pl.Series(before, dtype=pl.Int64), pl.Series(after, dtype=pl.Int64))
    assert bins.height <= MOST_BARS
    for side, numbers in {"before": before, "after": after}.items():
        assert bins[side].to_list() == [sum(inside(label, one) for one in numbers) for label in bins["label"]]


def test_decimals_on_an_edge_are_above_it() -> None:
    numbers = pl.Series([place / 100 for place in range(20, 31)] * 50)
    bins = number_bins(numbers, numbers)
    assert bins["label"].to_list()[:2] == ["0.20 to 0.21", "0.21 to 0.22"]
    assert bins["before"].to_list() == [50] * 11


@given(st.lists(st.dates(), min_size=2), st.lists(st.dates()))
def test_each_date_is_in_one_period(before: list[date], after: list[date]) -> None:
    bins = date_bins(pl.Series(before, dtype=pl.Date), pl.Series(after, dtype=pl.Date))
    assert bins.height <= MOST_BARS
    assert bins["before"].sum() == len(before)
    assert bins["after"].sum() == len(after)


VALUES = st.one_of(
    st.lists(st.one_of(st.none(), st.sampled_from(["ant", "bee", "cow", "*", "7", "nan"])), min_size=1),
    st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=1),
    st.lists(st.one_of(st.none(), st.integers(0, 20)), min_size=1),
    st.lists(st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)), min_size=1),
    st.lists(st.one_of(st.none(), st.booleans()), min_size=1),
    st.lists(st.one_of(st.none(), st.datetimes()), min_size=1),
    st.lists(st.one_of(st.none(), st.times()), min_size=1),
)
COLUMN = st.builds(lambda values, times: values * times, VALUES, st.sampled_from([1, 4, 12]))


@given(st.one_of(st.tuples(COLUMN, COLUMN), COLUMN.map(lambda column: (column, column[1:] or column))))
def test_no_column_fails_and_no_bar_is_a_few_people_or_a_name(both: tuple[list[object], list[object]]) -> None:
    before, after = both
    one = pl.DataFrame({"age": before}, strict=False), pl.DataFrame({"age": after}, strict=False)
    pair = TablePair(one[0], one[1], len(before), len(after))
    for policy in (None, POLICY):
        for facts in distributions_of(pair, policy):
            assert all(round(share * len(before)) >= LEAST_RECORDS or share == 0 for _, share, _ in facts.bars)
            assert not {label for label, _, _ in facts.bars} & {str(value) for value in before}
            assert 0 <= facts.suppressed <= 1
