"""What is left of the cells, against a count record by record."""

from __future__ import annotations

from collections import Counter
from math import log2

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.hierarchy import BoundHierarchy
from shoal.hierarchy.kinds.taxonomy import Taxonomy
from shoal.measurement import measure_classes
from shoal.measurement.usefulness.information_loss import Generalised, cell_figures
from shoal.schema import Column

pytestmark = pytest.mark.requirement("R-06")

TREE = {"north": ["a", "b", "c"], "south": ["d"], "west": ["e", "f"]}
LEAVES = {"a": 3, "b": 3, "c": 3, "d": 1, "e": 2, "f": 2}
PARENT = {leaf: region for region, leaves in TREE.items() for leaf in leaves}


def regions(values: list[str]) -> tuple[BoundHierarchy, pl.DataFrame]:
    counted = pl.DataFrame({"value": pl.Series(values, dtype=pl.String)}).group_by("value").agg(records=pl.len())
    return Taxonomy(tree=TREE).bind(Column("region"), counted), counted


def released(values: list[str], levels: list[int]) -> list[str]:
    return [(value, PARENT[value], "*")[level] for value, level in zip(values, levels, strict=True)]


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 2)), min_size=1, max_size=40))
def test_cells_equal_a_count_by_hand(cells: list[tuple[str, int]]) -> None:
    """Levels that differ from record to record, as local recoding and suppression leave them."""
    values, levels = [value for value, _ in cells], [level for _, level in cells]
    bound, counted = regions(values)
    measured = measure_classes(pl.LazyFrame({"region": released(values, levels)}), ("region",))
    found = cell_figures(measured, {"region": Generalised.by(bound, counted, bound.height)})

    number = Counter(values)
    under = [
        (number[value], sum(number[leaf] for leaf in TREE[PARENT[value]]), len(values))[level] for value, level in cells
    ]
    lost = [(0, (LEAVES[value] - 1) / 5, 1)[level] for value, level in cells]
    bits = sum(log2(all_of_it / number[value]) for value, all_of_it in zip(values, under, strict=True))
    at_most = sum(log2(len(values) / number[value]) for value in values)
    assert found["loss"] == pytest.approx(sum(lost) / len(cells))
    assert found["precision"] == pytest.approx(1 - sum(levels) / 2 / len(cells))
    assert found["entropy"] == pytest.approx(bits, abs=1e-9)
    assert found["entropy_lost"] == pytest.approx(bits / at_most if at_most else 0, abs=1e-9)


def test_untouched_cells_lose_nothing_and_stars_lose_all() -> None:
    values = [*("abc" * 7), "d", "e"]
    bound, counted = regions(values)
    attributes = {"region": Generalised.by(bound, counted, bound.height)}
    untouched = cell_figures(measure_classes(pl.LazyFrame({"region": values}), ("region",)), attributes)
    assert untouched == {"loss": 0, "detail_kept": 1, "precision": 1, "entropy": 0, "entropy_lost": 0}
    starred = cell_figures(measure_classes(pl.LazyFrame({"region": ["*"] * len(values)}), ("region",)), attributes)
    hidden = {"entropy": pytest.approx(starred["entropy"]), "entropy_lost": 1}
    assert starred == {"loss": 1, "detail_kept": 0, "precision": 0, **hidden}


def test_weights_and_a_star_that_counts_as_one() -> None:
    values = ["a", "d"]
    bound, counted = regions(values)
    measured = measure_classes(pl.LazyFrame({"one": ["north", "*"], "two": ["a", "*"]}), ("one", "two"))
    for weight, expected in ((1.0, (0.4 + 1 + 0 + 1) / 4), (3.0, (3 * 0.7 + 0.5) / 4)):
        attributes = {
            "one": Generalised.by(bound, counted, bound.height, weight),
            "two": Generalised.by(bound, counted, bound.height),
        }
        assert cell_figures(measured, attributes)["loss"] == pytest.approx(expected)


def test_without_some_of_the_records_there_is_no_entropy() -> None:
    bound, counted = regions(["a", "b", "d"])
    measured = measure_classes(pl.LazyFrame({"region": ["north", "north"]}), ("region",))
    assert cell_figures(measured, {"region": Generalised.by(bound, counted, bound.height)}).keys() == {
        "loss",
        "detail_kept",
        "precision",
    }


def test_a_label_of_which_nothing_is_known_leaves_no_figure() -> None:
    bound, counted = regions(["a", "b"])
    measured = measure_classes(pl.LazyFrame({"region": ["north", "elsewhere"]}), ("region",))
    assert cell_figures(measured, {"region": Generalised.by(bound, counted, bound.height)}) == {}


def test_entropy_as_crowds_prints_it() -> None:
    """crowds' own tests: 1 … 5 by remainders by 3 (1, 2, 0, 1, 2), beside 6 … 10 by remainders by 2 (0, 1, 0, 1, 0)."""
    printed = (1 + log2(3)) + (1 + 1) + (0 + log2(3)) + (1 + 1) + (1 + log2(3))
    attributes, columns = {}, {}
    for name, values, divisor in (("a", range(1, 6), 3), ("b", range(6, 11), 2)):
        tree = {f"rest {rest}": [f"{n}" for n in values if n % divisor == rest] for rest in range(divisor)}
        counted = pl.DataFrame({"value": [f"{n}" for n in values], "records": [1] * 5})
        attributes[name] = Generalised.by(Taxonomy(tree=tree).bind(Column(name), counted), counted, 1)
        columns[name] = [f"rest {n % divisor}" for n in values]
    measured = measure_classes(pl.LazyFrame(columns), ("a", "b"))
    assert cell_figures(measured, attributes)["entropy"] == pytest.approx(printed)


@pytest.mark.parametrize(("ethnicity", "zip_code", "printed"), [(1, 0, 0.75), (1, 1, 0.58), (0, 2, 0.67), (0, 1, 0.83)])
def test_precision_of_sweeneys_tables(ethnicity: int, zip_code: int, printed: float) -> None:
    """Sweeney (2002), on Prec: tables by ethnicity, whose hierarchy has height 2, and postal code, with height 3."""
    people = pl.DataFrame({"ethnicity": ["asian", "black"] * 2, "zip": ["02138", "02138", "02139", "02141"]})
    trees = {
        "ethnicity": Taxonomy(tree={"person": ["asian", "black"]}),
        "zip": Taxonomy(tree={"021**": {"0213*": ["02138", "02139"], "0214*": ["02141"]}}),
    }
    counted = {name: people[name].value_counts().rename({name: "value", "count": "records"}) for name in trees}
    bound = {name: tree.bind(Column(name), counted[name]) for name, tree in trees.items()}
    assert (bound["ethnicity"].height, bound["zip"].height) == (2, 3)
    table = people.select(
        bound[name].generalise(people[name], level).alias(name)
        for name, level in {"ethnicity": ethnicity, "zip": zip_code}.items()
    )
    attributes = {name: Generalised.by(bound[name], counted[name], bound[name].height) for name in trees}
    found = cell_figures(measure_classes(table.lazy(), ("ethnicity", "zip")), attributes)
    assert found["precision"] == pytest.approx(printed, abs=5e-3)
