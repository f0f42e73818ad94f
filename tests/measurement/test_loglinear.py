"""Global risk by log-linear models against reference results, closed forms, and a population that is known."""

from __future__ import annotations

import json
from math import exp
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError, InputError
from shoal.measurement.risk import global_risk
from shoal.measurement.risk.global_risk import CrossTable, cross_table, fitted_means, measure_global, unique_risk
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("R-03")

KEYS = ("urbrur", "roof", "water", "relat", "sex")


@pytest.fixture
def testdata(shared: Path) -> CrossTable:
    return cross_table(pl.scan_csv(shared / "data" / "sdcmicro" / "testdata.csv"), KEYS, "sampling_weight")


@pytest.mark.parametrize("method", ["default", "PML", "CE"])
def test_testdata(shared: Path, testdata: CrossTable, method: str) -> None:
    """The reference has the codes of five keys as trends, and gives figures per cell that has records.

    It takes the sample's mean of a cell for the population's, which overstates the risk; here the mean is handed over
    as it is to compare the rest. CE (Clogg & Eliason 1987) has the log of the inclusion probability + 0.1 as offset,
    where an empty cell's probability is 0.
    """
    golden = json.loads((shared / "golden" / "sdcmicro" / "modRisk.json").read_text())[method]
    has_records = testdata.records > 0
    offset = np.log(np.where(has_records, testdata.inclusion, 0) + 0.1) if method == "CE" else None
    fitted = fitted_means(testdata, trend=KEYS, offset=offset)
    unique = testdata.records == 1
    alone, match = unique_risk(fitted[unique], testdata.inclusion[unique])
    assert alone.sum() / has_records.sum() == pytest.approx(golden["gr1"], abs=1e-9)
    assert match.sum() / has_records.sum() == pytest.approx(golden["gr2"], abs=1e-9)


def test_a_unique_in_half_of_the_population_by_hand() -> None:
    """Skinner & Holmes (1998): with λ = 2 and π = ½ one more person is expected unseen, so v = 1."""
    alone, match = unique_risk(np.array([2.0]), 0.5)
    assert (alone[0], match[0]) == pytest.approx((exp(-1), 1 - exp(-1)))
    terms = []
    chance = exp(-1)
    for unseen in range(1, 60):
        terms.append(chance / unseen)
        chance /= unseen
    assert match[0] == pytest.approx(sum(terms))


def test_independent_keys_have_the_closed_form() -> None:
    """Effects of each key alone: row total × column total ÷ records."""
    counts = np.array([[5, 0, 1], [2, 3, 4]])
    table = CrossTable({"p": pl.Series([1, 2]), "q": pl.Series([1, 2, 3])}, counts.ravel() * 1.0, counts.ravel() * 9.0)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    assert fitted_means(table) == pytest.approx(expected.ravel(), rel=1e-9)


@given(st.lists(st.integers(0, 6), min_size=12, max_size=12).filter(any))
def test_margins_of_all_terms_are_met(counts: list[int]) -> None:
    """A model of greatest likelihood has the sample's totals for each of its terms (Birch 1963)."""
    records = np.array(counts, dtype=np.float64)
    values = {"p": pl.Series([1, 2]), "q": pl.Series([1, 2, 3]), "r": pl.Series([1, 2])}
    fitted = fitted_means(CrossTable(values, records, records * 10), pairs=[("p", "q")]).reshape(2, 3, 2)
    there = records.reshape(2, 3, 2)
    assert fitted.sum(axis=2) == pytest.approx(there.sum(axis=2), abs=1e-5)
    assert fitted.sum(axis=(0, 1)) == pytest.approx(there.sum(axis=(0, 1)), abs=1e-5)


def test_a_trend_keeps_total_and_first_moment() -> None:
    records = np.array([9.0, 4, 3, 1])
    table = CrossTable({"age": pl.Series([10, 20, 40, 80])}, records, records * 5)
    fitted = fitted_means(table, trend=["age"])
    ages = np.array([10, 20, 40, 80])
    assert fitted.sum() == pytest.approx(17)
    assert fitted @ ages == pytest.approx(records @ ages)
    steps = np.diff(np.log(fitted)) / np.diff(ages)
    assert steps == pytest.approx([steps[0]] * 3)


def _population(size: int) -> pl.DataFrame:
    """People with three independent, skewed keys, and whether the sample has them."""
    rows = np.arange(size, dtype=np.uint64)
    stream = Randomness(7).stream("population")
    keys = {f"k{lane}": (stream.uniform(rows, lane) ** 2 * 25).astype(np.int64) for lane in range(3)}
    return pl.DataFrame({**keys, "sampled": stream.uniform(rows, 9) < 0.1})


