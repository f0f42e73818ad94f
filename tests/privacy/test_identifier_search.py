"""The last look: what it finds in a table, what it takes for chance, and how often it stops what is safe."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.privacy.identifier_search import (
    FALSE_STOP,
    IdentifierHit,
    LeakSearch,
    across,
    find_leaks,
    plain,
    some_cells,
)
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("V-05")

FIRST = ["Asha", "Ravi", "Meera", "Kiran", "Paris", "Grace", "Li", "Zoë", "Florence", "May", "Tan", "Imran"]
LAST = ["Raghunathan", "Iyer", "Fernandes", "Lim", "Rao", "Krishnamurthy", "Ng", "Bandyopadhyay", "Khan", "Tan"]
TOWNS = ["Paris", "Florence", "Pune", "Goa", "Lima", "May Creek"]


def people(number: int, seed: int = 0) -> pl.DataFrame:
    words = Randomness(seed).stream("people").words(np.arange(number, dtype=np.uint64))

    def pick(options: list[str], lane: int) -> list[str]:
        return [options[int(word) % len(options)] for word in words[:, 0] >> np.uint64(8 * lane)]

    digits = Randomness(seed).stream("digits").words(np.arange(number, dtype=np.uint64))[:, 0]
    return pl.DataFrame(
        {
            "first": pick(FIRST, 0),
            "name": [
                " ".join(parts) for parts in zip(pick(FIRST, 1), pick(LAST, 2), map(str, range(number)), strict=True)
            ],
            "code": [str(10_000 + int(word) % 90_000) for word in digits],
            "town": pick(TOWNS, 3),
            "pay": [str(int(word >> np.uint64(20)) % 10_000_000) for word in digits],
            "sex": pick(["male", "female"], 4),
            "note": pick(["Graceful recovery, seen in May", "no complaints", "moved from Lima to Paris"], 5),
        }
    )


def found(frame: pl.DataFrame, identifier: str, *columns: str, **given: object) -> list[IdentifierHit]:
    paired = frame.with_columns(pl.col(identifier).alias("was"))
    looking = LeakSearch((identifier,), tests=len(columns), **given)  # type: ignore[arg-type]
    return find_leaks(paired, ["was"], columns, looking, frame.height)


@pytest.mark.parametrize(
    "leak",
    [
        pl.col("name"),
        "x" + pl.col("name") + "0",
        pl.col("name").str.to_uppercase().str.replace_all(" ", "-", literal=True),
        "Patient " + pl.col("name") + " was seen today",
        pl.col("name").str.head(pl.col("name").str.len_chars() - 2),
        pl.col("name").str.slice(2),
        pl.when(pl.int_range(pl.len()) % 50 == 7).then("seen: " + pl.col("name")).otherwise(pl.lit("fine")),
    ],
)
def test_values_beside_their_own_record_are_found(leak: pl.Expr) -> None:
    frame = people(500).with_columns(leak.alias("other"))
    hits = found(frame, "name", "town", "other", "pay")
    assert [(hit.identifier, hit.column, hit.where) for hit in hits] == [("name", "other", "same record")]
    assert not any(name in str(hits) for name in frame["name"])


def test_one_name_in_one_of_many_remarks_is_found() -> None:
    frame = people(10_000)
    frame = frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 4_321).then("ask for " + pl.col("name")).otherwise("note").alias("note")
    )
    assert [(hit.column, hit.values) for hit in found(frame, "name", "note", "town")] == [("note", 1)]


def test_a_name_that_is_a_town_or_a_word_is_chance() -> None:
    """Paris in Paris, Grace with a graceful recovery, May in May: not more often than others are there."""
    assert found(people(5_000), "first", "town", "note", "sex", "pay") == []


def test_five_digits_meet_in_amounts_by_chance() -> None:
    assert found(people(20_000), "code", "pay", "town") == []


def test_short_values_are_found_once_they_are_often_there() -> None:
    frame = people(2_000).with_columns(("Dear " + pl.col("first") + ", thank you").alias("letter"))
    frame = frame.with_columns((pl.col("first") + pl.int_range(pl.len()).cast(pl.String).str.tail(1)).alias("nick"))
    assert found(frame, "first", "letter") == [], "twelve first names among two thousand people name nobody"
    frame = frame.with_columns(pl.Series("badge", [f"{place:04}" for place in range(2_000)]))
    letter = frame.with_columns(("badge " + pl.col("badge") + " at the door").alias("letter"))
    assert [hit.column for hit in found(letter, "badge", "letter", "pay")] == ["letter"]


def test_a_value_that_many_have_names_nobody_unless_it_is_the_person() -> None:
    frame = pl.DataFrame({"who": [f"patient-{place % 40:03}" for place in range(1_000)]})
    frame = frame.with_columns(("visit of " + pl.col("who")).alias("visit"))
    assert found(frame, "who", "visit") == []
    assert [hit.column for hit in found(frame, "who", "visit", person="who")] == ["visit"]


def test_an_identifier_that_only_moved_to_other_records_is_found() -> None:
    frame = people(400)
    paired = frame.select(was="name", name=pl.col("name").reverse(), town="town")
    hits = find_leaks(paired, ["was"], ["name", "town"], LeakSearch(("name",)), 400)
    assert [(hit.identifier, hit.column) for hit in hits] == [("name", "name")]
    mother = frame.select(was="name", mother=pl.col("name").shift(7).fill_null("unknown"))
    assert [hit.where for hit in find_leaks(mother, ["was"], ["mother"], LeakSearch(("name",)), 400)] == ["any record"]


def test_dense_numbers_of_other_people_are_chance() -> None:
    """A cipher of five digits gives numbers that others have."""
    own = pl.Series([f"{place:05}" for place in range(0, 100_000, 2)])
    cipher = pl.Series([f"{(place * 7919 + 1) % 100_000:05}" for place in range(0, 100_000, 2)])
    assert list(across("code", plain(own), some_cells(cipher), "code")) == []
    assert [hit.values for hit in across("code", plain(own), some_cells(own.reverse()), "code")] == [5_000], (
        "all, and not half"
    )


def test_extremes_of_an_aggregate_are_found_among_all_values() -> None:
    values = plain(pl.Series([f"{4_012_345_678 + place * 7_919}" for place in range(5_000)]))
    extremes = pl.Series([4_012_345_678, 4_012_345_678 + 7_919 * 4_999])
    assert [hit.values for hit in across("account", values, some_cells(extremes), "least")] == [2]
    assert list(across("account", values, some_cells(pl.Series([100, 250])), "count")) == []


def test_an_accepted_column_may_tell() -> None:
    frame = people(300).with_columns(pl.col("name").alias("label"))
    assert found(frame, "name", "label")
    assert found(frame, "name", "label", accepted=frozenset({("name", "label")})) == []


def test_missing_and_empty_values_and_tables() -> None:
    frame = pl.DataFrame({"name": [None, "", "  ", "Asha Raghunathan"], "note": [None, "", " ", None]})
    assert found(frame, "name", "note") == []
    assert found(frame.clear(), "name", "note") == []
    assert found(pl.DataFrame({"name": ["Asha Raghunathan"], "note": ["for Asha Raghunathan"]}), "name", "note")


def test_safe_tables_are_hardly_ever_stopped() -> None:
    """The promise is at most FALSE_STOP over all columns; 200 tables without a leak, none of them stopped."""
    assert FALSE_STOP == 0.01
    stopped = 0
    for seed in range(200):
        frame = people(150, seed)
        paired = frame.with_columns(pl.col(name).alias(f"was_{name}") for name in ("first", "name", "code"))
        looking = LeakSearch(("first", "name", "code"), tests=12)
        stopped += bool(
            find_leaks(paired, ["was_first", "was_name", "was_code"], ["town", "pay", "sex", "note"], looking, 150)
        )
    assert stopped <= 2
