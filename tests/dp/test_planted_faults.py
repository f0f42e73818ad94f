"""Eight faults that were made by others before, planted here: the tester that passes the real thing refutes each."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.dp.datasets import described, plan_of, table

from shoal.curator.budget_ledger import Account, BudgetLedger, Otherwise
from shoal.dp import tabulation
from shoal.dp.accounting import PrivacyCost
from shoal.dp.auditing import AuditFinding, Samples, audited, audited_question
from shoal.dp.opendp_measurements import KeyRelease, LaplaceNoise, Noise
from shoal.dp.query_plan import QueryPlan
from shoal.dp.statistics import Statistic
from shoal.errors import BudgetExhausted

pytestmark = pytest.mark.requirement("C-01", "C-02")

SAMPLES = 10_000
OTHERS = [{"who": f"p{place}", "age": 40, "region": "north", "town": "Ely"} for place in range(30)]
PERSON = [{"who": "nasty", "age": 100, "region": "north", "town": "Nowhere"}] * 2
COUNT = "SELECT COUNT(*) FROM t"
TOWNS = "SELECT town, COUNT(*) FROM t GROUP BY town"


def found_in(plan: QueryPlan, theirs: list[dict[str, Any]] = PERSON, tabulations: int = 1) -> AuditFinding:
    sides = [table(OTHERS)], [table([*OTHERS, *theirs])]
    return audited_question(plan, *sides, samples=SAMPLES, tabulations=tabulations)


def planted(kind: type[QueryPlan], sql: str, **changes: Any) -> QueryPlan:
    real = plan_of(sql, described(**changes))
    return kind(**{name: getattr(real, name) for name in QueryPlan.__dataclass_fields__})


class HalfTheNoise(QueryPlan):
    def noise(self, statistic: Statistic) -> Noise:
        return LaplaceNoise(statistic.l1(self.rows_per_person), 2 * self.share)


class OneRowAssumed(QueryPlan):
    """The sensitivity of a row, where a person has two."""

    def noise(self, statistic: Statistic) -> Noise:
        return LaplaceNoise(statistic.l1(1), self.share)


class _NoThreshold(KeyRelease):
    def released(self, people: Mapping[str, int]) -> dict[str, int]:
        return dict(people)


class AllKeysShown(QueryPlan):
    @property
    def key_release(self) -> KeyRelease:
        return _NoThreshold(self.rows_per_person, self.share, float(self.cost.delta))


@pytest.mark.parametrize("sql", [COUNT, TOWNS])
def test_the_real_thing_passes(sql: str) -> None:
    assert not found_in(plan_of(sql)).refutes(1.0)


def test_half_the_noise() -> None:
    assert found_in(planted(HalfTheNoise, COUNT)).refutes(1.0)


def test_wrong_sensitivity() -> None:
    assert found_in(planted(OneRowAssumed, COUNT)).refutes(1.0)


def test_leaked_group_keys() -> None:
    assert found_in(planted(AllKeysShown, TOWNS)).refutes(1.0)


def test_no_contribution_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    many = PERSON * 5
    assert not found_in(plan_of(COUNT), many).refutes(1.0)
    monkeypatch.setattr(tabulation, "bounded_rows", lambda frame, *_, **__: frame)
    assert found_in(plan_of(COUNT), many).refutes(1.0)


class GivesBack(BudgetLedger):
    """A ledger that gives back what a question cost when it ends in an error."""

    def failed(self, account: Account, cost: PrivacyCost) -> None:
        with self._writing() as connection:
            spent = self._spent(connection, account.name, account.period)
            self._put(connection, account, spent + (PrivacyCost() - cost))


def answers_before_refusal(ledger: BudgetLedger, *, most: int = 8) -> int:
    """An analyst who makes each question fail after its figures were seen, such as by closing the connection."""
    account = Account("dataset", "", PrivacyCost(Decimal(1)))
    seen = 0
    for _ in range(most):
        try:
            ledger.reserve([account], PrivacyCost(Decimal("0.5")), {}, Otherwise(lambda *_: "nothing is left"))
        except BudgetExhausted:
            break
        seen += 1
        if isinstance(ledger, GivesBack):
            ledger.failed(account, PrivacyCost(Decimal("0.5")))
    return seen


def test_budget_given_back_after_an_error(tmp_path: Path) -> None:
    """Answers that were had for a budget of 1, side by side."""
    counts = {}
    for kind in (BudgetLedger, GivesBack):
        kind.begin(str(tmp_path / kind.__name__), "people", {}).__exit__(None, None, None)
        with kind(str(tmp_path / kind.__name__), "people") as ledger:
            counts[kind.__name__] = answers_before_refusal(ledger)
    assert counts == {"BudgetLedger": 2, "GivesBack": 8}

    def session(people: int, answers: int) -> Samples:
        """How many answers speak for the eleventh person, who is there or not: an answer says no more than that."""
        drawn = LaplaceNoise(1, 0.5).add([people] * answers * SAMPLES)
        return (np.asarray(drawn).reshape(SAMPLES, answers) > 10).sum(axis=1).astype(float)

    honest, faulty = counts["BudgetLedger"], counts["GivesBack"]
    assert not audited(session(10, honest), session(11, honest)).refutes(1.0)
    assert audited(session(10, faulty), session(11, faulty)).refutes(1.0)


def test_noise_in_floating_point() -> None:
    """Mironov (2012): which of the last digits can be set tells the value that noise was added to."""
    chance = np.random.default_rng(20889)

    def textbook(value: float) -> Samples:
        return value + chance.laplace(0.0, 1.0, SAMPLES)

    found = audited(textbook(0.0), textbook(1.0))
    assert found.refutes(1.0), found
    plan = plan_of("SELECT SUM(CASE WHEN age > 99 THEN 0.1 ELSE 0 END) FROM t")
    assert not found_in(plan).refutes(1.0)


def test_sums_that_lose_the_order_or_overflow() -> None:
    """Casacuberta and others (2022): a floating-point sum depends on the order of rows, in 32 bits it wraps."""
    large, small = [2.0**18] * 64, [1.0] * 2**20
    bound = 2.0**18

    def noisy(total: float) -> Samples:
        return total + np.asarray(LaplaceNoise(1, 1.0).add([0] * SAMPLES)) * bound

    in_order = [
        float(np.cumsum(np.asarray(one, dtype=np.float32))[-1]) for one in (large + small, [*small, *large, bound])
    ]
    assert audited(noisy(in_order[0]), noisy(in_order[1])).refutes(1.0)
    wrapped = [float(np.sum(np.full(people, 2**30, dtype=np.int32), dtype=np.int32)) for people in (1, 2)]
    assert audited(noisy(wrapped[0] / 2**12), noisy(wrapped[1] / 2**12)).refutes(1.0)

    plan = plan_of(
        "SELECT SUM(x) FROM t",
        described(None, columns={"x": {"type": "number", "bounds": [0, 2**18]}}, budget={"epsilon": 10}),
    )
    sides = [[pl.DataFrame({"x": one}).lazy()] for one in ([*large, *small], [*small, *large, bound])]
    assert not audited_question(plan, sides[0], sides[1], samples=SAMPLES).refutes(1.0)


def test_a_where_that_leaks_through_an_error() -> None:
    """A row on which the condition can't be worked out shows as an error; here such a row counts as not chosen."""
    plan = plan_of("SELECT COUNT(*) FROM t WHERE 1 / (age - 100) > 3")
    assert not found_in(plan).refutes(1.0)

    def strict(rows: list[dict[str, Any]]) -> Samples:
        try:
            count = sum(1 / (row["age"] - 100) > 3 for row in rows)
        except ZeroDivisionError:
            return np.full(SAMPLES, np.nan)
        return np.asarray(LaplaceNoise(2, 1.0).add([count] * SAMPLES), dtype=float)

    assert audited(strict(OTHERS), strict([*OTHERS, *PERSON])).refutes(1.0)
