"""(k, e)-anonymity: k different numbers over a range of e, by the definition of Zhang et al. (2007)."""

from __future__ import annotations

from itertools import product
from math import nan
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.support.definitions import Group, Table
from tests.support.lattice import SENSITIVE
from tests.support.model_cases import ModelCase

from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.table_measurement import measure_data
from shoal.assess.measure.thresholds import FigureThreshold
from shoal.errors import InputError
from shoal.policy import Policy
from shoal.privacy import Classes, Histograms, privacy_models
from shoal.privacy.models.ke_anonymity import KeAnonymity
from shoal.release import anonymise

pytestmark = pytest.mark.requirement("S-04")

Missing = float | None
CLASSES = st.lists(
    st.lists(st.none() | st.integers(-20, 20).map(float), min_size=1, max_size=8), min_size=1, max_size=5
)


def definition(model: Any, group: Group, table: Table) -> bool:
    numbers = [table.numbers[value] for value in group.values]
    return len(numbers) >= model.k and max(numbers) - min(numbers) >= model.e


def tightest(classes: Classes) -> KeAnonymity:
    k = int(classes.histograms("ill").distinct().min())
    e = float(KeAnonymity(attribute="ill", k=k, e=0).figures(classes).min())
    return KeAnonymity(attribute="ill", k=k, e=e)


CASE = ModelCase(
    key="ke_anonymity",
    models=st.builds(
        KeAnonymity,
        attribute=st.just(SENSITIVE),
        k=st.integers(1, 3),
        e=st.sampled_from([0.0, 5.0, 10.0, 30.0, 40.0]),
    ),
    definition=definition,
    tightest=tightest,
    policy={
        "attributes": {"income": {"role": "sensitive"}},
        "privacy": [{"ke_anonymity": {"attribute": "income", "k": 3, "e": 500}}],
        "solve": {"suppression_limit": 0.3},
    },
)


def classes_of(lists: list[list[Missing]]) -> Classes:
    """Each list is a class: the numbers of its records, None for a missing one."""
    numbers = np.array([*sorted({one for several in lists for one in several if one is not None}), nan])
    dense = np.zeros((len(lists), len(numbers)), dtype=np.int64)
    for row, several in enumerate(lists):
        for one in several:
            dense[row, -1 if one is None else int(np.searchsorted(numbers, one))] += 1
    sizes = dense.sum(axis=1)
    return Classes(sizes, sizes, {"income": Histograms.of(dense.sum(axis=0), dense, numbers=numbers)})


@given(CLASSES, st.integers(1, 4), st.integers(0, 40))
def test_values_are_counted_and_their_ends_subtracted(lists: list[list[Missing]], k: int, e: int) -> None:
    held = []
    for several in lists:
        numbers = [one for one in several if one is not None]
        held.append(len(set(several)) >= k and (max(numbers) - min(numbers) if numbers else 0) >= e)
    assert KeAnonymity(attribute="income", k=k, e=e).holds(classes_of(lists)).tolist() == held


def test_salaries_by_the_definition() -> None:
    """Three salaries each: 2 apart, 14 000 apart, and one salary three times, which is one value."""
    classes = classes_of([[50_000, 50_001, 50_002], [50_000, 54_000, 64_000], [70_000, 70_000, 70_000]])
    model = KeAnonymity(attribute="income", k=3, e=1000)
    assert model.figures(classes).tolist() == [2, 14_000, -2]
    assert model.holds(classes).tolist() == [False, True, False]
    finding = model.find(classes)
    assert (finding.name, finding.required, finding.achieved, finding.met) == ("ke_anonymity", 1000, -2, False)


def test_a_missing_value_is_a_value_and_widens_no_range() -> None:
    classes = classes_of([[None, None], [5, None], [0, 5]])
    assert KeAnonymity(attribute="income", k=1, e=0).figures(classes).tolist() == [0, 0, 5]
    assert KeAnonymity(attribute="income", k=2, e=5).holds(classes).tolist() == [False, False, True]


def test_a_range_of_exactly_e_will_do_whatever_the_last_bit() -> None:
    assert 0.7 - 0.4 < 0.3
    assert KeAnonymity(attribute="income", k=2, e=0.3).holds(classes_of([[0.4, 0.7]])).all()
    assert not KeAnonymity(attribute="income", k=2, e=0.3001).holds(classes_of([[0.4, 0.7]])).any()


