"""Figures of samples and their populations that others have printed, from the input that they printed."""

from __future__ import annotations

from math import comb, lgamma, log
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.measurement import measure_classes
from shoal.privacy import Classes
from shoal.privacy.models.delta_presence import DeltaPresence
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.privacy.models.k_map import KMap
from shoal.privacy.models.lkc import Lkc
from shoal.privacy.models.re_identification_risk import AverageRisk
from shoal.privacy.models.sample_uniqueness import SampleUniqueness
from shoal.privacy.population_estimators import SampleSizes, uniques

TOMATO = {1: 1434, 2: 253, 3: 71, 4: 33, 5: 11, 6: 6, 7: 2, 8: 3, 9: 1, 10: 2, 11: 2, 12: 1, 13: 1, 14: 1, 16: 2}
TOMATO |= {23: 1, 27: 1}
"""How many of 1,825 genes were read so often in 2,586 readings of a tomato's flower."""

MOTHS = {1: 31, 2: 9, 3: 13, 4: 20, 5: 11, 6: 13, 7: 7, 8: 6, 9: 2, 10: 4, 11: 2, 12: 3, 13: 3, 14: 1, 15: 3, 16: 4}
MOTHS |= {18: 2, 19: 4, 20: 3, 21: 2, 22: 6, 23: 4, 24: 2, 25: 2, 27: 1, 28: 6, 32: 4, 34: 4, 36: 1, 43: 2, 44: 8}
MOTHS |= {49: 4, 51: 3, 52: 1, 53: 4, 54: 1, 57: 2, 58: 1, 60: 1, 61: 1, 64: 2, 67: 1, 73: 1, 96: 2, 99: 2, 109: 3}
MOTHS |= {112: 3, 129: 1, 148: 1, 154: 3, 181: 2, 187: 2, 190: 2, 221: 3, 246: 2, 306: 1, 333: 1, 464: 1, 572: 1}
MOTHS |= {604: 2, 743: 3}
"""How many of 240 species of Lepidoptera were caught so often among 12,548."""

PATIENTS = pl.DataFrame(
    [
        ("Janitor", "Non-Technical", "M", 34, "[30-60)", "Transgender"),
        ("Doctor", "Professional", "M", 58, "[30-60)", "2"),
        ("Mover", "Non-Technical", "M", 34, "[30-60)", "Transgender"),
        ("Lawyer", "Professional", "M", 24, "[1-30)", "4"),
        ("Mover", "Non-Technical", "M", 58, "[30-60)", "5"),
        ("Janitor", "Non-Technical", "M", 44, "[30-60)", "6"),
        ("Doctor", "Professional", "M", 24, "[1-30)", "7"),
        ("Lawyer", "Professional", "F", 58, "[30-60)", "8"),
        ("Doctor", "Professional", "F", 44, "[30-60)", "9"),
        ("Carpenter", "Technical", "F", 63, "[60-99)", "10"),
        ("Technician", "Technical", "F", 63, "[60-99)", "11"),
    ],
    schema=["job", "trade", "sex", "age", "years", "surgery"],
    orient="row",
)
"""Eleven patients as they are and generalised. Surgeries that nobody needs to hide are each a value of its own."""


def sample(numbers: dict[int, int]) -> SampleSizes:
    return SampleSizes(np.array(list(numbers)), np.array(list(numbers.values())))


def beside(table: pl.DataFrame, population: pl.DataFrame) -> Classes:
    """The classes of a table by all its attributes, and how many of the population look alike."""
    sizes = table.group_by(table.columns, maintain_order=True).len("records")
    known = sizes.join(population.group_by(table.columns).len("people"), on=table.columns, how="left")
    records = known["records"].cast(pl.Int64).to_numpy()
    return Classes(records, records, population=known["people"].cast(pl.Int64).to_numpy())


@pytest.fixture
def adult(shared: Path) -> SampleSizes:
    """The class sizes of the census extract by all its attributes."""
    table = pl.scan_csv(shared / "data" / "adult" / "adult.csv", separator=";", infer_schema=False)
    return SampleSizes.of(measure_classes(table, tuple(table.collect_schema().names())).classes.people)


