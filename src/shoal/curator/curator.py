"""The curator of one dataset: asks what a question costs, writes it down, and only then looks at the data.

Two things can't be hidden from who asks: how long an answer takes, which grows with the rows that a condition chooses
and with people who have more of them than are used, and that a file can't be read at all. ``answer_after`` in a
description lets answers out at set times.

>>> import tempfile, polars as pl
>>> folder = tempfile.mkdtemp()
>>> pl.DataFrame({"region": ["north", "south"] * 500, "age": [30, 50] * 500}).write_csv(f"{folder}/people.csv")
>>> curator = Curator({
...     "shoal": 1, "name": "people", "source": f"{folder}/people.csv", "ledger": f"{folder}/people.budget",
...     "columns": {"region": {"type": "category", "categories": ["north", "south"]},
...                 "age": {"type": "integer", "bounds": [0, 110]}},
...     "budget": {"epsilon": 1},
... })
>>> answer = curator.query("SELECT region, COUNT(*) AS n FROM people GROUP BY region", epsilon="0.6")
>>> [row["region"] for row in answer.rows], answer.epsilon_left
(['north', 'south'], 0.4)
>>> curator.query("SELECT AVG(age) FROM people", epsilon="0.6")
Traceback (most recent call last):
    ...
shoal.errors.BudgetExhausted: the budget of the dataset does not suffice for this question: ε 0.4 is left
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from math import ceil
from typing import Any, Final

import polars as pl

from shoal.curator.budget_ledger import Account, BudgetLedger, Otherwise
from shoal.curator.budget_place import BudgetPlace
from shoal.curator.opened_sources import OpenedSources, no_details, state_of
from shoal.curator.private_answer import PrivateAnswer, QuestionPrice
from shoal.dp.accounting import Accountant, PrivacyCost
from shoal.dp.composition import ComposedPlan, composed
from shoal.dp.description import MOST_NAME, DatasetDescription, TableDescription
from shoal.dp.noisy_answer import CONFIDENCE, AnswerTable, with_noise, worked_out
from shoal.dp.query_plan import QueryPlan
from shoal.dp.question import aggregate_name
from shoal.dp.scalars import ScalarColumn, columns_in
from shoal.dp.sql.question_reader import read_questions
from shoal.dp.statistics import Statistic
from shoal.dp.tabulation import Tabulation, checked_frames
from shoal.errors import AccessError, BugError, FieldName, FieldText, InputError
from shoal.io import Source, explained
from shoal.io.withdrawn_people import WithdrawnPeople
from shoal.randomness import now
from shoal.schema.registry import did_you_mean

ABSURD: Final = Decimal(20)
"""Of ε: above it, nothing is protected to speak of."""
MOST_DIGITS: Final = 15
LEAST: Final = Decimal("1e-30")
MOST: Final = Decimal("1e6")
"""Of ε and δ: sums of such numbers are exact."""
DATASET: Final = "dataset"
_NOTHING: Final = Decimal(0)


@dataclass(frozen=True)
class _Asked:
    """A question as it was put."""

    composed: ComposedPlan
    epsilon: Decimal
    analyst: str | None
    fingerprint: str

    @property
    def plans(self) -> tuple[QueryPlan, ...]:
        return self.composed.plans

    @property
    def cost(self) -> PrivacyCost:
        return self.composed.cost


@dataclass(frozen=True)
class _Left:
    """To ask with: of the account that has least of it."""

    epsilon: Decimal
    delta: Decimal


class Curator:
    """Answers questions about a dataset, which is given as its description: a path, a text, a mapping.

    Who asks without a name asks for the dataset's own budget; one who is named has a budget of their own beside it.
    With ``analysts_only`` in the description, nobody asks without a name.
    """

    def __init__(self, dataset: object, *, withdrawn: WithdrawnPeople | None = None) -> None:
        self.description = DatasetDescription.of(dataset)
        self._withdrawn = withdrawn
        self._place = BudgetPlace.of(self.description)
        self._sources = OpenedSources(self.description.folder)

    def query(  # noqa: PLR0913  # one question's options, all by name
        self,
        sql: str,
        epsilon: object,
        *,
        delta: object = None,
        analyst: str | None = None,
        absurd: bool = False,
        non_negative: bool = False,
        fresh: bool = False,
    ) -> PrivateAnswer:
        """The answer, with what it cost; the same question is answered as before, and costs nothing again.

        With ``fresh`` it is asked anew and paid again, as where a database has changed. ``non_negative`` puts counts
        below nought right. BudgetExhausted says that it can't be asked, RefusedQuestion why it isn't
        understood. Neither costs anything.
        """
        asked = self._asked(sql, epsilon, delta, analyst, absurd=absurd, non_negative=non_negative)
        with at_set_times(self.description.answer_after):
            return self._answer(sql, asked, fresh=fresh)

    def _answer(self, sql: str, asked: _Asked, *, fresh: bool) -> PrivateAnswer:
        sources = self.opened(*asked.plans)
        frames = [self.described_frames(plan, sources) for plan in asked.plans]
        key = self._key(asked, sources)
        with self._place.ledger() as ledger:
            with ledger.holding():
                there = self._place.begin(ledger, self._terms())
                kept = None if fresh else ledger.kept_answer(key)
                if kept is not None:
                    return self._again(PrivateAnswer.model_validate_json(kept), self._left(asked.analyst, ledger))
                told = {"sql": sql, "epsilon": str(asked.epsilon), "question": key, "analyst": asked.analyst}
                number = ledger.reserve(self.accounts_of(asked.analyst), asked.cost, told, self.otherwise())
            exact = self.tabulated(asked.composed, frames, sources)
            tables = [worked_out(plan, with_noise(plan, one)) for plan, one in zip(asked.plans, exact, strict=True)]
            with ledger.holding():
                answer = self._written(asked, tables, number, self._left(asked.analyst, ledger), new=not there)
                ledger.answered(number, {key: answer.to_json()}, anew=fresh)
                self._place.note(ledger)
        return answer

    def begin(self, *, anew: bool = False, moved: bool = False) -> bool:
        """Makes the budget before the first question does; whether there was none.

        ``anew`` begins another where the one before is lost, ``moved`` says that the dataset has another source now.
        """
        with self._place.ledger() as ledger:
            return not self._place.begin(ledger, self._terms(), anew=anew, moved=moved)

    def otherwise(self) -> Otherwise:
        """What the dataset's policy says about a budget that does not suffice."""
        chosen, per = self.description.on_exhausted, self.description.budget.per
        day = None if per is None else per.end(now().date()).isoformat()
        if isinstance(chosen, dict):
            advice = f"ask {chosen['ask']}, who decides whether there is more"
            return Otherwise(self._left_of, advice, {"ask": chosen["ask"]})
        if day is None:
            return Otherwise(self._left_of)
        too_dear = Otherwise(self._left_of, f"it costs more than a whole {per} has: ask it at a lower price")
        if chosen == "next_period":
            return Otherwise(self._left_of, f"ask again from {day} on", {"next": day}, too_dear)
        return Otherwise(self._left_of, f"the next {per} begins on {day}", too_dear=too_dear)

    def _left_of(self, account: Account, spent: PrivacyCost, asked: PrivacyCost) -> str:
        """Of ε, or of δ where there is enough of ε."""
        if (spent + asked).amount > account.limit.amount:
            return f"ε {_written_out(self._accountant.rest(account.limit, spent))} is left"
        return f"δ {_written_out(max(_NOTHING, account.limit.delta - spent.delta))} is left"

    @contextmanager
    def learning(  # noqa: PLR0913  # one fit's price, all by name
        self,
        fitted: str,
        *,
        epsilon: Decimal,
        delta: Decimal,
        rho: float,
        analyst: str | None,
        apart: Decimal = _NOTHING,
    ) -> Iterator[None]:
        """Pays for a model that is fitted meanwhile: what it costs is on the ledger before its rows are summed.

        ``fitted`` is what was asked for, in public words; ``rho`` is what it costs where that is what adds up, and
        ``apart`` the part of δ that is spent beside it.
        """
        _not_absurd(epsilon, absurd=False)
        analyst = self._known(analyst)
        cost = self._accountant.learning_price(epsilon, delta, rho, apart)
        with self.begun() as ledger:
            told = {"fitted": fitted, "epsilon": str(epsilon), "analyst": analyst}
            number = ledger.reserve(self.accounts_of(analyst), cost, told, self.otherwise())
            yield
            ledger.answered(number, {hashlib.sha256(f"fit {number}".encode()).hexdigest(): json.dumps(fitted)})
            self._place.note(ledger)

    def price(
        self, sql: str, epsilon: object, *, delta: object = None, analyst: str | None = None, absurd: bool = False
    ) -> QuestionPrice:
        """What it would cost and how far off it would be. Nothing is read, nothing is spent."""
        asked = self._asked(sql, epsilon, delta, analyst, absurd=absurd)
        analyst = asked.analyst
        errors: dict[str, float | None] = {}
        widths: dict[str, float | None] = {}
        for plan in asked.plans:
            for output, made_of in _plain_outputs(plan):
                if made_of is None:
                    errors[output], widths[output] = None, None
                    continue
                noise = plan.noise(made_of)
                errors[output] = noise.standard_error * made_of.step
                widths[output] = noise.half_width(CONFIDENCE) * made_of.step
        groups = [plan.groups for plan in asked.plans]
        return QuestionPrice(
            dataset=self.description.name,
            analyst=analyst,
            epsilon=_plain(asked.epsilon),
            delta=_plain(asked.cost.delta),
            epsilon_left=_plain(self.left(analyst)),
            sufficient=all((spent + asked.cost).fits(one.limit) for one, spent in self._states(analyst)),
            groups=sum(one or 0 for one in groups) if all(one is not None for one in groups) else None,
            errors=errors,
            half_widths=widths,
            notes=tuple(self._notes(asked)),
        )

    def planned(self, sql: str, epsilon: object, *, delta: object = None) -> ComposedPlan:
        """A question as it would be worked out; nothing is read or spent."""
        return self._asked(sql, epsilon, delta, None, absurd=False).composed

    def left(self, analyst: str | None = None) -> Decimal:
        """ε that is left to ask with."""
        return self._left(analyst).epsilon

    def accounts(self) -> Iterator[tuple[str, Decimal, Decimal, Decimal]]:
        """Whose budget, its ε in all, spent and left: the dataset's first, then each analyst's."""
        described = self.description
        limits: dict[str | None, Decimal] = {None: described.budget.epsilon}
        limits |= {name: one.epsilon for name, one in described.analysts.items()}
        for analyst, limit in limits.items():
            account = self.accounts_of(analyst)[-1]
            spent = self._spent(account)
            left = self._accountant.left(limit, spent)
            yield analyst or described.name, limit, self._accountant.epsilon(spent), left

    def ledger(self) -> BudgetLedger:
        """For who audits; there is none before the first question."""
        return self._place.opened()

    @property
    def _accountant(self) -> Accountant:
        return self.description.accountant

    def begun(self) -> BudgetLedger:
        """The ledger, which is made where there is none."""
        ledger = self._place.ledger()
        self._place.begin(ledger, self._terms())
        return ledger

    def _terms(self) -> dict[str, Any]:
        """What may be spent, on which data, for whose protection, as it is written down."""
        terms = self.description.model_dump(mode="json", include={"budget", "analysts", "per", "time"})
        terms["accounting"] = self._accountant.accounting.value
        tables = self.description.described_tables
        terms["people"] = {name: [one.person, one.rows_per_person] for name, one in tables.items()}
        sources = {name: one.source.model_dump_json() for name, one in tables.items()}
        terms["source"] = hashlib.sha256(json.dumps(sources, sort_keys=True).encode()).hexdigest()
        return terms

    def _asked(  # noqa: PLR0913  # the same
        self,
        sql: str,
        epsilon: object,
        delta: object,
        analyst: str | None,
        *,
        absurd: bool,
        non_negative: bool = False,
    ) -> _Asked:
        amount = positive_amount(epsilon, "epsilon")
        _not_absurd(amount, absurd=absurd)
        allowed = None if delta is None else positive_amount(delta, "delta")
        if allowed is not None and allowed >= 1:
            raise InputError("has to be far below 1, as 1e-9", field="delta")
        analyst = self._known(analyst)
        questions = [replace(question, non_negative=non_negative) for question in read_questions(sql, self.description)]
        plan = composed(questions, self.description, amount, allowed)
        told = json.dumps([[question.fingerprint() for question in questions], str(amount), str(allowed)])
        return _Asked(plan, amount, analyst, hashlib.sha256(told.encode()).hexdigest())

    def _known(self, analyst: str | None) -> str | None:
        """Who asks, by the name that the description has for them."""
        described = self.description
        if analyst is None:
            if described.analysts_only:
                raise AccessError("who asks? only analysts who are named may", field="analyst")
            return None
        if not described.analysts:
            if not 1 <= len(analyst) <= MOST_NAME or not analyst.isprintable():
                raise InputError(f"a name is one line of at most {MOST_NAME} letters", field="analyst")
            return analyst
        known = described.known_analyst(analyst)
        if known is None:
            near = did_you_mean(analyst, tuple(described.analysts))
            raise AccessError(f"'{analyst[:MOST_NAME]}' has no budget{near}", field="analyst")
        return known

    def accounts_of(self, analyst: str | None) -> list[Account]:
        """What a question of theirs is paid from."""
        budget = self.description.budget
        period = "" if budget.per is None else budget.per.of(now())
        accounts = [Account(DATASET, period, self._accountant.limit(budget.epsilon))]
        if analyst is not None and analyst in self.description.analysts:
            own = self.description.analysts[analyst]
            limit = self._accountant.limit(own.epsilon)
            delta = limit.delta if own.delta is None else own.delta
            accounts.append(Account(f"analyst {analyst}", period, PrivacyCost(limit.amount, delta)))
        return accounts

    def _spent(self, account: Account, ledger: BudgetLedger | None = None) -> PrivacyCost:
        """Nothing, where no question was asked yet."""
        if ledger is not None:
            return ledger.spent(account.name, account.period)
        if not self._place.known():
            return PrivacyCost()
        with self.ledger() as opened:
            return opened.spent(account.name, account.period)

    def _states(self, analyst: str | None, ledger: BudgetLedger | None = None) -> Iterator[tuple[Account, PrivacyCost]]:
        """What a question of theirs is paid from, with what is spent of it; by a ledger that is open."""
        for account in self.accounts_of(self._known(analyst)):
            yield account, self._spent(account, ledger)

    def _left(self, analyst: str | None, ledger: BudgetLedger | None = None) -> _Left:
        states = list(self._states(analyst, ledger))
        return _Left(
            min(self._accountant.rest(account.limit, spent) for account, spent in states),
            max(_NOTHING, min(account.limit.delta - spent.delta for account, spent in states)),
        )

    def opened(self, *plans: QueryPlan) -> dict[str, Source]:
        """Before anything is spent: a file that isn't there costs nothing."""
        tables = self.description.described_tables
        names = {name for plan in plans for name in plan.question.tables}
        return {name: self.source_of(tables[name]) for name in sorted(names)}

    def source_of(self, table: TableDescription) -> Source:
        """Of a table that is described, without people who withdrew."""
        found = self._sources.opened(table)
        return found if self._withdrawn is None else self._withdrawn.left_out_of(found, table.person)

    def _key(self, asked: _Asked, sources: Mapping[str, Source]) -> str:
        """The question, what is described and the data: the same where all three are."""
        states = [part for source in sources.values() for part in state_of(source)]
        parts = [asked.fingerprint, self.public_words(), asked.analyst or "", *states]
        if self._withdrawn is not None:
            parts.append(self._withdrawn.fingerprint)
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def public_words(self) -> str:
        """What is described of the data, without who may ask and how much."""
        policy = {"budget", "analysts", "analysts_only", "answer_after", "ledger", "on_exhausted"}
        return self.description.model_dump_json(exclude=policy)

    def described_frames(self, plan: QueryPlan, sources: Mapping[str, Source]) -> list[pl.LazyFrame]:
        """Compared with what is described, before anything is spent."""
        used = [sources[name] for name in plan.question.tables]
        with no_details(used[0].label), explained(used[0]):
            return checked_frames(plan, [source.scan() for source in used])

    def tabulated(
        self, plan: ComposedPlan, frames: Sequence[list[pl.LazyFrame]], sources: Mapping[str, Source]
    ) -> list[Tabulation]:
        """The exact numbers of each SELECT, for who has paid.

        Expressions fail on no row. Should they all the same, nothing of the error is told but that there was one.
        """
        try:
            first = sources[plan.plans[0].question.tables[0]]
            with no_details(first.label), explained(first):
                return plan.tabulated(frames)
        except pl.exceptions.PolarsError:
            raise BugError("the question could not be worked out; what it costs stays spent") from None

    def _written(
        self, asked: _Asked, tables: list[AnswerTable], number: int, left: _Left, *, new: bool
    ) -> PrivateAnswer:
        frames = [table.frame for table in tables]
        if any(frame.columns != frames[0].columns for frame in frames):
            frames = [frame.rename(dict(zip(frame.columns, frames[0].columns, strict=True))) for frame in frames]
        frame = pl.concat(frames, how="vertical_relaxed")
        return PrivateAnswer(
            dataset=self.description.name,
            analyst=asked.analyst,
            columns=tuple(frame.columns),
            rows=tuple(_row(row) for row in frame.iter_rows(named=True)),
            epsilon_spent=_plain(asked.epsilon),
            delta_spent=_plain(asked.cost.delta),
            epsilon_left=_plain(left.epsilon),
            delta_left=_plain(left.delta),
            accounting=self._accountant.accounting.value,
            number=number,
            at=now().isoformat(timespec="seconds"),
            notes=(*self._notes(asked), *(["the budget was begun with this question"] if new else [])),
        )

    def _again(self, answer: PrivateAnswer, left: _Left) -> PrivateAnswer:
        when = "" if answer.at is None else f" on {answer.at[:10]}"
        said = FieldText(
            f"asked before{when}: this is the same answer, and costs nothing (", FieldName("fresh"), " asks anew)"
        )
        now_left = {"epsilon_left": _plain(left.epsilon), "delta_left": _plain(left.delta)}
        changed = {"epsilon_spent": 0, "delta_spent": 0, "kept": True, **now_left}
        return answer.model_copy(update={**changed, "notes": (*answer.notes, said)})

    def _notes(self, asked: _Asked) -> Iterator[str]:
        """What the figures stand for; all of it is public, none of it is read off the data."""
        plan = asked.plans[0]
        if any(table.person is not None for table in plan.tables):
            whose = "a person" if plan.per is None else f"a person in a {plan.per}"
            most = "one row" if plan.rows_per_person == 1 else f"{plan.rows_per_person} rows"
            yield f"at most {most} of {whose} may count, drawn by chance where there are more"
            if plan.per is not None:
                yield f"what a person does in one {plan.per} is protected, not all that they do"
        if any(one.used for one in asked.plans):
            yield "values that are not as described count as missing"
        bounded = sorted({name for one in asked.plans for name in one.used if one.columns[name].bounds is not None})
        if bounded:
            yield f"values beyond the bounds of {', '.join(bounded)} are taken as the bound"
        if any(one.public_keys is None for one in asked.plans):
            yield "groups with few people are left out, so that nobody makes a group appear"
        for part in asked.composed.parts:
            if len(part) > 1:
                numbers = ", ".join(str(place + 1) for place in part)
                yield f"SELECTs {numbers} have no row in common: together they cost as much as one"
        if any(one.question.levels for one in asked.plans):
            yield "totals are added up from the figures of the smallest groups"
        if asked.analyst is None and self.description.analysts:
            yield "asked without a name: paid from the dataset's budget, and from no analyst's"
        yield "intervals (95 %) are about the noise: they say nothing of clipping or of rows left out"


