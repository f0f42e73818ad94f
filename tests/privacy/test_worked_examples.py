"""Figures of privacy models that others have printed, from the input that they printed; else reckoned step by step."""

from __future__ import annotations

from math import comb, log, sqrt
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.measurement import measure_classes
from shoal.privacy import Classes, Histograms
from shoal.privacy.alpha_k import AlphaK
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.delta_presence import DeltaPresence
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.k_map import KMap
from shoal.privacy.l_diversity import LDiversity
from shoal.privacy.lkc import Lkc
from shoal.privacy.p_sensitive import PSensitive
from shoal.privacy.population import Sample, uniques
from shoal.privacy.risk import AverageRisk
from shoal.privacy.sample_uniqueness import SampleUniqueness
from shoal.privacy.t_closeness import TCloseness
from shoal.schema.arrays import Integers

GUIDE = pl.DataFrame(
    [
        ("urban", "female", "secondary incomplete", "employed", "yes"),
        ("urban", "female", "secondary incomplete", "employed", "yes"),
        ("urban", "female", "primary incomplete", "non-LF", "yes"),
        ("urban", "male", "secondary complete", "employed", "yes"),
        ("rural", "female", "secondary complete", "unemployed", "yes"),
        ("urban", "male", "secondary complete", "employed", "no"),
        ("urban", "female", "primary complete", "non-LF", "no"),
        ("urban", "male", "post-secondary", "unemployed", "yes"),
        ("urban", "female", "secondary incomplete", "non-LF", "no"),
        ("urban", "female", "secondary incomplete", "non-LF", "yes"),
    ],
    schema=["residence", "gender", "education", "labour", "health"],
    orient="row",
)
"""Ten respondents: Benschop and Welch, Statistical Disclosure Control for Microdata: A Practice Guide, table 4.3."""

PUPILS = [3, 2, 2, 3, 2, 1, 1, 3, 2, 1, 1, 1, 3, 2, 3, 6, 1, 3, 5, 6, 7, 2, 2, 4, 6, 5, 5, 5, 4, 4, 2, 5]
PUPILS += [7, 3, 5, 8, 4, 2, 4, 7, 4, 3, 2, 4, 3, 2, 6, 3, 1, 5, 6, 4, 5, 1, 5, 1, 5, 1, 5, 1, 3, 1, 3]
"""How many of 216 pupils have each of 63 marks in mathematics, from the lowest: the table of pyCANON's tests."""


def classes(block: list[list[int]], whole: list[int] | None = None, tree: tuple[Integers, ...] = ()) -> Classes:
    """From records per class and value; the whole table is all classes together unless told."""
    counts = np.array(block)
    sizes = counts.sum(axis=1)
    nothing = np.empty(0, dtype=np.int64)
    table = counts.sum(axis=0) if whole is None else np.array(whole)
    histograms = Histograms(table, nothing, nothing, nothing, len(counts), tree, counts)
    return Classes(sizes, sizes, {"ill": histograms})


def at(places: list[int], values: int) -> list[int]:
    return np.bincount(places, minlength=values).tolist()


@pytest.fixture
def adult(shared: Path) -> Sample:
    """The class sizes of the census extract by all its attributes."""
    table = pl.scan_csv(shared / "data" / "adult" / "adult.csv", separator=";", infer_schema=False)
    return Sample.of(measure_classes(table, tuple(table.collect_schema().names())).classes.people)


@pytest.mark.requirement("S-01", "S-02")
def test_k_and_distinct_l_of_the_practice_guide() -> None:
    """Listings 4.4 and 4.6: four of ten violate 2-anonymity and all of them 3-anonymity; health is 1- or 2-diverse."""
    found = measure_classes(GUIDE.lazy(), tuple(GUIDE.columns[:4]), None, ("health",)).classes
    for k, violating in ((2, 4), (3, 10)):
        assert found.records[~KAnonymity(k=k).holds(found)].sum() == violating
    values = LDiversity(attribute="health", l=2, kind="distinct").figures(found)
    assert sorted(np.repeat(values, found.records).tolist()) == [1] * 6 + [2] * 4


@pytest.mark.requirement("S-02")
def test_entropy_and_recursive_l_with_pencil() -> None:
    """Machanavajjhala et al. (2007); no printed figures were at hand. Values with 4, 2, 1 and 1 of 8 records.

    Entropy: ½ · 1 + ¼ · 2 + ⅛ · 3 + ⅛ · 3 = 1.75 bits, as much as 2^1.75 = 3.3636 values. Recursive: for l = 3 the
    rest is 1 + 1. 4 < 2 · 2 is wrong, so with c = 2 it is l = 2 (4 < 2 · 4); 4 < 3 · 2 is right, so with c = 3 it is 3.
    """
    one = classes([[4, 2, 1, 1]])
    assert LDiversity(attribute="ill", l=3, kind="entropy").figures(one) == pytest.approx([3.3636], abs=5e-5)
    assert LDiversity(attribute="ill", l=2, kind="recursive", c=2).figures(one).tolist() == [2]
    assert LDiversity(attribute="ill", l=2, kind="recursive", c=3).figures(one).tolist() == [3]


