"""Figures of risk that others have printed, from the input that they printed; else reckoned here step by step."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.measurement import measure_classes
from shoal.measurement.attackers import Attackers, attackers_of
from shoal.measurement.frequencies import frequencies
from shoal.measurement.individual import household_risk, individual_risk, measure_sample
from shoal.measurement.loglinear import cross_table, fitted_means, unique_risk
from shoal.measurement.quasi import analyse_quasi
from shoal.measurement.reidentification import acquaintance_probability, assess
from shoal.measurement.sensitivity import Dominance, PPercent, PriorPosterior, Threshold
from shoal.measurement.suda import suda
from shoal.measurement.uniques import find_uniques
from shoal.measurement.unsafe import unsafe_combinations
from shoal.measurement.usefulness import class_figures
from shoal.privacy import Classes

KEYS = ["residence", "gender", "education", "labour"]
GUIDE = pl.DataFrame(
    [
        ("urban", "female", "secondary incomplete", "employed", 180),
        ("urban", "female", "secondary incomplete", "employed", 180),
        ("urban", "female", "primary incomplete", "non-LF", 215),
        ("urban", "male", "secondary complete", "employed", 76),
        ("rural", "female", "secondary complete", "unemployed", 186),
        ("urban", "male", "secondary complete", "employed", 76),
        ("urban", "female", "primary complete", "non-LF", 180),
        ("urban", "male", "post-secondary", "unemployed", 215),
        ("urban", "female", "secondary incomplete", "non-LF", 186),
        ("urban", "female", "secondary incomplete", "non-LF", 76),
    ],
    schema=[*KEYS, "weight"],
    orient="row",
)
"""Ten respondents: Benschop and Welch, Statistical Disclosure Control for Microdata: A Practice Guide, table 4.1."""

EIGHT = pl.DataFrame(
    {
        "a": [2, 3, 2, 2, 3, 3, 1, 2],
        "b": [3, 3, 3, 3, 3, 3, 4, 3],
        "c": [1, 3, 1, 2, 1, 1, 1, 1],
        "weight": [18.0, 45.5, 39.0, 17.0, 92.0, 8.0, 123.5, 51.0],
    }
)
"""Eight records from sdcMicro's own tests of freqCalc and indivRisk."""


def attackers(people: list[int], population: list[int] | None = None) -> Attackers:
    sizes = np.array(people)
    return attackers_of(Classes(sizes, sizes), population=None if population is None else np.array(population))


@pytest.mark.requirement("R-03")
def test_frequencies_of_the_practice_guide() -> None:
    """Table 4.1 and listing 4.2 of the guide: fk and Fk of the ten respondents."""
    found = frequencies(GUIDE.lazy(), KEYS, "weight")
    assert found.sample.tolist() == [2, 2, 1, 2, 1, 2, 1, 1, 2, 2]
    assert found.population.tolist() == [360, 360, 215, 152, 186, 152, 180, 215, 262, 262]


@pytest.mark.requirement("R-03")
def test_a_missing_cell_matches_anything_as_in_the_practice_guide() -> None:
    """Table 4.2 of the guide: two complete records and one with a missing education, fk = 2, 2, 3."""
    table = pl.LazyFrame({"gender": ["m"] * 3, "education": ["complete", "incomplete", None], "labour": ["e"] * 3})
    assert frequencies(table, table.collect_schema().names(), missing="wildcard").sample.tolist() == [2, 2, 3]


@pytest.mark.requirement("R-03")
def test_individual_risk_of_the_practice_guide() -> None:
    """Listing 4.3 of the guide prints nine decimals: the formula of Benedetti and Franconi (1998) for one and two."""
    found = frequencies(GUIDE.lazy(), KEYS, "weight")
    printed = [0.005424520, 0.005424520, 0.025096439, 0.012563425, 0.028247279]
    printed += [0.012563425, 0.029010932, 0.025096439, 0.007403834, 0.007403834]
    assert individual_risk(found.sample, found.population) == pytest.approx(printed, abs=5e-10)


