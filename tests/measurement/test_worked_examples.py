"""Figures of risk that others have printed, from the input that they printed; else reckoned here step by step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.measurement import measure_classes
from shoal.measurement.risk.attacker_risks import Attackers, attackers_of
from shoal.measurement.risk.global_risk import cross_table, fitted_means, unique_risk
from shoal.measurement.risk.individual_risk import household_risk, individual_risk, measure_sample
from shoal.measurement.risk.key_frequencies import frequencies
from shoal.measurement.risk.minimal_uniques import find_uniques
from shoal.measurement.risk.quasi_identifiers import analyse_quasi
from shoal.measurement.risk.reidentification import acquaintance_probability, assess
from shoal.measurement.risk.suda import suda
from shoal.measurement.risk.unsafe_combinations import unsafe_combinations
from shoal.measurement.usefulness.information_loss import class_figures
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
@pytest.mark.parametrize(
    ("people", "population", "highest", "share"), [([1, 1], [3, 2], 0.5, 5 / 12), ([1, 2, 3], [2, 4, 6], 0.5, 1 / 4)]
)
def test_journalist_and_marketer_as_openmed_prints_them(
    people: list[int], population: list[int], highest: float, share: float
) -> None:
    """OpenMed, test_population_risk.py and test_reid_report.py: 1/F at most, and its mean over the records.

    El Emam's second average, 2 classes ÷ 5 people = 0.4 and 3 ÷ 12 = 1/4, is below that or equal.
    """
    found = attackers(people, population)
    assert (found.journalist.max, found.journalist.average) == (highest, pytest.approx(share))
    assert found.marketer == pytest.approx(share)


@pytest.mark.requirement("R-01")
def test_without_a_population_as_openmed_prints_it() -> None:
    """OpenMed, test_reid_report.py: classes of 1, 2 and 3 give 1 at most and 3 ÷ 6 on average, whoever attacks."""
    found = attackers([1, 2, 3])
    assert (found.prosecutor.max, found.prosecutor.average, found.prosecutor.uniques) == (1, 0.5, 1)
    assert (found.journalist.max, found.journalist.average, found.marketer) == (1, 0.5, 0.5)


@pytest.mark.requirement("R-02")
def test_pdpc_annex_d_on_the_table_of_annex_c() -> None:
    """Annex C prints ten passengers and their k of 5, annex D its chances and thresholds; the product is left to do.

    Without controls an insider is sure to try: 1/5 × 1 = 0.2, just within 0.2 for low potential harm. A low motive
    under high controls is 0.03; if the recipient knows somebody with 0.05, that is likelier: 1/5 × 0.05 = 0.01, just
    within 0.01 for high harm.
    """
    passengers = pl.LazyFrame(
        [("21 to 30", "Female", "Data Protection Officer"), ("31 to 40", "Male", "IT")] * 5,
        schema=["age", "gender", "occupation"],
        orient="row",
    )
    k = int(measure_classes(passengers, ("age", "gender", "occupation")).classes.people.min())
    assert k == 5
    open_to_all = assess(k, harm="low", motive="high", controls="none")
    assert (open_to_all.attempt, open_to_all.probability, open_to_all.within) == (1, 0.2, True)
    known = assess(k, harm="high", motive="low", controls="high", acquaintance=0.05, breach=0.02)
    assert known.parts["insider"] == 0.03
    assert (known.attempt, known.probability, known.within) == (0.05, pytest.approx(0.01), True)


@pytest.mark.requirement("R-02")
def test_acquaintances_of_el_emams_birth_registry() -> None:
    """El Emam and Arbuckle (2013), chapter 3: 119,785 births to 4,478,500 women, and 150/2 women known, give 0.87.

    The same sum in more digits, of 150 chances of 5 %, is 0.999544 (Mathematics Stack Exchange, question 16020).
    """
    assert acquaintance_probability(119_785 / 4_478_500, 75) == pytest.approx(0.87, abs=0.005)
    assert acquaintance_probability(0.05, 150) == pytest.approx(0.999544, abs=5e-7)


@pytest.mark.requirement("R-03")
def test_unsafe_combinations_as_sdcmicro_prints_them(shared: Path) -> None:
    """sdcMicro, riskyCells, which follows μ-ARGUS: its example on testdata2 with a threshold of 10, one and two keys.

    With a threshold of 50, test_riskyCells.R has one unsafe cell by the first key.
    """
    table = pl.scan_csv(shared / "data" / "sdcmicro" / "testdata2.csv")
    keys = ["urbrur", "roof", "walls", "water", "electcon"]
    found = unsafe_combinations(table, keys, 10, most_keys=2)
    assert [each.unsafe_cells for each in found] == [0, 3, 1, 4, 0, 6, 2, 9, 1, 6, 24, 6, 16, 3, 9]
    assert unsafe_combinations(table, keys, 50, most_keys=1)[0].unsafe_cells == 1


@pytest.mark.requirement("R-06")
def test_discernibility_as_arx_prints_it_for_census_data(shared: Path) -> None:
    """ARX, TestUtilityMetrics.java, on Adult without its occupations as it is: 485542 in all.

    With every class below five suppressed it is 4.63536157E8.
    """
    table = pl.read_csv(shared / "data" / "adult" / "adult.csv", separator=";", infer_schema=False).drop("occupation")
    names = tuple(table.columns)
    assert class_figures(measure_classes(table.lazy(), names))["discernibility"] == 485_542
    small = pl.len().over(names) < 5
    starred = table.select(pl.when(small).then(pl.lit("*")).otherwise(pl.col(name)).alias(name) for name in names)
    assert class_figures(measure_classes(starred.lazy(), names))["discernibility"] == 463_536_157


@pytest.mark.requirement("R-06")
def test_class_figures_as_ibms_toolkit_prints_them() -> None:
    """IBM's Data Privacy Toolkit, DiscernibilityTest.java and AverageEquivalenceClassSizeTest.java.

    Classes of 2 and 3: 2² + 3² = 13, and 5 ÷ 2 records per class. Classes of 3 and 5, and 2 of 10 records suppressed:
    3² + 5² + 10 + 10 = 54.
    """
    five = class_figures(measure_classes(pl.LazyFrame({"range": ["1-5"] * 2 + ["6-10"] * 3}), ("range",)))
    assert (five["discernibility"], five["average_class_size"]) == (13, 2.5)
    ten = class_figures(measure_classes(pl.LazyFrame({"age": ["10-19"] * 3 + ["20-29"] * 5 + ["*"] * 2}), ("age",)))
    assert ten["discernibility"] == 54
