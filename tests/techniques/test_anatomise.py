"""Anatomisation: l-diverse by construction, every record once, nothing lost; chance alone says whose a value is."""

from __future__ import annotations

import pickle
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy import stats

from shoal.errors import BugError, DataError, InfeasibleError
from shoal.randomness import Randomness
from shoal.schema import ROW, Column, Counts
from shoal.techniques.anatomisation.anatomise import Anatomise, AnatomiseStep, assign_classes
from shoal.techniques.base import Context, Scope

pytestmark = pytest.mark.requirement("T-24")

# Xiao and Tao (2006), table 1.
MICRODATA = pl.DataFrame(
    [
        (23, "M", 11000, "pneumonia"),
        (27, "M", 13000, "dyspepsia"),
        (35, "M", 59000, "dyspepsia"),
        (59, "M", 12000, "pneumonia"),
        (61, "F", 54000, "flu"),
        (65, "F", 25000, "gastritis"),
        (65, "F", 25000, "flu"),
        (70, "F", 30000, "bronchitis"),
    ],
    schema=["age", "sex", "zipcode", "disease"],
    orient="row",
)


def placed(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.int_range(pl.len(), dtype=pl.UInt64).alias(ROW))


def bound(
    frame: pl.DataFrame,
    columns: Sequence[str] = ("disease",),
    least: int = 2,
    *,
    seed: int = 5,
    person: str | None = None,
) -> AnatomiseStep:
    names = tuple(columns)
    counts = Counts.from_frame(frame.group_by(names).len("records"), names, "records")
    context = Context({}, Randomness(seed).stream("anatomise"), {names: counts}, person=person)
    return Anatomise(sensitive=names, l=least).bind(context)


def cut(frame: pl.DataFrame, columns: Sequence[str] = ("disease",), least: int = 2, *, seed: int = 5) -> pl.DataFrame:
    """The class of each record, in the order of the table."""
    return bound(frame, columns, least, seed=seed).apply(placed(frame))


def table_of(step: AnatomiseStep) -> pl.DataFrame:
    (beside,) = step.sidecar_files
    assert beside.table is not None
    return beside.table


@pytest.mark.parametrize(("least", "classes"), [(2, 4), (3, 2), (4, 2)])
def test_the_hospital_of_xiao_and_tao(least: int, classes: int) -> None:
    """Nobody has a disease that more than two of eight have, so that l = 4 can be had, and more can't."""
    step = bound(MICRODATA, least=least)
    data, attributes = step.apply(placed(MICRODATA)), table_of(step)
    assert data.columns == ["age", "sex", "zipcode", ROW, "class"]
    assert data.drop("class", ROW).equals(MICRODATA.drop("disease"))
    assert attributes.columns == ["class", "disease", "count"]
    assert set(data["class"]) == set(attributes["class"]) == set(range(1, classes + 1))
    for number in range(1, classes + 1):
        members, values = data.filter(pl.col("class") == number), attributes.filter(pl.col("class") == number)
        assert values["disease"].n_unique() == values.height == members.height >= least
    assert Counter(attributes["disease"]) == Counter(MICRODATA["disease"])
    with pytest.raises(InfeasibleError):
        bound(MICRODATA, least=5)


VALUES = st.sampled_from(["a", "b", "c", "d", "e", "", None])


@given(
    records=st.lists(st.tuples(VALUES, st.sampled_from([1, 2, None])), max_size=60),
    least=st.integers(2, 5),
    data=st.data(),
)
@settings(max_examples=150)
def test_every_class_is_diverse_and_nothing_is_lost(
    records: list[tuple[str | None, int | None]], least: int, data: st.DataObject
) -> None:
    frame = pl.DataFrame(records, schema={"ill": pl.String, "ward": pl.Int64}, orient="row")
    columns = data.draw(st.sampled_from([["ill"], ["ward"], ["ill", "ward"], ["ward", "ill"]]))
    shown = Counter(tuple(value or None for value in row) for row in frame.select(columns).iter_rows())
    if len(records) < least or max(shown.values()) * least > len(records):
        with pytest.raises(InfeasibleError):
            bound(frame, columns, least)
        return
    step = bound(frame, columns, least)
    classes, attributes = step.apply(placed(frame))["class"].to_list(), table_of(step)
    own = Counter(zip(classes, frame.select(columns).iter_rows(), strict=True))
    listed = Counter({(row[0], row[1:-1]): row[-1] for row in attributes.iter_rows()})
    assert listed == own, "the attributes of a class are those of its records"
    members = defaultdict(list)
    for number, values in own.elements():
        members[number].append(tuple(value or None for value in values))
    assert len(members) == len(records) // least
    for values in members.values():  # type: ignore[assignment]
        assert len(set(values)) == len(values) >= least


