"""Intervals: labels, edges of decimal numbers, open ends, the tables of the source documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from shoal.errors import DataError
from shoal.hierarchy import BoundHierarchy, parse_hierarchy
from shoal.schema import Column, ValueType

pytestmark = pytest.mark.requirement("T-08")
Bind = Callable[..., BoundHierarchy]
INTEGER, DECIMAL = ValueType.INTEGER, ValueType.DECIMAL


def labels(bound: BoundHierarchy, values: Sequence[object], level: int) -> list[str | None]:
    return bound.generalise(pl.Series(values, strict=False), level).to_list()


class TestLabels:
    def test_whole_numbers(self, bind: Bind) -> None:
        bound = bind({"intervals": {"widths": [5, 10, 20]}}, ["0", "34", "100"], INTEGER)
        assert bound.height == 4
        assert labels(bound, ["0", "34", None, "100"], 1) == ["0-4", "30-34", None, "100-104"]
        assert labels(bound, ["0", "34", None, "100"], 3) == ["0-19", "20-39", None, "100-119"]

    def test_negative_numbers_can_be_read(self, bind: Bind) -> None:
        bound = bind({"intervals": {"widths": [10], "origin": -5}}, [-20, 20], INTEGER, storage=pl.Int64())
        assert labels(bound, [-6, -5, 4, 5], 1) == ["-15 to -6", "-5 to 4", "-5 to 4", "5-14"]

    def test_intervals_of_one_number_show_the_number(self, bind: Bind) -> None:
        bound = bind({"intervals": {"widths": [1, 5]}}, [7], INTEGER)
        assert labels(bound, [7, -7], 1) == ["7", "-7"]

    def test_decimals_show_which_end_is_inside(self, bind: Bind) -> None:
        bound = bind({"intervals": {"widths": [2.5, 10]}}, [20.0, 29.99], DECIMAL, storage=pl.Float64())
        assert labels(bound, [20.0, 22.49, 22.5, -0.1], 1) == [
            "[20.0, 22.5)",
            "[20.0, 22.5)",
            "[22.5, 25.0)",
            "[-2.5, 0.0)",
        ]
        assert labels(bound, [20.0, 29.99, 30.0, -0.1], 2) == ["[20, 30)", "[20, 30)", "[30, 40)", "[-10, 0)"]

    def test_own_label(self, bind: Bind) -> None:
        bound = bind({"intervals": {"widths": [10], "label": "from {low} to {high}, under {next}"}}, [3], INTEGER)
        assert labels(bound, [34], 1) == ["from 30 to 39, under 40"]

    def test_braces_in_a_label(self, bind: Bind) -> None:
        bound = bind({"intervals": {"widths": [10], "label": "{{{low}}}"}}, [3], INTEGER)
        assert labels(bound, [34], 1) == ["{30}"]


class TestOpenEnds:
    def test_intervals_are_cut_where_the_ends_begin(self, bind: Bind) -> None:
        bound = bind({"intervals": {"widths": [5, 20], "low": 18, "high": 90}}, [0, 110], INTEGER)
        ages = [-3, 0, 17, 18, 20, 89, 90, 110]
        assert labels(bound, ages, 1) == ["<18", "<18", "<18", "18-19", "20-24", "85-89", "90+", "90+"]
        assert labels(bound, ages, 2) == ["<18", "<18", "<18", "18-19", "20-39", "80-89", "90+", "90+"]

    def test_decimal_ends(self, bind: Bind) -> None:
        bound = bind({"intervals": {"widths": [10], "low": 18.5, "high": 30}}, [0.0, 40.0], DECIMAL)
        assert labels(bound, [18.49, 18.5, 29.9, 30.0], 1) == ["<18.5", "[18.5, 20.0)", "[20.0, 30.0)", "≥ 30"]

    def test_negative_top(self, bind: Bind) -> None:
        bound = bind({"intervals": {"widths": [10], "high": -5}}, [-20, 0], INTEGER)
        assert labels(bound, [-6, -5], 1) == ["-10 to -6", "≥ -5"]

    def test_own_labels(self, bind: Bind) -> None:
        spec = {"widths": [10], "low": 20, "high": 60, "low_label": "young", "high_label": "old"}
        assert labels(bind({"intervals": spec}, [1, 99], INTEGER), [19, 20, 60], 1) == ["young", "20-29", "old"]

    def test_bounds_of_open_ends_are_those_of_the_data(self, bind: Bind) -> None:
        bound = bind({"intervals": {"widths": [10], "low": 20, "high": 60}}, [3, 99], INTEGER)
        bounds = bound.bounds(pl.Series([5, 34, 70, None]), 1)
        assert bounds is not None
        low, high = bounds
        assert low.to_list() == [3, 30, 60, None]
        assert high.to_list() == [19, 39, 99, None]


class TestExactEdges:
    def test_a_tenth_is_a_tenth(self, bind: Bind) -> None:
        tenths = [f"{number / 10:.1f}" for number in range(-30, 31)]
        bound = bind({"intervals": {"widths": [0.1, 0.2, 1]}}, tenths, DECIMAL)
        for text, label in zip(tenths, labels(bound, tenths, 1), strict=True):
            assert label == f"[{Decimal(text)}, {Decimal(text) + Decimal('0.1')})".replace("-0.0", "0.0")

    @settings(max_examples=30, deadline=None)
    @given(
        thousandths=st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=30),
        width=st.sampled_from(["0.1", "0.3", "0.7", "0.05", "0.001", "1.1", "7", "0.007"]),
        origin=st.sampled_from(["0", "0.1", "-0.7", "33.333", "1000"]),
    )
    def test_value_lies_in_its_interval(self, bind: Bind, thousandths: list[int], width: str, origin: str) -> None:
        values = [f"{Decimal(number) / 1000:f}" for number in thousandths]
        bound = bind({"intervals": {"widths": [width], "origin": origin}}, values, DECIMAL)
        for value, label in zip(values, labels(bound, values, 1), strict=True):
            low, following = (Decimal(part) for part in str(label).strip("[)").split(", "))
            assert low <= Decimal(value) < following
            assert following - low == Decimal(width)
            assert (low - Decimal(origin)) % Decimal(width) == 0

    @pytest.mark.parametrize("digits", [1, 2, 3])
    def test_edges_and_their_neighbours(self, bind: Bind, digits: int) -> None:
        """0.29 × 100 is 28.999… in floats, and the float below 0.57 times 100 is 57: both would be a band off."""
        units = np.arange(-3000, 3001)
        edges = pl.Series(units / 10**digits)
        below = pl.Series(np.nextafter(units / 10**digits, -np.inf))
        spec = {"widths": [f"{10**-digits:.{digits}f}"], "label": "{low}"}
        bound = bind({"intervals": spec}, edges, DECIMAL, storage=pl.Float64())
        in_units = [round(float(label) * 10**digits) for label in bound.generalise(edges, 1)]
        assert in_units == units.tolist()
        in_units = [round(float(label) * 10**digits) for label in bound.generalise(below, 1)]
        assert in_units == (units - 1).tolist()

    def test_very_many_intervals(self, bind: Bind) -> None:
        values = [0, 10**12 + 7, -(10**12)]
        bound = bind({"intervals": {"widths": [10]}}, values, INTEGER)
        assert labels(bound, values, 1) == ["0-9", f"{10**12}-{10**12 + 9}", f"-{10**12} to -{10**12 - 9}"]

    @pytest.mark.parametrize(("type_", "value"), [(INTEGER, 2**63 - 1), (DECIMAL, 1e300), (DECIMAL, -1e18)])
    def test_numbers_beyond_exact_arithmetic_are_refused(self, bind: Bind, type_: ValueType, value: float) -> None:
        with pytest.raises(DataError, match=r"column 'column': 1 number\(s\) are too large"):
            bind({"intervals": {"widths": [10]}}, [value, 5], type_)


class TestLoss:
    def test_whole_numbers_are_leaves(self, bind: Bind) -> None:
        """Ages 17 to 90 are 74 leaves: 15-19 is clipped to three of them, 20-24 has five."""
        bound = bind({"intervals": {"widths": [5, 10, 20]}}, list(range(17, 91)), INTEGER)
        found = bound.loss(pl.Series([17, 20, 90, None]), 1)
        assert found.tolist() == [2 / 73, 4 / 73, 0, 0]
        assert bound.loss(pl.Series([17, 20, 90, None]), 3).tolist() == [2 / 73, 19 / 73, 10 / 73, 0]

    def test_decimals_are_ranges(self, bind: Bind) -> None:
        bound = bind({"intervals": {"widths": [10]}}, [5.0, 45.0], DECIMAL)
        assert bound.loss(pl.Series([5.0, 15.0, 45.0]), 1).tolist() == [5 / 40, 10 / 40, 5 / 40]

    def test_open_ends_reach_to_the_ends_of_the_data(self, bind: Bind) -> None:
        bound = bind({"intervals": {"widths": [10], "low": 20, "high": 50}}, [0, 100], INTEGER)
        assert bound.loss(pl.Series([5, 25, 70]), 1).tolist() == [19 / 100, 9 / 100, 50 / 100]

    def test_one_number_only(self, bind: Bind) -> None:
        assert bind({"intervals": [10]}, [5, 5], INTEGER).loss(pl.Series([5]), 1).tolist() == [0]


class TestWrongInput:
    @pytest.mark.parametrize(
        ("spec", "message"),
        [
            ({"widths": [5, 12]}, "12 is not a multiple of 5"),
            ({"widths": [10, 5]}, "5 is not a multiple of 10"),
            ({"widths": [5, 5]}, "5 is not a multiple of 5"),
            ({"widths": [0.2, 0.5]}, "0.5 is not a multiple of 0.2"),
            ({"widths": []}, "at least 1 item"),
            ({"widths": [0]}, "greater than 0"),
            ({"widths": [-5]}, "greater than 0"),
            ({"widths": ["wide"]}, "valid decimal"),
            ({"widths": [5], "low": 50, "high": 50}, "low has to be less than high"),
            ({"widths": [5], "label": "band"}, "would look the same"),
            ({"widths": [5], "label": "{middle}"}, "not {middle}"),
            ({"widths": [5], "label": "{low:>9}"}, "has the fields"),
            ({"widths": [5], "low_label": "young"}, "low_label without low"),
            ({"widths": [5], "high_label": "old"}, "high_label without high"),
            ({"widths": [5], "low": 1, "high": 9, "low_label": "end", "high_label": "end"}, "are the same"),
            ({"widths": [5], "width": 5}, "Extra inputs"),
        ],
    )
    def test_refused_with_a_reason(self, spec: dict[str, object], message: str) -> None:
        with pytest.raises(ValidationError) as error:
            parse_hierarchy({"intervals": spec})
        assert message in str(error.value)

    def test_text_column(self) -> None:
        refusal = parse_hierarchy({"intervals": [5]}).refuse(Column("city"))
        assert refusal == "intervals works on integer and decimal columns; column 'city' is text"

    @pytest.mark.parametrize("spec", [{"widths": [2.5]}, {"widths": [5], "origin": 0.5}, {"widths": [5], "high": 0.5}])
    def test_fractions_of_whole_numbers(self, spec: dict[str, object]) -> None:
        refusal = parse_hierarchy({"intervals": spec}).refuse(Column("age", INTEGER)) or ""
        assert "column 'age' holds whole numbers" in refusal

    def test_unreadable_value_is_counted_not_shown(self, bind: Bind) -> None:
        bound = bind({"intervals": [5]}, ["1"], INTEGER)
        with pytest.raises(DataError, match=r"column 'column': 1 value\(s\) can't be read") as error:
            bound.generalise(pl.Series(["4", "Zaphod"]), 1)
        assert "Zaphod" not in str(error.value)


class TestSourceDocuments:
    def test_meity_table_2m(self, bind: Bind) -> None:
        """MeitY 2.2.6 writes [20-30] and [30-40], which share 30; buckets of ten years hold 30 once."""
        ages, after = [24, 31, 34, 29, 23, 37], ["20-30", "30-40", "30-40", "20-30", "20-30", "30-40"]
        printed = bind({"intervals": {"widths": [10], "label": "[{low}-{next}]"}}, ages, INTEGER)
        assert labels(printed, ages, 1) == [f"[{band}]" for band in after]
        clear = bind({"intervals": {"widths": [10]}}, ages, INTEGER)
        assert labels(clear, [29, 30], 1) == ["20-29", "30-39"]

    def test_pdpc_annex_a(self, bind: Bind) -> None:
        """PDPC's bands leave 20 in none ("< 20", then 21-30): it goes to the lowest."""
        ages = [24, 31, 44, 29, 23, 75, 28, 50, 30, 37, 22, 25, 39]
        spec = {"widths": [10], "origin": 1, "low": 21, "high": 61, "high_label": "> 60"}
        bound = bind({"intervals": spec}, ages, INTEGER)
        after = "21-30,31-40,41-50,21-30,21-30,> 60,21-30,41-50,21-30,31-40,21-30,21-30,31-40"
        assert labels(bound, ages, 1) == after.split(",")
        assert labels(bound, [20], 1) == ["<21"]

    def test_pdpc_annex_b_age(self, bind: Bind) -> None:
        bound = bind({"intervals": {"widths": [5], "origin": 1, "label": "{low} to {high}"}}, [24, 39, 18], INTEGER)
        assert labels(bound, [24, 39, 18], 1) == ["21 to 25", "36 to 40", "16 to 20"]

    def test_pdpc_annex_c(self, bind: Bind) -> None:
        ages = [21, 38, 25, 34, 30, 29, 38, 32, 25, 23, 31]
        bound = bind({"intervals": {"widths": [10], "origin": 1, "label": "{low} to {high}"}}, ages, INTEGER)
        young, older = "21 to 30", "31 to 40"
        assert labels(bound, ages, 1) == [young, older, young, older, young, young, older, older, young, young, older]

    def test_arx_hierarchy_of_fars_ages(self, bind: Bind, shared: Path) -> None:
        columns = _columns(shared / "data/fars/fars_hierarchy_iage.csv")
        ages = [age for age in columns[0] if age.isdigit()]
        bound = bind({"intervals": [5, 10, 20]}, ages, INTEGER)
        assert len(ages) == 100
        for level in (1, 2, 3):
            assert labels(bound, ages, level) == columns[level]

    def test_arx_hierarchy_of_adult_ages(self, bind: Bind, shared: Path) -> None:
        """The file begins at 1 but names its bands from 0 (5 is in "0-4"): same bands, other names, same loss."""
        columns = _columns(shared / "data/adult/adult_hierarchy_age.csv")
        bound = bind({"intervals": {"widths": [5, 10, 20], "origin": 1}}, columns[0], INTEGER)
        listed = bind({"csv": str(shared / "data/adult/adult_hierarchy_age.csv")}, columns[0])
        for level in (1, 2, 3):
            ours = labels(bound, columns[0], level)
            assert len(set(zip(ours, columns[level], strict=True))) == len(set(ours)) == len(set(columns[level]))
            assert (bound.loss(pl.Series(columns[0]), level) == listed.loss(pl.Series(columns[0]), level)).all()


def _columns(path: Path) -> list[list[str]]:
    return [list(column) for column in zip(*(line.split(";") for line in path.read_text().splitlines()), strict=True)]
