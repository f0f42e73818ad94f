"""What released columns tell of what was taken out, by each way of telling; and what they only seem to tell."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.hierarchy.base import parse_hierarchy
from shoal.measurement.read_back import (
    DisclosureMethod,
    DisclosureRule,
    KnownQuasi,
    Levels,
    ReadBack,
    TrainingRecords,
    read_back,
)
from shoal.measurement.read_back.chance import is_by_chance
from shoal.measurement.read_back.search import search
from shoal.results.read_back.result import ReadBackResult
from shoal.schema import Column, ValueType

pytestmark = pytest.mark.requirement("D-07")

ROWS = 600
DRAWN = np.random.default_rng(20889)


def lesson(
    was: dict[str, list[str]],
    released: dict[str, list[str]],
    tellers: dict[str, list[str]],
    hierarchy: object = None,
    people: np.ndarray | None = None,
    *,
    altered: bool = False,
    in_order: bool = False,
    rule: DisclosureRule | None = None,
) -> TrainingRecords:
    quasi = []
    for name, values in was.items():
        original = pl.Series(name, values)
        bound = None
        if hierarchy is not None:
            counted = original.value_counts(name="records").rename({name: "value"})
            bound = parse_hierarchy(hierarchy).bind(Column(name, _type(values)), counted)
        quasi.append(KnownQuasi(name, Levels.of(name, original, bound), original, altered=altered))
    frame = pl.DataFrame({**released, **tellers})
    return TrainingRecords(
        frame, tuple(quasi), tuple(released), tuple(tellers), people, in_order, rule or DisclosureRule()
    )


def _type(values: list[str]) -> ValueType:
    return ValueType.INTEGER if values[0].isdigit() else ValueType.TEXT


def hows(found: ReadBack) -> set[tuple[tuple[str, ...], DisclosureMethod]]:
    return {(one.columns, one.how) for one in found.tellings}


def drawn(values: list[str], rows: int = ROWS) -> list[str]:
    return [values[place] for place in DRAWN.integers(0, len(values), rows)]


def stars(rows: int = ROWS) -> list[str]:
    return ["*"] * rows


def test_a_description_gives_back_its_code() -> None:
    codes = drawn([f"c{place}" for place in range(20)])
    found, _ = read_back(lesson({"code": codes}, {"code": stars()}, {"words": [f"d{code}" for code in codes]}))
    assert hows(found) == {(("words",), DisclosureMethod.VALUE)}
    assert found.tellings[0].records == ROWS
    assert found.tellings[0].level == 0
    assert found.k == min(codes.count(code) for code in set(codes))


def test_nothing_is_told_by_what_is_independent() -> None:
    codes, other = drawn(["a", "b", "c"]), drawn(["x", "y", "z"])
    found, _ = read_back(lesson({"code": codes}, {"code": stars()}, {"other": other}))
    assert found.tellings == ()
    assert found.k == ROWS


@pytest.mark.parametrize(("records", "told"), [(9, False), (10, True)])
def test_a_value_has_to_stand_in_enough_records(records: int, told: bool) -> None:
    codes = ["a"] * records + drawn(["b", "c"], 100)
    words = ["x"] * records + ["y"] * 100
    found, _ = read_back(lesson({"code": codes}, {"code": stars(len(codes))}, {"words": words}))
    assert bool(found.tellings) is told
    assert found.k == (10 if told else len(codes))


@pytest.mark.parametrize(("wrong", "told"), [(1, True), (2, False)])
def test_a_value_has_to_go_with_one_other_nearly_always(wrong: int, told: bool) -> None:
    codes = ["a"] * (20 - wrong) + ["b"] * wrong + drawn(["b", "c"], 100)
    words = ["x"] * 20 + ["y"] * 100
    found, _ = read_back(lesson({"code": codes}, {"code": stars(120)}, {"words": words}))
    assert bool(found.tellings) is told


def test_both_numbers_of_the_rule_can_be_set() -> None:
    codes = ["a"] * 4 + ["b"] + drawn(["b", "c"], 100)
    words = ["x"] * 5 + ["y"] * 100
    given = lesson({"code": codes}, {"code": stars(105)}, {"words": words}, rule=DisclosureRule(5, 0.8))
    found, _ = read_back(given)
    assert [one.records for one in found.tellings] == [5]
    assert ReadBackResult.model_validate(found).to_dict()["rule"] == {"records": 5, "share": 0.8}


def test_a_value_of_one_person_alone_tells_nothing() -> None:
    codes, words = ["a"] * 20 + drawn(["b", "c"], 100), ["x"] * 20 + ["y"] * 100
    alone = np.array([0] * 20 + list(range(1, 101)))
    found, _ = read_back(lesson({"code": codes}, {"code": stars(120)}, {"words": words}, people=alone))
    assert found.tellings == ()
    two = np.array([0] * 10 + [101] * 10 + list(range(1, 101)))
    found, _ = read_back(lesson({"code": codes}, {"code": stars(120)}, {"words": words}, people=two))
    assert found.k == 2


def test_what_all_of_a_class_are_told_alike_splits_nothing() -> None:
    released = ["north", "south"] * 300
    city = ["n1", "s1"] * 300
    tellers = {"zone": ["N", "S"] * 300}
    found, _ = read_back(lesson({"city": city}, {"city": released}, tellers))
    assert found.tellings
    assert found.k == 300


def test_what_everybody_knows_is_told_by_nothing() -> None:
    codes = ["a"] * 590 + ["b"] * 10
    found, _ = read_back(lesson({"code": codes}, {"code": stars()}, {"other": drawn(list("wxyz"))}))
    assert found.tellings == ()


def test_a_pair_tells_what_neither_value_does() -> None:
    one, other = drawn(["0", "1"]), drawn(["0", "1"])
    codes = ["even" if a == b else "odd" for a, b in zip(one, other, strict=True)]
    found, _ = read_back(lesson({"code": codes}, {"code": stars()}, {"one": one, "other": other}))
    assert hows(found) == {(("one", "other"), DisclosureMethod.PAIR)}


def test_a_released_label_can_be_one_of_a_pair() -> None:
    sex, zone = drawn(["f", "m"]), drawn(["x", "y"])
    codes = ["a" if (one == "f") == (two == "x") else "b" for one, two in zip(sex, zone, strict=True)]
    given = lesson({"code": codes}, {"code": stars(), "sex": sex}, {"zone": zone})
    found, _ = read_back(given)
    assert hows(found) == {(("zone", "sex"), DisclosureMethod.PAIR)}


def test_only_a_finer_label_than_the_released_one_is_put_back() -> None:
    ages = [str(age) for age in DRAWN.integers(20, 60, ROWS)]
    band = [f"{int(age) // 10 * 10}-{int(age) // 10 * 10 + 9}" for age in ages]
    decade = [f"d{int(age) // 10}" for age in ages]
    hierarchy = {"intervals": {"widths": [5, 10, 20]}}
    same, _ = read_back(lesson({"age": ages}, {"age": band}, {"decade": decade}, hierarchy))
    assert same.tellings == ()
    starred, _ = read_back(lesson({"age": ages}, {"age": stars()}, {"decade": decade}, hierarchy))
    assert [(one.level, one.records) for one in starred.tellings] == [(2, ROWS)]


@pytest.mark.parametrize("odd", ["rare", "*"], ids=["a pool that can't stand alone", "a star of the data"])
def test_a_star_is_the_top_though_something_below_it_is_starred_too(odd: str) -> None:
    towns = [*drawn(["p", "q", "r"]), odd, odd]
    words = [town.upper() for town in towns]
    hierarchy = {"rare": {"minimum": 10}}
    found, _ = read_back(lesson({"town": towns}, {"town": stars(len(towns))}, {"words": words}, hierarchy))
    assert [(one.columns, one.level, one.records) for one in found.tellings] == [(("words",), 0, ROWS)]


def test_a_told_label_that_contradicts_the_released_one_is_not_believed() -> None:
    codes = ["a1"] * 19 + ["b1"] + drawn(["b1", "b2"], 100)
    released = ["a"] * 19 + ["b"] * 101
    hierarchy = {"taxonomy": {"tree": {"a": ["a1", "a2"], "b": ["b1", "b2"]}}}
    found, _ = read_back(lesson({"code": codes}, {"code": released}, {"words": ["x"] * 20 + ["y"] * 100}, hierarchy))
    assert [one.records for one in found.tellings] == [19]


def test_the_year_of_birth_inside_an_identifier() -> None:
    years = [str(year) for year in DRAWN.integers(1950, 1990, ROWS)]
    numbers = [f"{year}-{place:05}" for place, year in enumerate(years)]
    found, _ = read_back(lesson({"born": years}, {"born": stars()}, {"id": numbers}))
    assert (("id",), DisclosureMethod.PART) in hows(found)
    assert found.tellings[0].share > 0.9


def test_parts_of_random_identifiers_tell_nothing() -> None:
    sex = drawn(["f"] * 9 + ["m"])
    numbers = [f"{number:08x}" for number in DRAWN.integers(0, 1 << 32, ROWS)]
    found, _ = read_back(lesson({"sex": sex}, {"sex": stars()}, {"id": numbers}))
    assert found.tellings == ()


def test_an_age_beside_a_date_of_birth() -> None:
    days = DRAWN.integers(0, 20_000, ROWS)
    born = pl.Series(days).cast(pl.Int32).cast(pl.Date)
    ages = [str(int((20_700 - day) // 365.25)) for day in days]
    given = lesson({"age": ages}, {"age": stars()}, {"born": born.dt.strftime("%Y-%m-%d").to_list()})
    found, _ = read_back(given)
    assert (("born",), DisclosureMethod.FORMULA) in hows(found)
    assert found.tellings[0].share > 0.9


def test_a_sum_beside_its_parts() -> None:
    parts = DRAWN.integers(100, 900, (ROWS, 3))
    texts = {name: [str(one) for one in parts[:, place]] for place, name in enumerate(("rent", "food", "rest"))}
    total = [str(one) for one in parts.sum(axis=1)]
    tellers = {"food": texts["food"], "rest": texts["rest"], "total": total}
    found, _ = read_back(lesson({"rent": texts["rent"]}, {"rent": stars()}, tellers))
    assert hows(found) == {(("food", "rest", "total"), DisclosureMethod.FORMULA)}
    without = {"food": texts["food"], "rest": texts["rest"]}
    found, _ = read_back(lesson({"rent": texts["rent"]}, {"rent": stars()}, without))
    assert found.tellings == ()


def test_a_copy_under_another_name() -> None:
    towns = [f"town {place}" for place in DRAWN.integers(0, 400, ROWS)]
    found, _ = read_back(lesson({"town": towns}, {"town": stars()}, {"birthplace": towns}))
    assert (("birthplace",), DisclosureMethod.COPY) in hows(found)


def test_two_masks_of_one_number_that_overlap() -> None:
    numbers = [str(number) for number in DRAWN.integers(10**9, 10**10, ROWS)]
    own = ["x" * 6 + number[6:] for number in numbers]
    first = {"start": [number[:6] + "****" for number in numbers]}
    found, _ = read_back(lesson({"phone": numbers}, {"phone": own}, first, altered=True))
    assert hows(found) == {(("start",), DisclosureMethod.CHARACTERS)}
    gap = {"start": [number[:4] + "******" for number in numbers]}
    found, _ = read_back(lesson({"phone": numbers}, {"phone": own}, gap, altered=True))
    assert found.tellings == ()


def test_digits_that_a_redacted_code_hides() -> None:
    codes = [str(number) for number in DRAWN.integers(100_000, 1_000_000, ROWS)]
    released = [f"{code[0]}xxxxx" for code in codes]
    tellers = {"area": [f"A-{code[:3]}" for code in codes]}
    hierarchy = {"redact": {"side": "right", "char": "x"}}
    found, _ = read_back(lesson({"pin": codes}, {"pin": released}, tellers, hierarchy))
    assert found.tellings
    assert found.tellings[0].level == 3


def test_the_order_of_the_records() -> None:
    ages = sorted(str(age) for age in DRAWN.integers(20, 60, ROWS))
    given = lesson({"age": ages}, {"age": stars()}, {}, in_order=True)
    found, _ = read_back(given)
    assert hows(found) == {((), DisclosureMethod.ORDER)}
    shuffled = [ages[place] for place in DRAWN.permutation(ROWS)]
    found, _ = read_back(lesson({"age": shuffled}, {"age": stars()}, {}, in_order=True))
    assert found.tellings == ()


def test_the_order_within_a_column_that_sorts_the_table() -> None:
    wards = [f"w{place // 10:02}" for place in range(ROWS)]
    ages = [str(age) for _ in range(ROWS // 10) for age in sorted(DRAWN.integers(20, 60, 10))]
    found, _ = read_back(lesson({"age": ages}, {"age": stars()}, {"ward": wards}, in_order=True))
    assert (("ward",), DisclosureMethod.ORDER) in hows(found)


def test_a_skewed_column_is_not_sorted_by_chance() -> None:
    rare = drawn(["no"] * 19 + ["yes"])
    found, _ = read_back(lesson({"rare": rare}, {"rare": stars()}, {}, in_order=True))
    assert found.tellings == ()


def test_suppressed_records_that_are_told_of_are_a_class() -> None:
    codes = drawn(["a", "b"], 100)
    given = lesson({"code": codes}, {"code": ["*"] * 100}, {"words": [f"w{code}" for code in codes]})
    found, _ = read_back(given)
    assert found.k == min(codes.count("a"), codes.count("b"))


@pytest.mark.parametrize("seed", range(20))
def test_agreement_by_chance_is_told_from_a_dependency(seed: int) -> None:
    """Sixty groups of ten: with a label that 80 % have, some ten per cent of them agree by chance."""
    draw = np.random.default_rng(seed)
    codes = ["a" if one < 0.8 else "b" for one in draw.random(600)]
    groups = [f"g{place % 60}" for place in range(600)]
    given = lesson({"code": codes}, {"code": stars()}, {"group": groups})
    learnt = search(given)
    assert all(is_by_chance(given, learnt.columns, one) for one in learnt.readings)
    planted = ["a" if int(group[1:]) % 5 else "b" for group in groups]
    given = lesson({"code": planted}, {"code": stars()}, {"group": groups})
    learnt = search(given)
    assert learnt.readings
    assert not any(is_by_chance(given, learnt.columns, one) for one in learnt.readings)


def test_what_was_found_survives_the_manifest() -> None:
    codes = drawn([f"c{place}" for place in range(20)])
    found, _ = read_back(lesson({"code": codes}, {"code": stars()}, {"words": [f"d{code}" for code in codes]}))
    assert ReadBackResult.model_validate(ReadBackResult.model_validate(found).to_dict()).read_back() == found
