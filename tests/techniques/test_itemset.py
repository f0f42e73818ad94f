"""k^m-anonymity of sets: each combination of known items leads to k people or none, at a loss counted by hand."""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations as subsets
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from shoal.errors import DataError, InfeasibleError
from shoal.randomness import Randomness
from shoal.schema import Column, ValueType
from shoal.schema.counts import Counts
from shoal.techniques.base import Context, Scope
from shoal.techniques.generalisation.itemsets import baskets
from shoal.techniques.generalisation.itemsets.baskets import Baskets
from shoal.techniques.generalisation.itemsets.hierarchy_cut import ItemTree
from shoal.techniques.generalisation.itemsets.item_suppression import common_cells
from shoal.techniques.generalisation.itemsets.itemset import Itemset, ItemsetStep
from shoal.techniques.generalisation.itemsets.least_loss import least_loss

pytestmark = pytest.mark.requirement("T-26")

TREE = {"drinks": {"hot": ["coffee", "tea"], "cold": ["beer", "rum"]}, "food": ["bread", "cake"]}
TAXONOMY = {"taxonomy": {"tree": TREE}}
ITEMS = ("beer", "bread", "cake", "coffee", "rum", "tea")
UNDER = {"hot": 2, "cold": 2, "drinks": 4, "food": 2, "*": 6} | dict.fromkeys(ITEMS, 1)
PATHS = {
    "coffee": ("coffee", "hot", "drinks", "*"),
    "tea": ("tea", "hot", "drinks", "*"),
    "beer": ("beer", "cold", "drinks", "*"),
    "rum": ("rum", "cold", "drinks", "*"),
    "bread": ("bread", "food", "*"),
    "cake": ("cake", "food", "*"),
}


def bound(frame: pl.DataFrame, person: str | None = None, **parameters: object) -> ItemsetStep:
    counted = frame.group_by("set").len()
    context = Context(
        {},
        Randomness(26).stream("itemset"),
        counts={("set",): Counts.from_frame(counted, ("set",), "len")},
        person=person,
    )
    return Itemset.model_validate(parameters).bind(Column("set"), context)


def released(sets: Sequence[str | None], **parameters: object) -> list[str | None]:
    frame = pl.DataFrame({"set": sets}, schema={"set": pl.String})
    return bound(frame, **parameters).apply(frame)["set"].to_list()  # type: ignore[arg-type]


def fewest(sets: Sequence[str | None], m: int, people: Sequence[int] | None = None) -> int:
    """How many people have the rarest combination of at most m items that occurs, found by looking at each."""
    who = defaultdict(set)
    for at, text in enumerate(sets):
        items = sorted(set(text.split(";"))) if text else []
        for size in range(1, m + 1):
            for known in subsets(items, size):
                who[known].add(people[at] if people else at)
    return min((len(having) for having in who.values()), default=10**9)


basket_lists = st.lists(
    st.lists(st.sampled_from(ITEMS), max_size=5).map(";".join) | st.none(),
    max_size=25,
)


@given(sets=basket_lists, k=st.integers(2, 4), m=st.integers(1, 4), tree=st.booleans())
@settings(max_examples=150)
def test_every_combination_that_occurs_has_k_records(sets, k, m, tree):
    result = released(sets, k=k, m=m, **({"hierarchy": TAXONOMY} if tree else {}))
    assert fewest(result, m) >= k
    for before, after in zip(sets, result, strict=True):
        assert (after is None) == (before is None)
        items = after.split(";") if after else []
        assert items == sorted(set(items))
        true = {label for item in (before or "").split(";") if item for label in PATHS[item]}
        assert set(items) <= (true if tree else set((before or "").split(";")))


@given(sets=basket_lists, k=st.integers(2, 4), m=st.integers(1, 3))
@settings(max_examples=80)
def test_with_a_hierarchy_alone_nothing_is_left_out_and_all_records_agree(sets, k, m):
    if sum(bool(text) for text in sets) < k:
        return
    result = released(sets, k=k, m=m, hierarchy=TAXONOMY, suppress=False)
    assert fewest(result, m) >= k
    labels = {label for text in result if text for label in text.split(";")}
    for before, after in zip(sets, result, strict=True):
        for item in (before or "").split(";"):
            if item:
                assert len(labels.intersection(PATHS[item])) == 1
                assert labels.intersection(PATHS[item]) <= set((after or "").split(";"))


@given(
    sets=basket_lists,
    people=st.lists(st.integers(0, 6), min_size=25, max_size=25),
    k=st.integers(2, 3),
    tree=st.booleans(),
)
@settings(max_examples=80)
def test_people_are_counted_where_there_are_any(sets, people, k, tree):
    frame = pl.DataFrame({"set": sets, "who": people[: len(sets)]}, schema={"set": pl.String, "who": pl.Int64})
    step = bound(frame, person="who", k=k, m=2, **({"hierarchy": TAXONOMY} if tree else {}))
    assert step.reads == ("set", "who")
    assert fewest(step.apply(frame)["set"].to_list(), 2, people) >= k


