"""Figures of privacy models that others have printed, from the input that they printed; else reckoned step by step."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.kernels.arrays import Integers
from shoal.measurement import measure_classes
from shoal.privacy import Classes, Histograms
from shoal.privacy.models.alpha_k import AlphaK
from shoal.privacy.models.beta_likeness import BetaLikeness
from shoal.privacy.models.delta_disclosure import DeltaDisclosure
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.privacy.models.l_diversity import LDiversity
from shoal.privacy.models.p_sensitive import PSensitive
from shoal.privacy.models.t_closeness import TCloseness

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

PATIENTS = pl.DataFrame(
    {
        "age": ["<50", "<50", ">=50", ">=50", "<50", ">=50", "<50", "<50"],
        "disease": ["flu", "flu", "cancer", "flu", "cancer", "cancer", "flu", "cancer"],
    }
)
"""Eight people, alike but for age, and pyCANON's report on them: FORSE-H/k-AnonymityDataExperiments, README."""


def patients() -> Classes:
    return measure_classes(PATIENTS.lazy(), ("age",), None, ("disease",)).classes


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


@pytest.mark.requirement("S-01", "S-02")
def test_k_and_distinct_l_of_the_practice_guide() -> None:
    """Listings 4.4 and 4.6: four of ten violate 2-anonymity and all of them 3-anonymity; health is 1- or 2-diverse."""
    found = measure_classes(GUIDE.lazy(), tuple(GUIDE.columns[:4]), None, ("health",)).classes
    for k, violating in ((2, 4), (3, 10)):
        assert found.records[~KAnonymity(k=k).holds(found)].sum() == violating
    values = LDiversity(attribute="health", l=2, kind="distinct").figures(found)
    assert sorted(np.repeat(values, found.records).tolist()) == [1] * 6 + [2] * 4


@pytest.mark.requirement("S-02")
def test_entropy_l_of_the_inpatients() -> None:
    """Machanavajjhala et al. (2007), definition 4.1: by entropy their 3-diverse table of inpatients is 2.8-diverse.

    It has three classes of four, with heart disease, a viral infection or cancer. Fung et al. (2010), on ℓ-diversity:
    classes with shares of ⅔ and ⅓, and of ¾ and ¼, have the entropies log 1.9 and log 1.8.
    """
    model = LDiversity(attribute="ill", l=2, kind="entropy")
    assert model.figures(classes([[1, 1, 2], [1, 2, 1], [1, 1, 2]])).min() == pytest.approx(2.8, abs=0.05)
    assert model.figures(classes([[2, 1], [3, 1]])) == pytest.approx([1.9, 1.8], abs=0.05)


@pytest.mark.requirement("S-02")
@pytest.mark.parametrize(("c", "reached"), [(2, 2), (2.0001, 3)])
def test_recursive_l_of_the_handbook_of_database_security(c: float, reached: int) -> None:
    """Gertz and Jajodia (2008), chapter on principles of anonymisation, definition 3: 2, 1 and 1 are (2, 3)-diverse.

    That is with 2 ≤ 2 · 1. Machanavajjhala et al. (2007), definition 4.2, have <: every c above 2 will do, but not 2.
    """
    model = LDiversity(attribute="ill", l=2, kind="recursive", c=c)
    assert model.figures(classes([[2, 1, 1]])).tolist() == [reached]


@pytest.mark.requirement("S-03")
def test_salaries_of_the_t_closeness_paper() -> None:
    """Li et al. (2007), table 5: nine salaries, 3k to 11k, in three classes are 0.167-close by ordered distance."""
    block = [at(places, 9) for places in ([0, 2, 6], [3, 5, 8], [1, 4, 7])]
    found = TCloseness(attribute="ill", t=0.2, distance="ordered").figures(classes(block))
    assert found.max() == pytest.approx(0.167, abs=5e-4)


