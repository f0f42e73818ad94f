"""Special uniques against the reference results, worked examples, and a search of every set by hand."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import date
from itertools import combinations
from math import factorial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.measurement.risk import minimal_uniques
from shoal.measurement.risk.minimal_uniques import encode, find_uniques
from shoal.measurement.risk.suda import suda

pytestmark = pytest.mark.requirement("R-03")

SEVEN = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
FIVE = ["urbrur", "roof", "walls", "water", "sex"]
Found = dict[int, set[tuple[int, ...]]]


def golden(shared: Path, name: str) -> pl.DataFrame:
    return pl.read_csv(shared / "golden" / "sdcmicro" / f"{name}.csv", infer_schema_length=None)


def households(shared: Path) -> pl.DataFrame:
    return pl.read_csv(shared / "data" / "sdcmicro" / "testdata2.csv")


@pytest.mark.parametrize("name", ["suda2_book_example", "suda2_guideline_example"])
def test_published_examples(shared: Path, name: str) -> None:
    expected = golden(shared, name)
    found = suda(expected, expected.columns[:4])
    assert found.scores.tolist() == expected["score"].to_list()
    assert found.dis == pytest.approx(expected["dis"].to_numpy(), abs=1e-7)


def test_reference_scores_of_households(shared: Path) -> None:
    expected, table = golden(shared, "testdata2_suda2"), households(shared)
    found = suda(table, SEVEN)
    assert found.scores.tolist() == expected["score"].to_list()
    assert found.dis == pytest.approx(expected["disScore"].to_numpy(), abs=1e-7)
    assert suda(table, SEVEN, fraction=0.1).dis == pytest.approx(expected["dis_frac0.1"].to_numpy(), abs=1e-7)
    five = suda(table, FIVE)
    assert five.scores.tolist() == expected["score_5keys"].to_list()
    assert five.dis == pytest.approx(expected["dis_5keys"].to_numpy(), abs=1e-7)


def test_reference_contributions_of_households(shared: Path) -> None:
    found = suda(households(shared), SEVEN)
    rows = golden(shared, "testdata2_suda2_contribution").select(f"{key}_contribution" for key in SEVEN)
    assert found.contributions == pytest.approx(rows.to_numpy(), abs=1e-7)
    attributes = golden(shared, "testdata2_suda2_attribute")
    assert found.attributes == pytest.approx(dict(attributes.iter_rows()), abs=1e-7)
    levels = golden(shared, "testdata2_suda2_level")
    for key in SEVEN:
        expected = levels.filter(pl.col("variable") == key)
        assert found.levels(key)["value"].to_list() == expected["attribute"].to_list()
        contribution = expected["contribution"].to_numpy()
        assert found.levels(key)["contribution"].to_numpy() == pytest.approx(contribution, abs=1e-7)


@pytest.mark.parametrize("keys", [4, 5, 7, 9])
def test_dis_follows_the_score_by_the_number_of_keys(shared: Path, keys: int) -> None:
    """sdcMicro's own way to write it: Q = 1 + (8 − keys)/20, and what the scores to the power −Q add up to."""
    table = pl.read_csv(shared / "data" / "sdcmicro" / "testdata.csv")
    found = suda(table, [*SEVEN, "age", "hhcivil"][:keys])
    alone, scored = len(found.alone), found.scores[found.scores > 0]
    file_risk = alone * 0.01 / (alone * 0.01 + found.in_pairs * 0.99)
    q = 1 + (8 - keys) / 20
    expected = 1 / (1 + (alone / file_risk - alone) / (scored**q * (scored**-q).sum()))
    assert found.dis[found.scores > 0] == pytest.approx(expected, abs=1e-9)


def test_dis_of_seven_keys(shared: Path) -> None:
    """Of 4 580 records, by sdcMicro; with four keys' exponent the highest would be 0.830."""
    found = suda(pl.read_csv(shared / "data" / "sdcmicro" / "testdata.csv"), SEVEN)
    assert found.dis.max() == pytest.approx(0.678, abs=5e-4)


def people() -> pl.DataFrame:
    """Two pairs; the fifth is alone by sex, and by age with job."""
    return pl.DataFrame(
        {
            "sex": ["m", "m", "m", "m", "f"],
            "age": [30, 30, 40, 40, 30],
            "job": ["cook", "cook", "nurse", "nurse", "nurse"],
        }
    )