@pytest.mark.requirement("R-03")
def test_individual_risk_of_sdcmicros_own_tests() -> None:
    """sdcMicro, test_indivRisk.R and test_freqCalc.R: approximate and exact figures, which part from three on."""
    found = frequencies(EIGHT.lazy(), ["a", "b", "c"], "weight")
    assert found.sample.tolist() == [3, 1, 3, 1, 2, 2, 1, 3]
    assert found.population.tolist() == [108, 45.5, 108, 17, 100, 100, 123.5, 108]
    approximate = [0.01369863, 0.08579129, 0.01369863, 0.17707583, 0.01877883, 0.01877883, 0.03931625, 0.01369863]
    exact = [0.01355297, 0.08579129, 0.01355297, 0.17707583, 0.01877883, 0.01877883, 0.03931625, 0.01355297]
    assert individual_risk(found.sample, found.population) == pytest.approx(approximate, abs=5e-9)
    assert individual_risk(found.sample, found.population, "exact") == pytest.approx(exact, abs=5e-9)


@pytest.mark.requirement("R-03")
def test_global_risk_of_the_practice_guide() -> None:
    """Listings 4.11 to 4.13: 0.01582 per record, 0.1582 expected re-identifications, nobody above 5 %."""
    found = measure_sample(GUIDE.lazy(), KEYS, "weight")
    assert found.share == pytest.approx(0.01582, abs=5e-6)
    assert found.expected == pytest.approx(0.1582, abs=5e-5)
    assert (found.uniques, found.above(0.05)) == (4, 0)


@pytest.mark.requirement("R-03")
def test_household_risk_of_the_practice_guide() -> None:
    """Section "Household risk" of the guide: members with 0.02, 0.03 and 0.03 give 0.078."""
    assert household_risk([0.02, 0.03, 0.03], ["h"] * 3) == pytest.approx([0.078] * 3, abs=5e-4)


@pytest.mark.requirement("R-03")
def test_special_uniques_of_the_practice_guide() -> None:
    """Table 4.5 and the section before it: the fifth record has {rural} and three pairs, 6 + 2 + 2 + 2 = 12."""
    found = suda(GUIDE, KEYS, max_size=3)
    assert found.scores.tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    uniques = find_uniques(GUIDE.select(KEYS), 3)
    fifth = np.flatnonzero(uniques.alone == 4)[0]
    sets = [set(each.attributes) for each in uniques.minimal if fifth in each.records]
    assert sorted(map(sorted, sets)) == [[0], [1, 2], [1, 3], [2, 3]]


@pytest.mark.requirement("R-03")
def test_dis_suda_of_the_practice_guide() -> None:
    """Listing 4.7 prints scores on another scale, and the DIS-SUDA that sdcMicro makes of them; so does the formula."""
    found = suda(GUIDE, KEYS)
    assert (len(found.alone), found.in_pairs) == (4, 6)
    rescaled = replace(found, score=np.array([1.75, 3.25, 1.75, 2.75]))
    printed = [0, 0, 0.005120313, 0, 0.010702061, 0, 0.005120313, 0.008775093, 0, 0]
    assert rescaled.dis == pytest.approx(printed, abs=5e-10)


@pytest.mark.requirement("R-03")
def test_log_linear_risk_of_sdcmicros_own_tests() -> None:
    """sdcMicro, test_modRisks.R: ten records that R draws after set.seed(123), figures per cell that has records.

    The keys are independent, so the mean of a cell is 10 × the shares of its values: 0.1, 0.2 … 1, as printed there.
    sdcMicro takes the sample's mean for the population's (see ``test_loglinear``), so here the mean is handed over.
    """
    table = pl.LazyFrame(
        {
            "one": [2, 3, 2, 3, 3, 1, 2, 3, 2, 2],
            "two": [2, 1, 2, 2, 1, 2, 1, 1, 1, 2],
            "three": [5, 4, 4, 5, 4, 4, 3, 3, 2, 2],
            "weight": [100.0] * 10,
        }
    )
    cells = cross_table(table, ["one", "two", "three"], "weight")
    means = fitted_means(cells)
    assert sorted(set(means.round(6))) == [0.1, 0.2, 0.4, 0.5, 0.8, 1.0]
    unique, filled = cells.records == 1, (cells.records > 0).sum()
    alone, match = unique_risk(means[unique], cells.inclusion[unique])
    assert filled == 9
    assert alone.sum() / filled == pytest.approx(0.552916, abs=5e-7)
    assert match.sum() / filled == pytest.approx(0.7053842, abs=5e-8)