@pytest.mark.requirement("S-01")
def test_k_map_as_data_privacy_toolkit_prints_it() -> None:
    """IBM's Data Privacy Toolkit, KMapTest.java: with a risk of at most 0.25, 200/7 % of seven records go, five stay.

    The quasi-identifier has the values 22, 25, 27, 28 and 29, which 10, 6, 5, 2 and 2 people of the population have.
    """
    table = pl.DataFrame({"age": [22, 22, 25, 25, 27, 28, 29]})
    population = pl.DataFrame({"age": [22] * 10 + [25] * 6 + [27] * 5 + [28, 29] * 2})
    classes = beside(table, population)
    model = KMap(k=4, population="p")
    assert model.figures(classes).tolist() == [10, 6, 5, 2, 2]
    assert classes.records[model.holds(classes)].sum() == 5


@pytest.mark.requirement("S-01")
def test_estimated_k_map_as_piranha_prints_its_distribution() -> None:
    """Piranha, TestZTP.cpp: a Poisson variable of mean 1 that isn't 0 is at most 1, 2, 3 or 4 so often.

    El Emam and Dankar (2008) test with this distribution. 1 is the mean of 10 people of whom one in ten is sampled.
    """
    model = KMap(k=10, population_size=1000, sample_size=100)
    sizes = np.arange(1, 6)
    printed = np.array([0, 0.5819767, 0.872965, 0.9699612, 0.9942102])
    assert model.figures(Classes(sizes, sizes)) == pytest.approx(1 - printed, abs=5e-7)
    assert model.least_sample(100) == 5


@pytest.mark.requirement("S-04")
def test_delta_presence_of_its_paper() -> None:
    """Nergiz, Atzori and Clifton (2007): nine people, of whom b, c, f, h and i are in the table; (1/2, 2/3)-present."""
    people = {"a": "America", "b": "America", "c": "America", "d": "America", "e": "America", "f": "America"}
    people |= {"g": "Europe", "h": "Europe", "i": "Europe"}
    table = pl.DataFrame({"from": [people[name] for name in "bcfhi"]})
    classes = beside(table, pl.DataFrame({"from": list(people.values())}))
    model = DeltaPresence(minimum=1 / 2, maximum=2 / 3, population="p")
    assert model.figures(classes).tolist() == [1 / 2, 2 / 3]
    assert model.holds(classes).all()
    assert DeltaPresence(minimum=1 / 2, maximum=0.66, population="p").holds(classes).tolist() == [True, False]
    assert not DeltaPresence(minimum=0.51, maximum=2 / 3, population="p").holds(classes)[0]


@pytest.mark.requirement("S-04")
def test_lkc_of_its_authors() -> None:
    """After Mohammed, Fung, Hung and Lee (2010), tables I and II: (2, 2, 50 %)-private if generalised, not 2-anonymous

    Their model hides one surgery; here each of the others is told apart, so that it doesn't count.

    As the patients are, a mover of 34 is the only one. Generalised, half of the non-technical men had the surgery, and
    one professional man of 30 to 60 is alone.
    """
    raw = measure_classes(PATIENTS.lazy(), ("job", "sex", "age"), None, ("surgery",)).classes
    assert Lkc(l=2, k=2, c=1, attribute="surgery").figures(raw).min() == 1
    released = measure_classes(PATIENTS.lazy(), ("trade", "sex", "years"), None, ("surgery",)).classes
    private = Lkc(l=2, k=2, c=0.5, attribute="surgery")
    assert private.figures(released).min() == 2
    assert private.find(released).met
    assert not Lkc(l=2, k=2, c=0.49, attribute="surgery").find(released).met
    assert released.records[~KAnonymity(k=2).holds(released)].tolist() == [1]


@pytest.mark.requirement("R-03", "S-04")
@pytest.mark.parametrize(
    ("model", "share", "printed"),
    [
        ("pitman", 0.1, 0.27684993883653597),
        ("zayatz", 0.1, 0.3207402393466189),
        ("dankar", 0.1, 0.27684993883653597),
        ("zayatz", 0.2, 0.3577099234829125),
        ("pitman", 0.01, 0.1446083531167384),
        ("dankar", 0.01, 0.1446083531167384),
        ("dankar", 1.0, 0.5142895033485844),
    ],
)
def test_population_uniques_as_arx_prints_them(adult: SampleSizes, model: str, share: float, printed: float) -> None:
    """ARX, TestRiskMetrics.java: the share of Adult's population that is unique, by the share that was sampled."""
    population = int(adult.people / share)
    found = uniques(adult, population, model)
    assert found is not None
    assert found / population == pytest.approx(printed, abs=1e-9)


