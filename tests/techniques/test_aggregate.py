"""Aggregation: the right numbers, small groups withheld, and an audit by linear programming that none can be computed.

The audit knows nothing of how cells were chosen. It takes the published table as an attacker would: what is shown is
known, a group without a line is empty, groups of a line add up to its total, counts are at least 1 and sums at least 0.
The smallest and the largest value that each withheld cell can then have are two linear programs.
"""

from __future__ import annotations

import pickle
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.optimize import linprog

from shoal.errors import DataError
from shoal.randomness import Randomness
from shoal.schema import Column, ValueType
from shoal.techniques.base import Context, Scope
from shoal.techniques.statistical.aggregation.aggregate import Aggregate, AggregateStep

pytestmark = pytest.mark.requirement("T-18")

BY = ("a", "b", "c")
COLUMNS = {
    **{name: Column(name) for name in (*BY, "who")},
    "pay": Column("pay", ValueType.INTEGER, pl.Int64()),
    "rate": Column("rate", ValueType.DECIMAL, pl.Float64(), scale=2),
    "day": Column("day", ValueType.DATE, pl.String(), date_format="%d/%m/%Y"),
}
TOTAL = "Total"
Key = tuple[str | None, ...]


def bound(person: str | None = None, **parameters: object) -> AggregateStep:
    context = Context(COLUMNS, Randomness(18).stream("aggregate"), person=person)
    return Aggregate.model_validate(parameters).bind(context)


def aggregated(frame: pl.DataFrame, person: str | None = None, **parameters: object) -> pl.DataFrame:
    step = bound(person, **parameters)
    return step.finish(step.apply(frame))


def lines(table: pl.DataFrame, by: tuple[str, ...], measure: str) -> dict[Key, float | None]:
    return dict(zip(table.select(by).rows(), table[measure], strict=True))


def spans(shown: dict[Key, float | None], axes: int, lowest: float) -> dict[Key, tuple[float, float]]:
    """For each withheld line of the published table, the smallest and largest value it can have."""
    unknown = [key for key, value in shown.items() if value is None]
    values = [sorted({key[axis] for key in shown} - {TOTAL}, key=str) for axis in range(axes)]
    equations, sides = [], []
    for axis in range(axes):
        for rest in product(*(([TOTAL, *values[other]]) for other in range(axes) if other != axis)):
            row, side = np.zeros(len(unknown)), 0.0
            for value in (*values[axis], TOTAL):
                key = (*rest[:axis], value, *rest[axis:])
                sign = -1.0 if value == TOTAL else 1.0
                if key in shown and shown[key] is None:
                    row[unknown.index(key)] = sign
                else:
                    side -= sign * (shown.get(key) or 0.0)
            equations.append(row)
            sides.append(side)
    found = {}
    for at, key in enumerate(unknown):
        ends = []
        for direction in (1.0, -1.0):
            goal = np.zeros(len(unknown))
            goal[at] = direction
            solved = linprog(goal, A_eq=np.array(equations), b_eq=sides, bounds=(lowest, None))
            assert solved.status in (0, 3), "the published table must be possible"
            ends.append(np.inf if solved.status == 3 else abs(solved.fun))
        found[key] = (ends[0], ends[1])
    return found


def small_groups(frame: pl.DataFrame, by: tuple[str, ...], minimum: int) -> dict[Key, tuple[int, int]]:
    """Groups and totals with too few records, with their count and sum, by plain counting."""
    cells: dict[Key, tuple[int, int]] = {}
    for row, pay in zip(frame.select(by).rows(), frame["pay"], strict=True):
        for hidden in (set(each) for size in range(len(by) + 1) for each in combinations(range(len(by)), size)):
            key = tuple(TOTAL if at in hidden else value for at, value in enumerate(row))
            count, total = cells.get(key, (0, 0))
            cells[key] = (count + 1, total + pay)
    return {key: cell for key, cell in cells.items() if cell[0] < minimum}


