"""How sets of attributes tell people apart, against pairs and people counted one by one."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import combinations
from math import comb

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.measurement.risk import quasi_identifiers
from shoal.measurement.risk.quasi_identifiers import QuasiAnalysis, analyse_quasi

pytestmark = pytest.mark.requirement("D-06")

NAMES = ("p", "q", "r", "s")
Row = tuple[str | None, ...]
ROWS = st.lists(st.tuples(*[st.sampled_from(["x", "y", "z", None])] * 4), min_size=1, max_size=15)


def as_table(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(NAMES, pl.String), orient="row")


def alone_by_hand(parts: list[Row], people: list[int]) -> set[int]:
    there = defaultdict(set)
    for part, person in zip(parts, people, strict=True):
        there[part].add(person)
    return {person for group in there.values() if len(group) == 1 for person in group}


def check_by_hand(found: QuasiAnalysis, rows: list[Row], people: list[int], size: int) -> None:
    assert {each.names for each in found.sets} == {s for k in range(1, size + 1) for s in combinations(NAMES, k)}
    for each in found.sets:
        parts = [tuple(row[NAMES.index(name)] for name in each.names) for row in rows]
        apart = sum(one != other for one, other in combinations(parts, 2))
        assert each.distinction == len(set(parts)) / len(rows)
        assert each.separation == pytest.approx(apart / max(1, comb(len(rows), 2)))
        assert each.alone == len(alone_by_hand(parts, people))
        assert each.uniqueness == each.alone / len(set(people))


@given(ROWS, st.integers(1, 4))
def test_figures_equal_a_count_of_pairs_and_rows(rows: list[Row], size: int) -> None:
    found = analyse_quasi(as_table(rows), NAMES, max_size=size)
    check_by_hand(found, rows, list(range(len(rows))), size)
    ranks = [(each.uniqueness, each.separation, each.distinction, -len(each.names)) for each in found.sets]
    assert ranks == sorted(ranks, reverse=True)
    assert analyse_quasi(as_table(rows).lazy(), NAMES, max_size=size) == found


@given(ROWS, st.data())
def test_a_person_with_several_rows_is_one(rows: list[Row], data: st.DataObject) -> None:
    people = data.draw(st.lists(st.integers(0, 5), min_size=len(rows), max_size=len(rows)))
    table = as_table(rows).with_columns(pl.Series("who", people))
    check_by_hand(analyse_quasi(table, NAMES, person="who"), rows, people, 3)


@given(ROWS, st.data())
def test_counting_by_sorting_gives_the_same(rows: list[Row], data: st.DataObject) -> None:
    """Small tables are counted per possible key; here all ways are taken, with and without rows alike."""
    people = data.draw(st.lists(st.integers(0, 5), min_size=len(rows), max_size=len(rows)))
    table = as_table(rows).with_columns(pl.Series("who", people))
    distinct = table.unique(NAMES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quasi_identifiers, "_few", lambda _keys, _most: False)
        sorted_out = [analyse_quasi(each, NAMES, max_size=4) for each in (table, distinct)]
        sorted_people = analyse_quasi(table, NAMES, person="who")
    assert sorted_out == [analyse_quasi(each, NAMES, max_size=4) for each in (table, distinct)]
    assert sorted_people == analyse_quasi(table, NAMES, person="who")


@given(ROWS, st.floats(0, 1))
def test_minimal_sets_reach_the_share_and_their_parts_do_not(rows: list[Row], share: float) -> None:
    found = analyse_quasi(as_table(rows), NAMES, max_size=4)
    reach = {frozenset(each.names) for each in found.sets if each.alone and each.uniqueness >= share}
    minimal = {one for one in reach if not any(other < one for other in reach)}
    assert {frozenset(each.names) for each in found.minimal_for(share)} == minimal
    assert found.minimal == found.minimal_for(0.0)


@given(ROWS)
def test_influence_is_the_mean_gain_over_sets_without_the_attribute(rows: list[Row]) -> None:
    found = analyse_quasi(as_table(rows), NAMES, max_size=2)
    known = {each.names: (each.separation, each.uniqueness) for each in found.sets}
    known[()] = (0.0, float(len(rows) == 1))
    assert {each.name for each in found.influence} == set(NAMES)
    for each in found.influence:
        others = [(), *((name,) for name in NAMES if name != each.name)]
        more = [tuple(sorted((*other, each.name))) for other in others]
        gains = [[known[large][i] - known[small][i] for large, small in zip(more, others, strict=True)] for i in (0, 1)]
        assert each.separation == pytest.approx(sum(gains[0]) / 4)
        assert each.uniqueness == pytest.approx(sum(gains[1]) / 4)


def test_worked_example_ranks_the_most_telling_first() -> None:
    """Six rows, 15 pairs: age splits them 3, 2, 1 (11 pairs apart), sex 3, 3 (9), state 2, 2, 2 (12)."""
    table = pl.DataFrame(
        {
            "age": [20, 30, 40, 20, 40, 20],
            "sex": ["f", "f", "f", "m", "m", "m"],
            "state": ["CA", "CA", "TX", "NJ", "TX", "NJ"],
        }
    )
    found = analyse_quasi(table, ["age", "sex", "state"])
    figures = {each.names: each for each in found.sets}
    assert figures["age",].separation == pytest.approx(11 / 15)
    assert figures["age",].distinction == 3 / 6
    assert figures["sex",].separation == pytest.approx(9 / 15)
    assert figures["state",].separation == pytest.approx(12 / 15)
    assert figures["age", "sex"].uniqueness == 4 / 6
    assert [each.names for each in found.minimal] == [("sex", "state"), ("age",)]
    assert [each.names for each in found.minimal_for(0.5)] == [("age", "sex")]
    assert found.sets[0].names == ("age", "sex")
    assert found.influence[0].name == "age"
    assert found.not_searched == 0


def test_a_wide_table_is_searched_up_to_a_size_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"c{place:02}" for place in range(32)]
    table = pl.DataFrame({name: [place % 2, 0, 1] for place, name in enumerate(names)})
    monkeypatch.setattr(quasi_identifiers, "MOST_SETS", 600)
    told = analyse_quasi(table, names, max_size=3).to_dict()
    assert told["asked_size"] == 3
    assert told["searched"] == {"size": 2, "sets": 32 + comb(32, 2), "sets_left_out": 2**32 - 1 - 32 - comb(32, 2)}
    assert len(told["sets"]) == quasi_identifiers.SHOWN


def test_values_stay_out_of_the_figures() -> None:
    told = json.dumps(analyse_quasi(pl.DataFrame({"a": ["secret", "secret", "other"]}), ["a"]).to_dict())
    assert "secret" not in told
    assert json.loads(told)["minimal"][0]["alone"] == 1


def test_keys_beyond_a_word_are_made_compact_all_the_same() -> None:
    keys = pl.Series([2**62, 5, 2**62, 7]).to_numpy()
    groups, number = quasi_identifiers._compact(keys, 2**62 + 1)
    assert (groups.tolist(), number) == ([2, 0, 2, 1], 3)
    groups, number = quasi_identifiers._compact(keys % 2**40 + 2**40, 2**41)
    assert (groups.tolist(), number) == ([0, 1, 0, 2], 3)


def test_tables_of_no_and_one_row_and_all_missing() -> None:
    empty = analyse_quasi(pl.DataFrame({"a": []}, schema={"a": pl.Int64}), ["a"])
    assert (empty.rows, empty.sets[0].separation, empty.minimal) == (0, 0.0, ())
    one = analyse_quasi(pl.DataFrame({"a": [1]}), ["a"])
    assert (one.sets[0].uniqueness, one.sets[0].separation, one.influence[0].uniqueness) == (1.0, 0.0, 0.0)
    missing = analyse_quasi(pl.DataFrame({"a": [None, None], "b": [1, 2]}), ["a", "b"])
    assert [each.names for each in missing.minimal] == [("b",)]


def test_wrong_use_is_refused() -> None:
    table = pl.DataFrame({"a": [1], "who": [1]})
    with pytest.raises(InputError, match="no column 'nowhere'"):
        analyse_quasi(table, ["a", "nowhere"])
    with pytest.raises(InputError, match="without the person"):
        analyse_quasi(table, ["a", "who"], person="who")
    with pytest.raises(InputError, match="one or more"):
        analyse_quasi(table, [])
    with pytest.raises(InputError, match="max_size"):
        analyse_quasi(table, ["a"], max_size=0)
