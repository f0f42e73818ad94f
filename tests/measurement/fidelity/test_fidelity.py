"""What a synthetic table still tells: figures against counts by hand, and against what chance brings about."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.synthetic_people import people

from shoal.errors import DataError
from shoal.measurement.fidelity import Fidelity, fidelity_readings, measure_fidelity, measure_keys
from shoal.measurement.fidelity.cell_codes import BINS, CodedColumn
from shoal.measurement.fidelity.marginals import marginal_distance
from shoal.measurement.usefulness.distribution_bins import LEAST_RECORDS
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("T-25", "R-06")


@pytest.fixture(scope="module")
def fresh() -> Fidelity:
    return measure_fidelity(people(1_500, 1), people(1_500, 2), control=people(500, 3), randomness=Randomness(1))


@pytest.fixture(scope="module")
def broken() -> Fidelity:
    """Each column as it was, none with another."""
    table = people(1_500, 1)
    apart = pl.DataFrame([column.shuffle(seed=place) for place, column in enumerate(table)])
    return measure_fidelity(table, apart, control=people(500, 3), randomness=Randomness(1))


def test_a_fresh_sample_is_as_far_off_as_chance_says(fresh: Fidelity) -> None:
    for size in (1, 2, 3):
        assert fresh.figures[f"tv{size}_mean"] == pytest.approx(fresh.figures[f"tv{size}_chance"], rel=0.2)
    assert fresh.figures["c2st_auc_low"] < 0.5 < fresh.figures["c2st_auc_high"]
    assert fresh.figures["prediction_ratio"] == pytest.approx(1, abs=0.1)
    assert fresh.figures["association_difference"] < 0.05


def test_broken_links_show_where_columns_are_looked_at_together(fresh: Fidelity, broken: Fidelity) -> None:
    assert broken.figures["tv1_mean"] == 0
    assert broken.figures["wasserstein_mean"] == 0
    for name in ("tv2_mean", "tv3_mean", "association_difference", "association_max", "query_error_mean", "c2st_auc"):
        assert broken.figures[name] > fresh.figures[name]
    assert broken.figures["prediction_kept"] < 0.5
    assert broken.figures["c2st_auc_low"] > 0.5


def test_every_figure_says_how_it_is_read(fresh: Fidelity) -> None:
    assert fresh.figures.keys() == fidelity_readings().keys()
    assert sorted(each.in_short for each in fidelity_readings().values() if each.in_short) == list(range(1, 8))


def test_bars_add_up_and_show_no_few(fresh: Fidelity) -> None:
    for shape in fresh.shapes.values():
        assert sum(bar[1] for bar in shape.bars) == pytest.approx(1)
        assert sum(bar[2] for bar in shape.bars) == pytest.approx(1)
        assert all(bar[1] == 0 or bar[1] >= LEAST_RECORDS / 1_500 for bar in shape.bars)


def test_a_label_that_few_have_is_not_named() -> None:
    before = pl.DataFrame({"work": ["clerk"] * 95 + ["astronaut"] * 5, "x": range(100)})
    after = pl.DataFrame({"work": ["clerk"] * 100, "x": range(100)})
    shape = measure_fidelity(before, after, randomness=Randomness(1)).shapes["work"]
    assert [bar[0] for bar in shape.bars] == ["others"]


@settings(max_examples=50, deadline=None)
@given(
    before=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["x", None])), min_size=1, max_size=15),
    after=st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["x", "y", None])), min_size=1, max_size=15),
)
def test_total_variation_of_pairs_by_hand(
    before: list[tuple[str, str | None]], after: list[tuple[str, str | None]]
) -> None:
    known = [set(column) for column in zip(*before, strict=True)]
    others = [tuple(v if v in own or v is None else "?" for v, own in zip(row, known, strict=True)) for row in after]
    shares = [
        Counter({cell: rows.count(cell) / len(rows) for cell in rows}) for rows in ([*map(tuple, before)], others)
    ]
    expected = sum(abs(shares[0][cell] - shares[1][cell]) for cell in {*shares[0], *shares[1]}) / 2
    columns = [
        CodedColumn.of(
            str(place),
            pl.Series([row[place] for row in before], dtype=pl.String),
            pl.Series([row[place] for row in after], dtype=pl.String),
        )
        for place in range(2)
    ]
    assert marginal_distance(columns).total_variation == pytest.approx(expected)


def test_numbers_stand_in_bins_of_equally_many() -> None:
    numbers = pl.Series(np.random.default_rng(1).lognormal(size=2_000))
    coded = CodedColumn.of("income", numbers, numbers)
    assert np.bincount(coded.before).tolist() == [2_000 // BINS] * BINS


def test_many_columns_are_sampled_and_that_is_said() -> None:
    draw = np.random.default_rng(1)
    wide = [pl.DataFrame({f"c{n}": draw.integers(0, 3, 60) for n in range(40)}) for _ in range(2)]
    found = measure_fidelity(wide[0], wide[1], randomness=Randomness(1))
    assert len(found.pair_distances) == 400
    assert any("400 of 780 sets of 2" in note for note in found.notes)


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"a": [1], "b": ["x"]}),
        pl.DataFrame({"a": [1] * 50, "b": ["x"] * 50}),
        pl.DataFrame({"a": [None] * 50, "b": ["x", "y"] * 25}, schema={"a": pl.Int64, "b": pl.String}),
        pl.DataFrame({"a": [f"{number}" for number in range(300)], "b": [None, 1.5, 2.5] * 100}),
    ],
)
def test_poor_tables_get_reasons_not_errors(table: pl.DataFrame) -> None:
    found = measure_fidelity(table, table, randomness=Randomness(1))
    assert found.reasons.keys() == {name for name, value in found.figures.items() if value is None}
    assert found.figures["tv1_mean"] == 0


def test_tables_without_records_or_common_columns_are_refused() -> None:
    one = pl.DataFrame({"a": [1, 2]})
    for other in (pl.DataFrame({"b": [1]}), one.clear()):
        with pytest.raises(DataError):
            measure_fidelity(one, other, randomness=Randomness(1))


def test_children_per_parent() -> None:
    found = measure_keys(
        (pl.Series([1, 2, 3, 4]), pl.Series([1, 1, 2, 2])), (pl.Series(["a", "b"]), pl.Series(["a", "a", "a", "z"]))
    )
    assert (found.original.mean, found.original.none, found.original.most) == (1, 0.5, 2)
    assert (found.synthetic.most, found.synthetic.orphans) == (3, 0.25)
    shares = {0: (0.5, 0.5), 2: (0.5, 0), 3: (0, 0.5)}
    assert found.total_variation == sum(abs(a - b) for a, b in shares.values()) / 2


def test_the_same_seed_gives_the_same_figures(fresh: Fidelity) -> None:
    again = measure_fidelity(people(1_500, 1), people(1_500, 2), control=people(500, 3), randomness=Randomness(1))
    assert again.figures == fresh.figures
    assert set(fresh.pair_distances) == set(itertools.combinations(fresh.shapes, 2))
