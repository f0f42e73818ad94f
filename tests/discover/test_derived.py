"""What columns give away of each other, what kinds of values they have, and what is inside nested ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.discover import profile
from shoal.discover.dependencies import FEWEST, LEAST, dependencies, told
from shoal.discover.inferences import ColumnInference
from shoal.discover.text_mentions import mentions_in
from shoal.discover.value_kinds import ValueKind
from shoal.examples import hospital
from shoal.io import open_source, parse_source
from shoal.schema import Role

CITIES = {"Pune": "MH", "Thane": "MH", "Agra": "UP", "Kanpur": "UP"}


def found_in(table: Mapping[str, object]) -> tuple[ColumnInference, ...]:
    return profile(pl.LazyFrame(table)).inferences


def ends(found: tuple[ColumnInference, ...], kind: str) -> set[tuple[tuple[str, ...], str]]:
    return {(one.columns, one.gives) for one in found if one.kind == kind}


@pytest.mark.requirement("D-07")
def test_a_city_tells_its_state_and_not_the_other_way_round() -> None:
    cities = [*CITIES] * 10
    found = found_in({"city": cities, "state": [CITIES[city] for city in cities], "sex": ["F", "M", "M", "F", "F"] * 8})
    assert ends(found, "dependency") == {(("city",), "state")}


@pytest.mark.requirement("D-07")
def test_birth_gives_age_and_age_gives_birth() -> None:
    found = found_in({"dob": ["1990-02-01", "1985-07-09"], "age": ["36", "41"]})
    assert ends(found, "derived") == {(("dob",), "age"), (("age",), "dob")}


@pytest.mark.requirement("D-07")
def test_an_nric_gives_the_year_of_birth() -> None:
    (found,) = found_in({"nric": ["S8822311H", "S1234567D", "T0000001E"]})
    assert (found.kind, found.columns, found.gives, found.in_table) == ("encoded", ("nric",), "birth date", False)


@pytest.mark.requirement("D-07")
def test_entry_and_exit_give_the_stay() -> None:
    table = {"entry": ["2024-01-02", "2024-01-09"], "exit": ["2024-01-03", "2024-01-19"]}
    assert ends(found_in(table), "duration") == {(("entry", "exit"), "length of stay")}
    swapped = {"entry": table["exit"], "exit": table["entry"]}
    assert not ends(found_in(swapped), "duration"), "an exit before the entry is no stay"


@pytest.mark.requirement("D-07")
@pytest.mark.parametrize(("other", "reason"), [(["a", "b", "c"], "same values"), (["1", "2", "3"], "in two ways")])
def test_columns_that_say_the_same(other: list[str], reason: str) -> None:
    (found,) = found_in({"x": ["a", "b", "c"] * 10, "y": other * 10})
    assert (found.kind, found.columns, found.gives) == ("same", ("x",), "y")
    assert reason in found.reason


@pytest.mark.requirement("D-07")
def test_an_address_repeats_the_name() -> None:
    people = ["Asha Rao", "Ravi Nair", "Meera Das", "John Tan"]
    mails = [f"{name.lower().replace(' ', '.')}@example.org" for name in people]
    assert (("email",), "name") in ends(found_in({"name": people, "email": mails}), "repeated")
    strangers = [f"user{number}@example.org" for number in range(4)]
    assert not ends(found_in({"name": people, "email": strangers}), "repeated")


@pytest.mark.requirement("D-07")
def test_columns_that_have_nothing_to_do_with_each_other() -> None:
    random = np.random.default_rng(5)
    table = {name: random.integers(0, 4, 400).astype(str) for name in ("a", "b", "c", "d")}
    assert found_in({name: list(values) for name, values in table.items()}) == ()


def lambda_by_hand(own: list[int], other: list[int]) -> float:
    """Goodman and Kruskal's lambda, by its definition, over the records whose own value is not theirs alone."""
    pairs = [(a, b) for a, b in zip(own, other, strict=True) if a >= 0 and b >= 0]
    kept = [(a, b) for a, b in pairs if sum(a == each for each, _ in pairs) > 1]
    if not kept or len(kept) < max(FEWEST, LEAST * len(pairs)):
        return 0.0
    values = [b for _, b in kept]
    guessed = max(values.count(value) for value in values)
    right = sum(max([b for each, b in kept if each == a].count(v) for v in values) for a in {a for a, _ in kept})
    return 0.0 if guessed == len(kept) else (right - guessed) / (len(kept) - guessed)


@given(st.lists(st.tuples(st.integers(-1, 6), st.integers(-1, 4)), max_size=60))
def test_the_strength_is_goodman_and_kruskals_lambda(pairs: list[tuple[int, int]]) -> None:
    own, other = [a for a, _ in pairs], [b for _, b in pairs]
    assert told(np.array(own, dtype=np.int64), np.array(other, dtype=np.int64)) == pytest.approx(
        lambda_by_hand(own, other)
    )


def test_a_dependency_survives_a_few_errors() -> None:
    city = [*CITIES] * 100
    state = [CITIES[name] for name in city]
    state[0] = "KA"
    assert [(one.by, one.told) for one in dependencies(pl.DataFrame({"c": city, "s": state}), ["c", "s"])] == [
        ("c", "s")
    ]


