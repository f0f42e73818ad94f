"""A fit is paid for as a question is: before its rows are summed, and never given back."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shoal import Curator
from shoal.curator.budget_state import audited
from shoal.dp.accounting import rho_of
from shoal.dp.learning import PrivateGaussianNB, PrivatePCA
from shoal.errors import AccessError, BudgetExhausted, InputError

pytestmark = pytest.mark.requirement("C-02", "C-04")

ROWS = np.random.default_rng(1).uniform(0, 1, (40, 2))
TARGET = (ROWS[:, 0] > 0.5).astype(int)


def curator(folder: Path, accounting: str = "approximate") -> Curator:
    delta = 0 if accounting == "pure" else 1e-5
    return Curator(
        {
            "shoal": 1,
            "name": "people",
            "source": str(folder / "people.csv"),
            "ledger": str(folder / "people.budget"),
            "columns": {"age": {"type": "integer", "bounds": [0, 110]}},
            "budget": {"epsilon": 2, "delta": delta},
            "analysts": {"asha": {"epsilon": 1}},
            "accounting": accounting,
        }
    )


def test_a_fit_is_on_the_ledger_and_the_budget_ends(tmp_path: Path) -> None:
    keeper = curator(tmp_path)
    model = PrivatePCA(epsilon=1.5, delta=1e-6, bounds=(0, 1), curator=keeper).fit(ROWS)
    assert keeper.left() == Decimal("0.5")
    with pytest.raises(BudgetExhausted):
        model.fit(ROWS)
    audit = audited(keeper.description)
    assert (audit.asked, audit.answered) == (1, 1)
    assert [one.fitted for one in audit.entries if one.kind == "question"] == [
        "PrivatePCA(bounds=(0, 1), n_components=1, norm=None)"
    ]


def test_an_analyst_pays_from_both_budgets(tmp_path: Path) -> None:
    keeper = curator(tmp_path, "pure")
    model = PrivateGaussianNB(epsilon=0.75, bounds=(0, 1), classes=(0, 1), curator=keeper, analyst="asha")
    model.fit(ROWS, TARGET)
    assert (keeper.left("asha"), keeper.left()) == (Decimal("0.25"), Decimal("1.25"))
    with pytest.raises(BudgetExhausted):
        model.fit(ROWS, TARGET)
    with pytest.raises(AccessError):
        model.set_params(analyst="bela").fit(ROWS, TARGET)


@pytest.mark.parametrize(("delta", "rho"), [(0.0, 0.5), (1e-6, rho_of(1.0, 1e-6))])
def test_with_zcdp_what_adds_up_is_rho(tmp_path: Path, delta: float, rho: float) -> None:
    keeper = curator(tmp_path, "zcdp").description.accountant
    assert float(keeper.learning_price(Decimal(1), Decimal(str(delta)), rho).amount) == pytest.approx(rho)
    assert float(keeper.learning_price(Decimal(1), Decimal(0), rho).amount) >= rho
    other = curator(tmp_path, "zcdp")
    PrivatePCA(epsilon=0.5, delta=1e-6, bounds=(0, 1), curator=other).fit(ROWS)
    with other.ledger() as ledger:
        assert float(ledger.spent("dataset", "").amount) == pytest.approx(rho_of(0.5, 1e-6))
        ledger.verify()


def test_a_fit_that_breaks_off_stays_paid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(PrivatePCA, "_learn", broken)
    keeper = curator(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        PrivatePCA(epsilon=1, bounds=(0, 1), curator=keeper).fit(ROWS)
    assert keeper.left() == 1
    assert (audited(keeper.description).asked, audited(keeper.description).answered) == (1, 0)


@pytest.mark.parametrize(
    ("given", "rows"),
    [({"epsilon": 0}, ROWS), ({"epsilon": 30}, ROWS), ({"bounds": None}, ROWS), ({}, np.full((3, 2), np.nan))],
)
def test_what_is_refused_costs_nothing(tmp_path: Path, given: dict[str, Any], rows: np.ndarray) -> None:
    keeper = curator(tmp_path)
    with pytest.raises(InputError):
        PrivatePCA(**{"epsilon": 1, "bounds": (0, 1), "curator": keeper, **given}).fit(rows)
    assert keeper.left() == 2


def test_a_budget_of_epsilon_alone_refuses_delta(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="delta"):
        PrivatePCA(delta=1e-6, bounds=(0, 1), curator=curator(tmp_path, "pure")).fit(ROWS)