@pytest.mark.requirement("R-03")
def test_log_linear_risk_with_pencil() -> None:
    """No printed figures were at hand. Two people expected in a cell, half of them sampled: one unseen, v = 1.

    P(F = 1 | f = 1) = e⁻¹ = 0.3679; E(1/F | f = 1) = (1 − e⁻¹) ÷ 1 = 0.6321 (Skinner and Holmes 1998).
    """
    alone, match = unique_risk(np.array([2.0]), 0.5)
    assert (alone[0], match[0]) == pytest.approx((0.3679, 0.6321), abs=5e-5)


@pytest.mark.requirement("D-06")
def test_distinction_and_separation_as_arx_reckons_by_hand() -> None:
    """ARX, TestRiskQuasiIdentifiers.java: five people, the example of Motwani and Xu (2007), "calculated by hand"."""
    table = pl.DataFrame(
        {
            "age": [20, 30, 40, 20, 40],
            "sex": ["f", "f", "f", "m", "m"],
            "state": ["CA", "CA", "TX", "NY", "CA"],
        }
    )
    found = {one.names: (one.distinction, one.separation) for one in analyse_quasi(table, table.columns).sets}
    assert found == {
        ("sex",): (0.4, 0.6),
        ("state",): (0.6, 0.7),
        ("age",): (0.6, 0.8),
        ("sex", "state"): (0.8, 0.9),
        ("age", "sex"): (1.0, 1.0),
        ("age", "state"): (1.0, 1.0),
        ("age", "sex", "state"): (1.0, 1.0),
    }


@pytest.mark.requirement("R-01")
def test_prosecutor_as_arx_prints_it_for_seven_people() -> None:
    """ARX, TestRiskMetrics.java: seven people in three classes of two and more, 0.42857… on average, 0.5 at most."""
    risk = attackers([2, 2, 3]).prosecutor
    assert (risk.average, risk.max) == (0.42857142857142855, 0.5)


@pytest.mark.requirement("R-01")
def test_prosecutor_as_arx_prints_it_for_census_data(shared: Path) -> None:
    """ARX, TestRiskMetrics.java, on Adult as it is: average risk 0.64657…, 51.4 % unique, and so at most 1."""
    table = pl.scan_csv(shared / "data" / "adult" / "adult.csv", separator=";", infer_schema=False)
    names = tuple(table.collect_schema().names())
    risk = attackers_of(measure_classes(table, names).classes).prosecutor
    assert risk.average == pytest.approx(0.6465751607983555, rel=1e-15)
    assert risk.uniques / 30162 == pytest.approx(0.5142895033485844, rel=1e-15)
    assert risk.max == 1.0


@pytest.mark.requirement("R-01")
def test_journalist_and_marketer_with_pencil() -> None:
    """No printed figures were at hand. Classes of 2 and 3 people, of 4 and 12 in the population (n = 5, N = 16).

    Journalist, at most: max(1/4, 1/12) = 0.25. From the register to the table 2 classes ÷ 16 people = 0.125; from the
    table to the register (2/4 + 3/12) ÷ 5 = 0.75 ÷ 5 = 0.15, the larger, which is the marketer's share too. Above 0.2:
    the 2 of 5 in the first class. Prosecutor: 1/2 at most, 2 classes ÷ 5 people on average.
    """
    found = attackers([2, 3], [4, 12])
    assert (found.journalist.max, found.journalist.average) == (0.25, pytest.approx(0.15))
    assert (found.marketer, found.journalist.above) == (pytest.approx(0.15), 0.4)
    assert (found.prosecutor.max, found.prosecutor.average) == (0.5, 0.4)


@pytest.mark.requirement("R-02")
def test_pdpc_annex_d_with_pencil() -> None:
    """The guide prints its tables and thresholds, but no example. A low motive under high controls is 0.03 there.

    Acquaintances 0.05, breaches 0.02: the likeliest attempt is 0.05. Classes of 5 or more: 0.05 ÷ 5 = 0.01, which is
    just within the guide's 0.01 for high potential harm. With 4 people, 0.05 ÷ 4 = 0.0125 is not.
    """
    known = {"harm": "high", "motive": "low", "controls": "high", "acquaintance": 0.05, "breach": 0.02}
    enough, too_few = assess(5, **known), assess(4, **known)  # type: ignore[arg-type]
    assert enough.parts["insider"] == 0.03
    assert (enough.attempt, enough.threshold) == (0.05, 0.01)
    assert (enough.probability, enough.within) == (pytest.approx(0.01), True)
    assert (too_few.probability, too_few.within) == (pytest.approx(0.0125), False)


