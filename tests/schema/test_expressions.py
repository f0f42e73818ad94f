"""Expressions of users have one value for each record, whatever stands in the others."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from shoal.schema import Column, ValueType
from shoal.schema.expressions import Expression
from shoal.schema.rule_counts import RuleCount, count_violations

pytestmark = pytest.mark.requirement("T-02", "T-12")

COLUMNS = {"age": ValueType.INTEGER, "income": ValueType.INTEGER, "town": ValueType.TEXT}
RECORDS = 16
ALWAYS = [
    "SQRT(0.5) < CASE WHEN town IS NULL THEN age + 1 ELSE 1 END",
    "CASE -(1e-300) WHEN CASE 40 WHEN income THEN 1 WHEN 0 THEN 40 END THEN 1 WHEN 0 THEN -(1e-300) END IS NULL",
    "1 IN (1, 40, CASE WHEN town IS NULL THEN 1 ELSE age END)",
    "CASE WHEN town IS NULL THEN age > 1 ELSE 1 = 1 END",
]


def people(missing: int) -> pl.DataFrame:
    """So many of them without a town."""
    rows = [{"age": 5, "income": 1, "town": None if at < missing else "Ely"} for at in range(RECORDS)]
    return pl.DataFrame(rows, schema_overrides={"town": pl.String})


def bound(text: str) -> Expression:
    return Expression(text, tuple(Column(name, kind) for name, kind in COLUMNS.items() if name in text))


@pytest.mark.parametrize("missing", [0, 1, 5, RECORDS])
@pytest.mark.parametrize("always", ALWAYS)
def test_each_record_has_its_value(always: str, missing: int, tmp_path: Path) -> None:
    """Some of these had one value for all, or were worked out for the records of one branch only."""
    table = people(missing)
    assert bound(always).evaluate(table).to_list() == [True] * RECORDS
    table.write_parquet(tmp_path / "people.parquet")
    for source in (table.lazy(), pl.scan_parquet(tmp_path / "people.parquet")):
        assert count_violations(source, {"always": bound(always)}) == {"always": RuleCount(RECORDS, RECORDS, 0)}


@pytest.mark.parametrize("always", ALWAYS)
def test_no_record_has_no_value(always: str) -> None:
    assert bound(always).evaluate(people(0).head(0)).to_list() == []
