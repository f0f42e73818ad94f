"""MeitY guidelines, 2.2.8: customers of a supermarket (tables 2.p to 2.r), by category and age group."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("T-25")

COUNTS = {
    "Home Appliances": (3, 23, 14, 2),
    "Grocery": (9, 128, 27, 19),
    "Apparels": (123, 75, 30, 10),
}
"""Table 2.q: customers from 20, 30, 40 and 50 years on."""
GROUPS = (20, 30, 40, 50)


def original() -> pl.DataFrame:
    """A table like 2.p that has the counts of 2.q: ages spread over their decade, users numbered."""
    records = [
        (start + place % 10, category)
        for category, counts in COUNTS.items()
        for start, count in zip(GROUPS, counts, strict=True)
        for place in range(count)
    ]
    order = Randomness(seed=3).stream("shop").permutation(len(records))
    ages, categories = zip(*(records[place] for place in order), strict=True)
    return pl.DataFrame({"User": range(1, len(records) + 1), "Age": ages, "Product Category": categories})


def counted(table: pl.DataFrame) -> dict[tuple[str, int], float]:
    """Table 2.q of any table, as shares."""
    groups = table.with_columns(group=pl.col("Age") // 10 * 10).group_by("Product Category", "group").len()
    return {(category, group): size / table.height for category, group, size in groups.iter_rows()}


def test_the_synthetic_customers_have_the_statistics_of_the_original_and_none_of_its_users() -> None:
    before = original()
    after = shoal.synthesise(before, rows=2000, seed=5, evidence=False).data
    assert after.columns == before.columns
    assert set(after["User"]).isdisjoint(before["User"])
    assert after["Age"].is_between(20, 59).all()
    wanted, found = counted(before), counted(after)
    cells = {*wanted, *found}
    assert sum(abs(wanted.get(cell, 0) - found.get(cell, 0)) for cell in cells) / 2 < 0.1
    young = [found.get((category, 20), 0) for category in ("Apparels", "Grocery", "Home Appliances")]
    assert young[0] > 5 * (young[1] + young[2])  # whoever is in the twenties buys clothes, as in table 2.q
    grocery = {group: found.get(("Grocery", group), 0) for group in GROUPS}
    assert max(grocery, key=grocery.__getitem__) == 30
