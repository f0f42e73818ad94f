"""The curator: what an answer says and costs, who may ask, and that whoever probes learns nothing for free."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.curator.conftest import Describe

from shoal.curator.budget_ledger import ASKED, BEGUN, REFUSED, BudgetLedger
from shoal.curator.curator import Curator, at_set_times
from shoal.errors import (
    AccessError,
    BudgetExhausted,
    BugError,
    DataError,
    InputError,
    IntegrityError,
    RefusedQuestion,
    ShoalError,
    SourceError,
)

pytestmark = pytest.mark.requirement("C-01", "C-02")

COUNT = "SELECT COUNT(*) AS n FROM t"


def kinds(curator: Curator) -> list[str]:
    with curator.ledger() as ledger:
        ledger.verify()
        return [entry.kind for entry in ledger.entries()]


def test_an_answer_says_what_it_is_and_cost(curator: Curator) -> None:
    answer = curator.query("SELECT region, COUNT(*) AS n, AVG(age) FROM people GROUP BY region", "0.4")
    assert answer.columns[:5] == ("region", "n", "n_low", "n_high", "n_error")
    assert [row["region"] for row in answer.rows] == ["north", "south"]
    assert (answer.epsilon_spent, answer.epsilon_left, answer.delta_spent) == (0.4, 0.6, 0)
    assert all(row["n_low"] <= row["n"] <= row["n_high"] for row in answer.rows)
    assert any("clipp" in note or "bounds" in note for note in answer.notes)


def test_the_same_question_is_answered_the_same_for_nothing(curator: Curator) -> None:
    """So asking again and taking the mean learns nothing."""
    first = curator.query(COUNT, "0.1")
    again = [curator.query(sql, "0.10") for sql in (COUNT, "select  count(*) as n from people", COUNT)]
    assert all(one.rows == first.rows and one.kept and one.epsilon_spent == 0 for one in again)
    assert curator.left() == Decimal("0.9")


def test_other_data_are_another_question(curator: Curator, tmp_path: Path) -> None:
    curator.query(COUNT, "0.1")
    source = tmp_path / "people.csv"
    source.write_text(source.read_text() + "x,3,north\n")
    assert not curator.query(COUNT, "0.1").kept
    assert curator.left() == Decimal("0.8")


def test_differencing_costs_both_questions_and_ends_with_the_budget(curator: Curator) -> None:
    curator.query("SELECT COUNT(*) FROM t WHERE age > 30", "0.5")
    curator.query("SELECT COUNT(*) FROM t WHERE age > 30 AND age <> 31", "0.5")
    with pytest.raises(BudgetExhausted, match="the dataset") as caught:
        curator.query("SELECT COUNT(*) FROM t WHERE age = 31", "0.1")
    assert caught.value.exit_code == 1
    assert kinds(curator)[-1] == REFUSED
    assert curator.left() == 0


def test_price_reads_and_spends_nothing(described: Describe, tmp_path: Path) -> None:
    curator = Curator(described())
    (tmp_path / "people.csv").unlink()
    price = curator.price("SELECT region, COUNT(*) AS n, AVG(age) AS a FROM t GROUP BY region", "0.5")
    assert (price.groups, price.epsilon_left, price.sufficient) == (2, 1, True)
    assert price.errors["n"]
    assert price.errors["a"] is None
    assert not (tmp_path / "people.budget").exists()
    assert not curator.price(COUNT, 2).sufficient


def test_analysts_have_their_own(described: Describe) -> None:
    curator = Curator(described(analysts={"asha": {"epsilon": 0.3}, "bo": {"epsilon": 1}}))
    curator.query(COUNT, "0.3", analyst="asha")
    with pytest.raises(BudgetExhausted, match="asha"):
        curator.query("SELECT SUM(age) FROM t", "0.1", analyst="asha")
    curator.query(COUNT, "0.7", analyst="bo")
    with pytest.raises(BudgetExhausted, match="dataset"):
        curator.query("SELECT SUM(age) FROM t", "0.1", analyst="bo")
    with pytest.raises(BudgetExhausted, match="dataset"):  # who asks without a name asks for the dataset's own
        curator.query("SELECT SUM(age) FROM t", "0.1")
    with pytest.raises(AccessError, match="asha"):
        curator.query(COUNT, "0.1", analyst="ash")


def test_who_to_ask_when_it_is_exhausted(described: Describe) -> None:
    curator = Curator(described(on_exhausted={"ask": "the data-protection officer"}))
    with pytest.raises(BudgetExhausted) as caught:
        curator.query(COUNT, 2)
    assert "the data-protection officer" in str(caught.value.advice)
    with curator.ledger() as ledger:
        refused = [entry for entry in ledger.entries() if entry.kind == REFUSED]
    assert [entry.payload["ask"] for entry in refused] == ["the data-protection officer"]


@pytest.mark.parametrize(
    ("changes", "analyst", "said"),
    [
        ({}, None, "^the budget of the dataset does not suffice for this question: ε 0.4 is left$"),
        ({"analysts": {"asha": {"epsilon": 0.7}}}, "asha", "^the budget of asha does .*: ε 0.1 is left$"),
        ({"budget": {"epsilon": 1, "delta": 1e-6}, "accounting": "zcdp"}, None, r"ε 0\.7\d+ is left$"),
    ],
)
def test_who_is_refused_is_told_what_is_left(
    described: Describe, changes: dict[str, Any], analyst: str | None, said: str
) -> None:
    curator = Curator(described(**changes))
    curator.query(COUNT, "0.6", analyst=analyst)
    with pytest.raises(BudgetExhausted, match=said) as caught:
        curator.query("SELECT SUM(age) FROM t", "0.9" if analyst is None else "0.4", analyst=analyst)
    assert caught.value.advice is None
    assert "\n" not in str(caught.value)


def test_a_delta_that_is_spent_is_said_to_be(described: Describe) -> None:
    described_keys = {"age": {"type": "integer", "bounds": [0, 100]}, "region": {"type": "category"}}
    curator = Curator(described(columns=described_keys, budget={"epsilon": 1, "delta": 1e-6}))
    sql = "SELECT region, COUNT(*) FROM t GROUP BY region"
    curator.query(sql, "0.1", delta="7e-7")
    with pytest.raises(BudgetExhausted, match="δ 3e-07 is left"):
        curator.query(sql, "0.2", delta="5e-7")


def test_the_delta_of_who_asks(described: Describe) -> None:
    """Of an analyst who has one of their own, the price and what is left go by that; asked again, as it is by then."""
    columns = {"age": {"type": "integer", "bounds": [0, 100]}, "region": {"type": "category"}}
    asha = {"asha": {"epsilon": 1, "delta": 3e-7}}
    curator = Curator(described(columns=columns, budget={"epsilon": 9, "delta": 1e-6}, analysts=asha))
    sql = "SELECT region, COUNT(*) FROM t GROUP BY region"
    assert not curator.price(sql, "0.1", delta="4e-7", analyst="asha").sufficient
    assert curator.price(sql, "0.1", delta="2e-7", analyst="asha").sufficient
    answer = curator.query(sql, "0.1", delta="2e-7", analyst="asha")
    assert answer.delta_left == pytest.approx(1e-7)
    curator.query(sql, "0.2", delta="1e-7", analyst="asha")
    assert curator.query(sql, "0.1", delta="2e-7", analyst="asha").delta_left == 0
    assert not curator.price(sql, "0.1", delta="1e-7", analyst="asha").sufficient
    assert curator.left("asha") == Decimal("0.7")


def test_budgets_by_the_period(described: Describe, monkeypatch: pytest.MonkeyPatch) -> None:
    import datetime

    from shoal.curator import curator as module

    curator = Curator(described(budget={"epsilon": 1, "per": "month"}))
    monkeypatch.setattr(module, "now", lambda: datetime.datetime(2026, 3, 9, tzinfo=datetime.UTC))
    curator.query(COUNT, 1)
    with pytest.raises(BudgetExhausted, match=r"in 2026-03 does not suffice .*: ε 0 is left") as caught:
        curator.query("SELECT SUM(age) FROM t", 1)
    assert caught.value.advice == "the next month begins on 2026-04-01"
    monkeypatch.setattr(module, "now", lambda: datetime.datetime(2026, 4, 1, tzinfo=datetime.UTC))
    assert curator.query("SELECT SUM(age) FROM t", 1).epsilon_left == 0


def test_a_change_of_the_budget_is_written_down(described: Describe) -> None:
    Curator(described()).query(COUNT, 1)
    raised = Curator(described(budget={"epsilon": 2}))
    assert raised.left() == 1
    raised.query("SELECT SUM(age) FROM t", 1)
    assert kinds(raised).count(BEGUN) == 2


@pytest.mark.parametrize(
    ("epsilon", "delta", "said"),
    [
        (0, None, "above 0"),
        (-1, None, "above 0"),
        ("nan", None, "above 0"),
        ("inf", None, "above 0"),
        ("much", None, "above 0"),
        (21, None, "protects nobody"),
        (30, None, "epsilon: 30 protects nobody"),
        ("1e-12", None, "too small"),
        ("0.1234567890123456789", None, "digits"),
        (1, 0, "above 0"),
        (1, 1, "below 1"),
    ],
)
def test_prices_that_can_not_be_meant(curator: Curator, epsilon: object, delta: object, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        curator.query(COUNT, epsilon, delta=delta)
    assert caught.value.exit_code == 2
    with pytest.raises(SourceError):
        curator.ledger()


def test_what_is_wrong_before_the_data_are_touched_costs_nothing(described: Describe, tmp_path: Path) -> None:
    curator = Curator(described())
    wrong: list[tuple[str, type[ShoalError]]] = [
        ("SELECT * FROM t", RefusedQuestion),
        ("SELECT MAX(age) FROM t", RefusedQuestion),
    ]
    (tmp_path / "people.csv").write_text("who,years\na,3\n")
    wrong.append(("SELECT SUM(age) FROM t", DataError))
    for sql, kind in wrong:
        with pytest.raises(kind):
            curator.query(sql, 1)
    (tmp_path / "people.csv").unlink()
    with pytest.raises(SourceError):
        curator.query(COUNT, 1)
    assert curator.left() == 1


def test_an_error_after_the_question_is_paid_gives_nothing_back(
    curator: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    import polars as pl

    from shoal.dp import composition

    def fails(*_: object) -> None:
        raise pl.exceptions.ComputeError("Mary Major, 44")

    monkeypatch.setattr(composition, "tabulated", fails)
    with pytest.raises(BugError) as caught:
        curator.query(COUNT, 1)
    assert "Mary" not in str(caught.value)
    assert curator.left() == 0
    assert kinds(curator) == [BEGUN, ASKED]


def test_a_damaged_budget_is_not_an_unspent_one(curator: Curator, tmp_path: Path) -> None:
    curator.query(COUNT, 1)
    for end in ("-wal", "-shm"):
        Path(f"{tmp_path / 'people.budget'}{end}").unlink(missing_ok=True)
    (tmp_path / "people.budget").write_bytes(b"SQLite format 3\x00" + b"\xff" * 5000)
    for use in (curator.left, lambda: curator.price(COUNT, 1), lambda: curator.query(COUNT, 1)):
        with pytest.raises(ShoalError):
            use()


def test_sums_that_were_changed_are_found(curator: Curator, tmp_path: Path) -> None:
    import sqlite3

    curator.query(COUNT, 1)
    with sqlite3.connect(tmp_path / "people.budget") as connection:
        connection.execute("UPDATE budget_account SET amount = '0'")
    with curator.ledger() as ledger, pytest.raises(IntegrityError, match="spent"):
        ledger.verify()


def test_the_budget_of_another_dataset(curator: Curator, tmp_path: Path) -> None:
    curator.query(COUNT, 1)
    with pytest.raises(IntegrityError, match="another dataset"):
        BudgetLedger.begin(str(tmp_path / "people.budget"), "others", {})


PROBES = [
    "SELECT COUNT(*) FROM t WHERE 1 / (age - 44) > 0",
    "SELECT COUNT(*) FROM t WHERE 1e308 * age * 10 > 0",
    "SELECT SUM(LEAST(SQRT(age - 44), 9)) FROM t",
    "SELECT COUNT(*) FROM t WHERE LN(age - 44) < 0 OR age % (age - 44) = 0",
    "SELECT SUM(CAST(CASE WHEN region LIKE 'M%' THEN 1 ELSE 0 END AS INT)) FROM t",
    "SELECT region, AVG(age) FROM t WHERE age = 44 GROUP BY region",
    "SELECT COUNT(*) FROM t WHERE region = 'Mary'",
]
ODD: list[dict[str, Any]] = [
    {"who": "mary", "age": "44", "region": "north"},
    {"who": "mary", "age": "NaN", "region": "Mary Major"},
    {"who": "mary", "age": "forty-four", "region": "south"},
    {"who": "mary", "age": "1e999", "region": ""},
    {"who": None, "age": "44", "region": "north"},
]


@pytest.mark.parametrize("sql", PROBES)
def test_probes_have_the_same_shape_with_and_without_a_person(described: Describe, sql: str) -> None:
    """No error, no more or fewer groups, no other columns, notes or costs: only figures with their noise differ."""
    others = [{"who": f"p{place}", "age": "30", "region": "north"} for place in range(20)]
    shapes = []
    for place, rows in enumerate((others, [*others, *ODD])):
        curator = Curator(described(rows, name=f"people {place}"))
        answer = curator.query(sql, "0.5")
        told = [[row.get("region") for row in answer.rows], answer.columns, answer.notes, answer.epsilon_left]
        shapes.append(told)
    assert shapes[0] == shapes[1]


def test_texts_of_errors_hold_nothing_of_the_data(described: Describe) -> None:
    curator = Curator(described([{"who": "Mary Major", "age": "forty-four", "region": "Ely"}]))
    for sql in (
        "SELECT COUNT(*) FROM t WHERE CAST(region AS INT) = 3",
        "SELECT MAX(age) FROM t",
        "SELECT x FROM t",
        "(",
    ):
        with pytest.raises(ShoalError) as caught:
            curator.query(sql, "0.1")
        assert not [word for word in ("Mary", "forty", "Ely") if word in str(caught.value)]


def test_several_questions_at_once_share_the_price(described: Describe) -> None:
    curator = Curator(described())
    answer = curator.query("SELECT 'a' AS g, COUNT(*) AS n FROM t UNION ALL SELECT 'b', SUM(age) FROM t", "0.5")
    assert [row["g"] for row in answer.rows] == ["a", "b"]
    assert answer.epsilon_left == 0.5


def test_parts_that_have_no_row_in_common_cost_as_one(described: Describe) -> None:
    curator = Curator(described())
    sql = "SELECT COUNT(*) AS n FROM t WHERE age < 30 UNION ALL SELECT COUNT(*) FROM t WHERE age >= 30"
    overlapping = sql.replace(">= 30", ">= 20")
    assert curator.price(sql, 1).errors["n"] == curator.price(COUNT, 1).errors["n"]
    assert curator.price(overlapping, 1).errors["n"] > 1.9 * (curator.price(COUNT, 1).errors["n"] or 0)  # type: ignore[operator]
    assert any("no row in common" in note for note in curator.price(sql, 1).notes)
    answer = curator.query(sql, "0.5")
    assert (len(answer.rows), answer.epsilon_left) == (2, 0.5)


def test_a_price_that_does_not_divide_is_not_more_than_was_said(described: Describe) -> None:
    """Two thirds three times are no more than two."""
    curator = Curator(described(budget={"epsilon": 2}))
    answer = curator.query(" UNION ALL ".join([COUNT, "SELECT SUM(age) FROM t", "SELECT COUNT(age) FROM t"]), 2)
    assert answer.epsilon_left < 1e-9


def test_a_union_of_different_columns_costs_nothing(curator: Curator) -> None:
    with pytest.raises(RefusedQuestion, match="different columns"):
        curator.query("SELECT COUNT(*) FROM t UNION ALL SELECT COUNT(*), SUM(age) FROM t", 1)
    assert curator.left() == 1


def test_totals_add_up_and_counts_are_not_negative(curator: Curator) -> None:
    sql = "SELECT region, age > 50 AS old, COUNT(*) AS n FROM t GROUP BY ROLLUP (region, old)"
    rows = curator.query(sql, "0.1", non_negative=True).rows
    total = next(row["n"] for row in rows if row["region"] is None)
    assert total == pytest.approx(sum(row["n"] for row in rows if row["old"] is not None))
    assert total == pytest.approx(sum(row["n"] for row in rows if row["old"] is None and row["region"] is not None))
    assert min(row["n"] for row in rows) >= 0


def test_asked_anew(curator: Curator) -> None:
    """Data in a database may change without a sign of it."""
    first = curator.query(COUNT, "0.1")
    assert "fresh asks anew" in curator.query(COUNT, "0.1").notes[-1]
    anew = curator.query(COUNT, "0.1", fresh=True)
    assert not anew.kept
    assert anew.number != first.number
    assert curator.query(COUNT, "0.1").rows == anew.rows
    assert curator.left() == Decimal("0.8")


def test_who_is_not_named_may_be_refused(described: Describe) -> None:
    curator = Curator(described(analysts={"Zoé": {"epsilon": 0.5}}, analysts_only=True))
    for use in (lambda: curator.query(COUNT, "0.1"), lambda: curator.price(COUNT, "0.1"), curator.left):
        with pytest.raises(AccessError, match="who asks"):
            use()
    curator.query(COUNT, "0.2", analyst="Zoe\u0301")  # the accent as a letter of its own
    assert curator.left("Zoé") == Decimal("0.3")
    for name in ("zoé", "ZOÉ", "Zoe", " Zoé", "Zoé\u200b", ""):
        with pytest.raises(AccessError, match="has no budget"):
            curator.query(COUNT, "0.1", analyst=name)


def test_who_asks_without_a_name_is_told_who_pays(described: Describe) -> None:
    curator = Curator(described(analysts={"asha": {"epsilon": 0.5}}))
    assert any("without a name" in note for note in curator.query(COUNT, "0.1").notes)
    assert curator.left("asha") == Decimal("0.5")


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 101])
def test_names_that_are_none(curator: Curator, name: str) -> None:
    with pytest.raises(InputError, match="one line"):
        curator.query(COUNT, "0.1", analyst=name)


def test_what_is_exhausted_opens_again_with_the_next_period(
    described: Describe, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datetime

    from shoal.curator import curator as module

    curator = Curator(described(budget={"epsilon": 1, "per": "month"}, on_exhausted="next_period"))
    last = datetime.datetime(2026, 12, 31, 23, 59, 59, tzinfo=datetime.UTC)
    monkeypatch.setattr(module, "now", lambda: last)
    curator.query(COUNT, 1)
    with pytest.raises(BudgetExhausted) as caught:
        curator.query("SELECT SUM(age) FROM t", 1)
    assert "2027-01-01" in str(caught.value.advice)
    monkeypatch.setattr(module, "now", lambda: last + datetime.timedelta(seconds=1))
    assert curator.query("SELECT SUM(age) FROM t", 1).epsilon_left == 0


def test_a_question_dearer_than_a_whole_period_is_not_put_off(described: Describe) -> None:
    for policy in ("next_period", "refuse"):
        curator = Curator(described(budget={"epsilon": 1, "per": "month"}, on_exhausted=policy, name=f"by {policy}"))
        with pytest.raises(BudgetExhausted) as caught:
            curator.query(COUNT, "1.5")
        assert "more than a whole month" in str(caught.value.advice)


def test_a_table_without_a_person_is_not_joined(tmp_path: Path) -> None:
    """Also not by a condition that names the person of the other table twice."""
    described = {
        "shoal": 1,
        "name": "clinic",
        "tables": {
            "people": {"source": "p.csv", "person": "who", "rows_per_person": 1, "columns": {"a": {"type": "boolean"}}},
            "rooms": {"source": "r.csv", "columns": {"b": {"type": "boolean"}}},
        },
        "budget": {"epsilon": 1},
        "ledger": str(tmp_path / "clinic.budget"),
    }
    with pytest.raises(RefusedQuestion, match="person alone"):
        Curator(described).query("SELECT COUNT(*) FROM people p JOIN rooms r ON p.who = p.who", 1)


def test_a_large_budget_means_nothing_for_a_family(described: Describe) -> None:
    from shoal.curator.budget_state import budget_state

    description = described(budget={"epsilon": 1000, "delta": 1e-6})
    Curator(description).query(COUNT, 500, absurd=True)
    assert budget_state(description, family=10).family_delta == 1


@pytest.mark.parametrize(("taken", "until"), [(0.2, 2.0), (1.9, 2.0), (2.5, 4.0)])
def test_answers_leave_at_set_times(
    described: Describe, monkeypatch: pytest.MonkeyPatch, taken: float, until: float
) -> None:
    import time

    clock, waited = iter([100.0, 100.0 + taken]), list[float]()
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(time, "sleep", waited.append)
    with pytest.raises(SourceError), at_set_times(2.0):
        raise SourceError("however it went")
    assert waited == [pytest.approx(until - taken)]
    monkeypatch.undo()
    assert Curator(described(answer_after=0.001)).query(COUNT, "0.1").rows
