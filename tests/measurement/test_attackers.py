"""The risks of three attackers against people counted one by one."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shoal.errors import DataError, InputError
from shoal.measurement import measure_classes
from shoal.measurement.risk.attacker_risks import AttackerRisk, Attackers, Basis, attackers_of, population_uniques
from shoal.measurement.risk.population_classes import with_population
from shoal.privacy import Classes
from shoal.randomness import Randomness
from shoal.results.risk_results import AttackersResult

pytestmark = pytest.mark.requirement("R-01")

SIZES = st.lists(st.integers(1, 12), min_size=1, max_size=12)
OTHERS = st.lists(st.integers(0, 30), min_size=12, max_size=12)
THRESHOLD = st.sampled_from([0.05, 0.1, 0.2, 0.34, 1.0])


def of(people: list[int], population: NDArray[np.int64] | None = None, **known: float) -> Attackers:
    sizes = np.array(people, dtype=np.int64)
    return attackers_of(Classes(sizes, sizes), population=population, **known)  # type: ignore[arg-type]


def figures(found: Attackers) -> list[float]:
    """All that may not fall when somebody is easier to find."""
    risks = (found.prosecutor, found.journalist)
    return [figure for risk in risks for figure in (risk.max, risk.average, risk.above)] + [found.marketer]


def test_el_emams_figures_by_hand() -> None:
    """Classes of 4, 3, 2 and 1 people, who are 8, 3, 10 and 5 in the population (El Emam 2013, chapter 16).

    Prosecutor: 1/1; 4/10; 1/fⱼ > 0.33 for 3, 2 and 1. Journalist: 1/3; max(4/26, (4/8 + 3/3 + 2/10 + 1/5)/10); three.
    """
    found = of([4, 3, 2, 1], np.array([8, 3, 10, 5]), threshold=0.33)
    assert found.prosecutor == AttackerRisk(1.0, 0.4, 0.6, 1)
    assert found.journalist == AttackerRisk(1 / 3, pytest.approx(0.19), 0.3, 0)
    assert found.marketer == pytest.approx(0.19)
    assert found.basis is Basis.POPULATION


def test_journalists_average_takes_the_worse_of_both_directions() -> None:
    """One of one and one of nine: 2/10 classes to people, but (1/1 + 1/9)/2 people to classes."""
    assert of([1, 1], np.array([1, 9])).journalist.average == pytest.approx(5 / 9)
    assert of([1, 9], np.array([9, 9])).journalist.average == pytest.approx(max(2 / 18, (1 / 9 + 1) / 10))
    assert of([9, 1], np.array([90, 2])).journalist.average == pytest.approx(max(2 / 92, (0.1 + 0.5) / 10))


def test_without_a_population_the_journalist_is_a_prosecutor() -> None:
    found = of([2, 5, 5])
    assert found.journalist == found.prosecutor == AttackerRisk(0.5, 0.25, 2 / 12, 0)
    assert found.marketer == 0.25
    assert "upper bounds" in found.basis.words


@given(SIZES, OTHERS, THRESHOLD)
def test_figures_equal_a_count_person_by_person(people: list[int], others: list[int], threshold: float) -> None:
    population = [size + other for size, other in zip(people, others, strict=False)]
    found = of(people, np.array(population), threshold=threshold)
    prosecuted = [1 / size for size in people for _ in range(size)]
    sought = [1 / there for size, there in zip(people, population, strict=True) for _ in range(size)]
    for risk, chances in ((found.prosecutor, prosecuted), (found.journalist, sought)):
        assert risk.max == max(chances)
        assert risk.above == pytest.approx(sum(chance > threshold for chance in chances) / len(chances))
        assert risk.uniques == chances.count(1.0)
    assert found.prosecutor.average == pytest.approx(sum(prosecuted) / len(prosecuted))
    assert found.marketer == pytest.approx(sum(sought) / len(sought))


@given(SIZES, OTHERS, THRESHOLD, st.data())
def test_risk_never_falls_when_a_class_is_split(
    people: list[int], others: list[int], threshold: float, data: st.DataObject
) -> None:
    others = others[: len(people)]
    place = data.draw(st.integers(0, len(people) - 1))
    first = data.draw(st.integers(1, people[place]))
    first_others = data.draw(st.integers(0, others[place]))
    split, split_others = people.copy(), others.copy()
    if first < people[place]:
        split[place : place + 1] = [first, people[place] - first]
        split_others[place : place + 1] = [first_others, others[place] - first_others]
    for known in (False, True):
        before = of(people, np.array(people) + others if known else None, threshold=threshold)
        after = of(split, np.array(split) + split_others if known else None, threshold=threshold)
        assert all(new >= old - 1e-12 for new, old in zip(figures(after), figures(before), strict=True))


@given(SIZES, OTHERS, st.none() | st.integers(0, 500), THRESHOLD)
def test_a_journalist_knows_less_and_averages_are_below_the_highest(
    people: list[int], others: list[int], absent: int | None, threshold: float
) -> None:
    population = np.array(people) + others[: len(people)]
    if absent is None:
        found = of(people, population, threshold=threshold)
    else:
        found = of(people, population_size=sum(people) + absent, threshold=threshold)
    assert found.journalist.max <= found.prosecutor.max
    assert found.journalist.average <= found.prosecutor.average + 1e-12
    assert found.journalist.above <= found.prosecutor.above + 1e-12
    assert found.journalist.uniques <= found.prosecutor.uniques
    assert found.marketer <= found.journalist.average + 1e-12
    for risk in (found.prosecutor, found.journalist):
        assert 0 < risk.average <= risk.max + 1e-12 <= 1 + 1e-12


def test_estimates_take_as_many_for_unique_as_dankars_rule_says() -> None:
    people = [1] * 40 + [2] * 20 + [10] * 12
    n, size = sum(people), 1000
    found = of(people, population_size=size, threshold=0.2)
    unique = population_uniques(np.array(people), size)["dankar"]
    assert unique is not None
    expected = unique * n / size
    assert 0 < expected < 40
    assert found.journalist.uniques == pytest.approx(expected)
    certain = expected / 40
    assert found.journalist.max == pytest.approx(certain + (1 - certain) * n / size)
    several = 40 * (1 - 0.8**4 - 4 * 0.2 * 0.8**3)
    assert found.journalist.above == pytest.approx((expected + (40 - expected) * (1 - 0.8**3) + several) / n)
    assert of(people, population_size=size, threshold=1.0).journalist.above == 0
    assert found.basis is Basis.ESTIMATE


def test_an_estimate_for_the_whole_population_is_the_prosecutors() -> None:
    found = of([1, 1, 2, 5], population_size=9)
    assert found.journalist.max == found.prosecutor.max == 1
    assert found.journalist.average == pytest.approx(found.prosecutor.average)
    assert found.journalist.uniques == 2


def test_estimates_are_near_the_truth_of_a_known_population() -> None:
    """A skewed population, a fifth drawn by chance, as it is often in practice: figures of the right size."""
    classes = np.concatenate([np.full(max(1, int(2000 / (rank + 1))), rank) for rank in range(4000)])
    everybody = np.bincount(classes)
    chosen = Randomness(7).stream("draw").permutation(len(classes))[: len(classes) // 5]
    drawn = np.bincount(classes[chosen], minlength=len(everybody))
    known = of(drawn[drawn > 0].tolist(), everybody[drawn > 0])
    estimated = of(drawn[drawn > 0].tolist(), population_size=len(classes))
    assert estimated.marketer == pytest.approx(known.marketer, rel=0.2)
    assert estimated.journalist.uniques == pytest.approx(known.journalist.uniques, rel=0.3)
    assert estimated.journalist.above == pytest.approx(known.journalist.above, rel=0.2)


def test_classes_bring_their_population_along_and_absent_ones_do_not_count() -> None:
    table = pl.DataFrame({"q": ["a", "a", "b"]})
    register = pl.DataFrame({"q": ["a", "b", "c"], "records": [10, 5, 1]})
    measured = measure_classes(table.lazy(), ("q",))
    found = attackers_of(with_population(measured.classes, measured.cells, register))
    assert found.journalist == AttackerRisk(0.2, pytest.approx((2 / 10 + 1 / 5) / 3), 0.0, 0)
    assert found.beyond == 0


def test_a_class_that_the_population_has_not_counts_by_itself_and_is_told() -> None:
    found = of([2, 3], np.array([0, 30]))
    assert (found.journalist.max, found.beyond) == (0.5, 1)


def test_an_empty_table_has_no_risk() -> None:
    nothing = AttackerRisk(0.0, 0.0, 0.0, 0)
    for found in (of([]), of([], population_size=10), of([], np.array([], dtype=np.int64))):
        assert (found.prosecutor, found.journalist, found.marketer) == (nothing, nothing, 0.0)


def test_figures_are_plain_json() -> None:
    said = json.loads(json.dumps(AttackersResult.model_validate(of([2, 5], population_size=100)).to_dict()))
    assert said["basis"] == "estimate"
    assert set(said["journalist"]) == {"max", "average", "above", "strict_average", "uniques"}


@pytest.mark.requirement("R-03")
def test_all_models_of_population_uniqueness_in_one_table() -> None:
    people = np.array([1] * 30 + [2] * 15 + [3] * 8 + [20] * 5)
    found = population_uniques(people, 1000)
    assert set(found) == {"dankar", "pitman", "zayatz", "snb"}
    assert found["dankar"] == min(found["zayatz"] or 0, found["snb"] or np.inf)
    rare = population_uniques(people, 100_000)
    assert rare["snb"] is None
    assert rare["dankar"] == rare["pitman"]
    assert population_uniques(np.array([2, 3]), 50) == dict.fromkeys(found, 0.0)


def test_wrong_use_is_told() -> None:
    with pytest.raises(InputError, match="threshold of 20"):
        of([2], threshold=20)
    with pytest.raises(InputError, match="1 classes, but the population is given for 2"):
        of([2], np.array([2, 3]))
    with pytest.raises(DataError, match="the table has 5 people"):
        of([5], population_size=4)


def visits() -> pl.DataFrame:
    """Anna is alone in one class and one of three in another; Ben and Carl are in the latter, Dora with Ben."""
    return pl.DataFrame(
        {
            "who": ["Anna", "Anna", "Ben", "Carl", "Dora", "Ben"],
            "town": ["A", "B", "B", "B", "C", "C"],
        }
    )


@pytest.mark.requirement("D-09")
def test_somebody_in_several_classes_is_one_person_at_the_risk_of_the_smallest() -> None:
    """By hand: Anna 1, Ben and Dora 1/2, Carl 1/3; of four people, not of the six pairs of a person and a class."""
    found = attackers_of(measure_classes(visits().lazy(), ("town",), "who").classes, threshold=0.4)
    assert found.prosecutor.average == pytest.approx((1 + 1 / 2 + 1 / 2 + 1 / 3) / 4)
    assert found.marketer == found.prosecutor.average
    assert found.prosecutor.above == 3 / 4
    assert found.prosecutor.uniques == 1


@pytest.mark.requirement("D-09")
def test_the_population_is_looked_at_for_each_person_too() -> None:
    """A, B and C have 2, 4 and 3 people of the population: Anna 1/2, Ben and Dora 1/3, Carl 1/4."""
    classes = measure_classes(visits().lazy(), ("town",), "who").classes
    found = attackers_of(classes, population=np.array([2, 4, 3]))
    assert found.marketer == pytest.approx((1 / 2 + 1 / 3 + 1 / 3 + 1 / 4) / 4)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=2, max_size=30))
def test_averages_are_of_people_whoever_has_how_many_records(rows: list[tuple[int, int]]) -> None:
    table = pl.DataFrame(rows, schema=["who", "town"], orient="row")
    classes = {town: {who for who, at in rows if at == town} for _, town in rows}
    risk = {who: max(1 / len(classes[at]) for one, at in rows if one == who) for who, _ in rows}
    found = measure_classes(table.lazy(), ("town",), "who").risk
    assert found.prosecutor_average == pytest.approx(sum(risk.values()) / len(risk))
    assert found.uniques == sum(one == 1 for one in risk.values()) <= len(risk)