def test_worked_example_of_score_and_dis() -> None:
    """One set of one attribute (2!) and one of two (1!); U = 1, P = 4: odds of a wrong match 4 · 0.99 ÷ 0.01."""
    found = suda(people(), ["sex", "age", "job"])
    assert found.scores.tolist() == [0, 0, 0, 0, 3]
    assert found.by_size == (1, 1, 0)
    assert found.dis.tolist() == pytest.approx([0, 0, 0, 0, 1 / 397])
    assert found.contributions[4].tolist() == pytest.approx([2 / 3, 1 / 3, 1 / 3])
    assert found.attributes == pytest.approx({"sex": 200 / 3, "age": 100 / 3, "job": 100 / 3})


def test_a_size_limit_weighs_as_in_the_paper() -> None:
    """With n = 3 and sets of up to m = 2: a set of one counts n − 1 = 2, a set of two counts 1; with m = 1, 1."""
    assert suda(people(), ["sex", "age", "job"], max_size=2).scores[4] == 3
    assert suda(people(), ["sex", "age", "job"], max_size=1).scores[4] == 1
    assert suda(people(), ["age", "job"], max_size=1).scores.tolist() == [0] * 5


def test_missing_is_a_value_of_its_own() -> None:
    assert suda(pl.DataFrame({"a": [1, 1, None], "b": [1, 1, 1]}), ["a", "b"]).scores.tolist() == [0, 0, 1]
    assert suda(pl.DataFrame({"a": [1, None, None], "b": [1, 1, 1]}), ["a", "b"]).scores.tolist() == [1, 0, 0]


def search_by_hand(rows: Sequence[tuple[object, ...]], width: int, max_size: int) -> Found:
    found: Found = {row: set() for row in range(len(rows))}
    for size in range(1, max_size + 1):
        for places in combinations(range(width), size):
            parts = [tuple(row[place] for place in places) for row in rows]
            counted = Counter(parts)
            for row, part in enumerate(parts):
                explained = any(set(smaller) <= set(places) for smaller in found[row])
                if counted[part] == 1 and not explained:
                    found[row].add(places)
    return found


def as_found(frame: pl.DataFrame, max_size: int) -> Found:
    found: Found = {row: set() for row in range(frame.height)}
    searched = find_uniques(frame, max_size)
    for each in searched.minimal:
        for row in searched.alone[each.records]:
            found[int(row)].add(each.attributes)
    return found


@st.composite
def tables(draw: st.DrawFn, values: Sequence[int | None], most: int) -> list[tuple[int | None, ...]]:
    width = draw(st.integers(1, most))
    return draw(st.lists(st.tuples(*[st.sampled_from(values)] * width), min_size=1, max_size=25))


@given(tables([0, 1, 2, None], 5), st.integers(1, 5))
def test_minimal_uniques_equal_a_search_of_every_set(rows: list[tuple[int | None, ...]], most: int) -> None:
    width = len(rows[0])
    most = min(most, width)
    frame = pl.DataFrame(rows, schema=[(f"c{place}", pl.Int64) for place in range(width)], orient="row")
    expected = search_by_hand(rows, width, most)
    assert as_found(frame, most) == expected
    assert as_found(frame.cast(pl.String), most) == expected
    found = suda(frame.lazy(), frame.columns, max_size=most)
    weight = {size: factorial(width - size) // factorial(width - most) for size in range(1, most + 1)}
    assert found.scores.tolist() == [sum(weight[len(each)] for each in expected[row]) for row in expected]
    assert found.in_pairs == 2 * sum(number == 2 for number in Counter(rows).values())


@given(tables([0, 200, None], 9))
def test_keys_that_fit_no_word_give_the_same(rows: list[tuple[int | None, ...]]) -> None:
    """Each column takes eight bits, and nine of them more than a word."""
    width = len(rows[0])
    frame = pl.DataFrame(rows, schema=[(f"c{place}", pl.Int64) for place in range(width)], orient="row")
    assert as_found(frame, min(3, width)) == search_by_hand(rows, width, min(3, width))


@given(st.lists(st.lists(st.integers(0, 2**20), min_size=6, max_size=6), min_size=6, max_size=6))
def test_folding_keeps_rows_apart_in_few_bits(columns: list[list[int]]) -> None:
    arrays = [np.array(column, dtype=np.uint64) for column in columns]
    key = minimal_uniques.fold(arrays, 8)
    rows = list(zip(*columns, strict=True))
    for one, other in combinations(range(6), 2):
        assert (key[one] == key[other]) == (rows[one] == rows[other])
    assert minimal_uniques.bits_of(key) <= 8


@pytest.mark.parametrize("place", range(6))
def test_folding_beyond_a_word_loses_no_column(place: int) -> None:
    """Six columns of twenty bits: a difference in any one of them is kept."""
    arrays = [np.array([2**20 - 1] * 3, dtype=np.uint64) for _ in range(6)]
    arrays[place][1] = 5
    key = minimal_uniques.fold(arrays)
    assert key[0] == key[2] != key[1]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([-100, 100, -100, None], pl.Int8),
        ([2**64 - 1, 2**64 - 2, 2**64 - 1, None], pl.UInt64),
        ([-(2**63), 2**63 - 1, -(2**63), None], pl.Int64),
        ([2**100, 1, 2**100, None], pl.Int128),
        ([0.5, float("nan"), 0.5, None], pl.Float64),
        ([True, False, True, None], pl.Boolean),
        ([date(2020, 1, 1), date(1900, 1, 1), date(2020, 1, 1), None], pl.Date),
        (["x", "", "x", None], pl.String),
        (["x", "", "x", None], pl.Categorical),
        ([None] * 4, pl.Null),
    ],
)
def test_every_type_is_told_apart(values: list[object], dtype: pl.DataType) -> None:
    first, second, again, missing = encode(pl.Series(values, dtype=dtype)).tolist()
    assert first == again
    if any(value is not None for value in values):
        assert len({first, second, missing}) == 3
    assert max(first, second, missing) < 2**17


