"""Formal figures of any table, held against the definitions: a little more will do, a little less will not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import exp, inf, isinf, log
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.support.definitions import SINGLE, Group, Table
from tests.support.model_cases import declared_cases

from shoal.assess.measure.linear_sensitivity import parse_rule
from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.table_measurement import measure_data
from shoal.assess.measure.thresholds import FigureThreshold
from shoal.errors import InputError
from shoal.hierarchy.value_order import ValueOrder
from shoal.measurement import Measurement, SensitiveKnowledge, formal_models, measure_classes
from shoal.measurement.formal_models import SENSITIVE, WHOLE, measure_formal
from shoal.privacy import Classes, Figure, FigureUnit, PrivacyModel
from shoal.privacy.figures import NEUTRAL, by_name, worst_figure
from shoal.privacy.models.lkc import Lkc
from shoal.schema import Column, ValueType

declared_cases()  # a file of tests can't be imported while Hypothesis runs one

pytestmark = pytest.mark.requirement("R-03", "S-05")

Row = tuple[int, int, int, int]
QUASI = ("a", "b", "c")
NUMBER = {"s": Column("s", ValueType.INTEGER, pl.Int64())}
ROWS = st.lists(st.tuples(*[st.integers(0, 1)] * 3, st.integers(0, 3)), min_size=1, max_size=14)
AT_LEAST = [name for name, figure in SENSITIVE.items() if figure.more_is_safer]
BOUNDED = ("t", "t_ordered", "alpha", "lkc_c")
BEYOND = 1e9


def measured(rows: list[Row]) -> Measurement:
    frame = pl.LazyFrame(rows, schema=[*QUASI, "s"], orient="row")
    return measure_classes(frame, QUASI, None, ("s",), {"s": SensitiveKnowledge(ValueOrder(NUMBER["s"]))})


def table_of(rows: list[Row]) -> Table:
    """The same as sets of people and lists of values."""
    cells = sorted({row[:3] for row in rows})
    groups = []
    for cell in cells:
        places = [place for place, row in enumerate(rows) if row[:3] == cell]
        values = Counter(rows[place][3] for place in places)
        groups.append(Group(cell, len(places), frozenset((0, place) for place in places), values, 0))
    return Table(tuple(groups), Counter(row[3] for row in rows), (), range(4))


def holds(model: PrivacyModel, table: Table) -> bool:
    return all(SINGLE[model.key](model, group, table) for group in table.groups)


def sides(name: str, found: float) -> tuple[float | None, float | None]:
    """A parameter that has to do, and one that may not; None where there is none."""
    if SENSITIVE[name].unit is FigureUnit.COUNT:
        return found, found + 1
    if name in AT_LEAST:
        return max(float(name == "entropy_l"), found - 1e-7), found + 1e-5
    if isinf(found):
        return None, BEYOND
    enough = found + 1e-7
    return min(1.0, enough) if name in BOUNDED else enough, found - 1e-6 if found > 2e-6 else None


@given(ROWS)
def test_each_figure_is_where_its_definition_begins_to_hold(rows: list[Row]) -> None:
    table, classes = table_of(rows), measured(rows).classes
    found = measure_formal(classes, NUMBER)
    assert set(found.attributes["s"]) == set(SENSITIVE) - {"t_hierarchical"}
    for name, figure in found.attributes["s"].items():
        enough, too_much = sides(name, figure)
        k = int(found.whole["k"])
        if enough is not None:
            assert holds(SENSITIVE[name].model("s", enough, k), table), (name, figure)
        if too_much is not None:
            assert not holds(SENSITIVE[name].model("s", too_much, k), table), (name, figure)


@given(ROWS)
def test_figures_are_those_that_the_models_find(rows: list[Row]) -> None:
    classes = measured(rows).classes
    figures = [*WHOLE.values(), *(SENSITIVE[name] for name in ("distinct_l", "t", "beta", "delta"))]
    for figure in figures:
        model = figure.model("s", NEUTRAL, NEUTRAL)
        assert worst_figure(model, classes) == model.find(classes).achieved
        assert figure.of(classes, "s") == model.find(classes).achieved
    assert measure_formal(classes).shown_parameters["lkc_k"] == Lkc(l=2, k=1, c=1, attribute="s").find(classes).achieved


@given(ROWS)
def test_figures_of_the_classes_by_counting(rows: list[Row]) -> None:
    sizes = list(Counter(row[:3] for row in rows).values())
    assert measure_formal(measured(rows).classes).whole == {
        "k": min(sizes),
        "maximum_risk": 1 / min(sizes),
        "average_risk": pytest.approx(len(sizes) / len(rows)),
        "sample_uniqueness": pytest.approx(sizes.count(1) / len(rows)),
    }


@given(ROWS, st.sampled_from([name for name in SENSITIVE if name != "t_hierarchical"]), st.floats(0.01, 3))
def test_a_requirement_is_met_exactly_where_the_definition_holds(rows: list[Row], name: str, bound: float) -> None:
    bound = float(max(1, round(bound))) if name in AT_LEAST else min(bound, 1.0) if name in BOUNDED else bound
    classes = measured(rows).classes
    found = measure_formal(classes, NUMBER)
    figure = found.attributes["s"][name]
    assume(isinf(figure) or abs(figure - bound) > 1e-6 or name in AT_LEAST)
    model = SENSITIVE[name].model("s", bound, int(found.whole["k"]))
    met = figure >= bound if name in AT_LEAST else figure <= bound
    assert bool(model.holds(classes).all()) is met


def test_the_salaries_of_li_et_al_2007() -> None:
    """Ordered distance: {3k, 4k, 5k} is 0.375 from the nine salaries, {6k, 8k, 11k} 0.167."""
    salaries = {1: [3, 4, 5], 2: [6, 8, 11], 3: [7, 9, 10]}
    rows = [(group, 0, 0, salary) for group, several in salaries.items() for salary in several]
    found = measure_formal(measured(rows).classes, NUMBER).attributes["s"]
    assert found["t_ordered"] == pytest.approx(0.375)
    assert found["t"] == pytest.approx(2 / 3)
    assert found["beta"] == pytest.approx(2)


def test_a_class_by_hand() -> None:
    """Four, two and one of seven in the only class: nothing is gained, and c is 4 ÷ 3 and 4 ÷ 1."""
    found = measure_formal(measured([(0, 0, 0, value) for value in (0, 0, 0, 0, 1, 1, 2)]).classes, NUMBER)
    entropy = log(7) - (4 * log(4) + 2 * log(2)) / 7
    expected = {
        "distinct_l": 3,
        "entropy_l": pytest.approx(exp(entropy)),
        "recursive_c2": pytest.approx(4 / 3),
        "recursive_c3": 4,
        "t": 0,
        "t_ordered": 0,
        "p": 3,
        "alpha": pytest.approx(4 / 7),
        "beta": 0,
        "enhanced_beta": 0,
        "delta": 0,
        "lkc_c": pytest.approx(4 / 7),
    }
    assert {name: found.attributes["s"][name] for name in expected} == expected
    assert found.parameters["p"] == {"k": 7}
    assert found.parameters["lkc_c"] == {"l": 2, "k": 7}


def test_what_no_parameter_allows_is_null_and_what_makes_no_sense_is_explained() -> None:
    rows = [(0, 0, 0, 0), (0, 0, 0, 0), (1, 0, 0, 1), (1, 0, 0, 0)]
    found = measure_formal(measured(rows).classes).to_dict()
    assert found["attributes"]["s"]["delta"] is None
    assert found["attributes"]["s"]["recursive_c2"] is None
    assert "t_ordered" not in found["attributes"]["s"]
    assert found["left_out"]["s"]["t_ordered"] == "its values are neither numbers nor dates"
    assert "hierarchy" in found["left_out"]["s"]["t_hierarchical"]


def test_two_quasi_identifiers_are_all_that_an_attacker_knows() -> None:
    frame = pl.LazyFrame({"a": [0, 0, 1], "b": [0, 0, 1], "s": [1, 2, 1]})
    found = measure_formal(measure_classes(frame, ("a", "b"), None, ("s",)).classes)
    assert "see alpha" in found.left_out["s"]["lkc_c"]
    assert "lkc_k" not in found.to_dict()
    assert "lkc_c" not in found.parameters


def test_a_star_is_a_value_and_suppressed_records_belong_to_no_class() -> None:
    frame = pl.LazyFrame({"a": ["x", "x", "*"], "b": ["y", "y", "*"], "s": [1, 2, 3]})
    found = measure_formal(measure_classes(frame, ("a", "b"), None, ("s",)).classes)
    assert found.whole["k"] == 2
    assert found.attributes["s"]["t"] == pytest.approx(1 / 3)


def test_people_are_counted_where_they_are_known() -> None:
    frame = pl.LazyFrame({"a": [0, 0, 0], "b": [0, 0, 0], "s": [1, 2, 1], "who": [7, 7, 8]})
    found = measure_formal(measure_classes(frame, ("a", "b"), "who", ("s",)).classes)
    assert found.whole["k"] == 2
    assert found.parameters["alpha"] == {"k": 2}


def test_too_many_classes_and_values_are_not_gone_through_unasked() -> None:
    rows = [(place % 2, place % 3, 0, place % 4) for place in range(24)]
    with patch.object(formal_models, "MOST_CELLS", 5):
        found = measure_formal(measured(rows).classes, NUMBER)
    assert found.attributes == {"s": {}}
    assert "unasked" in found.left_out["s"]["t"]


def test_figures_stand_in_the_order_that_models_declare() -> None:
    assert [*WHOLE] == ["k", "maximum_risk", "average_risk", "sample_uniqueness"]
    diversity = ["distinct_l", "entropy_l", "recursive_c2", "recursive_c3"]
    closeness = ["t", "t_ordered", "t_hierarchical"]
    others = ["p", "alpha", "beta", "enhanced_beta", "delta", "lkc_c"]
    assert [*SENSITIVE][:13] == [*diversity, *closeness, *others]


def test_two_figures_of_one_name_are_refused() -> None:
    twins = [Figure("k", title, WHOLE["k"].model, sensitive=False) for title in ("k", "another k")]
    with pytest.raises(InputError, match="two privacy models declare a figure 'k'"):
        by_name(twins)


def test_numbers_stay_with_the_classes_that_are_taken_or_merged() -> None:
    """Sorted, beside their counts: whatever is done with classes, the values are those that were counted."""
    classes = measured([(0, 0, 0, 7), (0, 0, 1, 3), (0, 1, 0, 3), (1, 1, 1, 9)]).classes
    several: list[Classes] = [classes, classes.only(classes.records > 0), classes.at(np.array([2, 0]))]
    for histograms in (one.histograms("s") for one in several):
        assert histograms.numbers is not None
        assert histograms.numbers.tolist() == [3, 7, 9]
    merged = classes.histograms("s").merged(np.zeros(4, dtype=np.int64), 1)
    assert merged.numbers is not None
    assert [row.tolist() for _, block in merged.blocks() for row in block] == [[2, 1, 1]]


SENSELESS: dict[Callable[[str], object], dict[str, str]] = {
    FigureThreshold.parse: {
        "ditinct_l=3": "did you mean 'distinct_l'.*one of k, .*sensitive_cells",
        "distinct_l": "unknown figure|needs a number",
        "distinct_l=": "needs a number",
        "t=nan": "needs a number",
        "t=2": "at most 1",
        "distinct_l=2.5": "whole number",
        "delta=0": "above 0",
        "k.s=3": "of the whole table",
    },
    parse_rule: {
        "dominanc=1,0.8": "did you mean 'dominance'.*pq=0.1,0.5",
        "dominance=1": "not of the form dominance=1,0.8",
        "dominance=1.5,0.8": "whole number",
        "dominance=0,0.8": "at least 1",
        "dominance=1e9,0.8": "dominate nothing",
        "dominance=1,80": "0.1 is 10 %",
        "threshold=0": "at least 1",
        "threshold=inf": "whole number",
        "p=nan": "above 0",
        "p=": "not of the form p=0.1",
        "p=0.1,2": "not of the form p=0.1",
        "pq=0.5,0.1": "posterior above the prior",
    },
}


@pytest.mark.parametrize(
    ("parse", "text", "says"), [(parse, *case) for parse, cases in SENSELESS.items() for case in cases.items()]
)
def test_senseless_thresholds_and_rules_are_refused(parse: Callable[[str], object], text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        parse(text)


def test_rules_as_they_are_written() -> None:
    assert [str(parse_rule(text)) for text in ("threshold=3", "dominance=2,0.9", "p=0.1", "pq=0.1,0.5")] == [
        "threshold (3)",
        "dominance (2, 0.9)",
        "p % (10)",
        "p/q (0.1, 0.5)",
    ]


def test_a_strict_bound_is_not_met_by_its_figure(tmp_path: object) -> None:
    """δ-disclosure and (c, l)-diversity ask for less than their parameter, t-closeness for at most."""
    path = f"{tmp_path}/table.csv"
    rows = [("x", value) for value in (1, 1, 2)] + [("y", value) for value in (1, 2, 2)]
    pl.DataFrame(rows, schema=["a", "s"], orient="row").write_csv(path)
    delta = log((2 / 3) / (1 / 2))
    asked = [f"delta={max(delta, log(1.5))}", "recursive_c2=2", "recursive_c2=2.01", f"t={1 / 6}", "t.s=0.1"]
    request = MeasureRequest.parse(policy=None, quasi="a", sensitive="s", require=asked)
    found = measure_data(path, request)
    assert [finding.met for finding in found.models] == [False, False, True, True, False]
    assert [finding.name for finding in found.models][-1] == "t.s"
    assert found.models[0].achieved < inf