DISEASES = [1, 2, 2, 1, 1, 2]
"""Of nine patients: ulcer, gastritis, cancer of the stomach; flu, pneumonia, bronchitis (Li et al. 2007, table 3)."""
STOMACH = at([0, 1, 2], 6)
TABLE_5 = [at(places, 6) for places in ([0, 2, 4], [1, 3, 5], [1, 2, 5])]
DISEASE_TREE = (np.arange(6) // 3, np.arange(6) // 3, np.arange(6) // 6)


@pytest.mark.requirement("S-03")
def test_diseases_of_the_t_closeness_paper() -> None:
    """Li et al. (2007), 5.3: 0.5 for a class of stomach diseases, 0.278 for a mixed one, and table 5 is 0.278-close.

    By the hierarchy of figure 1, and if all six diseases are equally frequent; in the tables they aren't.
    """
    model = TCloseness(attribute="ill", t=0.2, distance="hierarchical")
    found = model.figures(classes([STOMACH, *TABLE_5], [1] * 6, DISEASE_TREE))
    assert found == pytest.approx([0.5, 0.278, 0.278, 0.278], abs=5e-4)


@pytest.mark.requirement("S-03")
def test_hierarchical_distance_as_petworks_prints_it() -> None:
    """PETWorks, test_tcloseness.py: 0.29629629850387573 for table 5 of Li et al. (2007) with its own frequencies."""
    model = TCloseness(attribute="ill", t=0.2, distance="hierarchical")
    found = model.figures(classes([STOMACH, *TABLE_5], DISEASES, DISEASE_TREE))
    assert found[1:].max() == pytest.approx(0.29629629850387573, abs=5e-9)
    assert found[:2] == pytest.approx([4 / 9, 7 / 27]), "what the paper takes for 0.5 and 0.278"


@pytest.mark.requirement("S-03")
def test_equal_distance_as_another_tool_prints_it() -> None:
    """The package risk_assessment, tests of TCloseness: 0.44444 and 0.5555555555 for the same two classes."""
    found = TCloseness(attribute="ill", t=0.2, distance="equal").figures(classes([STOMACH, TABLE_5[0]], DISEASES))
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
def test_enhanced_beta_as_pycanon_prints_it() -> None:
    """0.33333333333333326 for the eight patients, for whom −ln ½ = 0.69 is no bound; 5.375278407684164 for the pupils.

    That is −ln 1/216: so much may the mark gain that nobody else has, which does gain 71.
    """
    found = BetaLikeness(attribute="disease", beta=1 / 3, kind="enhanced").figures(patients())
    assert found.max() == pytest.approx(0.33333333333333326, abs=1e-15)
    pupils = BetaLikeness(attribute="ill", beta=71, kind="enhanced").figures(classes([at([5, 26, 31], 63)], PUPILS))
    assert 71 * 71 / pupils == pytest.approx([5.375278407684164], abs=1e-14)


@pytest.mark.requirement("S-04")
def test_delta_disclosure_as_pycanon_prints_it() -> None:
    """0.40546510810816444 for the eight patients: of three one has flu, of all one half, and ln(½ ÷ ⅓) = 0.4055."""
    found = DeltaDisclosure(attribute="disease", delta=1).figures(patients())
    assert found.max() == pytest.approx(0.40546510810816444, abs=1e-15)


@pytest.mark.requirement("S-04")
def test_alpha_k_as_pycanon_prints_it() -> None:
    """α = 0.6666666666666666 and k = 3 for the eight patients."""
    found = patients()
    assert AlphaK(attribute="disease", alpha=0.5, k=3).figures(found).max() == pytest.approx(0.6666666666666666)
    assert AlphaK(attribute="disease", alpha=0.6666666666666666, k=3).holds(found).all()
    assert not AlphaK(attribute="disease", alpha=0.6666666666666666, k=4).holds(found).all()


@pytest.mark.requirement("S-04")
def test_p_sensitive_as_lighthouse_prints_it() -> None:
    """Airbnb's Project Lighthouse, test_p_sensitive_k_anonymity.py, test_p_5 and test_k_5: p = 2 and k = 2."""
    found = classes([[1, 1], [2, 1]])
    assert PSensitive(attribute="ill", p=1, k=2).figures(found).min() == 2
    assert PSensitive(attribute="ill", p=2, k=3).holds(found).tolist() == [False, True]
