"""What was spent, for who watches a budget: sums by account, and the ledger entry by entry."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from shoal.curator.budget_ledger import ANSWERED, ASKED, BEGUN, REPLACED
from shoal.curator.curator import Curator
from shoal.dp.accounting import group_privacy
from shoal.ledger import LedgerEntry
from shoal.results.base import Absent, Number, ResultModel, Words

_CHANGES: Final[Mapping[tuple[str, ...], str]] = {
    ("source",): "the data have another source than before",
    ("people", "per", "time"): "who is protected, or how many of their rows count, was described otherwise before",
    ("accounting",): "costs were added up in another way before",
}
"""By the terms of a budget, what a change of them means."""


class AccountState(ResultModel):
    account: str
    """The dataset, or an analyst."""
    limit: Number
    spent: Number
    left: Number


class BudgetState(ResultModel):
    dataset: str
    accounting: str
    accounts: tuple[AccountState, ...]
    family_epsilon: Number
    """What the dataset's ε so far means for several people together."""
    family_delta: Number


class AuditedEntry(ResultModel):
    number: int
    at: str
    kind: str
    analyst: Absent[str] = None
    epsilon: Absent[str] = None
    sql: Absent[str] = None
    fitted: Absent[str] = None
    """The model that was learnt, where that was the question."""


class BudgetAudit(ResultModel):
    dataset: str
    verified: int
    """Entries whose chain holds."""
    asked: int
    answered: int
    entries: tuple[AuditedEntry, ...]
    doubts: tuple[Words, ...] = ()


def budget_state(dataset: object, *, family: int = 4) -> BudgetState:
    curator = Curator(dataset)
    accounts = tuple(
        AccountState(account=name, limit=float(limit), spent=float(spent), left=float(left))
        for name, limit, spent, left in curator.accounts()
    )
    epsilon, delta = group_privacy(float(accounts[0].spent), float(curator.description.budget.delta), family)
    return BudgetState(
        dataset=curator.description.name,
        accounting=curator.description.accountant.accounting.value,
        accounts=accounts,
        family_epsilon=epsilon,
        family_delta=delta,
    )


def audited(dataset: object) -> BudgetAudit:
    """The whole ledger, verified first: an IntegrityError where it is not as it was written."""
    curator = Curator(dataset)
    with curator.ledger() as ledger:
        facts = ledger.verify()
        entries = tuple(ledger.entries())
    asked = {entry.number for entry in entries if entry.kind == ASKED}
    answered = {entry.payload["question"] for entry in entries if entry.kind == ANSWERED}
    return BudgetAudit(
        dataset=curator.description.name,
        verified=facts.entries,
        asked=len(asked),
        answered=len(answered),
        entries=tuple(
            AuditedEntry(
                number=entry.number,
                at=entry.at,
                kind=entry.kind,
                analyst=entry.payload.get("analyst"),
                epsilon=entry.payload.get("epsilon"),
                sql=entry.payload.get("sql"),
                fitted=entry.payload.get("fitted"),
            )
            for entry in entries
        ),
        doubts=tuple(_doubts(entries, len(asked - answered))),
    )


def _doubts(entries: Sequence[LedgerEntry], unanswered: int) -> Iterator[str]:
    if unanswered:
        yield f"{unanswered} questions were paid for and not answered: the process ended in between"
    for before, after in pairwise(entry for entry in entries if entry.kind == BEGUN):
        yield from _changed_terms(before, after)
    for before, after in pairwise(entries):
        if after.at < before.at:
            yield f"entry {after.number} is of an earlier time than the one before it: the clock was set back"
    for entry in entries:
        if entry.kind == REPLACED:
            yield (
                f"entry {entry.number}: a budget of {entry.payload['entries']} entries was lost before and another one "
                "begun; what was answered from that is not counted here"
            )


def _changed_terms(before: LedgerEntry, after: LedgerEntry) -> Iterator[str]:
    for name in ("budget", "analysts"):
        if before.payload.get(name) != after.payload.get(name):
            told = " to ".join(json.dumps(one.payload.get(name), ensure_ascii=False) for one in (before, after))
            yield f"entry {after.number}: the {name} changed from {told}"
    for names, what in _CHANGES.items():
        if any(name in before.payload and before.payload[name] != after.payload.get(name) for name in names):
            yield f"entry {after.number}: {what}"
