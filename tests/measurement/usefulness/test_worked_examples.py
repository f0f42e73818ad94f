"""Figures of usefulness that others have printed, from the input that they printed; else reckoned step by step."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import comb

import numpy as np
import polars as pl
import pytest

from shoal.hierarchy.kinds.taxonomy import Taxonomy
from shoal.hierarchy.labels import Spans
from shoal.measurement import measure_classes
from shoal.measurement.usefulness import make_comparable, propensity
from shoal.measurement.usefulness.associations import cramers_v, pearson, theils_u
from shoal.measurement.usefulness.distances import kolmogorov_smirnov, total_variation, wasserstein
from shoal.measurement.usefulness.information_loss import Generalised, cell_figures
from shoal.measurement.usefulness.label_spread import Ranges
from shoal.measurement.usefulness.numeric_distortion import Masking, measure_masking
from shoal.measurement.usefulness.propensity import Propensity, score
from shoal.measurement.usefulness.queries import measure_queries
from shoal.randomness import Randomness
from shoal.schema import Column

pytestmark = pytest.mark.requirement("R-06")


def test_loss_of_an_employment_as_a_course_prints_it() -> None:
    """Iyengar (2002), as worked through in Arizona State's CSE 467 tutorial, "Data utility": "Government" has 3 of the
    7 leaves, so its loss is 2/6; a suppressed cell loses what the root does.
    """
    tree = {
        "self-employed": ["incorporated", "not incorporated"],
        "government": ["federal", "state", "local"],
        "unemployed": ["without pay", "never employed"],
    }
    known = pl.DataFrame({"value": ["federal", "state", "local"], "records": [1, 1, 1]})
    bound = Taxonomy(tree=tree).bind(Column("work"), known)
    attributes = {"work": Generalised.by(bound, known, bound.height)}
    released = measure_classes(pl.LazyFrame({"work": bound.generalise(known["value"], 1)}), ("work",))
    assert cell_figures(released, attributes)["loss"] == pytest.approx(2 / 6)
    starred = measure_classes(pl.LazyFrame({"work": ["*"]}), ("work",))
    assert cell_figures(starred, attributes)["loss"] == 1


def test_pearson_of_anscombes_first_data_set() -> None:
    """Anscombe (1973), data set 1: the square of the correlation is 0.667."""
    x = np.array([10.0, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5])
    y = np.array([8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68])
    found = pearson(x, y)
    assert found is not None
    assert found**2 == pytest.approx(0.667, abs=5e-4)


def test_cramers_v_of_cramers_own_table() -> None:
    """Cramér (1946), 30.5, income and number of children of 25 263 couples: χ² = 568.566; of 4 columns and 5 rows the
    smaller number less one is 3.
    """
    couples = [[2161, 3577, 2184, 1636], [2755, 5081, 2222, 1052], [936, 1753, 640, 306], [225, 419, 96, 38]]
    table = np.array([*couples, [39, 98, 31, 14]])
    assert table.sum() == 25_263
    found = cramers_v(table)
    assert found is not None
    assert found**2 * 3 * 25_263 == pytest.approx(568.566, abs=5e-4)


def test_cramers_v_and_its_correction_as_clickhouse_prints_them() -> None:
    """ClickHouse documentation, cramersVBiasCorrected: 0.5798… and 0.5305… for ``number % 10`` and ``number % 4`` of
    0 … 149.

    Other editions of that page print 0.4117 and 0.3337, which are not what the formula gives.
    """
    table = np.zeros((10, 4), dtype=np.int64)
    np.add.at(table, (np.arange(150) % 10, np.arange(150) % 4), 1)
    assert cramers_v(table) == pytest.approx(0.5798088336225178, abs=1e-14)
    assert cramers_v(table, corrected=True) == pytest.approx(0.5305112825189074, abs=1e-14)


def test_theils_u_as_desctools_prints_it() -> None:
    """Documentation of DescTools, UncertCoef, on a table of Goodman and Kruskal (1954): rows explained by columns
    0.08506956, columns by rows 0.07534098.
    """
    table = np.array([[1768, 807, 189, 47], [946, 1387, 746, 53], [115, 438, 288, 16]])
    assert theils_u(table) == pytest.approx(0.08506956, abs=5e-9)
    assert theils_u(table.T) == pytest.approx(0.07534098, abs=5e-9)


def test_wasserstein_of_the_t_closeness_papers_salaries() -> None:
    """Li et al. (2007), salaries of table 3: from 3k … 11k to {3k, 4k, 5k} it is 0.375, to {6k, 8k, 11k} 0.167.

    Salaries lie evenly apart, so that the distance of their ranks is that of the numbers, as a share of the range.
    """
    salaries = np.arange(3.0, 12)
    assert wasserstein(salaries, np.array([3.0, 4, 5])) == pytest.approx(0.375)
    assert wasserstein(salaries, np.array([6.0, 8, 11])) == pytest.approx(0.167, abs=5e-4)


def test_kolmogorov_smirnov_of_conover() -> None:
    """Conover (1971), 6.2, samples of 9 and 15, as StatsDirect's help has them too: 0.4."""
    first = [7.6, 8.4, 8.6, 8.7, 9.3, 9.9, 10.1, 10.6, 11.2]
    second = [5.2, 5.7, 5.9, 6.5, 6.8, 8.2, 9.1, 9.8, 10.8, 11.3, 11.5, 12.3, 12.5, 13.4, 14.6]
    assert kolmogorov_smirnov(np.array(first), np.array(second)) == pytest.approx(0.4)