def microdata(sizes: list[int], axes: int, pays: list[int]) -> pl.DataFrame:
    """Records for a table whose groups have the given sizes (0: no such group)."""
    shape = {1: (8,), 2: (4, 4), 3: (3, 2, 3)}[axes]
    rows = [key for key, size in zip(np.ndindex(*shape), sizes, strict=False) for _ in range(size)]
    named = {name: [f"{name}{row[at]}" for row in rows] for at, name in enumerate(BY[:axes])}
    frame = pl.DataFrame(named, schema=dict.fromkeys(named, pl.String))
    return frame.with_columns(pl.Series("pay", [pays[at % len(pays)] for at in range(len(rows))], dtype=pl.Int64))


group_sizes = st.lists(st.sampled_from([0, 0, 1, 1, 2, 3, 4, 5, 6, 9, 20]), min_size=4, max_size=18)
pays = st.lists(st.integers(0, 1000), min_size=1, max_size=30)


@pytest.mark.parametrize("axes", [1, 2, 3])
@given(sizes=group_sizes, pays=pays, minimum=st.sampled_from([2, 3, 5]))
@settings(max_examples=25)
def test_audit_no_small_group_can_be_computed_from_the_totals(axes, sizes, pays, minimum):
    frame, by = microdata(sizes, axes, pays), BY[:axes]
    measures = {"n": "count", "total": {"sum": "pay"}}
    table = aggregated(frame, by=by, measures=measures, minimum=minimum, totals=True, protection=0.2)
    small = small_groups(frame, by, minimum)
    counts, sums = lines(table, by, "n"), lines(table, by, "total")
    assert all(counts[key] is None and sums[key] is None for key in small)
    counted, summed = spans(counts, axes, lowest=1), spans(sums, axes, lowest=0)
    for key, (count, total) in small.items():
        low, high = counted[key]
        assert low - 1e-6 <= count <= high + 1e-6
        assert high >= minimum - 1e-6, "that the group is large must remain possible"
        low, high = summed[key]
        assert low <= total * 0.8 + 1e-6
        assert high >= max(total * 1.2, total + 1) - 1e-6


SQUARE = [1, 20, 0, 0, 20, 20]
"""Sizes of two by two groups, one of them small."""


def test_the_audit_finds_what_primary_suppression_alone_gives_away():
    frame, by = microdata(SQUARE, 2, [100]), ("a", "b")
    shown = lines(aggregated(frame, by=by, measures={"n": "count"}, minimum=5, totals=True), by, "n")
    assert [key for key, value in shown.items() if value is None] == list(product(("a0", "a1"), ("b0", "b1")))
    assert spans(shown, 2, lowest=1)["a0", "b0"] == pytest.approx((1, 20))
    careless = {key: 20 if value is None and key != ("a0", "b0") else value for key, value in shown.items()}
    assert spans(careless, 2, lowest=1) == {("a0", "b0"): pytest.approx((1, 1))}


def test_two_small_groups_do_not_hide_each_other():
    frame = microdata([1, 1, 30, 40], 1, [100])
    table = aggregated(frame, by=("a",), measures={"n": "count"}, minimum=5, totals=True)
    assert lines(table, ("a",), "n") == {("a0",): None, ("a1",): None, ("a2",): None, ("a3",): 40, (TOTAL,): 72}


def test_small_groups_that_are_many_enough_together_keep_the_total():
    frame = microdata([4, 4, 4, 4], 1, [100])
    table = aggregated(frame, by=("a",), measures={"n": "count"}, minimum=5, totals=True)
    assert lines(table, ("a",), "n")[TOTAL,] == 16
    assert table["withheld"].sum() == 4


def test_a_total_goes_only_where_nothing_else_helps():
    frame = microdata([1, 2], 1, [100])
    table = aggregated(frame, by=("a",), measures={"n": "count"}, minimum=5, totals=True)
    assert table["n"].to_list() == [None, None, None]
    lone = microdata([2, 0, 0, 0, 9, 9], 2, [100])
    shown = lines(aggregated(lone, by=("a", "b"), measures={"n": "count"}, minimum=5, totals=True), ("a", "b"), "n")
    assert shown["a0", TOTAL] is None
    assert shown[TOTAL, TOTAL] == 20


