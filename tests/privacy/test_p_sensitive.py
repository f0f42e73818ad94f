"""p-sensitive k-anonymity: k people and p values, record by record, also where a person has several records."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shoal.privacy import Classes, Histograms, privacy_models
from shoal.privacy.models.p_sensitive import PSensitive

pytestmark = pytest.mark.requirement("S-04", "D-09")

Record = tuple[int, int]
RECORDS = st.lists(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), min_size=1, max_size=12), max_size=4)
"""Classes as lists of records: a person and a sensitive value."""


def classes_of(records: list[list[Record]]) -> Classes:
    owner = np.array([number for number, rows in enumerate(records) for _ in rows], dtype=np.int64)
    value = np.array([value for rows in records for _, value in rows], dtype=np.int64)
    histograms = Histograms(np.bincount(value, minlength=5), owner, value, np.ones_like(value), len(records))
    sizes = np.array([len(rows) for rows in records], dtype=np.int64)
    people = np.array([len({person for person, _ in rows}) for rows in records], dtype=np.int64)
    return Classes(sizes, people, {"ill": histograms})


@given(RECORDS, st.integers(1, 4), st.integers(1, 5))
def test_people_and_values_are_counted(records: list[list[Record]], p: int, k: int) -> None:
    model = PSensitive(attribute="ill", p=p, k=k)
    classes = classes_of(records)
    people = [len({person for person, _ in rows}) for rows in records]
    values = [len({value for _, value in rows}) for rows in records]
    assert model.holds(classes).tolist() == [a >= k and b >= p for a, b in zip(people, values, strict=True)]
    assert model.figures(classes).tolist() == [
        b if a >= k else pytest.approx(a / k) for a, b in zip(people, values, strict=True)
    ]


def test_many_records_of_one_person_are_one_person() -> None:
    classes = classes_of([[(1, 0), (1, 1), (1, 2)]])
    assert not PSensitive(attribute="ill", p=2, k=2).holds(classes).any()
    assert PSensitive(attribute="ill", p=2, k=1).holds(classes).all()


def test_a_class_short_of_people_shows_in_the_finding() -> None:
    finding = PSensitive(attribute="ill", p=2, k=4).find(
        classes_of([[(1, 0), (2, 1), (3, 2)], [(n, n) for n in range(5)]])
    )
    assert (finding.required, finding.achieved, finding.met) == (2, 0.75, False)


def test_floor() -> None:
    minimum = PSensitive(attribute="ill", p=3, k=5).minimum_class({"ill": np.array([5, 5, 5])})
    assert (minimum.people, minimum.records, minimum.distinct) == (5, 3, {"ill": 3})


@pytest.mark.parametrize("parameters", [{"p": 0, "k": 2}, {"p": 2, "k": 0}])
def test_parameters_that_make_no_sense_are_refused(parameters: dict[str, int]) -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        PSensitive.model_validate({"attribute": "ill", **parameters})


def test_it_is_found_by_its_key_and_explains_itself() -> None:
    assert privacy_models.get("p_sensitive") is PSensitive
    assert "at least 4 other people" in PSensitive(attribute="ill", p=3, k=5).explain()
    assert "at least 3 different values of 'ill'" in PSensitive(attribute="ill", p=3, k=5).explain()