@pytest.mark.requirement("S-03")
def test_salaries_of_the_t_closeness_paper() -> None:
    """Li et al. (2007), table 5: nine salaries, 3k to 11k, in three classes are 0.167-close by ordered distance."""
    block = [at(places, 9) for places in ([0, 2, 6], [3, 5, 8], [1, 4, 7])]
    found = TCloseness(attribute="ill", t=0.2, distance="ordered").figures(classes(block))
    assert found.max() == pytest.approx(0.167, abs=5e-4)


DISEASES = [1, 2, 2, 1, 1, 2]
"""Of nine patients: ulcer, gastritis, cancer of the stomach; flu, pneumonia, bronchitis (Li et al. 2007, table 3)."""
STOMACH, MIXED = at([0, 1, 2], 6), at([0, 2, 4], 6)


@pytest.mark.requirement("S-03")
def test_diseases_of_the_t_closeness_paper_with_pencil() -> None:
    """Li et al. (2007), 5.2 and figure 1: three levels, stomach and lungs fall together on the last one only.

    Ulcer, gastritis and cancer, each once: in ninths the class has 2, 1 and 1 too much, and lacks 1, 1 and 2 of the
    lungs. All 4 cross all three levels: 4/9 = 0.444. Ulcer, cancer and pneumonia: it has 2, 1 and 2 too much, and lacks
    2 of gastritis, 1 of flu and 2 of bronchitis. 2 stay in the stomach and 2 in the lungs, one level up of three, and 1
    crosses: (2 + 2 + 3)/27 = 7/27 = 0.259. The paper says 0.5 and 0.278, which its own definition doesn't give.
    """
    groups = np.array([0, 0, 0, 1, 1, 1])
    tree = (groups, groups, np.zeros(6, dtype=np.int64))
    found = TCloseness(attribute="ill", t=0.2, distance="hierarchical").figures(
        classes([STOMACH, MIXED], DISEASES, tree)
    )
    assert found == pytest.approx([4 / 9, 7 / 27])


@pytest.mark.requirement("S-03")
def test_equal_distance_as_another_tool_prints_it() -> None:
    """The package risk_assessment, tests of TCloseness: 0.44444 and 0.5555555555 for the same two classes."""
    found = TCloseness(attribute="ill", t=0.2, distance="equal").figures(classes([STOMACH, MIXED], DISEASES))
    assert found == pytest.approx([0.44444, 0.5555555555], abs=5e-6)


@pytest.mark.requirement("S-03")
def test_t_closeness_as_pycanon_prints_it() -> None:
    """pyCANON, test_anonymity.py: 0.4165919952210274 for the pupils, by the class with the 3rd, 4th and 16th mark."""
    farthest = classes([at([2, 3, 15], 63)], PUPILS)
    found = TCloseness(attribute="ill", t=0.2, distance="ordered").figures(farthest)
    assert found == pytest.approx([0.4165919952210274], abs=1e-15)


@pytest.mark.requirement("S-04")
def test_beta_likeness_as_pycanon_prints_it() -> None:
    """pyCANON, test_anonymity.py: basic β of 71.0 for the pupils, by three of whom one has a mark that nobody else has.

    That mark has 1/3 of the class and 1/216 of all: (1/3 − 1/216) ÷ (1/216) = 72 − 1.
    """
    assert (PUPILS[5], sum(PUPILS)) == (1, 216)
    found = BetaLikeness(attribute="ill", beta=71, kind="basic").figures(classes([at([5, 26, 31], 63)], PUPILS))
    assert found == pytest.approx([71.0])


@pytest.mark.requirement("S-04")
def test_enhanced_beta_with_pencil() -> None:
    """Cao and Karras (2012): the gain may be min(β, −ln p). Half of the table has the value: −ln ½ = 0.6931.

    A class of three with two of it gains (⅔ − ½)/½ = ⅓, within 0.6931; with β = 1 the figure is ⅓ · 1/0.6931 = 0.4809.
    """
    found = BetaLikeness(attribute="ill", beta=1, kind="enhanced").figures(classes([[2, 1]], [3, 3]))
    assert found == pytest.approx([0.4809], abs=5e-5)


@pytest.mark.requirement("S-04")
def test_delta_disclosure_with_pencil() -> None:
    """Brickell and Shmatikov (2008): |ln(q/p)|. From ½ to ¼ and from ½ to ¾: ln 2 = 0.6931 is the larger."""
    found = DeltaDisclosure(attribute="ill", delta=1).figures(classes([[1, 3]], [2, 2]))
    assert found == pytest.approx([log(2)])
    assert found == pytest.approx([0.6931], abs=5e-5)