def test_a_sum_needs_room_beside_the_count():
    frame = pl.DataFrame({"a": ["x"] * 2 + ["y"] * 9 + ["z"] * 12, "pay": [5000] * 2 + [1] * 9 + [900] * 12})
    table = aggregated(frame, by=("a",), measures={"s": {"sum": "pay"}}, minimum=5, totals=True)
    assert lines(table, ("a",), "s") == {("x",): None, ("y",): 9, ("z",): None, (TOTAL,): 20_809}


def test_a_sum_needs_room_below_as_well():
    """The cheapest box has an opposite corner of sum 0, which would show that the small group has at least its sum."""
    sizes = {("a0", "b0"): 1, ("a0", "b1"): 10, ("a0", "b2"): 11, ("a1", "b0"): 20, ("a1", "b1"): 10, ("a1", "b2"): 11}
    rows = [(*key, 0 if key == ("a1", "b1") else 1000) for key, size in sizes.items() for _ in range(size)]
    frame = pl.DataFrame(rows, schema=["a", "b", "pay"], orient="row")
    shown = lines(
        aggregated(frame, by=("a", "b"), measures={"s": {"sum": "pay"}}, minimum=3, totals=True), ("a", "b"), "s"
    )
    assert shown["a1", "b1"] == 0
    assert shown["a1", "b2"] is None
    assert spans(shown, 2, lowest=0)["a0", "b0"][0] <= 900


def test_without_totals_only_small_groups_are_withheld():
    frame = microdata([1, 20, 20, 20], 2, [100])
    table = aggregated(frame, by=("a", "b"), measures={"n": "count"}, minimum=5)
    assert table["n"].to_list() == [None, 20, 20, 20]
    assert table["withheld"].to_list() == [True, False, False, False]
    dropped = aggregated(frame, by=("a", "b"), measures={"n": "count"}, minimum=5, drop_withheld=True)
    assert dropped.height == 3


def test_totals_known_from_elsewhere_count_like_published_ones():
    frame = microdata([1, 20, 30, 40], 1, [100])
    table = aggregated(frame, by=("a",), measures={"n": "count"}, minimum=5, totals_known=True)
    assert table["n"].to_list() == [None, None, 30, 40]
    with pytest.raises(DataError, match=r"1 small group\(s\) can be computed from totals that are known"):
        aggregated(microdata([2], 1, [100]), by=("a",), minimum=5, totals_known=True)


def test_the_numbers():
    frame = pl.DataFrame(
        {
            "a": ["x", "x", "y", "y", "x", "y"],
            "pay": [10, 20, 5, None, 30, 6],
            "rate": [0.1, 0.2, 0.3, 0.25, 0.2, 0.1],
            "day": ["01/02/2020", "31/01/2019", None, "05/05/2005", "02/02/2020", "06/05/2005"],
        }
    )
    measures = {
        "n": "count",
        "people": "people",
        "sum": {"sum": "pay"},
        "mean": {"mean": "pay"},
        "least": {"min": "rate"},
        "most": {"max": "pay"},
        "rates": {"sum": "rate"},
        "rate mean": {"mean": "rate"},
        "first": {"min": "day"},
        "last": {"max": "day"},
    }
    table = aggregated(frame, by=("a",), measures=measures, minimum=2)
    assert table.rows() == [
        ("x", 3, 3, 60, 20.0, 0.1, 30, 0.5, 0.167, "31/01/2019", "02/02/2020", False),
        ("y", 3, 3, 11, 5.5, 0.1, 6, 0.65, 0.217, "05/05/2005", "06/05/2005", False),
    ]
    rounded = aggregated(frame, by=("a",), measures={"m": {"mean": "rate"}}, minimum=2, decimals=1)
    assert rounded["m"].to_list() == [0.2, 0.2]