@given(sets=basket_lists, k=st.integers(2, 4), m=st.integers(1, 2))
@settings(max_examples=80)
def test_nothing_is_touched_where_nothing_is_rare(sets, k, m):
    plain = [None if text is None else ";".join(sorted(set(text.split(";")) - {""})) for text in sets]
    if fewest(plain, m) >= k:
        assert released(sets, k=k, m=m, hierarchy=TAXONOMY) == plain
    common = released(sets, k=k, m=m)
    assert released(common, k=k, m=m, hierarchy=TAXONOMY) == common


def least_by_trying(sets: Sequence[str], k: int, m: int) -> int:
    """The fewest cells that have to be left out, of all choices."""
    cells = [(at, item) for at, text in enumerate(sets) for item in text.split(";")]
    for number in range(len(cells) + 1):
        for out in subsets(cells, number):
            kept = [";".join(item for item in text.split(";") if (at, item) not in out) for at, text in enumerate(sets)]
            if fewest(kept, m) >= k:
                return number
    return len(cells)


@pytest.mark.parametrize(
    ("sets", "k", "m"),
    [
        (["tea;cake", "tea;cake", "tea;rum", "tea"], 2, 2),
        (["tea;cake;rum", "tea;cake", "rum;tea", "tea;cake;rum"], 2, 3),
        (["tea;cake;rum", "tea;cake;beer", "tea;bread"], 2, 2),
        (["a;b;c", "a;b;d", "a;c;d", "b;c;d"], 3, 2),
    ],
)
def test_in_small_tables_no_more_is_left_out_than_needed(sets, k, m):
    result = released(sets, k=k, m=m)
    before = sum(len(text.split(";")) for text in sets)
    assert before - sum(len(text.split(";")) for text in result if text) == least_by_trying(sets, k, m)


def test_generalising_or_leaving_out_by_loss():
    # rum alone is rare: to leave out one cell of 13 is less than to make all of beer and rum "cold"
    once = ["beer;tea"] * 6 + ["rum"]
    assert released(once, k=2, m=2, hierarchy=TAXONOMY) == ["beer;tea"] * 6 + [""]
    # each drink is rare, but the two kinds aren't: a fifth of each is lost instead of all
    each = ["coffee", "tea", "beer", "rum"]
    assert released(each, k=2, m=1, hierarchy=TAXONOMY) == ["hot", "hot", "cold", "cold"]
    assert released(each, k=2, m=1) == [""] * 4
    assert released(each, k=3, m=1, hierarchy=TAXONOMY) == ["drinks"] * 4
    assert released([*each, "cake"], k=5, m=1, hierarchy=TAXONOMY, suppress=False) == ["*"] * 5


@given(sets=basket_lists.filter(any), k=st.integers(2, 4), m=st.integers(1, 3))
@settings(max_examples=60)
def test_the_loss_is_no_more_than_that_of_leaving_out_alone(sets, k, m):
    cells = sorted({(at, item) for at, text in enumerate(sets) for item in (text or "").split(";") if item})
    records = np.array([at for at, _ in cells], dtype=np.int64)
    items = np.array([ITEMS.index(item) for _, item in cells], dtype=np.int64)
    labels = sorted(UNDER)
    rungs = [[PATHS[item][min(level, len(PATHS[item]) - 1)] for item in ITEMS] for level in range(4)]
    tree = ItemTree(
        np.array([[labels.index(label) for label in rung] for rung in rungs]),
        np.array([[(UNDER[label] - 1) / 5 for label in rung] for rung in rungs]),
    )
    data = Baskets(records, items, np.ones(len(cells)), np.arange(len(sets)))
    release = least_loss(data, tree, k, m, may_leave_out=True)
    if cells:
        assert release.loss <= 1.0 - common_cells(data, k, m).mean() + 1e-12
        by_hand = [
            tree.losses[release.levels[item], item] if stays else 1.0
            for item, stays in zip(items, release.stays, strict=True)
        ]
        assert release.loss == pytest.approx(np.mean(by_hand))


def test_order_and_repetition_tell_nothing():
    assert released(["tea; cake;tea", "cake;tea ;", ";", "", None], k=2, m=2) == ["cake;tea", "cake;tea", "", "", None]
    assert released(["b a", "a  b"], k=2, m=2, separator=" ") == ["a b", "a b"]
    assert released(["b||a", "a||b"], k=2, m=2, separator="||") == ["a||b", "a||b"]


def test_columns_of_whole_numbers_are_sets_of_one():
    column = Column("set", ValueType.INTEGER, pl.Int64())
    frame = pl.DataFrame({"set": [7, 7, 8]})
    technique = Itemset(k=2, m=1)
    assert technique.refuse(column) is None
    step = technique.bind(column, Context({}, Randomness(1).stream("x")))
    assert step.apply(frame)["set"].to_list() == ["7", "7", ""]
    assert technique.leaves(column) == Column("set")


