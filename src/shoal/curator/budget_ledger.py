"""The budget of a dataset on the house's ledger: spent before the data are touched, and never given back.

A question is written down with its price first. Only then is it answered, so whoever kills the process at any moment
loses an answer and never wins one. Two processes that ask at once wait for each other. The sums beside the ledger are
written in the same transaction; ``verify`` works them out of the chain again. Several datasets can share a PostgreSQL
database: each has tables of its own.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Final, Self

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from shoal.crypto import Key
from shoal.curator.budget_tables import known_budget_tables, tables_name
from shoal.dp.accounting import Accounting, PrivacyCost
from shoal.errors import BudgetExhausted, FieldName, FieldText, InputError, IntegrityError, ShoalError
from shoal.ledger import Checkpoint, LedgerChain, LedgerEntry, LedgerFacts, LedgerHead
from shoal.ledger.database import TransactionalDatabase

BEGUN: Final = "budget begun"
ASKED: Final = "question"
ANSWERED: Final = "answer"
REFUSED: Final = "refusal"
REPLACED: Final = "another budget lost"
PAUSES: Final = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Seconds to wait for a process that begins the same budget at the same moment."""


class BudgetDatabase(TransactionalDatabase):
    kind: ClassVar[str] = "budget"
    how_to_make: ClassVar[str | None] = "the first question begins one"


@dataclass(frozen=True)
class Account:
    """Whose budget: the dataset's, or an analyst's, in all or in one period."""

    name: str
    period: str
    limit: PrivacyCost


@dataclass(frozen=True)
class Otherwise:
    """What is said when a budget does not suffice, and what happens then, as the dataset's policy has it."""

    left: Callable[[Account, PrivacyCost, PrivacyCost], str]
    """Of an account, from what is spent of it and what is asked for, in words."""
    advice: str | None = None
    noted: Mapping[str, str] = field(default_factory=dict)
    """In the ledger, beside the refusal."""
    too_dear: Otherwise | None = None
    """Instead, where the question by itself costs more than the whole budget."""

    def for_cost(self, cost: PrivacyCost, account: Account) -> Otherwise:
        return self if self.too_dear is None or cost.fits(account.limit) else self.too_dear


@dataclass(frozen=True)
class BudgetHead:
    identity: str
    """Of the budget: the hash of its first entry."""
    entries: int