def test_few_who_gave_a_value_are_as_telling_as_few_people():
    frame = pl.DataFrame({"a": ["x"] * 9 + ["y"] * 9, "pay": [7] + [None] * 8 + [None] * 9})
    table = aggregated(frame, by=("a",), measures={"n": "count", "s": {"sum": "pay"}}, minimum=3)
    assert table.rows() == [("x", None, None, True), ("y", 9, None, False)]


def test_the_few_who_gave_a_value_are_hidden_among_others_who_did():
    frame = pl.DataFrame(
        {"a": ["x"] * 9 + ["y"] * 9 + ["z"] * 12, "pay": [7] + [None] * 8 + [None] * 9 + [5] * 12},
        schema_overrides={"pay": pl.Int64},
    )
    table = aggregated(frame, by=("a",), measures={"s": {"sum": "pay"}}, minimum=3, totals=True)
    assert lines(table, ("a",), "s") == {("x",): None, ("y",): None, ("z",): None, (TOTAL,): 67}
    assert table["withheld"].to_list() == [True, False, True, False]


@pytest.mark.parametrize(("share", "withheld"), [(0.85, True), (0.95, False)])
def test_dominance(share, withheld):
    frame = pl.DataFrame({"a": ["x"] * 6 + ["y"] * 6, "pay": [500, 400, 20, 30, 40, 10] + [100] * 6})
    measures = {"s": {"sum": "pay"}}
    table = aggregated(frame, by=("a",), measures=measures, minimum=3, dominance={"largest": 2, "share": share})
    assert table["withheld"].to_list() == [withheld, False]
    step = bound(by=("a",), measures=measures, minimum=3, dominance={"largest": 2, "share": share}, totals=True)
    split = step.finish(pl.concat([step.apply(frame[:1]), step.apply(frame[1:5]), step.apply(frame[5:])]))
    assert split["withheld"].to_list() == [withheld, withheld, False]


def test_dominance_ranks_people_and_needs_values_of_one_sign():
    frame = pl.DataFrame({"a": ["x"] * 8, "pay": [50] * 4 + [60] * 4, "who": ["p"] * 4 + ["q", "r", "s", "t"]})
    rule = {"by": ("a",), "measures": {"s": {"sum": "pay"}}, "minimum": 3, "dominance": {"largest": 1, "share": 0.4}}
    assert aggregated(frame, **rule)["withheld"].to_list() == [False]  # type: ignore[arg-type]
    assert aggregated(frame, person="who", **rule)["withheld"].to_list() == [True]
    with pytest.raises(DataError, match="dominance needs values of at least 0; column 'pay'"):
        aggregated(frame.with_columns(-pl.col("pay")), **rule)  # type: ignore[arg-type]


def test_people_are_counted_not_records():
    frame = pl.DataFrame({"a": ["x"] * 9 + ["y"] * 5, "who": ["p"] * 8 + ["q"] + list("stuvw")})
    measures = {"n": "count", "people": "people"}
    assert aggregated(frame, by=("a",), measures=measures, minimum=3)["n"].to_list() == [9, 5]
    by_person = aggregated(frame, person="who", by=("a",), measures=measures, minimum=3)
    assert by_person.rows() == [("x", None, None, True), ("y", 5, 5, False)]
    nameless = frame.with_columns(who=pl.lit(None, pl.String))
    assert aggregated(nameless, person="who", by=("a",), measures=measures, minimum=3)["n"].to_list() == [None, None]


def test_small_groups_of_the_same_people_do_not_hide_each_other():
    frame = pl.DataFrame(
        {"a": ["x", "x", "y", "y", "z", "z"] + ["large"] * 9, "who": list("pqpqpq") + list("abcdefghi")}
    )
    table = aggregated(frame, "who", by=("a",), measures={"n": "count"}, minimum=4, totals=True)
    assert lines(table, ("a",), "n") == {("large",): None, ("x",): None, ("y",): None, ("z",): None, (TOTAL,): 15}
    as_records = aggregated(frame, by=("a",), measures={"n": "count"}, minimum=4, totals=True)
    assert lines(as_records, ("a",), "n")["large",] == 9


people = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 14)), max_size=60)


