"""Several processes that ask at once, and that are killed at any moment: spent is never less than answered."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from tests.curator.asking import EPSILON
from tests.curator.conftest import Describe

from shoal.curator.budget_ledger import ANSWERED, ASKED, BudgetLedger

pytestmark = pytest.mark.requirement("C-02")


def asked(root: Path, description: Path, *, processes: int, answers: int, kills: int, seconds: int = 580) -> list[str]:
    told = description.parent / "told"
    numbers = [str(number) for number in (processes, answers, kills)]
    command = [sys.executable, "-m", "tests.curator.asking", str(description), str(told), *numbers]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0, done.stderr
    lines = told.read_text().splitlines()
    assert not [line for line in lines if line.startswith("failed")]
    return lines


def spent_at_least(place: str, answers: list[int]) -> int:
    """How many questions are paid, after the chain and the sums were verified."""
    with BudgetLedger.open(place, "people") as ledger:
        ledger.verify()
        entries = list(ledger.entries())
        paid = {entry.number for entry in entries if entry.kind == ASKED}
        told = [entry.payload["question"] for entry in entries if entry.kind == ANSWERED]
        spent = ledger.spent("dataset", "").amount
    assert len(answers) == len(set(answers))
    assert set(answers) <= set(told) <= paid
    assert spent == len(paid) * Decimal(EPSILON) >= len(answers) * Decimal(EPSILON)
    return len(paid)


def test_killed_while_asking(root: Path, described: Describe, place: str) -> None:
    description = described(ledger=place, budget={"epsilon": 1_000_000})
    lines = asked(root, description, processes=4, answers=12, kills=12)
    assert spent_at_least(place, [int(line) for line in lines]) >= len(lines) >= 12


@pytest.mark.slow
def test_killed_two_hundred_times(root: Path, described: Describe, place: str) -> None:
    description = described(ledger=place, budget={"epsilon": 1_000_000})
    lines = asked(root, description, processes=4, answers=1000, kills=200, seconds=7200)
    assert spent_at_least(place, [int(line) for line in lines]) >= len(lines) >= 1000


def test_processes_can_not_overspend_together(root: Path, described: Describe, place: str) -> None:
    """Four that begin the budget at the same moment: exactly as many answers as it bears, and each is refused then."""
    lines = asked(root, described(ledger=place), processes=4, answers=10**6, kills=0)
    answers = [int(line) for line in lines if line != "refused"]
    assert len(answers) == spent_at_least(place, answers) == 10
    assert lines.count("refused") == 4
