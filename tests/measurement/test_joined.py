"""Joined tables, counted anew by plain code that shares nothing with the measurement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.measurement.risk.joined_tables import CLASS, JoinableTable, JoinedPeople, JoinedTables, KeyGroup

PEOPLE = KeyGroup((("patients", "id"), ("visits", "patient")), names_people=True)
VISITS = KeyGroup((("visits", "visit"), ("drugs", "visit")))

pytestmark = pytest.mark.requirement("D-09", "S-01")


def table(quasi: tuple[str, ...], **columns: Sequence[object]) -> JoinableTable:
    return JoinableTable(pl.LazyFrame({name: list(values) for name, values in columns.items()}), quasi)


def figures(found: JoinedPeople) -> tuple[int, int, int]:
    return found.k, found.people, found.alone


def test_people_who_are_alike_in_each_table_may_stand_alone_in_both() -> None:
    """Two of each age and, of visits, two to each ward: but nobody shares age and wards with anybody."""
    tables = {
        "patients": table(("age",), id=[1, 2, 3, 4], age=["a", "a", "b", "b"]),
        "visits": table(("ward",), patient=[1, 2, 3, 4], ward=["x", "y", "x", "y"]),
    }
    (found,) = JoinedTables(tables, [PEOPLE]).people()
    assert figures(found) == (1, 4, 4)
    assert found.tables == ("patients", "visits")
    assert found.exact


def test_a_table_in_which_a_key_stands_several_times_is_joined_with_itself() -> None:
    """One ward each would leave two; that 2 was in both leaves one."""
    tables = {"visits": table(("ward",), patient=[1, 2, 2, 3, 3, 4], ward=["x", "x", "y", "x", "y", "x"])}
    (found,) = JoinedTables(tables, [KeyGroup((("visits", "patient"),), names_people=True)]).people()
    assert figures(found) == (2, 4, 0)
    once = {"visits": table(("ward",), patient=[1, 2, 3], ward=["x", "x", "y"])}
    assert JoinedTables(once, [KeyGroup((("visits", "patient"),), names_people=True)]).people() == ()


def test_how_many_records_there_are_is_known_too() -> None:
    tables = {
        "patients": table(("age",), id=[1, 2], age=["a", "a"]),
        "visits": table(("ward",), patient=[1, 2, 2], ward=["*", "*", "*"]),
    }
    (found,) = JoinedTables(tables, [PEOPLE]).people()
    assert figures(found) == (1, 2, 2)


def test_tables_below_tables_count_too_and_tables_that_say_nothing_do_not() -> None:
    tables = {
        "patients": table(("age",), id=[1, 2], age=["a", "a"]),
        "visits": table((), visit=[10, 20], patient=[1, 2]),
        "drugs": table(("drug",), visit=[10, 20], drug=["x", "y"]),
        "beds": table((), patient=[1, 1, 2]),
    }
    with_beds = KeyGroup((*PEOPLE.columns, ("beds", "patient")), names_people=True)
    (found,) = JoinedTables(tables, [with_beds, VISITS]).people()
    assert (found.tables, found.k) == (("patients", "drugs"), 1)
    assert JoinedTables(tables, [with_beds]).people() == (), "only the people's own table says anything"


def test_what_a_record_refers_to_counts_but_not_who_else_refers_to_it() -> None:
    """1 and 2 were in hospitals of one town; that one of these has a third patient is nothing of theirs."""
    tables = {
        "visits": table(("day",), patient=[1, 2, 3], day=["d", "d", "d"], hospital=[7, 8, 8]),
        "hospitals": table(("town",), id=[7, 8], town=["t", "t"]),
    }
    groups = [
        KeyGroup((("visits", "patient"),), names_people=True),
        KeyGroup((("visits", "hospital"), ("hospitals", "id"))),
    ]
    (found,) = JoinedTables(tables, groups).people()
    assert figures(found) == (3, 3, 0)
    tables["hospitals"] = table(("town",), id=[7, 8], town=["t", "u"])
    (found,) = JoinedTables(tables, groups).people()
    assert figures(found) == (1, 3, 1)
    assert found.tables == ("visits", "hospitals")


def test_which_record_belongs_to_which_is_known_too() -> None:
    """Both had visits to x and y and drugs p and q: the one p in x, the other q in x."""
    tables = {
        "patients": table((), id=[1, 2]),
        "visits": table(("ward",), visit=[10, 11, 20, 21], patient=[1, 1, 2, 2], ward=["x", "y", "x", "y"]),
        "drugs": table(("drug",), patient=[1, 1, 2, 2], visit=[10, 11, 20, 21], drug=["p", "q", "q", "p"]),
    }
    people = KeyGroup((*PEOPLE.columns, ("drugs", "patient")), names_people=True)
    (found,) = JoinedTables(tables, [people]).people()
    assert figures(found) == (2, 2, 0)
    (found,) = JoinedTables(tables, [people, VISITS]).people()
    assert figures(found) == (1, 2, 2)


def test_where_no_key_is_a_person_s_those_that_all_others_hang_on_are_counted() -> None:
    tables = {
        "patients": table(("age",), id=[1, 2], age=["a", "b"]),
        "visits": table(("ward",), visit=[10, 20, 30], patient=[1, 2, 2], ward=["x", "x", "x"]),
        "drugs": table(("drug",), visit=[10, 20], drug=["x", "y"]),
    }
    (found,) = JoinedTables(tables, [VISITS, KeyGroup(PEOPLE.columns)]).people()
    assert found.group.columns == PEOPLE.columns


def test_things_that_may_be_one_person_s_are_counted_as_few_people() -> None:
    visits = pl.LazyFrame({"visit": [1, 2, 3, 4], "ward": ["x"] * 4})
    tables = {
        "visits": JoinableTable(visits, ("ward",), most_records=3),
        "drugs": table(("drug",), visit=[1, 2, 3, 4], drug=["p"] * 4),
    }
    (found,) = JoinedTables(tables, [VISITS]).people()
    assert (found.k, found.exact) == (2, False)


def test_a_record_without_a_key_joins_nothing_and_orphans_are_people() -> None:
    tables = {
        "patients": table(("age",), id=[1, 2, None], age=["a", "a", "a"]),
        "visits": table(("ward",), patient=[9, None], ward=["x", "x"]),
    }
    (found,) = JoinedTables(tables, [PEOPLE]).people()
    assert figures(found) == (1, 3, 1)


def test_values_come_with_the_class_of_whom_they_are() -> None:
    tables = {
        "patients": table(("age",), id=[1, 2], age=["a", "b"]),
        "visits": table(("ward",), visit=[10, 20, 30], patient=[1, 2, 2], ward=["x", "x", "x"]),
        "drugs": JoinableTable(pl.LazyFrame({"visit": [10, 30, 20, 99], "drug": ["p", "q", "r", "s"]}), (), ("drug",)),
    }
    joined = JoinedTables(tables, [PEOPLE, VISITS])
    (found,) = joined.people()
    values = joined.values(found, "drugs", "drug")
    assert values is not None
    told = dict(values.select("drug", CLASS).iter_rows())
    assert told.keys() == {"p", "q", "r"}
    assert told["q"] == told["r"] != told["p"]


# ——— recounted


def recount(
    patients: list[tuple[int, str]], visits: list[tuple[int, int, str]], drugs: list[tuple[int, str]]
) -> list[int]:
    """By definition, in plain Python: sizes of the classes of people by all records of theirs."""
    people = {who for who, _ in patients} | {who for _, who, _ in visits}
    told = {}
    for one in people:
        own = tuple(sorted(age for who, age in patients if who == one))
        seen = tuple(
            sorted(
                (ward, tuple(sorted(drug for of, drug in drugs if of == visit)))
                for visit, who, ward in visits
                if who == one
            )
        )
        nothing = len(own) + len(seen) == 1 and own in ((), ("*",)) and seen in ((), (("*", ()),))
        if not nothing:
            told[one] = (own, seen)
    return sorted(Counter(told.values()).values())


AGES, WARDS, DRUGS = (st.sampled_from(list(values)) for values in ("ab*", "xy*", "pq"))


@settings(max_examples=150)
@given(
    st.lists(AGES, min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 7), WARDS), min_size=1, max_size=9),
    st.lists(st.tuples(st.integers(0, 10), DRUGS), max_size=9),
)
def test_joining_is_what_it_is_by_definition(
    ages: list[str], wards: list[tuple[int, str]], given_drugs: list[tuple[int, str]]
) -> None:
    patients = list(enumerate(ages))
    visits = [(100 + place, who, ward) for place, (who, ward) in enumerate(wards)]
    drugs = [(100 + place, drug) for place, drug in given_drugs]
    schema = {"visit": pl.Int64, "drug": pl.String}
    tables = {
        "patients": table(("age",), id=[who for who, _ in patients], age=ages),
        "visits": table(
            ("ward",),
            visit=[visit for visit, _, _ in visits],
            patient=[who for _, who, _ in visits],
            ward=[ward for _, _, ward in visits],
        ),
        "drugs": JoinableTable(pl.LazyFrame(drugs, schema=schema, orient="row"), ("drug",)),
    }
    found = JoinedTables(tables, [PEOPLE, VISITS]).people()
    sizes = recount(patients, visits, drugs)
    if not sizes:
        assert found == ()
        return
    assert figures(found[0]) == (sizes[0], sum(sizes), sizes.count(1))
