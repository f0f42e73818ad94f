"""Values that few have are suppressed, counted in people where the policy names them."""

from __future__ import annotations

from collections import defaultdict

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.policy import Policy

pytestmark = pytest.mark.requirement("T-03")


def released(table: pl.DataFrame, k: int, person: str | None = None) -> pl.Series:
    named = f"person: {person}" if person else ""
    who = "who: {role: direct, technique: suppress}" if "who" in table.columns else ""
    policy = Policy.from_text(
        f"""
shoal: 1
name: rare
{named}
attributes:
  {who}
  ill: {{role: sensitive, technique: {{suppress_rare: {{k: {k}}}}}}}
"""
    )
    return shoal.anonymise(table, policy, seed=1).data["ill"]


@given(
    rows=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y", "z", "*", None])), min_size=1),
    k=st.integers(2, 4),
)
def test_what_fewer_people_have_is_starred_and_the_rest_stays(rows: list[tuple[str, str | None]], k: int) -> None:
    table = pl.DataFrame(rows, schema={"who": pl.String, "ill": pl.String}, orient="row")
    having: dict[str, set[str]] = defaultdict(set)
    for who, ill in rows:
        if ill is not None:
            having[ill].add(who)
    kept = {ill: r"\*" if ill == "*" else ill for ill, who in having.items() if len(who) >= k}
    expected = [None if ill is None else kept.get(ill, "*") for _, ill in rows]
    assert released(table, k, "who").to_list() == expected


def test_without_people_records_are_counted() -> None:
    table = pl.DataFrame({"ill": ["flu"] * 3 + ["kuru"] * 2})
    assert released(table, 3).to_list() == ["flu"] * 3 + ["*"] * 2


def test_numbers_go_missing() -> None:
    table = pl.DataFrame({"ill": [1, 1, 2]})
    assert released(table, 2).to_list() == [1, 1, None]
