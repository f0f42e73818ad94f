"""Individual and household risk against reference results, the definition, and the limits of both forms."""

from __future__ import annotations

from math import comb, log, prod
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError, InputError
from shoal.measurement.risk.individual_risk import household_risk, individual_risk, measure_sample

pytestmark = pytest.mark.requirement("R-03")

K7 = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")
FRANCDAT_KEYS = ("Key1", "Key2", "Key3", "Key4")
MARKED = "Zaphod-4711"


def _golden(shared: Path, name: str) -> pl.DataFrame:
    return pl.read_csv(shared / "golden" / "sdcmicro" / name)


@pytest.fixture
def testdata(shared: Path) -> pl.DataFrame:
    return pl.read_csv(shared / "data" / "sdcmicro" / "testdata.csv")


def test_francdat(shared: Path) -> None:
    golden = _golden(shared, "francdat_freqCalc_indivRisk.csv")
    assert individual_risk(golden["fk"], golden["Fk"]) == pytest.approx(golden["rk_approx"].to_numpy(), abs=1e-9)
    assert individual_risk(golden["fk"], golden["Fk"], "exact") == pytest.approx(
        golden["rk_exact"].to_numpy(), abs=1e-9
    )
    lacking = _golden(shared, "francdat_NA_freqCalc_alpha.csv")
    expected = pytest.approx(lacking["rk_a1"].to_numpy(), abs=1e-9)
    assert individual_risk(lacking["fk_a1"], lacking["Fk_a1"]) == expected
    measured = measure_sample(lacking.lazy(), FRANCDAT_KEYS, "w", missing="wildcard")
    assert measured.expected == pytest.approx(lacking["rk_a1"].sum(), abs=1e-9)


def test_testdata_record_by_record(shared: Path, testdata: pl.DataFrame) -> None:
    golden = _golden(shared, "testdata_risk.csv")
    approximate = individual_risk(golden["fk"], golden["Fk"])
    assert approximate == pytest.approx(golden["rk_approx"].to_numpy(), abs=1e-9)
    known = golden["rk_exact"].is_not_null().to_numpy()
    exact = individual_risk(golden["fk"], golden["Fk"], "exact")
    assert 4000 < known.sum() < len(known), "the reference has no exact figure for its largest class"
    assert exact[known] == pytest.approx(golden["rk_exact"].drop_nulls().to_numpy(), abs=1e-12)
    assert np.isfinite(exact).all()
    household = household_risk(approximate, testdata["ori_hid"])
    assert household == pytest.approx(golden["hier_risk_fast"].to_numpy(), abs=1e-9)


def test_testdata_as_a_file(testdata: pl.DataFrame) -> None:
    measured = measure_sample(testdata.lazy(), K7, "sampling_weight", "ori_hid")
    assert (measured.records, measured.uniques, measured.pairs) == (4580, 157, 124)
    assert measured.expected == pytest.approx(10.7783, abs=5e-5)
    assert measured.share == pytest.approx(0.002353, abs=5e-7)
    assert measured.expected_in_households == pytest.approx(51.8129, abs=5e-5)
    assert measured.share_in_households == pytest.approx(0.011313, abs=5e-7)
    assert measured.above(0.04) == 157
    assert measured.above(0.009) == 157 + 124
    assert measured.above(measured.highest) == 0
    assert measured.above(0) == 4580


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("fraction", [0.05, 0.3, 0.9])
def test_exact_risk_is_the_mean_of_one_over_the_population_frequency(count: int, fraction: float) -> None:
    """Benedetti & Franconi (1998): F | f is negative binomial; here its series is summed term by term."""
    terms = (
        comb(size - 1, count - 1) * fraction**count * (1 - fraction) ** (size - count) / size
        for size in range(count, count + 1500)
    )
    assert individual_risk([count], [count / fraction], "exact") == pytest.approx(sum(terms), rel=1e-10)


@pytest.mark.parametrize("p", [0.001, 0.2, 0.7])
def test_closed_forms_for_one_two_and_three_records(p: float) -> None:
    """Franconi & Polettini (2004)."""
    q = 1 - p
    one, two = p / q * log(1 / p), p / q**2 * (p * log(p) + q)
    three = p / (2 * q**3) * (q * (3 * q - 2) - 2 * p**2 * log(p))
    found = individual_risk([1, 2, 3], [1 / p, 2 / p, 3 / p], "exact")
    assert found == pytest.approx([one, two, three], rel=1e-9)
    assert individual_risk([1, 2], [1 / p, 2 / p]) == pytest.approx([one, two], rel=1e-9)
    assert individual_risk([3], [3 / p]) == pytest.approx([p / (3 - q)], rel=1e-12)


@given(st.integers(1, 10_000), st.floats(1, 1e6))
def test_approximation_is_never_below_and_neither_leaves_its_range(count: int, factor: float) -> None:
    population = count * factor
    exact, approximate = (individual_risk([count], [population], form)[0] for form in ("exact", "approximate"))
    assert 1 / population * (1 - 1e-9) <= exact <= approximate * (1 + 1e-12) <= (1 + 1e-9) / max(count - 1, 1)
    assert approximate <= 1