@pytest.mark.requirement("D-05")
@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("weight", ["61.5", "70.2", "82.1"], ValueKind.CONTINUOUS),
        ("visits", ["1", "4", "2"], ValueKind.DISCRETE),
        ("rating", ["1", "4", "2"], ValueKind.ORDINAL),
        ("severity", ["mild", "severe", "moderate"], ValueKind.ORDINAL),
        ("income", ["<=50K", ">50K"], ValueKind.ORDINAL),
        ("age group", ["20-29", "30-39", "80+"], ValueKind.ORDINAL),
        ("colour", ["red", "blue"], ValueKind.CATEGORICAL),
        ("member", ["true", "false"], ValueKind.CATEGORICAL),
        ("district code", ["1", "4", "2"], ValueKind.CATEGORICAL),
        ("seen", ["2024-01-02", "2024-02-03"], ValueKind.DATE),
        ("seen", ["03/04/2024", "05/06/2024"], ValueKind.DATE),
        ("remarks", ["came in with a cough", "went home the next day"], ValueKind.TEXT),
        ("items", ["milk;bread", "milk;eggs", "bread;milk;eggs"], ValueKind.SET),
    ],
)
def test_kinds_of_values(name: str, values: list[str], kind: ValueKind) -> None:
    assert profile(pl.LazyFrame({name: values})).columns[0].kind is kind


@pytest.mark.requirement("D-05")
def test_a_list_is_a_set() -> None:
    assert profile(pl.LazyFrame({"x": [["a"], ["a", "b"]]})).columns[0].kind is ValueKind.SET


@pytest.mark.requirement("D-02")
def test_nested_values_are_laid_out_by_path() -> None:
    person = {"contact": {"email": "asha@example.org"}, "cards": [{"no": "4111111111111111"}]}
    other = {"contact": {"email": "ravi@example.org"}, "cards": []}
    found = profile(pl.LazyFrame({"person": [person, other]}))
    assert {one.name: one.type for one in found.nested} == {
        "person.contact.email": "email",
        "person.cards[].no": "card",
    }
    assert found.columns[0].proposal.role is Role.DIRECT, "a policy can only take the whole column out"


@pytest.mark.requirement("D-02")
def test_json_in_text_is_laid_out_too() -> None:
    cells = [json.dumps({"mail": f"p{number}@example.org", "n": number}) for number in range(5)]
    found = profile(pl.LazyFrame({"payload": cells}))
    assert {one.name: one.type for one in found.nested}["payload.mail"] == "email"
    assert profile(pl.LazyFrame({"x": ["{not json", "{neither"]})).nested == ()


@dataclass(frozen=True)
class Hit:
    type: str
    score: float


@pytest.mark.requirement("D-02")
def test_free_text_is_told_by_kinds_and_shares() -> None:
    texts = pl.Series([f"note {number} {'by Rao' if number % 2 else ''} to see again" for number in range(40)])

    def annotate(text: str) -> list[Hit]:
        return [Hit("person", 0.9)] if "Rao" in text else []

    (mention,) = mentions_in(texts, annotate)
    assert (mention.type, mention.share, mention.confidence) == ("person", 0.5, pytest.approx(0.9))
    column = profile(pl.LazyFrame({"remarks": texts}), annotate=annotate).columns[0]
    assert "person in 50%" in "; ".join(column.proposal.reasons)
    assert column.to_dict()["mentions"] == [{"type": "person", "share": 0.5, "confidence": 0.9}]


def test_the_same_few_sentences_are_labels_unless_they_name_somebody() -> None:
    labels = ["Amoxicillin and nothing else given", "Ibuprofen and nothing else given"] * 20
    assert profile(pl.LazyFrame({"x": labels})).columns[0].proposal.role is Role.QUASI
    named = profile(pl.LazyFrame({"x": labels}), annotate=lambda _: [Hit("email", 0.95)])
    assert named.columns[0].proposal.role is Role.DIRECT


DIRECT = {
    "patients": {"Id", "SSN", "DRIVERS", "PASSPORT", "FIRST", "LAST", "MAIDEN"},
    "encounters": {"Id", "PATIENT"},
    "conditions": {"PATIENT", "ENCOUNTER"},
    "medications": {"PATIENT", "ENCOUNTER"},
    "allergies": {"PATIENT", "ENCOUNTER"},
    "careplans": {"Id", "PATIENT", "ENCOUNTER"},
    "providers": {"Id", "NAME"},
    "organizations": {"Id", "NAME", "PHONE"},
}
"""By Synthea's data dictionary: keys of people and of what happened to them, numbers given to people, names."""
MAY_BE_DIRECT = {"providers": {"ORGANIZATION"}}
"""One organisation for each provider, so that it is as good as the provider's name."""


@pytest.mark.requirement("D-04")
@pytest.mark.parametrize("table", sorted(DIRECT))
def test_synthea_every_direct_identifier_and_nothing_else(table: str, shared: Path) -> None:
    source = open_source(parse_source(str(shared / "data" / "synthea" / f"{table}.csv")))
    found = {one.name for one in profile(source.scan()).columns if one.proposal.role is Role.DIRECT}
    assert DIRECT[table] <= found
    assert found <= DIRECT[table] | MAY_BE_DIRECT.get(table, set())


@pytest.mark.requirement("D-04")
def test_demo_every_direct_identifier_and_nothing_else() -> None:
    found = profile(hospital.table(people=600).cast(pl.String).lazy())
    direct = {one.name for one in found.columns if one.proposal.role is Role.DIRECT}
    assert direct == {"patient_id", "name", "aadhaar", "phone", "remarks"}


@pytest.mark.requirement("D-04")
def test_a_key_of_a_house_is_nobodys_own_and_a_key_of_a_visit_is() -> None:
    uuid = "00000000-0000-4000-8000-{:012d}".format
    table = {
        "patient_id": [f"P{number // 2:04}" for number in range(40)],
        "visit": [uuid(number // 2) for number in range(40)],
        "hospital": [uuid(900 + number % 3) for number in range(40)],
    }
    roles = {one.name: one.proposal.role for one in profile(pl.LazyFrame(table)).columns}
    assert roles == {"patient_id": Role.DIRECT, "visit": Role.DIRECT, "hospital": Role.QUASI}