@given(rows=people, minimum=st.sampled_from([2, 4]))
@settings(max_examples=40)
def test_what_a_line_gives_away_spans_enough_people(rows, minimum):
    frame = pl.DataFrame(
        [(f"a{a}", f"b{b}", f"p{who}") for a, b, who in rows],
        schema={"a": pl.String, "b": pl.String, "who": pl.String},
        orient="row",
    )
    table = aggregated(frame, "who", by=("a", "b"), measures={"n": "count"}, minimum=minimum, totals=True)
    shown = lines(table, ("a", "b"), "n")
    for axis in (0, 1):
        for value in {key[axis] for key in shown} - {TOTAL}:
            line = [key for key in shown if key[axis] == value and key[1 - axis] != TOTAL]
            total = (value, TOTAL) if axis == 0 else (TOTAL, value)
            hidden = [key for key in line if shown[key] is None]
            if shown[total] is None or not hidden:
                continue
            union = frame.filter(pl.struct("a", "b").is_in([{"a": a, "b": b} for a, b in hidden]))
            assert union["who"].n_unique() >= minimum


def test_extremes_of_a_total_do_not_point_to_a_withheld_group():
    frame = microdata(SQUARE, 2, [7]).with_columns(pay=pl.int_range(pl.len()).reverse())
    table = aggregated(frame, by=("a", "b"), measures={"top": {"max": "pay"}, "n": "count"}, minimum=5, totals=True)
    tops, counts = lines(table, ("a", "b"), "top"), lines(table, ("a", "b"), "n")
    assert counts[TOTAL, TOTAL] == 61
    assert tops[TOTAL, TOTAL] is None
    assert tops["a0", TOTAL] is None
    free = microdata([20, 20, 20, 20], 2, [7])
    assert lines(aggregated(free, by=("a",), measures={"top": {"max": "pay"}}, totals=True), ("a",), "top") == {
        ("a0",): 7,
        (TOTAL,): 7,
    }


def test_values_of_both_signs_have_no_bound_to_reckon_from():
    frame = pl.DataFrame({"a": ["x"] * 2 + ["y"] * 9 + ["z"] * 12, "pay": [5000] * 2 + [-1] * 9 + [900] * 12})
    table = aggregated(frame, by=("a",), measures={"s": {"sum": "pay"}}, minimum=5, totals=True)
    assert table["withheld"].to_list() == [True, True, False, False]


def test_missing_groups_and_the_order_of_lines():
    frame = pl.DataFrame({"a": ["y", None, "x"] * 6, "b": [2, 10, 10] * 6})
    table = aggregated(frame, by=("a", "b"), measures={"n": "count"}, minimum=5, totals=True)
    assert table["a"].to_list() == ["x", "x", "y", "y", None, None, TOTAL, TOTAL, TOTAL]
    assert table["b"].to_list() == ["10", TOTAL, "2", TOTAL, "10", TOTAL, "2", "10", TOTAL]
    plain = aggregated(frame, by=("a", "b"), measures={"n": "count"}, minimum=5)
    assert plain["b"].to_list() == [10, 2, 10]


def test_a_group_called_total():
    frame = pl.DataFrame({"a": ["Total"] * 9 + ["x"] * 9})
    with pytest.raises(DataError, match="column 'a' has a group that is called like the total"):
        aggregated(frame, by=("a",), totals=True)
    assert aggregated(frame, by=("a",), totals=True, total_label="All")["a"].to_list() == ["Total", "x", "All"]


FIGURES = {
    "n": "count",
    "p": "people",
    "s": {"sum": "rate"},
    "m": {"mean": "rate"},
    "hi": {"max": "rate"},
    "d": {"min": "day"},
}


