"""Synthetic tables from a curator's budget: paid first, refused where it does not suffice, asked side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.curator.conftest import Describe

from shoal.curator.curator import Curator
from shoal.curator.synthesis import compare_query, synthesise_dataset
from shoal.errors import BudgetExhausted, InputError
from shoal.randomness import Randomness
from shoal.synth.method import FitOptions

pytestmark = pytest.mark.requirement("T-25", "C-02")

ROWS = [{"who": f"p{at}", "age": 20 + at % 60, "region": ["north", "south"][at % 4 == 0]} for at in range(800)]
ZCDP: dict[str, Any] = {"budget": {"epsilon": 4, "delta": 1e-6}, "accounting": "zcdp"}


@pytest.mark.parametrize("accounting", ["zcdp", "approximate"])
@pytest.mark.parametrize("method", ["network"])
def test_a_synthesis_is_paid_from_the_budget(described: Describe, method: str, accounting: str) -> None:
    curator = Curator(described(ROWS, **{**ZCDP, "accounting": accounting}))
    before = curator.left()
    paid = synthesise_dataset(curator, FitOptions(epsilon=2.0), method=method)
    assert paid.guarantee.epsilon == 2.0
    assert paid.epsilon_left == curator.left() < before
    drawn = paid.model.sample(800, Randomness(1))
    assert drawn.columns == ["who", "age", "region"]
    assert not set(drawn["who"]) & {row["who"] for row in ROWS}
    assert (drawn["region"] == "north").mean() == pytest.approx(0.75, abs=0.1)
    with curator.ledger() as ledger:
        assert any("synthesis(network" in str(entry.payload) for entry in ledger.entries())


def test_names_that_are_not_public_cost_delta_too(described: Describe) -> None:
    columns = {"age": {"type": "integer", "bounds": [0, 100]}, "region": {"type": "category"}}
    curator = Curator(described(ROWS, **ZCDP, columns=columns))
    synthesise_dataset(curator, FitOptions(epsilon=1.0), method="network")
    with curator.ledger() as ledger:
        assert ledger.spent("dataset", "").delta > 0


def test_what_can_not_be_paid_is_not_read(described: Describe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    curator = Curator(described(ROWS, **ZCDP))
    monkeypatch.setattr(pl.LazyFrame, "collect", lambda *_, **__: pytest.fail("the table was read"))
    with pytest.raises(BudgetExhausted):
        synthesise_dataset(curator, FitOptions(epsilon=9.0), method="network")


def test_pure_budgets_and_methods_that_are_not_private_are_refused(described: Describe) -> None:
    with pytest.raises(InputError, match="delta"):
        synthesise_dataset(described(ROWS), FitOptions(epsilon=0.5), method="network")
    with pytest.raises(InputError, match="private"):
        synthesise_dataset(described(ROWS, **ZCDP), FitOptions(epsilon=0.5), method="sequential")


def test_one_question_of_both_tables(described: Describe) -> None:
    curator = Curator(described(ROWS, **ZCDP))
    synthetic = synthesise_dataset(curator, FitOptions(epsilon=3.0), method="network").model.sample(800, Randomness(1))
    sql = "SELECT region, COUNT(*) AS n, AVG(age) AS mean FROM people GROUP BY region"
    left = curator.left()
    both = compare_query(curator, sql, synthetic, epsilon="0.5")
    assert both.columns[:5] == ("region", "n", "n_low", "n_high", "n_synthetic")
    north = next(row for row in both.rows if row["region"] == "north")
    assert north["n_synthetic"] == (synthetic["region"] == "north").sum()
    assert north["n"] == pytest.approx(600, abs=80)
    assert both.synthetic_rows == 800
    assert curator.left() < left
    assert both.within is not None