@contextmanager
def at_set_times(seconds: float | None) -> Iterator[None]:
    """What is done within ends at a multiple of so many seconds after its beginning, however it went."""
    begun = time.monotonic()
    try:
        yield
    finally:
        if seconds is not None:
            past = time.monotonic() - begun
            time.sleep(ceil(past / seconds) * seconds - past)


def _plain_outputs(plan: QueryPlan) -> Iterator[tuple[str, Statistic | None]]:
    """Estimates by name, with the one statistic that is all there is to them, if so."""
    names = [aggregate_name(place) for place in range(len(plan.question.aggregates))]
    for output in plan.question.outputs:
        if not any(name in names for name in columns_in(output.scalar)):
            continue
        place = names.index(output.scalar.name) if isinstance(output.scalar, ScalarColumn) else None
        made_of = () if place is None else plan.ingredients[place].statistics
        yield output.name, made_of[0] if len(made_of) == 1 else None


def positive_amount(given: object, field: str) -> Decimal:
    """Of ε or δ, as somebody gives it."""
    try:
        number = Decimal(str(given))
    except InvalidOperation:
        raise InputError("has to be a number above 0, as 0.5", field=field) from None
    if not number.is_finite() or number <= 0:
        raise InputError("has to be a number above 0, as 0.5", field=field)
    number = number.normalize()
    if len(number.as_tuple().digits) > MOST_DIGITS or not LEAST <= number < MOST:
        raise InputError(f"has more than {MOST_DIGITS} digits, or is too small or too large to work with", field=field)
    return number


def _not_absurd(epsilon: Decimal, *, absurd: bool) -> None:
    if epsilon > ABSURD and not absurd:
        meant = FieldText(FieldName("absurd"), " says that it is meant")
        said = f"{_written_out(epsilon)} protects nobody; small numbers are meant, as 0.5"
        raise InputError(said, field="epsilon", advice=meant)


def _written_out(number: Decimal) -> str:
    return f"{float(number):.9g}"


def _plain(number: Decimal) -> int | float:
    return int(number) if number == number.to_integral_value() else float(number)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _cell(value) for name, value in row.items()}


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    return value.isoformat() if hasattr(value, "isoformat") else value