def test_a_population_with_known_uniques_is_estimated() -> None:
    names = ["k0", "k1", "k2"]
    people = _population(40_000).with_columns(pl.len().over(names).alias("population"))
    sample = people.filter("sampled").with_columns(pl.len().over(names).alias("sample"), pl.lit(10.0).alias("w"))
    uniques = sample.filter(pl.col("sample") == 1)
    measured = measure_global(sample.lazy(), names, "w")
    assert measured.uniques == uniques.height > 1000
    truly_alone = int((uniques["population"] == 1).sum())
    assert measured.population_uniques == pytest.approx(truly_alone, rel=0.15)
    assert measured.expected_matches == pytest.approx((1 / uniques["population"]).sum(), rel=0.05)
    assert measured.to_dict()["expected_matches"] == pytest.approx(measured.expected_matches)
    table = cross_table(sample.lazy(), names, "w")
    unscaled = unique_risk(fitted_means(table)[table.records == 1], 0.1)[0].sum()
    assert unscaled > 2 * truly_alone, "the sample's mean in place of the population's overstates"


def test_cells_keep_their_own_inclusion_probability() -> None:
    """Uniques in a half that was sampled in full are surely population uniques; those of the other half are not."""
    table = pl.LazyFrame({"half": ["a"] * 4 + ["b"] * 4, "key": list("wxyz") * 2, "w": [1.0] * 4 + [50.0] * 4})
    measured = measure_global(table, ["half", "key"], "w")
    assert measured.uniques == 8
    assert 4 <= measured.population_uniques < 4.001
    assert 4 < measured.expected_matches < 4.2


def test_people_are_modelled_and_not_the_sample_that_was_drawn_unevenly() -> None:
    """Independent keys, 40, 20, 20 and 10 people; two cells were sampled at 10 %, two at 50 %. One unique is left."""
    drawn = [("a", "x", 4, 10.0), ("a", "y", 10, 2.0), ("b", "x", 10, 2.0), ("b", "y", 1, 10.0)]
    rows = [(one, other, weight) for one, other, number, weight in drawn for _ in range(number)]
    measured = measure_global(pl.LazyFrame(rows, schema=["p", "q", "w"], orient="row"), ["p", "q"], "w")
    assert measured.uniques == 1
    assert measured.population_uniques == pytest.approx(exp(-9), rel=1e-6)
    assert measured.expected_matches == pytest.approx((1 - exp(-9)) / 9, rel=1e-6)


def test_edges() -> None:
    schema = {"p": pl.String, "q": pl.String, "w": pl.Float64}
    empty = measure_global(pl.LazyFrame(schema=schema), ["p", "q"], "w")
    assert (empty.records, empty.uniques, empty.expected_matches, empty.share, empty.cells) == (0, 0, 0, 0, 0)
    one = measure_global(pl.LazyFrame({"p": ["a"], "w": [1.0]}), ["p"], "w")
    assert (one.uniques, one.population_uniques, one.expected_matches, one.cells) == (1, 1, 1, 1)
    light = measure_global(pl.LazyFrame({"p": ["a"], "w": [0.5]}), ["p"], "w")
    assert (light.population_uniques, light.expected_matches) == (1, 1), "nobody is rarer than one person"
    lacking = pl.LazyFrame({"p": [None, None, None], "q": ["x", "x", None], "w": [3.0] * 3}, schema=schema)
    measured = measure_global(lacking, ["p", "q"], "w")
    assert (measured.uniques, measured.cells) == (1, 2)
    assert measured.population_uniques == pytest.approx(exp(-3 * (1 - 1 / 3)))
    nobody = measure_global(pl.LazyFrame({"p": ["a", "a"], "w": [2.0, 2.0]}), ["p"], "w")
    assert (nobody.uniques, nobody.population_uniques) == (0, 0)


def test_wrong_use_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pl.LazyFrame({"town": ["secret", "b"], "age": [1, None], "w": [2.0, 2.0]})
    with pytest.raises(DataError, match="did you mean 'town'"):
        measure_global(table, ["twon"], "w")
    with pytest.raises(InputError, match="'age' is not one of the keys"):
        measure_global(table, ["town"], "w", pairs=[("town", "age")])
    for name in ("town", "age"):
        with pytest.raises(DataError, match="can't be a trend") as caught:
            measure_global(table, ["town", "age"], "w", trend=[name])
        assert "secret" not in str(caught.value)
    with pytest.raises(DataError, match="negative: 1"):
        measure_global(table.with_columns(pl.Series("w", [0.0, 1.0])), ["town"], "w")
    monkeypatch.setattr(global_risk, "MOST_FIGURES", 5)
    with pytest.raises(InputError, match="too many effects"):
        measure_global(table, ["town", "age"], "w")
    monkeypatch.setattr(global_risk, "MOST_CELLS", 3)
    with pytest.raises(InputError, match="too many cells"):
        measure_global(table, ["town", "age"], "w")