def partitions(items: list[str]) -> Iterator[list[list[str]]]:
    if not items:
        yield []
        return
    for rest in partitions(items[1:]):
        yield [[items[0]], *rest]
        for place, group in enumerate(rest):
            yield [*rest[:place], [items[0], *group], *rest[place + 1 :]]


@pytest.mark.parametrize("least", [2, 3])
def test_it_is_refused_only_where_no_partition_is_diverse(least: int) -> None:
    """By trying all partitions of all tables of up to six records with three values."""
    for size in range(1, 7):
        for counts in product(range(size + 1), repeat=3):
            if sum(counts) != size:
                continue
            values = [value for value, count in zip("abc", counts, strict=True) for _ in range(count)]
            feasible = any(
                all(max(Counter(group).values()) * least <= len(group) for group in partition)
                for partition in partitions(values)
            )
            frame = pl.DataFrame({"disease": values})
            if feasible:
                assert bound(frame, least=least).apply(placed(frame))["class"].n_unique() == size // least
            else:
                with pytest.raises(InfeasibleError):
                    bound(frame, least=least)


@given(sizes=st.lists(st.integers(1, 40), min_size=2, max_size=20), least=st.integers(2, 6), seed=st.integers(0, 99))
@settings(max_examples=150)
def test_dealing_never_gives_a_class_a_value_twice(sizes: list[int], least: int, seed: int) -> None:
    assume(max(sizes) * least <= sum(sizes))
    kinds = np.repeat(np.arange(len(sizes)), sizes)
    slots = assign_classes(kinds, least, Randomness(seed).stream("deal"))
    assert len(set(zip(slots.tolist(), kinds.tolist(), strict=True))) == len(kinds)
    assert np.bincount(slots)[1:].min() >= least
    assert np.ptp(np.bincount(slots)[1:]) <= 1


def test_which_record_has_which_value_of_its_class_is_left_to_chance() -> None:
    """Two records of each of four diseases, two classes: the first of each pair is in either class, whatever the others
    are. So to whoever knows the quasi-identifiers, all ways to join the two tables are equally likely.
    """
    frame = pl.DataFrame({"disease": ["a", "a", "b", "b", "c", "c", "d", "d"]})
    seen = Counter(tuple(cut(frame, least=4, seed=seed)["class"].to_list()[::2]) for seed in range(1_600))
    assert set(seen) == set(product([1, 2], repeat=4))
    assert stats.chisquare(list(seen.values())).pvalue > 0.01


def test_no_two_values_are_always_in_one_class() -> None:
    """Else they could not be told apart by any statistic of the release."""
    frame = pl.DataFrame({"disease": ["a", "b", "c", "d"] * 25})
    pairs = {
        tuple(sorted(values["disease"])) for _, values in table_of(bound(frame)).group_by("class", maintain_order=True)
    }
    assert len(pairs) >= 4


@pytest.mark.requirement("R-04")
def test_inference_by_class_is_right_for_one_in_l_at_most() -> None:
    """An attacker who knows everybody's record guesses the most frequent value of the class, or any other."""
    frame = pl.DataFrame({"disease": ["a"] * 30 + ["b"] * 30 + ["c"] * 20 + ["d"] * 10 + ["e"] * 10})
    step = bound(frame, least=3)
    known = step.apply(placed(frame)).with_columns(frame["disease"])
    joined = known.join(table_of(step), on="class", suffix=" listed").with_columns(
        (pl.col("count") / pl.col("count").sum().over(ROW)).alias("belief")
    )
    assert joined.group_by(ROW).agg(pl.col("belief").sum())["belief"].to_list() == pytest.approx([1.0] * 100)
    assert joined["belief"].max() <= 1 / 3
    for guess in ("first", "last", "max", "min"):
        best = joined.sort(ROW, "disease listed").group_by("class").agg(getattr(pl.col("disease listed"), guess)())
        guessed = known.join(best, on="class")
        assert (guessed["disease"] == guessed["disease listed"]).mean() <= 1 / 3