@pytest.mark.requirement("S-04")
def test_alpha_k_and_p_sensitive_with_pencil() -> None:
    """Wong et al. (2006), Truta and Vinay (2006): four people, three of whom share a value of two: α = ¾, p = 2."""
    one = classes([[3, 1]])
    assert AlphaK(attribute="ill", alpha=0.75, k=4).figures(one).tolist() == [0.75]
    assert AlphaK(attribute="ill", alpha=0.74, k=4).holds(one).tolist() == [False]
    assert PSensitive(attribute="ill", p=2, k=4).figures(one).tolist() == [2]
    assert PSensitive(attribute="ill", p=2, k=5).holds(one).tolist() == [False]


@pytest.mark.requirement("S-04")
def test_delta_presence_with_pencil() -> None:
    """Nergiz et al. (2007): 1 of 2 and 3 of 4 people of the population are in the table: from ½ to ¾."""
    sizes = np.array([1, 3])
    both = Classes(sizes, sizes, population=np.array([2, 4]))
    assert DeltaPresence(minimum=0.5, maximum=0.75, population="p").figures(both).tolist() == [0.5, 0.75]
    assert DeltaPresence(minimum=0.5, maximum=0.75, population="p").holds(both).all()
    assert DeltaPresence(minimum=0.5, maximum=0.7, population="p").holds(both).tolist() == [True, False]


@pytest.mark.requirement("S-04")
def test_lkc_with_pencil() -> None:
    """Mohammed et al. (2009): whoever knows one of two attributes finds two people, whoever knows both only one."""
    table = pl.LazyFrame({"sex": ["f", "f", "m", "m"], "job": ["a", "b", "a", "b"], "ill": ["x", "y", "y", "x"]})
    found = measure_classes(table, ("sex", "job"), None, ("ill",)).classes
    assert Lkc(l=1, k=2, c=0.5, attribute="ill").figures(found).tolist() == [2] * 4
    assert Lkc(l=2, k=2, c=1, attribute="ill").figures(found).tolist() == [1] * 4
    assert not Lkc(l=1, k=2, c=0.4, attribute="ill").holds(found).any()


@pytest.mark.requirement("S-01")
def test_k_map_with_pencil() -> None:
    """Of 1,000 people 100 are in the table, so 5 people of a class show 0.5 on average; given that they show at all:

    e^−0.5 · (1, 0.5, 0.125, 0.02083) = 0.60653, 0.30327, 0.07582, 0.01264 for 0 to 3 shown, and 0.39347 for 1 or more.
    3 or more: 0.01439/0.39347 = 0.0366; 4 or more: 0.00175/0.39347 = 0.0045. So 4 is the least at 1 %.
    """
    model = KMap(k=5, population_size=1000, sample_size=100)
    sizes = np.array([3, 4])
    assert model.figures(Classes(sizes, sizes)) == pytest.approx([0.0366, 0.0045], abs=5e-5)
    assert model.least_sample(100) == 4


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
def test_population_uniques_as_arx_prints_them(adult: Sample, model: str, share: float, printed: float) -> None:
    """ARX, TestRiskMetrics.java: the share of Adult's population that is unique, by the share that was sampled."""
    population = int(adult.people / share)
    found = uniques(adult, population, model)
    assert found is not None
    assert found / population == pytest.approx(printed, abs=1e-9)


@pytest.mark.requirement("R-03", "S-04")
def test_zayatz_with_pencil() -> None:
    """Classes of 1, 1 and 2 people, 4 of 8 sampled. C(8, 4) = 70.

    One person shows one with C(7, 3)/70 = 35/70 = ½; two show one with 2 · C(6, 3)/70 = 40/70 = 4/7. So
    U = 2²/(½ + ½ + 4/7) = 28/11.
    """
    assert uniques(Sample.of(np.array([1, 1, 2])), 8, "zayatz") == pytest.approx(28 / 11)


@pytest.mark.requirement("R-03", "S-04")
def test_pitman_with_pencil() -> None:
    """Classes of 1 and 2 people, α = 0: θ solves 1/θ = 1/(θ + 1) + 1/(θ + 2), so θ² = 2; and U = Γ(θ + 1)/Γ(θ) = θ."""
    assert uniques(Sample.of(np.array([1, 2])), 30, "pitman") == pytest.approx(sqrt(2))


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
    found = uniques(Sample.of(np.array([1, 1, 1, 2])), 10, "snb")
    assert found == pytest.approx(classes_there * beta**alpha, abs=1e-4)
    assert found == pytest.approx(3.0303, abs=5e-5)


@pytest.mark.requirement("R-01", "S-04")
def test_average_risk_and_sample_uniqueness_as_arx_prints_them(adult: Sample) -> None:
    """ARX, TestRiskMetrics.java: on Adult as it is 0.6465751607983555 and 0.5142895033485844."""
    sizes = np.repeat(adult.sizes, adult.numbers)
    found = Classes(sizes, sizes)
    assert AverageRisk(maximum=1).find(found).achieved == pytest.approx(0.6465751607983555, rel=1e-15)
    assert SampleUniqueness(maximum=1).find(found).achieved == pytest.approx(0.5142895033485844, rel=1e-15)