def test_dis_averages_to_the_chance_of_the_file(shared: Path) -> None:
    """The odds of a wrong match, in the mean over uniques, are those of the whole file (Skinner and Elliot 2002)."""
    table = pl.read_csv(shared / "data" / "sdcmicro" / "testdata.csv")
    found = suda(table, SEVEN, fraction=0.05)
    sizes = table.group_by(SEVEN).len()["len"].to_list()
    alone, pairs = sizes.count(1), 2 * sizes.count(2)
    assert (alone, pairs) == (157, 124)
    scored = found.dis[found.scores > 0]
    assert len(scored) == alone
    assert np.mean(1 / scored - 1) == pytest.approx(pairs * 0.95 / (alone * 0.05))
    assert np.array_equal(np.argsort(found.dis, kind="stable"), np.argsort(found.scores, kind="stable"))


def test_summary_counts_and_holds_no_value() -> None:
    table = people().with_columns(pl.lit("secret-village").alias("place"))
    found = suda(table, ["sex", "age", "job", "place"])
    told = found.to_dict()
    assert (told["records"], told["alone"], told["scored"]) == (5, 1, 1)
    assert told["minimal_uniques"] == {"1": 1, "2": 1, "3": 0, "4": 0}
    assert told["score_max"] == 8
    assert told["dis_above"] == {"0.01": 0, "0.05": 0, "0.1": 0, "0.2": 0, "0.5": 0}
    assert told["dis_quantiles"]["0.5"] == pytest.approx(1 / 397)
    text = json.dumps(told)
    assert not any(value in text for value in ("secret-village", "cook", "nurse"))
    assert "secret-village" not in repr(found)


@pytest.mark.parametrize("rows", [0, 1])
def test_tables_of_no_and_of_one_row(rows: int) -> None:
    found = suda(people().head(rows), ["sex", "age", "job"])
    assert found.scores.tolist() == [6.0] * rows
    assert found.dis.tolist() == [1.0] * rows
    assert found.summary()["scored"] == rows
    assert found.contributions.shape == (rows, 3)


def test_one_class_has_no_uniques() -> None:
    found = suda(pl.DataFrame({"a": [None, None], "b": [1, 1]}), ["a", "b"])
    assert found.scores.tolist() == [0, 0]
    assert found.attributes == {"a": 0, "b": 0}
    assert found.levels("a").is_empty()


def test_wrong_use_is_refused() -> None:
    wide = pl.DataFrame({f"c{place}": [0] for place in range(30)})
    with pytest.raises(InputError, match="no column 'nowhere'"):
        suda(people(), ["sex", "nowhere"])
    with pytest.raises(InputError, match="each named once"):
        suda(people(), ["sex", "sex"])
    with pytest.raises(InputError, match="max_size"):
        suda(people(), ["sex"], max_size=0)
    with pytest.raises(InputError, match="fraction"):
        suda(people(), ["sex"], fraction=0)
    with pytest.raises(InputError, match="sets to search"):
        suda(wide, wide.columns)
    assert suda(wide, wide.columns, max_size=2).by_size == (30, 0)