@pytest.mark.parametrize(("k", "e"), [(1, 0.0), (1, 3.0), (3, 0.0), (3, 4.0)])
def test_the_minimum_class_is_the_least_that_any_class_can_have(k: int, e: float) -> None:
    """Against every class of up to 4 records of the numbers 0, 1, 4 and 9."""
    lists = [[one for one, count in zip((0, 1, 4, 9), row, strict=True) for _ in range(count)] for row in EVERY]
    classes = classes_of(lists)  # type: ignore[arg-type]
    model = KeAnonymity(attribute="income", k=k, e=e)
    held = model.holds(classes)
    minimum = model.minimum_class({"income": classes.histograms("income").whole})
    assert minimum.records == int(classes.records[held].min())
    assert minimum.distinct == {"income": int(classes.histograms("income").distinct()[held].min())}


EVERY = [row for row in product(range(5), repeat=4) if 0 < sum(row) <= 4]


@given(CLASSES, st.integers(1, 3), st.integers(0, 20))
def test_of_a_class_that_fails_no_part_holds(lists: list[list[Missing]], k: int, e: int) -> None:
    """So nothing of it can be kept, which is what the solver is told."""
    model = KeAnonymity(attribute="income", k=k, e=e)
    classes = classes_of(lists)
    kept = model.most_kept(classes)
    assert kept.tolist() == np.where(model.holds(classes), classes.records, 0).tolist()
    for several, most in zip(lists, kept, strict=True):
        parts = [several[start:end] for end in range(len(several) + 1) for start in range(end)]
        assert most or not model.holds(classes_of(parts)).any()


def test_other_values_than_numbers_are_refused() -> None:
    whole = np.array([1, 1])
    classes = Classes(whole, whole, {"income": Histograms.of(whole, np.eye(2, dtype=np.int64))})
    with pytest.raises(InputError, match="'income' has no numbers"):
        KeAnonymity(attribute="income", k=1, e=1).holds(classes)


@pytest.mark.parametrize("parameters", [{"k": 0, "e": 1}, {"k": 2, "e": -1}, {"k": 2}, {"e": 1}])
def test_parameters_that_make_no_sense_are_refused(parameters: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        KeAnonymity.model_validate({"attribute": "income", **parameters})


PEOPLE = pl.DataFrame(
    {
        "age": [30, 31, 32, 33, 50, 51, 52, 53],
        "income": [1000, 1010, 2000, 2020, 1000, 3000, 1005, 3005],
    }
)
POLICY = """
shoal: 1
name: incomes
attributes:
  age: {role: quasi, hierarchy: {intervals: {widths: [2, 20]}}}
  income: {role: sensitive}
privacy: [{ke_anonymity: {attribute: income, k: 2, e: 500}}]
"""


def test_a_release_whose_classes_have_wide_ranges() -> None:
    """By twos, 30 and 31 earn all but the same: only by twenties every class spans 500."""
    release = anonymise(PEOPLE, Policy.from_text(POLICY))
    manifest = release.manifest.to_dict()
    assert manifest["solution"]["levels"] == {"age": 2}
    (model,) = manifest["models"]
    assert model == {"name": "ke_anonymity", "required": 500.0, "achieved": 1020.0, "met": True}


def test_words_are_no_income() -> None:
    """The run stops: nothing is released under a promise that can't be kept."""
    words = PEOPLE.with_columns(pl.Series("income", ["low", "high"] * 4))
    with pytest.raises(InputError, match="'income' has no numbers"):
        anonymise(words, Policy.from_text(POLICY))


def test_it_is_measured_of_any_numbers_and_can_be_required(tmp_path: Any) -> None:
    path = tmp_path / "table.csv"
    groups = PEOPLE.with_columns(pl.col("age") // 10, pl.Series("job", ["x", "y"] * 4))
    groups.write_csv(path)
    asked = ["e=1000", "e.income=1020.5"]
    found = measure_data(str(path), MeasureRequest.parse(quasi="age", sensitive="income", require=asked))
    assert [(one.name, one.achieved, one.met) for one in found.models] == [
        ("e.income", 1020.0, True),
        ("e.income", 1020.0, False),
    ]
    both = measure_data(str(path), MeasureRequest.parse(quasi="age", sensitive="income,job")).to_dict()["formal"]
    assert both["attributes"]["income"]["e"] == 1020.0
    assert both["left_out"]["job"]["e"] == "its values are not numbers"
    with pytest.raises(InputError, match="e=-1: has to be at least 0"):
        FigureThreshold.parse("e=-1")


def test_it_is_found_by_its_key_and_explains_itself() -> None:
    assert privacy_models.get("ke_anonymity") is KeAnonymity
    words = KeAnonymity(attribute="income", k=5, e=1000).explain()
    assert "at least 5 different values for 'income'" in words
    assert "at least 1000 above the smallest" in words
    definitions = Policy.json_schema()["$defs"]
    assert definitions["KeAnonymity"]["required"] == ["attribute", "k", "e"]