@given(st.integers(1, 300), st.floats(1, 1000))
def test_risk_never_falls_when_classes_shrink(count: int, weight: float) -> None:
    smaller, larger = individual_risk([count, count + 1], [count * weight, (count + 1) * weight], "exact")
    assert larger <= smaller * (1 + 1e-12)


def test_exact_risk_is_continuous_where_the_series_takes_over() -> None:
    """q · r(f + 1) + p · r(f) = p ÷ f holds for all f, across 20 (series) and 100 (where the library's fails)."""
    count, p = np.arange(1.0, 400), 0.01
    risk = individual_risk(np.append(count, 400), np.append(count, 400) / p, "exact")
    assert (1 - p) * risk[1:] + p * risk[:-1] == pytest.approx(p / count, rel=1e-11)


def test_whole_population_leaves_one_over_the_class() -> None:
    for form in ("exact", "approximate"):
        assert individual_risk([1, 2, 5, 50], [1, 2, 5, 50], form).tolist() == [1, 0.5, 0.2, 0.02]


@given(st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.floats(0, 1)), min_size=1, max_size=20))
def test_household_risk_by_hand(people: list[tuple[str | None, float]]) -> None:
    risks = [risk for _, risk in people]
    homes = [home for home, _ in people]
    expected = [1 - prod(1 - risk for other, risk in people if other == home) if home else own for home, own in people]
    assert household_risk(risks, pl.Series(homes, dtype=pl.String)) == pytest.approx(expected, abs=1e-12)


def test_a_file_with_households_equals_its_records_one_by_one() -> None:
    rows = [("a", "h1", 4.0), ("a", "h2", 4.0), ("b", "h1", 2.0), ("c", None, 3.0), ("d", None, 1.0), (None, "h2", 9.0)]
    table = pl.DataFrame(rows, schema=["key", "home", "w"], orient="row")
    risk = individual_risk([2, 2, 1, 1, 1, 1], [8, 8, 2, 3, 1, 9])
    expected = household_risk(risk, table["home"])
    measured = measure_sample(table.lazy(), ["key"], "w", "home")
    assert measured.expected == pytest.approx(risk.sum())
    assert measured.expected_in_households == pytest.approx(expected.sum())
    assert measured.highest == 1.0
    assert measured.above(0.5) == int((risk > 0.5).sum())


def test_light_weights_are_counted_and_never_lower_the_risk_below_the_sample() -> None:
    table = pl.LazyFrame({"key": ["a", "b", "b"], "w": [0.5, 0.25, 0.5]})
    measured = measure_sample(table, ["key"], "w")
    assert measured.light_weights == 3
    assert measured.expected == 1 + 2 * 0.5


@pytest.mark.parametrize("weight", [None, 0.0, -1.0, float("nan"), float("inf")])
def test_unusable_weights_are_refused(weight: float | None) -> None:
    table = pl.LazyFrame({"key": [MARKED, "b"], "w": [10.0, weight]})
    with pytest.raises(DataError, match=r"weights in 'w' .*: 1") as caught:
        measure_sample(table, ["key"], "w")
    assert MARKED not in str(caught.value)


def test_wrong_use_is_named() -> None:
    table = pl.LazyFrame({"key": [MARKED], "home": ["h"], "w": [10.0]})
    for keys, weight, home in ((["kye"], "w", None), (["key"], "wt", None), (["key"], "w", "hom")):
        with pytest.raises(DataError, match="no column") as caught:
            measure_sample(table, keys, weight, home)
        assert MARKED not in str(caught.value)
    with pytest.raises(DataError, match="did you mean 'key'"):
        measure_sample(table, ["kye"], "w")
    with pytest.raises(DataError, match="not numbers"):
        measure_sample(table, ["key"], "home")
    with pytest.raises(InputError, match="above 0"):
        individual_risk([0], [1])
    with pytest.raises(InputError, match="unknown form"):
        individual_risk([1], [1], "guess")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="as many"):
        household_risk([0.1, 0.2], ["h"])


def test_edges() -> None:
    schema = {"key": pl.String, "home": pl.String, "w": pl.Float64}
    empty = measure_sample(pl.LazyFrame(schema=schema), ["key"], "w", "home")
    assert (empty.records, empty.expected, empty.share, empty.highest, empty.above(0)) == (0, 0, 0, 0, 0)
    assert (empty.expected_in_households, empty.share_in_households) == (0, 0)
    lacking = pl.LazyFrame({"key": [None] * 4, "home": [None] * 4, "w": [5.0] * 4}, schema=schema)
    measured = measure_sample(lacking, ["key"], "w", "home")
    assert measured.expected_in_households == pytest.approx(measured.expected)
    assert measured.expected == pytest.approx(4 * individual_risk([4], [20])[0])
    assert household_risk([], []).tolist() == []


def test_what_is_written_down_holds_figures_only() -> None:
    table = pl.LazyFrame({"key": [MARKED, "b"], "home": [MARKED, "h"], "w": [31337.0, 2.0]})
    measured = measure_sample(table, ["key"], "w", "home")
    shown = measured.to_dict()
    assert MARKED not in f"{shown}{measured}"
    assert "31337" not in f"{shown}"
    assert shown["uniques"] == 2
    assert shown["expected_reidentifications"] == pytest.approx(measured.expected)
    assert measure_sample(table, ["key"], "w").to_dict()["expected_in_households"] is None
