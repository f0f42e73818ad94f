"""The price of a precision: the least that will do, and no less."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

from shoal.curator.accuracy import WantedAccuracy, epsilon_for
from shoal.curator.curator import Curator
from shoal.errors import InputError

pytestmark = pytest.mark.requirement("C-01")

BY_REGION = "SELECT region, COUNT(*) AS n FROM t GROUP BY region"


@pytest.fixture
def curator(tmp_path: Path) -> Curator:
    pl.DataFrame({"region": ["north", "south"] * 50, "age": [30, 40] * 50}).write_csv(tmp_path / "people.csv")
    return Curator(
        {
            "shoal": 1,
            "name": "people",
            "source": str(tmp_path / "people.csv"),
            "ledger": str(tmp_path / "people.budget"),
            "rows": 100,
            "columns": {
                "region": {"type": "category", "categories": ["north", "south"]},
                "age": {"type": "integer", "bounds": [0, 110]},
            },
            "budget": {"epsilon": 1},
        }
    )


@pytest.mark.parametrize(("said", "reach"), [("±20", 20), ("10", 10), ("+/- 40", 40), ("±20 %", 10)])
def test_the_least_that_will_do(curator: Curator, said: str, reach: float) -> None:
    found = epsilon_for(curator, BY_REGION, WantedAccuracy.parse(said))
    assert (curator.price(BY_REGION, found).half_widths["n"] or 0) <= reach
    assert (curator.price(BY_REGION, found - Decimal("0.0001")).half_widths["n"] or 0) > reach
    assert not (Path(str(curator.description.ledger))).exists(), "nothing was asked"


@pytest.mark.parametrize("said", ["", "near", "0", "-5", "±", "5 percent"])
def test_what_is_no_precision(said: str) -> None:
    with pytest.raises(InputError, match="how near"):
        WantedAccuracy.parse(said)


def test_what_can_not_be_had(curator: Curator) -> None:
    with pytest.raises(InputError, match="not to be had"):
        epsilon_for(curator, "SELECT SUM(age) AS total FROM t", WantedAccuracy.parse("±1"))
    with pytest.raises(InputError, match="counts and sums"):
        epsilon_for(curator, "SELECT MEDIAN(age) AS middle FROM t", WantedAccuracy.parse("±1"))