@pytest.mark.requirement("R-02")
def test_acquaintances_with_pencil() -> None:
    """No printed figures were at hand. One in ten has it, three acquaintances: 1 − 0.9³ = 1 − 0.729 = 0.271.

    One in a thousand and 150 acquaintances: 150 · ln 0.999 = −0.150075, and 1 − e^−0.150075 = 0.139357.
    """
    assert acquaintance_probability(0.1, 3) == pytest.approx(0.271)
    assert acquaintance_probability(0.001) == pytest.approx(0.139357, abs=5e-7)
    assert acquaintance_probability(0.001) == pytest.approx(1 - exp(150 * log(0.999)))


@pytest.mark.requirement("S-05")
@pytest.mark.parametrize(("largest", "p"), [(80, 0.25), (95, 0.0526)])
def test_dominance_and_p_per_cent_that_the_handbook_pairs(largest: int, p: float) -> None:
    """Handbook on SDC, 4.2.1: (2, 80) goes with p = 25 and (2, 95) with p = 5.26.

    One large contribution and many tiny ones make 100: both rules turn at the same size of the large one.
    """
    for size, sensitive in ((largest + 0.1, True), (largest - 0.1, False)):
        cell = [size, *[(100 - size) / 100_000] * 100_000]
        assert (Dominance(2, largest / 100).sensitivity(cell) > 0) is sensitive
        assert (PPercent(p).sensitivity(cell) > 0) is sensitive


@pytest.mark.requirement("S-05")
def test_p_per_cent_of_the_handbooks_weighted_cell() -> None:
    """Handbook on SDC, 4.2.1, sampling weights: 100, 100 and three of 1, in all 203, sensitive for any p above 3."""
    cell = [100, 100, 1, 1, 1]
    assert sum(cell) == 203
    assert PPercent(0.03).sensitivity(cell) == 0
    assert PPercent(0.0301).sensitivity(cell) > 0


@pytest.mark.requirement("S-05")
def test_prior_posterior_is_p_per_cent_with_the_ratio() -> None:
    """Handbook on SDC, 4.2.1: (p, q) is (100·p/q, 100); it prints no example. (10, 50) is p* = 20.

    52 + 50 + 8 = 110, its example 2: 20 % of 52 is 10.4, above the 8 of the others: S = 2.4. With p = 10 % alone it is
    5.2, below 8: S = −2.8.
    """
    cell = [52, 50, 8]
    assert PriorPosterior(prior=0.5, posterior=0.1).sensitivity(cell) == pytest.approx(2.4)
    assert PPercent(0.2).sensitivity(cell) == pytest.approx(2.4)
    assert PPercent(0.1).sensitivity(cell) == pytest.approx(-2.8)


@pytest.mark.requirement("S-05")
def test_threshold_of_the_handbook() -> None:
    """Handbook on SDC, 4.2.1: with the usual minimum of 3, cells of one and of two respondents are unsafe."""
    assert [Threshold(3).sensitivity([7.0] * people) > 0 for people in (1, 2, 3)] == [True, True, False]


@pytest.mark.requirement("R-03")
def test_unsafe_combinations_with_pencil() -> None:
    """The handbook (3.3) prints the rule only. Among the ten respondents of the guide one lives in the country.

    By residence: {rural} has 1 record. By gender: 7 women, 3 men. By both: rural women 1, urban women 6, urban men 3.
    A threshold of 3 makes the cells of 1 and of 3 unsafe.
    """
    found = unsafe_combinations(GUIDE.lazy(), KEYS[:2], 3, most_keys=2)
    assert [(each.cells, each.unsafe_cells, each.unsafe_records) for each in found] == [(2, 1, 1), (2, 1, 3), (3, 2, 4)]


@pytest.mark.requirement("R-06")
def test_discernibility_and_average_class_size_with_pencil() -> None:
    """Bayardo and Agrawal (2005), LeFevre et al. (2006): formulas only.

    Classes of 2 and 3 and one record of stars among 6: 2² + 3² + 1 · 6 = 19; 5 records kept in 2 classes: 2.5.
    """
    table = pl.LazyFrame({"age": ["30s", "30s", "40s", "40s", "40s", "*"]})
    found = class_figures(measure_classes(table, ("age",)))
    assert (found["discernibility"], found["average_class_size"]) == (19, 2.5)
