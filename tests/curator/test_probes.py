"""Whoever asks often, asks the same in other words, or watches the clock learns no more than the budget allows."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.curator.conftest import Describe

from shoal.curator.curator import Curator
from shoal.dp.auditing import audited, noisy_samples
from shoal.dp.tabulation import tabulated
from shoal.errors import BudgetExhausted

pytestmark = pytest.mark.requirement("C-01", "C-02")

SAME = [
    "SELECT COUNT(*) AS n FROM t WHERE age > 30",
    "SELECT COUNT(*) AS n FROM t WHERE 30 < age",
    "SELECT COUNT(*) AS n FROM t WHERE NOT age <= 30",
    "SELECT COUNT(*) AS n FROM t WHERE age > 30 AND 1 = 1",
    "SELECT COUNT(age) AS n FROM t WHERE age > 30",
    "SELECT COUNT(*) AS n FROM people AS p WHERE p.age > 30.0",
    "WITH older AS (SELECT * FROM t WHERE age > 30) SELECT COUNT(*) AS n FROM older",
    "SELECT SUM(CASE WHEN age > 30 THEN 1 ELSE 0 END) AS n FROM t",
]
"""All about the same rows."""
OTHERS = [{"who": f"p{place}", "age": 40, "region": "north"} for place in range(60)]
MARY = {"who": "mary", "age": 44, "region": "north"}


def test_averaging_answers_to_the_same_in_other_words(described: Describe) -> None:
    """What is the same to the curator is the same answer; what is not is paid for, until nothing is left."""
    curator = Curator(described(OTHERS))
    seen: dict[int, object] = {}
    paid = Decimal(0)
    with pytest.raises(BudgetExhausted):
        for turn in range(100):
            answer = curator.query(SAME[turn % len(SAME)], f"0.{turn // len(SAME) + 2}")
            paid += Decimal(str(answer.epsilon_spent))
            assert seen.setdefault(answer.number or 0, answer.rows) == answer.rows
    assert paid == 1 - curator.left() <= 1
    assert len(seen) <= 5


def test_the_mean_of_many_answers_tells_no_more_than_the_budget(described: Describe) -> None:
    """Eight answers for an eighth of the budget each: all of them together tell no more than the budget, and their mean
    tells less than one answer for all of it would."""
    number = 6000
    sides = []
    for rows in (OTHERS, [*OTHERS, MARY]):
        curator, answers = Curator(described(rows)), []
        for sql in SAME:
            plan = curator.planned(sql, "0.125")
            sources = curator.opened(*plan.plans)
            exact = tabulated(plan.plans[0], curator.described_frames(plan.plans[0], sources))
            answers.append(noisy_samples(plan.plans[0], exact, number))
        sides.append(np.hstack(answers))
    assert not audited(*sides).refutes(1.0)
    assert not audited(sides[0].mean(axis=1), sides[1].mean(axis=1)).refutes(0.7)


def test_analysts_who_put_their_answers_together_share_one_budget(described: Describe) -> None:
    curator = Curator(described(analysts={name: {"epsilon": 1} for name in ("asha", "bo", "cy")}))
    answers = 0
    for turn in range(30):
        try:
            answers += not curator.query(SAME[0], "0.2", analyst=("asha", "bo", "cy")[turn % 3], fresh=True).kept
        except BudgetExhausted:
            continue
    assert answers == 5


def called(curator: Curator, sql: str) -> Counter[str]:
    """Functions of ours that an answer takes, and how often: work that no clock has to measure."""
    found: Counter[str] = Counter()

    def seen(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and "/shoal/" in frame.f_code.co_filename:
            found[f"{frame.f_code.co_filename}:{frame.f_code.co_name}"] += 1

    sys.setprofile(seen)
    try:
        curator.query(sql, "0.1")
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT region, COUNT(*), AVG(age) FROM t GROUP BY region",
        "SELECT COUNT(*) FROM t WHERE age >= 40",
        "SELECT COUNT(DISTINCT who), SUM(age) / 2 AS x FROM t WHERE age < 50 OR 1 / (age - 44) > 3",
    ],
)
def test_an_answer_takes_the_same_work_with_and_without_a_person(described: Describe, sql: str) -> None:
    """Of one who has no more rows than are used, and is not the only one whom a condition chooses: these two a clock
    can tell, as the page on ε says."""
    work = []
    for place, rows in enumerate((OTHERS, OTHERS, [*OTHERS, MARY])):  # what is made once in a process, the first time
        curator = Curator(described(rows, name=f"people {place}"))
        curator.query(sql, "0.2")
        work.append(called(curator, sql))
    assert work[1] == work[2]


@pytest.mark.slow
def test_the_time_of_an_answer_does_not_tell_a_person(tmp_path: Path) -> None:
    """Forty pairs in turns, in CPU seconds: who bets on the longer one is right in about half of them.

    With 40 pairs, 28 or more right has a chance of 1 in 120 where nothing tells; so on each side.
    """
    from time import process_time

    people = pl.DataFrame({"who": [f"p{place}" for place in range(50_000)], "age": [40] * 50_000})
    mary = pl.DataFrame({"who": ["mary"], "age": [44]})
    asks: list[Callable[[str], object]] = []
    for name, table in (("without", people), ("with", pl.concat([people, mary]))):
        table.write_csv(tmp_path / f"{name}.csv")
        given: dict[str, Any] = {
            "shoal": 1,
            "name": name,
            "source": str(tmp_path / f"{name}.csv"),
            "person": "who",
            "rows_per_person": 1,
            "columns": {"age": {"type": "integer", "bounds": [0, 100]}},
            "budget": {"epsilon": 1000},
            "ledger": str(tmp_path / f"{name}.budget"),
        }
        curator = Curator(given)
        asks.append(partial(curator.query, "SELECT COUNT(*) FROM t WHERE age > 30"))
    longer = 0
    for turn in range(43):
        taken = []
        for ask in asks if turn % 2 else asks[::-1]:
            begun = process_time()
            ask(f"0.{turn + 100}")
            taken.append(process_time() - begun)
        without, having = taken if turn % 2 else taken[::-1]
        longer += turn >= 3 and having > without
    assert 12 < longer < 28