def decks(orders: Sequence[int]) -> pl.Series:
    """A million decks by their number of rising sequences, from the number of orders that have 1, 2, … of them."""
    records = [10**6 * number // sum(orders) for number in orders]
    return pl.Series(list(chain.from_iterable([place] * number for place, number in enumerate(records))))


@pytest.mark.parametrize(("shuffles", "printed"), [(5, 0.924), (6, 0.614), (7, 0.334), (8, 0.167), (9, 0.085)])
def test_total_variation_of_shuffled_cards(shuffles: int, printed: float) -> None:
    """Bayer and Diaconis (1992), table 1: how far 52 cards are from well mixed after some riffle shuffles.

    An order with r rising sequences has the chance C(2ᵐ + 52 − r, 52) ÷ 2^(52 m), all orders alike one in 52!.
    """
    orders = [1]
    for cards in range(2, 53):
        before = [0, *orders, 0]
        orders = [(r + 1) * before[r + 1] + (cards - r) * before[r] for r in range(cards)]
    shuffled = [number * comb(2**shuffles + 51 - r, 52) for r, number in enumerate(orders)]
    assert sum(shuffled) == 2 ** (52 * shuffles)
    assert total_variation(decks(orders), decks(shuffled)) == pytest.approx(printed, abs=5e-4)


def test_total_variation_as_sdmetrics_prints_it() -> None:
    """SDMetrics' own tests of TVComplement: one minus it is 0.8333333333333333."""
    found = total_variation(pl.Series(list("abcaab")), pl.Series(list("abcabc")))
    assert 1 - found == pytest.approx(0.8333333333333333)


def compared(observed: list[int], synthetic: list[int]) -> Propensity:
    """By a model that has a parameter for each cell of a table, so that each score is the cell's own share."""
    before, after = np.array(observed), np.array(synthetic)
    filled = before + after > 0
    before, after = before[filled], after[filled]
    chances = np.tile(after / (before + after), 2)
    numbers = np.concatenate((before, after))
    return score(np.repeat(chances, numbers), np.repeat(np.arange(len(numbers)) >= len(before), numbers), len(before))


def test_propensity_as_synthpop_prints_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documentation of synthpop, utility.tab: 1000 people by marital status and number of friends, 24 filled cells:
    pMSE 0.0015, ratio 1.0303; by marital status, age and sex, 31 filled cells: 0.0016 and 0.8398.

    The distance is Snoke's, from these: (ratio − 1) · √((k − 1)/2).
    """
    observed = [78, 92, 94, 1, 193, 185, 198, 5, 46, 24, 31, 2, 14, 15, 12, 0, 2, 0, 0, 0, 3, 1, 1, 0, 0, 2, 1, 0]
    synthetic = [77, 107, 80, 1, 188, 191, 196, 4, 38, 30, 34, 1, 12, 13, 16, 1, 1, 1, 0, 0, 2, 2, 0, 0, 2, 1, 2, 0]
    friends = compared(observed, synthetic)
    assert (friends.pmse, friends.ratio) == (pytest.approx(0.0015, abs=5e-5), pytest.approx(1.0303, abs=5e-5))
    assert friends.standardised == pytest.approx(0.0303 * (23 / 2) ** 0.5, abs=5e-4)
    men = [125, 24, 7, 30, 121, 117, 1, 2, 7, 0, 4, 7, 0, 1, 1, 0, 0, 0, 0, 0, 1]
    women = [97, 7, 5, 64, 141, 108, 1, 11, 81, 2, 19, 9, 0, 0, 0, 1, 3, 1, 1, 1, 0]
    made_men = [117, 21, 8, 31, 119, 125, 1, 1, 8, 0, 3, 4, 0, 1, 1, 0, 0, 0, 0, 0, 2]
    made_women = [102, 8, 9, 48, 147, 109, 3, 9, 81, 5, 17, 13, 0, 0, 0, 1, 3, 0, 3, 0, 0]
    ages = compared(men + women, made_men + made_women)
    assert (ages.pmse, ages.ratio) == (pytest.approx(0.0016, abs=5e-5), pytest.approx(0.8398, abs=5e-5))
    monkeypatch.setattr(propensity, "MOST_LABELS", 28)
    cells = [
        pl.Series(np.repeat([f"cell {place}" for place in range(28)], numbers)) for numbers in (observed, synthetic)
    ]
    fitted = propensity.measure_propensity([make_comparable("cell", *cells)], randomness=Randomness(1))
    assert (fitted.parameters, fitted.ratio) == (24, pytest.approx(1.0303, abs=5e-5))


def thirteen_records() -> Masking:
    """sdcMicro's ``microData``; its MDAV makes groups of these rows, as the quartiles that it prints of them show."""
    columns = {
        "one": [5.0, 7, 2, 1, 7, 8, 12, 3, 15, 4, 7, 8, 6],
        "two": [13.0, 20, 3, 7, 23, 29, 19, 17, 16, 12, 11, 14, 10],
        "three": [77.0, 65, 22, 89, 70, 71, 73, 99, 47, 49, 21, 50, 60],
        "four": [50.0, 51, 58, 57, 60, 51, 53, 52, 57, 60, 61, 57, 60],
        "five": [133.0, 122, 111, 144, 155, 166, 188, 177, 99, 90, 110, 123, 134],
    }
    groups = pl.Series([0, 1, 2, 0, 0, 1, 1, 0, 3, 2, 2, 3, 3])
    before = pl.DataFrame(columns)
    after = before.select(pl.all().mean().over(groups))
    return measure_masking([make_comparable(name, before[name], after[name]) for name in columns], aligned=True)


def test_il1s_as_sdcmicro_prints_it() -> None:
    """Documentation of sdcMicro, microData: ``util1``, the sum over the 13 × 5 cells, is 22.84007."""
    found = thirteen_records().il1s
    assert found is not None
    assert found * 65 == pytest.approx(22.84007, abs=5e-6)


def test_eigenvalues_as_sdcmicro_prints_them() -> None:
    """Documentation of sdcMicro, microData: ``deigenvalues`` is 3.11481."""
    assert thirteen_records().eigen_correlation == pytest.approx(3.11481, abs=5e-6)


def test_the_query_of_the_anatomy_paper() -> None:
    """Xiao and Tao (2006), query A: pneumonia, age up to 30, postal code 10001 to 20000. One patient has it all.

    The generalised table has two with pneumonia, aged 21–60, in 10001–60000. Each counts 0.05: the estimate is 0.1.
    """
    ages = np.array([23.0, 27, 35, 59, 61, 65, 65, 70])
    codes = np.array([11e3, 12e3, 13e3, 25e3, 30e3, 54e3, 59e3])
    two = np.ones(2)
    by_age = Ranges.of(Spans(21 * two, 60 * two), ages).shares(0, 30)
    by_code = Ranges.of(Spans(10_001 * two, 60_000 * two), codes).shares(10_001, 20_000)
    assert by_age * by_code == pytest.approx([0.05, 0.05])
    assert (by_age * by_code).sum() == pytest.approx(0.1)


def test_query_error_with_pencil() -> None:
    """Formula of Vitter and Wang (1999), who like Xiao and Tao (2006) show errors of whole workloads, in charts. A
    release with a quarter of the records answers a quarter of each count.

    |T/4 − T|/T = 0.75 for every query that anybody is in, as all 400 counts are far above 0.1 % of 400 records.
    """
    towns = pl.Series("town", ["A", "B", "C", "D"] * 100)
    pair = make_comparable("town", towns, towns.head(100))
    found = measure_queries([pair], randomness=Randomness(1), queries=20)
    assert (found.mean, found.median) == (pytest.approx(0.75), pytest.approx(0.75))