@pytest.mark.parametrize("person", [None, "who"])
@pytest.mark.parametrize("totals", [False, True])
def test_batches_pickling_and_the_empty_frame(person, totals):
    rng = np.random.default_rng(8)
    size = 400
    frame = pl.DataFrame(
        {
            "a": rng.choice(["x", "y", "z"], size),
            "b": rng.choice([1, 2, None], size, p=[0.7, 0.25, 0.05]).tolist(),  # type: ignore[arg-type]
            "who": rng.choice([f"p{at}" for at in range(90)], size),
            "rate": (rng.integers(0, 100_000, size) / 100).tolist(),
            "day": ["03/04/2015", None] * (size // 2),
        }
    )
    step = bound(
        person, by=("a", "b"), measures=FIGURES, minimum=9, totals=totals, dominance={"largest": 2, "share": 0.6}
    )
    whole = step.finish(step.apply(frame))
    assert whole["withheld"].any()
    assert not whole["withheld"].all()
    parts = [step.apply(frame[at : at + 37]) for at in range(0, size, 37)]
    assert step.finish(pl.concat(parts)).equals(whole)
    assert step.finish(pl.concat(reversed(parts))).equals(whole)
    again = pickle.loads(pickle.dumps(step))  # noqa: S301
    assert again.finish(again.apply(frame)).equals(whole)
    assert step.apply(frame.clear()).schema == step.apply(frame).schema
    nothing = step.finish(step.apply(frame.clear()))
    assert (nothing.height, nothing.schema) == (0, whole.schema)
    assert step.scope is Scope.REDUCE
    assert set(step.reads) == {"a", "b", "rate", "day", *([person] if person else [])}


def test_sums_do_not_depend_on_the_order_of_floats():
    rates = [0.1] * 10 + [1e9] + [0.2] * 10 + [0.07] * 7
    frame = pl.DataFrame({"a": ["x"] * len(rates), "rate": rates})
    step = bound(by=("a",), measures={"s": {"sum": "rate"}}, minimum=2)
    forwards = step.finish(pl.concat([step.apply(frame[at]) for at in range(len(rates))]))
    backwards = step.finish(step.apply(frame.reverse()))
    assert forwards.equals(backwards)
    assert forwards["s"].to_list() == [1_000_000_003.49]


def test_figures_that_are_too_large():
    frame = pl.DataFrame({"a": ["x"] * 4, "pay": [2**62] * 4})
    with pytest.raises(DataError, match=r"column 'pay': 1 sum\(s\) are too large"):
        aggregated(frame, by=("a",), measures={"s": {"sum": "pay"}}, minimum=2)
    many = pl.DataFrame({"a": [str(at) for at in range(1100)], "b": [str(at) for at in range(1100)]})
    with pytest.raises(DataError, match="1212201 groups and totals is too large to be protected"):
        aggregated(many, by=("a", "b"), totals=True)


@pytest.mark.requirement("T-29")
@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        ({"sum": "b"}, "there is no sum of text values; column 'b'"),
        ({"mean": "day"}, "there is no mean of date values; column 'day'"),
        ({"max": "b"}, "there is no max of text values; column 'b'"),
    ],
)
def test_refusals_say_why(measure, reason):
    assert Aggregate.model_validate({"by": ["a"], "measures": {"m": measure}}).refuse(COLUMNS) == reason
    fine = Aggregate.model_validate({"by": ["a"], "measures": {"m": {"min": "day"}, "n": "count"}})
    assert fine.refuse(COLUMNS) is None
    assert fine.columns("who") == ("a", "day")


@pytest.mark.parametrize(
    "parameters",
    [
        {"by": []},
        {"by": ["a"], "minimum": 1},
        {"by": ["a"], "measures": {}},
        {"by": ["a"], "measures": {"m": "median"}},
        {"by": ["a"], "measures": {"m": {"sum": "x", "mean": "x"}}},
        {"by": ["a"], "measures": {"m": {}}},
        {"by": ["a"], "measures": {"a": "count"}},
        {"by": ["a", "a"]},
        {"by": ["a"], "measures": {"withheld": "count"}},
        {"by": ["a"], "totals": True, "totals_known": True},
        {"by": ["a"], "dominance": {"largest": 1, "share": 0.5}},
        {"by": ["a"], "protection": 0},
    ],
)
def test_wrong_parameters(parameters):
    with pytest.raises(ValidationError):
        Aggregate.model_validate(parameters)