def test_too_few_for_any_hierarchy():
    with pytest.raises(InfeasibleError, match="fewer than 3 records or people have any items"):
        released(["tea", "cake", ""], k=3, m=1, hierarchy=TAXONOMY, suppress=False)
    assert released(["tea", "cake", ""], k=3, m=1, hierarchy=TAXONOMY) == ["", "", ""]


def test_items_the_hierarchy_does_not_know_are_counted_and_not_named():
    with pytest.raises(DataError, match=r"1 distinct value\(s\), 2 record\(s\), are not in the hierarchy") as raised:
        released(["tea;absinth", "absinth"], k=2, m=1, hierarchy=TAXONOMY)
    assert "absinth" not in str(raised.value)


def test_a_label_that_holds_the_separator_would_read_as_two_items():
    hierarchy = {"taxonomy": {"tree": {"hot;wet": ["tea", "coffee"]}}}
    with pytest.raises(DataError, match="hold the separator"):
        released(["tea", "coffee"], k=2, m=1, hierarchy=hierarchy)


def test_more_combinations_than_can_be_held_are_an_error(monkeypatch):
    monkeypatch.setattr(baskets, "MOST", 5)
    with pytest.raises(DataError, match="6 combinations of items would have to be looked at, 5 is the most"):
        released(["a;b;c", "a;b;c"], k=2, m=2)
    assert released(["a;b", "a;b"], k=2, m=2) == ["a;b", "a;b"]


@pytest.mark.parametrize("parameters", [{}, {"hierarchy": TAXONOMY}, {"hierarchy": TAXONOMY, "suppress": False}])
def test_pickling_repeating_and_the_empty_frame(parameters):
    draw = np.random.default_rng(2)
    sets = [";".join(draw.choice(ITEMS, size=draw.integers(0, 4))) for _ in range(60)]
    frame = pl.DataFrame({"set": sets, "still": range(60)})
    step = bound(frame, k=5, m=2, **parameters)
    result = step.apply(frame)
    assert not result.equals(frame)
    assert result["still"].equals(frame["still"])
    assert pickle.loads(pickle.dumps(step)).apply(frame).equals(result)  # noqa: S301
    assert step.apply(frame.clear()).schema == result.schema
    assert (step.scope, step.reads) == (Scope.TABLE, ("set",))
    order = draw.permutation(60)
    assert sorted(step.apply(frame[order])["set"]) == sorted(result["set"])


def test_the_hierarchy_is_found_beside_the_policy(tmp_path: Path):
    (tmp_path / "kinds.csv").write_text("tea;hot;*\ncoffee;hot;*\n")
    technique = Itemset.model_validate({"k": 2, "m": 1, "hierarchy": {"csv": "kinds.csv"}}).resolve(tmp_path)
    frame = pl.DataFrame({"set": ["tea", "coffee"]})
    counts = {("set",): Counts.from_frame(frame.with_columns(len=1), ("set",), "len")}
    assert technique.wants("set") == (("set",),)
    step = technique.bind(Column("set"), Context({}, Randomness(1).stream("x"), counts=counts))  # type: ignore[arg-type]
    assert step.apply(frame)["set"].to_list() == ["hot", "hot"]


def test_visits_of_a_shop(shared):
    """BMS-WebView-1: 59 602 sets of 497 items."""
    lines = (shared / "data" / "bms1" / "BMS1.dat").read_text().splitlines()[:12_000]
    result = released([";".join(line.split()) for line in lines], k=5, m=2)
    assert fewest(result, 2) >= 5
    left = sum(len(text.split(";")) for text in result if text) / sum(len(set(line.split())) for line in lines)
    assert left > 0.6


@pytest.mark.requirement("T-29")
@pytest.mark.parametrize(
    ("parameters", "column", "reason"),
    [
        ({}, Column("set", ValueType.DATE, pl.Date()), "itemset works on integer, text; column 'set' is date"),
        ({"hierarchy": {"intervals": [5, 10]}}, Column("set"), "column 'set' is text"),
    ],
)
def test_refusals_say_why(parameters, column, reason):
    assert reason in (Itemset.model_validate({"k": 2, "m": 2} | parameters).refuse(column) or "")
    assert Itemset(k=2, m=2).refuse(Column("set", missing=4)) is None


@pytest.mark.parametrize(
    "parameters",
    [{"k": 1}, {"m": 0}, {"m": 11}, {"separator": ""}, {"suppress": False}, {"hierarchy": {"nosuch": 1}}, {"l": 2}],
)
def test_wrong_parameters(parameters):
    with pytest.raises(ValidationError):
        Itemset.model_validate({"k": 2, "m": 2} | parameters)