@pytest.mark.requirement("R-03", "S-04")
def test_pitman_of_a_tomatos_genes() -> None:
    """Lijoi, Mena and Prünster (2007, Biometrika 94): of greatest likelihood are α = 0.612 and θ = 741.

    U = Γ(θ + 1)/Γ(θ + α) · N^α, so α is the slope of ln U over ln N, and U lies between what the θ give that round to
    the printed one.
    """
    genes = sample(TOMATO)
    assert (genes.people, genes.classes) == (2586, 1825)
    small, large = (uniques(genes, size, "pitman") for size in (10**5, 10**7))
    assert small is not None
    assert large is not None
    alpha = log(large / small) / log(100)
    assert alpha == pytest.approx(0.612, abs=5e-4)
    low, high = (lgamma(theta + 1) - lgamma(theta + alpha) + alpha * log(10**5) for theta in (740.5, 741.5))
    assert low < log(small) < high


@pytest.mark.requirement("R-03", "S-04")
def test_pitman_of_moths_as_bnpvegan_prints_it() -> None:
    """BNPvegan's vignette: σ is 0 and α 41.99451, in our letters α and θ; then U = Γ(θ + 1)/Γ(θ) = θ."""
    assert uniques(sample(MOTHS), 10**6, "pitman") == pytest.approx(41.99451, abs=5e-6)


@pytest.mark.requirement("R-03", "S-04")
def test_snb_with_pencil() -> None:
    """Classes of 1, 1, 1 and 2 people, 5 of 10 sampled, f = ½; Dankar et al. (2012), appendix A, has formulas only.

    Classes in the population by Shlosser's modified estimator, 4 + 3 · shown/missed · odds²:
    shown = Σ s f² (1 − f²)^(s − 1) = 3 · ¼ + 2 · ¼ · ¾ = 1.125;
    missed = Σ (1 − f)^s ((1 + f)^s − 1) = 3 · ½ · ½ + ¼ · 1¼ = 1.0625;
    odds = Σ (1 − f)^s ÷ Σ s f (1 − f)^(s − 1) = (3 · ½ + ¼) ÷ (3 · ½ + 2 · ½ · ½) = 0.875. So K = 6.4320.
    With α = 5.78315 and β = 0.877973, size − 1 being negative binomial and each person shown with ½, K classes show 3
    of one person and 1 of two, as the sample does: summed below. So U = K β^α = 3.0303.
    """
    classes_there, alpha, beta = 4 + 3 * 1.125 / 1.0625 * 0.875**2, 5.78315, 0.877973
    assert classes_there == pytest.approx(6.4320, abs=5e-5)
    of_size = [classes_there * beta**alpha]
    for size in range(1, 60):
        of_size.append(of_size[-1] * (alpha + size - 1) / size * (1 - beta))
    shown = [sum(comb(size, s) / 2**size * number for size, number in enumerate(of_size, 1)) for s in (1, 2)]
    assert shown == pytest.approx([3, 1], abs=1e-4)
    found = uniques(SampleSizes.of(np.array([1, 1, 1, 2])), 10, "snb")
    assert found == pytest.approx(classes_there * beta**alpha, abs=1e-4)
    assert found == pytest.approx(3.0303, abs=5e-5)


@pytest.mark.requirement("R-01", "S-04")
def test_average_risk_and_sample_uniqueness_as_arx_prints_them(adult: SampleSizes) -> None:
    """ARX, TestRiskMetrics.java: on Adult as it is 0.6465751607983555 and 0.5142895033485844."""
    sizes = np.repeat(adult.sizes, adult.numbers)
    found = Classes(sizes, sizes)
    assert AverageRisk(maximum=1).find(found).achieved == pytest.approx(0.6465751607983555, rel=1e-15)
    assert SampleUniqueness(maximum=1).find(found).achieved == pytest.approx(0.5142895033485844, rel=1e-15)
