"""Singling out, on tables where it is known who stands alone."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.attack.attacks.singling_out import singling_out
from shoal.attack.ground_truth.targets import TrialDesign
from shoal.attack.matching.predicates import Predicate, PredicateOperator, PredicateTable, ReleasedAttribute
from shoal.errors import DataError
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("R-04")

BY = ["age", "zip", "job"]


def people(size: int, seed: int = 1) -> pl.DataFrame:
    stream = Randomness(seed).stream("people")
    rows = np.arange(size, dtype=np.uint64)
    return pl.DataFrame(
        {
            "age": 18 + (stream.uniform(rows) * 70).astype(np.int64),
            "zip": [str(560000 + int(each * 40)) for each in stream.uniform(rows, 1)],
            "job": [f"job {int(each * 20)}" for each in stream.uniform(rows, 2)],
        }
    )


def test_a_table_that_was_only_de_identified_singles_people_out() -> None:
    table = people(2000)
    attack = singling_out(table, table, BY, TrialDesign(Randomness(1), control=people(2000, seed=2), trials=2000))
    assert attack.details is not None
    assert attack.details["precision"] == 1.0  # what isolates a released record isolates a person: they are the same
    assert attack.success.share > 0.2
    assert attack.found
    assert attack.control is not None
    assert attack.control.share < attack.success.share


def test_a_ten_anonymous_table_isolates_nobody() -> None:
    """Every combination stands ten times, so every predicate is met by at least ten records."""
    table = pl.concat([people(200)] * 10)
    attack = singling_out(table, table, BY, TrialDesign(Randomness(1), trials=2000))
    assert attack.success.right == 0
    assert attack.success.trials > 500
    assert not attack.found


def test_generalised_labels_are_tested_by_what_they_cover() -> None:
    """The one released record of an age band isolates its person only where nobody else has an age of the band."""
    original = pl.DataFrame({"age": [25, 25, 33, 47, 48]})
    release = pl.DataFrame({"age": ["20-29", "20-29", "30-39", "40-49", "*"]})
    attack = singling_out(release, original, ["age"], TrialDesign(Randomness(1), trials=2000))
    # Tried: the three rarest labels, 30-39, 40-49 and *. The band of 47 covers 48 as well, * covers all.
    assert (attack.success.right, attack.success.trials) == (1, 3)
    assert attack.details is not None
    assert attack.details["isolating"] == 1.0


def test_all_starred_isolates_nobody() -> None:
    table = people(100)
    attack = singling_out(
        table.with_columns(pl.lit("*").alias(name) for name in BY), table, BY, TrialDesign(Randomness(1), trials=2000)
    )
    assert attack.success.right == 0


def test_extreme_numbers_are_tried() -> None:
    """Everybody is one of a pair but for the tallest: only "at least the largest" and its own value find her."""
    table = pl.DataFrame({"height": [150, 150, 160, 160, 199]})
    attack = singling_out(table, table, ["height"], TrialDesign(Randomness(1), trials=2000))
    assert (attack.success.right, attack.success.trials) == (2, 3)


def test_identifiers_are_not_guessed() -> None:
    """A column of different words isolates everybody, and nobody could have named the words beforehand."""
    table = pl.DataFrame({"name": [f"person {number}" for number in range(500)]})
    attack = singling_out(table, table, ["name"], TrialDesign(Randomness(1), trials=400))
    assert attack.success.share == 1.0
    assert attack.baseline.right == 0


def test_the_same_seed_gives_the_same_attack() -> None:
    table = people(300)
    runs = [singling_out(table, table, BY, TrialDesign(Randomness(seed), trials=200)) for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
    assert runs[0].success.trials <= 200


CELLS = st.tuples(st.sampled_from(["a", "b", "*"]), st.sampled_from([1, 2, 3, None]))
PEOPLE = st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from([1, 2, 3, 4, None]))


@settings(max_examples=30)
@given(st.lists(CELLS, min_size=1, max_size=12), st.lists(PEOPLE, min_size=1, max_size=12))
def test_predicates_are_counted_as_one_by_one(cells: list[tuple], rows: list[tuple]) -> None:
    schema = {"word": pl.String, "number": pl.Int64}
    release = pl.DataFrame(cells, schema, orient="row")
    original = pl.DataFrame(rows, schema, orient="row")
    read = [ReleasedAttribute.of(release[name]) for name in schema]
    domain = pl.DataFrame({"word": ["a", "b"], "number": [1, 2]})
    known = PredicateTable.known(read, original, list(schema), domain)
    tables = [(PredicateTable.released(read), cells, True), (known, rows, False)]
    numbers_missing = original["number"].null_count() > 0
    for word, label in enumerate(read[0].labels):
        for at, bound in enumerate(read[1].labels):
            tests = [PredicateOperator.SAME] if read[1].numbers is None or bound is None else list(PredicateOperator)
            for test in tests:
                predicate: Predicate = ((0, PredicateOperator.SAME, word), (1, test, at))
                for table, facts, exact in tables:
                    expected = sum(
                        (mine == label or (label == "*" and not exact))
                        and _meets(its, test, bound, exact or numbers_missing)
                        for mine, its in facts
                    )
                    assert bool(table.isolated([predicate])[0]) == (expected == 1)


def _meets(value: int | None, test: PredicateOperator, bound: int | None, missing_is_a_value: bool) -> bool:
    if bound is None:
        return value is None if missing_is_a_value else True
    if value is None:
        return False
    return {
        PredicateOperator.SAME: value == bound,
        PredicateOperator.AT_LEAST: value >= bound,
        PredicateOperator.AT_MOST: value <= bound,
    }[test]


def test_what_cannot_be_attacked() -> None:
    table = people(5)
    for arguments, message in (
        ((table, table, []), "no attribute"),
        ((table, table, ["city"]), "the release has no column 'city'"),
        ((table, table.drop("job"), BY), "the original has no column 'job'"),
        ((table, table.clear(), BY), "no rows"),
    ):
        with pytest.raises(DataError, match=message):
            singling_out(*arguments, TrialDesign(Randomness(1), trials=2000))
    with pytest.raises(DataError, match="the control group has no column"):
        singling_out(table, table, BY, TrialDesign(Randomness(1), control=table.drop("age"), trials=2000))


def test_one_row_and_a_column_without_values() -> None:
    one = pl.DataFrame({"age": [34], "zip": pl.Series([None], dtype=pl.String)})
    assert singling_out(one, one, ["age", "zip"], TrialDesign(Randomness(1), trials=2000)).success.share == 1.0