class BudgetLedger(AbstractContextManager["BudgetLedger"]):
    """One dataset's. ``begin`` makes it where there is none yet."""

    def __init__(self, place: str, dataset: str) -> None:
        self.dataset = dataset
        self._database = BudgetDatabase(place)
        name = tables_name(dataset, shared=not self._database.is_file)
        self._metadata, self._tables = known_budget_tables(name)

    @property
    def label(self) -> str:
        return self._database.label

    def holding(self) -> AbstractContextManager[None]:
        """One connection for all that is done within; not for as long as data are worked on."""
        return self._database.holding()

    @classmethod
    def open(cls, place: str, dataset: str) -> Self:
        """One that is there; a lost budget doesn't pass for an unspent one."""
        opened = cls(place, dataset)
        with opened._database.reading():
            return opened

    @classmethod
    def of_file(cls, path: Path) -> Self | None:
        """The one that a file holds, whichever dataset it is of; none where it can't be told."""
        with cls(str(path), "") as ledger, suppress(ShoalError, ValueError, TypeError, KeyError):
            return cls(str(path), str(json.loads(ledger._last_terms() or "")["dataset"]))
        return None

    @classmethod
    def begin(cls, place: str, dataset: str, terms: Mapping[str, Any], *, moved: bool = False) -> Self:
        """Opened where it is there. A change of what may be spent is written down before it holds."""
        ledger = cls(place, dataset)
        ledger.begun(terms, made=ledger.exists(), moved=moved)
        return ledger

    def begun(self, terms: Mapping[str, Any], *, made: bool, moved: bool = False) -> bool:
        """Whether anything was written."""
        if not made:
            self._make(terms)
        return self._note_terms(terms, moved=moved) or not made

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    def reserve(
        self,
        accounts: Sequence[Account],
        cost: PrivacyCost,
        told: Mapping[str, Any],
        otherwise: Otherwise,
    ) -> int:
        """The number of the question. On disk when this returns; BudgetExhausted where an account can't bear it."""
        totals: list[PrivacyCost] = []
        with self._writing() as connection:
            self._refuse_earlier(connection, accounts)
            for account in accounts:
                spent = self._spent(connection, account.name, account.period)
                if not (spent + cost).fits(account.limit):
                    short = account
                    break
                totals.append(spent + cost)
            else:
                payload = {**told, "amount": str(cost.amount), "delta": str(cost.delta)}
                payload["accounts"] = [[account.name, account.period] for account in accounts]
                number = self._chain(connection).append(ASKED, payload).number
                for account, total in zip(accounts, totals, strict=True):
                    self._put(connection, account, total)
                return number
            otherwise = otherwise.for_cost(cost, short)
            noted = {"account": short.name, "period": short.period, **otherwise.noted}
            self._chain(connection).append(REFUSED, {**told, **noted})
        whose = "the dataset" if short.name == "dataset" else short.name.removeprefix("analyst ")
        within = f" in {short.period}" if short.period else ""
        left = otherwise.left(short, spent, cost)
        raise BudgetExhausted(
            f"the budget of {whose}{within} does not suffice for this question: {left}", advice=otherwise.advice
        )

    def _refuse_earlier(self, connection: Connection, accounts: Sequence[Account]) -> None:
        """A clock that is set back would open a budget again that belongs to a period which is over."""
        table = self._tables.account
        for account in accounts:
            if not account.period:
                continue
            paid = select(func.max(table.c.period)).where(table.c.account == account.name)
            last = connection.execute(paid).scalar() or ""
            if last[: len(account.period)] > account.period:
                raise IntegrityError(
                    f"{self.label}: the clock says {account.period}, and a question was paid for in {last}",
                    advice="set the clock right",
                )

    def answered(self, number: int, answers: Mapping[str, str], *, anew: bool = False) -> None:
        """Kept for whoever asks the same again, by question. What is kept already stays, unless it was asked anew."""
        with self._writing() as connection:
            self._chain(connection).append(ANSWERED, {"question": number})
            table = self._tables.answer
            if anew:
                connection.execute(delete(table).where(table.c.question.in_(list(answers))))
            known = self._kept(connection, list(answers))
            new = [
                {"question": question, "number": number, "answer": answer}
                for question, answer in answers.items()
                if question not in known
            ]
            if new:
                connection.execute(insert(table), new)

    def kept_answers(self, questions: Sequence[str]) -> dict[str, str]:
        with self._database.reading() as connection:
            return self._kept(connection, questions)

    def kept_answer(self, question: str) -> str | None:
        return self.kept_answers([question]).get(question)

    def _kept(self, connection: Connection, questions: Sequence[str]) -> dict[str, str]:
        table = self._tables.answer
        found = select(table.c.question, table.c.answer).where(table.c.question.in_(questions))
        return {row.question: row.answer for row in connection.execute(found)}

    def state(self) -> BudgetHead:
        """Which budget this is and how far it has come."""
        with self._database.reading() as connection:
            chain = self._chain(connection)
            entry = self._tables.ledger.entry
            first = connection.execute(select(entry.c.hash).where(entry.c.number == 1)).scalar()
            if not isinstance(first, bytes):
                raise IntegrityError(f"{self.label}: its first entry is missing")
            return BudgetHead(first.hex(), chain.head().number)

    def spent(self, account: str, period: str) -> PrivacyCost:
        with self._database.reading() as connection:
            return self._spent(connection, account, period)

    def entries(self, start: int = 1) -> Iterator[LedgerEntry]:
        with self._database.reading() as connection:
            yield from self._chain(connection).entries(start)

    def checkpoint(self, key: Key) -> Checkpoint:
        with self._writing() as connection:
            return self._chain(connection).checkpoint(key)

    def verify(self, *, signers: Sequence[bytes] = (), anchors: Sequence[LedgerHead | Checkpoint] = ()) -> LedgerFacts:
        """That the chain holds, and that the sums are those of the questions in it."""
        with self._database.reading() as connection:
            self._database.require_sound(connection, self._metadata)
            chain = self._chain(connection)
            facts = chain.verify(signers=signers, anchors=anchors)
            sums: dict[tuple[str, str], PrivacyCost] = {}
            for entry in chain.entries():
                if entry.kind == ASKED:
                    cost = PrivacyCost(Decimal(entry.payload["amount"]), Decimal(entry.payload["delta"]))
                    for name, period in entry.payload["accounts"]:
                        sums[name, period] = sums.get((name, period), PrivacyCost()) + cost
            table = self._tables.account
            stored = {
                (row.account, row.period): PrivacyCost(Decimal(row.amount), Decimal(row.delta))
                for row in connection.execute(select(table))
            }
        if stored != sums:
            raise IntegrityError(f"{self.label}: what is counted as spent is not what the questions cost")
        return facts

    def exists(self) -> bool:
        """Whether a budget was begun here. One that is damaged is an error, not an unspent one."""
        if self._database.path is not None and not self._database.path.exists():
            return False
        with self._database.reading() as connection:
            return bool(connection.dialect.has_table(connection, self._tables.ledger.entry.name))

    def _make(self, terms: Mapping[str, Any]) -> None:
        for pause in (*PAUSES, None):
            try:
                with self._database.making(self._metadata, self._tables.ledger.entry, new_file=False) as connection:
                    self._write_terms(connection, _written(terms, self.dataset))
            except ShoalError:
                if self.exists():  # another process was first
                    return
                if pause is None:
                    raise
                time.sleep(pause)  # or is about to be
            else:
                return

    def note_lost(self, lost: BudgetHead) -> None:
        """For who audits: this budget takes the place of another, of which no more is known."""
        with self._writing() as connection:
            self._chain(connection).append(REPLACED, {"budget": lost.identity, "entries": lost.entries})

    def _note_terms(self, terms: Mapping[str, Any], *, moved: bool) -> bool:
        wanted = _written(terms, self.dataset)
        last = self._last_terms()
        if last is not None:
            self._refuse_terms(json.loads(last), json.loads(wanted), moved=moved)
        if last == wanted:
            return False
        with self._writing() as connection:
            self._write_terms(connection, wanted)
        return True

    def _last_terms(self) -> str | None:
        with self._database.reading() as connection:
            table = self._tables.terms
            return connection.execute(select(table.c.terms).order_by(table.c.number.desc()).limit(1)).scalar()

    def _refuse_terms(self, last: Mapping[str, Any], wanted: Mapping[str, Any], *, moved: bool) -> None:
        """What was spent would be counted wrongly, or two datasets would spend from one budget."""
        if last["dataset"] != wanted["dataset"]:
            raise IntegrityError(f"{self.label}: is the budget of another dataset")
        if (last.get("accounting") == Accounting.ZCDP) != (wanted.get("accounting") == Accounting.ZCDP):
            unit = "ρ" if last.get("accounting") == Accounting.ZCDP else "ε"
            raise InputError(
                f"{self.label}: what was spent is counted in {unit}, which the new `accounting` does not",
                advice="leave `accounting` as it was",
            )
        if not self._database.is_file and last.get("source") not in (None, wanted.get("source")) and not moved:
            raise InputError(
                f"{self.label}: holds the budget of a dataset '{self.dataset}' that has another source",
                advice=FieldText(
                    "give this one another `name`, or say that its data have moved: ", FieldName("moved", of="dp begin")
                ),
            )

    def _write_terms(self, connection: Connection, terms: str) -> None:
        number = self._chain(connection).append(BEGUN, json.loads(terms)).number
        connection.execute(insert(self._tables.terms).values(number=number, terms=terms))

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._database.transaction(None if self._database.is_file else self._lock()) as connection:
            yield connection

    def _lock(self) -> Select[Any]:
        number = int.from_bytes(hashlib.sha256(self._tables.account.name.encode()).digest()[:8], "big", signed=True)
        return select(func.pg_advisory_xact_lock(number))

    def _chain(self, connection: Connection) -> LedgerChain:
        return LedgerChain(connection, self._tables.ledger, f"budget {self.dataset}", None)

    def _spent(self, connection: Connection, account: str, period: str) -> PrivacyCost:
        table = self._tables.account
        row = connection.execute(select(table).where(table.c.account == account, table.c.period == period)).first()
        return PrivacyCost() if row is None else PrivacyCost(Decimal(row.amount), Decimal(row.delta))

    def _put(self, connection: Connection, account: Account, total: PrivacyCost) -> None:
        """What is spent of it in all, from now on."""
        table = self._tables.account
        mine = (table.c.account == account.name) & (table.c.period == account.period)
        values = {"amount": str(total.amount), "delta": str(total.delta)}
        changed = connection.execute(update(table).where(mine).values(**values))
        if not changed.rowcount:
            connection.execute(insert(table).values(account=account.name, period=account.period, **values))


def _written(terms: Mapping[str, Any], dataset: str) -> str:
    return json.dumps({"dataset": dataset, **terms}, sort_keys=True)