def test_rows_of_the_attributes_are_sorted_so_that_their_order_tells_nothing() -> None:
    table = table_of(bound(MICRODATA, least=4))
    assert table.equals(table.sort("class", "disease"))
    assert table["count"].to_list() == [1] * 8


def test_several_columns_are_one_combined_value() -> None:
    frame = pl.DataFrame({"ill": ["flu"] * 4, "cost": [10, 20, 30, 40]})
    step = bound(frame, ["ill", "cost"])
    assert table_of(step)["cost"].sort().to_list() == [10, 20, 30, 40]
    assert step.apply(placed(frame)).columns == [ROW, "class"]


def test_a_missing_value_is_one_value_and_so_is_an_empty_text() -> None:
    """A file may not tell them apart, so they never share a class."""
    frame = pl.DataFrame({"disease": [None, "", "a", "b"]})
    for seed in range(20):
        blank = cut(frame, seed=seed)["class"].to_list()[:2]
        assert blank[0] != blank[1]
    with pytest.raises(InfeasibleError, match=r"2 of 3 records have the same value of disease, and 1 may"):
        bound(frame.head(3))


def test_infeasible_with_numbers_and_advice_and_no_value() -> None:
    frame = pl.DataFrame({"disease": ["hidden"] * 40 + [f"d{row}" for row in range(60)]})
    with pytest.raises(InfeasibleError) as raised:
        bound(frame, least=3)
    assert str(raised.value) == (
        "anatomise: l = 3 can't be reached: 40 of 100 records have the same value of disease, and 33 may "
        "(choose l: 2 or less, or split the most frequent value, or suppress some of its records by rule)"
    )
    with pytest.raises(InfeasibleError, match=r"\(split the most"):
        bound(pl.DataFrame({"disease": ["a", "a", "b"]}))


def test_people_with_several_records_are_refused() -> None:
    frame = pl.DataFrame({"disease": ["a", "b", "c", "d"], "who": [1, 2, None, None]})
    step = bound(frame, person="who")
    assert step.reads == ("disease", "who")
    assert step.apply(placed(frame))["who"].to_list() == [1, 2, None, None]
    twice = frame.with_columns(pl.Series("who", [1, 1, 2, None]))
    with pytest.raises(DataError, match="2 records are of people who have several"):
        bound(twice, person="who").apply(placed(twice))


def test_same_seed_same_classes_pickling_and_the_empty_frame() -> None:
    step = bound(MICRODATA)
    assert step.scope is Scope.TABLE
    copy = pickle.loads(pickle.dumps(step))  # noqa: S301
    assert copy.apply(placed(MICRODATA)).equals(step.apply(placed(MICRODATA)))
    assert not cut(MICRODATA, seed=6)["class"].equals(cut(MICRODATA, seed=7)["class"])
    empty = step.apply(placed(MICRODATA).clear())
    assert empty.schema["class"] == pl.UInt32
    assert "disease" not in empty.columns
    with pytest.raises(InfeasibleError, match="0 of 0 records"):
        bound(MICRODATA.clear())
    with pytest.raises(BugError):
        step.apply(placed(MICRODATA.head(5)))


def test_numbers_dates_and_a_value_for_everybody() -> None:
    rows = pl.int_range(30, eager=True)
    frame = pl.DataFrame({"pay": rows * 1.5, "on": rows.cast(pl.Date), "yes": rows % 2 == 0})
    step = bound(frame, ["pay", "on", "yes"], 10)
    assert table_of(step).drop("class", "count").sort("pay").equals(frame)
    assert Counter(step.apply(placed(frame))["class"]) == {1: 10, 2: 10, 3: 10}


@pytest.mark.requirement("T-29")
def test_wrong_parameters_and_refusals() -> None:
    for wrong in (
        {"sensitive": [], "l": 2},
        {"sensitive": ["a"], "l": 1},
        {"sensitive": ["a"]},
        {"sensitive": ["a", "a"], "l": 2},
        {"sensitive": ["class"], "l": 2},
        {"sensitive": ["a"], "l": 2, "class_name": "count"},
    ):
        with pytest.raises(ValidationError):
            Anatomise.model_validate(wrong)
    technique = Anatomise(sensitive=("a",), l=2)
    assert technique.refuse({"a": Column("a")}) is None
    assert "class_name" in str(technique.refuse({"a": Column("a"), "class": Column("class")}))
