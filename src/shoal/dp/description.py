"""The description of a dataset: what is public about it, who may ask, and how much (``dataset.yaml``).

Bounds and categories are public knowledge: they are written down by somebody who knows the subject, and never taken
from the data, since an answer would tell by them who is in it.
"""

from __future__ import annotations

import datetime
import unicodedata
from collections.abc import Iterable, Mapping
from decimal import Decimal
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PlainSerializer, PrivateAttr, ValidationError, model_validator

from shoal.dp.accounting import Accountant, Accounting
from shoal.errors import PolicyError, PolicyProblem
from shoal.io import SourceOptions, parse_source
from shoal.policy.load import findings_of, read_given, read_mapping, read_policy
from shoal.policy.yaml_tree import dotted
from shoal.schema.parameters import Parameters

LARGEST = 2**40
"""Bounds lie within ± this, so that sums of whole numbers can't overflow."""
Exact = Annotated[
    Decimal,
    BeforeValidator(lambda value: Decimal(str(value)) if isinstance(value, int | float) else value),
    PlainSerializer(float, return_type=float, when_used="json"),
]
"""A number as it was written: 0.1 is a tenth."""


MOST_NAME = 100
"""Letters of an analyst's name."""


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _refuse_alike(names: Iterable[str], what: str) -> None:
    """Names that a reader can't tell apart, such as by case alone, would be two budgets or two columns."""
    seen: set[str] = set()
    for name in names:
        folded = unicodedata.normalize("NFKC", name).casefold()
        if folded in seen:
            raise ValueError(f"{what}: '{name}' stands twice, in another case or form")
        seen.add(folded)


class DescribedFile(Parameters):
    """A file of one's own beside policies, checked as they are: every problem at once, with its line."""

    _folder: Path | None = PrivateAttr(default=None)

    @classmethod
    def of(cls, given: object) -> Self:
        """As a caller has it: one that was read, the path of its file, its text, or a mapping."""
        if isinstance(given, cls):
            return given
        made = read_given(given, cls.from_text, "description")
        if not isinstance(given, Path) and (not isinstance(given, str) or "\n" in given):
            made._folder = None
        return made

    @classmethod
    def load(cls, path: str | Path) -> Self:
        return cls.from_text(read_policy(Path(path), "description"), source=str(path), folder=Path(path).parent)

    @classmethod
    def from_text(cls, text: str, *, source: str = "description", folder: Path | None = None) -> Self:
        tree, data = read_mapping(text, source=source, kind="description")
        problems = list(tree.problems)
        made = None
        try:
            made = cls.model_validate(data)
        except ValidationError as error:
            found = findings_of(error, tree, cls)
            problems += [PolicyProblem(*tree.where(path), dotted(path), message) for path, message in found]
        if problems or made is None:
            raise PolicyError(list(dict.fromkeys(problems)), source=source)
        made._folder = folder
        return made

    @property
    def folder(self) -> Path:
        """Relative paths are relative to this folder."""
        return self._folder or Path()

    @property
    def is_file(self) -> bool:
        """Whether it stands in a file, and is not only in the memory of a program."""
        return self._folder is not None


class ColumnKind(StrEnum):
    INTEGER = "integer"
    NUMBER = "number"
    CATEGORY = "category"
    BOOLEAN = "boolean"
    DATE = "date"


class BudgetPeriod(StrEnum):
    DAY = "day"
    MONTH = "month"
    YEAR = "year"

    def of(self, moment: datetime.datetime) -> str:
        """
        >>> BudgetPeriod.MONTH.of(datetime.datetime(2026, 3, 9))
        '2026-03'
        """
        return moment.strftime({"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}[self.value])

    def end(self, day: datetime.date) -> datetime.date:
        """The first day after the period that a day is in.

        >>> BudgetPeriod.MONTH.end(datetime.date(2026, 12, 9))
        datetime.date(2027, 1, 1)
        """
        if self is BudgetPeriod.DAY:
            return day + datetime.timedelta(days=1)
        if self is BudgetPeriod.YEAR:
            return datetime.date(day.year + 1, 1, 1)
        return (day.replace(day=1) + datetime.timedelta(days=32)).replace(day=1)


class DatasetColumn(Parameters):
    """One column: its type, and what everybody may know of its values."""

    type: ColumnKind
    bounds: tuple[Any, Any] | None = Field(default=None, description="Least and greatest value; others are clipped.")
    categories: tuple[str | int, ...] | None = Field(
        default=None, description="All values there can be; others are left out. Without: keys are not public."
    )
    format: str | None = Field(default=None, description="strftime pattern of dates that are stored as text.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.categories is not None and self.type is not ColumnKind.CATEGORY:
            raise ValueError("categories are for the type category")
        if self.categories is not None and not self.categories:
            raise ValueError("categories: name at least one, or leave the key out")
        if self.categories is not None and len({str(one) for one in self.categories}) < len(self.categories):
            raise ValueError("categories: one of them stands twice")
        if self.format is not None and self.type is not ColumnKind.DATE:
            raise ValueError("a format is for the type date")
        if self.bounds is not None:
            object.__setattr__(self, "bounds", self._checked_bounds(*self.bounds))
        return self

    def _checked_bounds(self, low: Any, high: Any) -> tuple[Any, Any]:
        if self.type in (ColumnKind.CATEGORY, ColumnKind.BOOLEAN):
            raise ValueError("bounds are for numbers and dates")
        if self.type is ColumnKind.DATE:
            low, high = _date(low), _date(high)
        elif not all(
            isinstance(one, int | float) and not isinstance(one, bool) and isfinite(one) for one in (low, high)
        ):
            raise ValueError("bounds: two numbers, the least and the greatest")
        elif self.type is ColumnKind.INTEGER and not all(float(one).is_integer() for one in (low, high)):
            raise ValueError("bounds: whole numbers, as the column has")
        if low > high:
            raise ValueError("bounds: the least stands first")
        if self.type is not ColumnKind.DATE and max(abs(low), abs(high)) > LARGEST:
            raise ValueError(f"bounds: at most {LARGEST:,} in size; count in thousands or millions")
        return low, high


def _date(value: Any) -> datetime.date:
    if isinstance(value, datetime.datetime):
        return value.date()
    if isinstance(value, datetime.date):
        return value
    try:
        return datetime.date.fromisoformat(str(value))
    except ValueError:
        raise ValueError("bounds of dates are dates, as 2026-01-31") from None


class BudgetDescription(Parameters):
    """How much may be learnt: ε and δ in all, or in each period."""

    epsilon: Exact = Field(gt=0)
    delta: Exact = Field(default=Decimal(0), ge=0, lt=1)
    per: BudgetPeriod | None = Field(default=None, description="The budget is new in each day, month or year.")


class AnalystDescription(Parameters):
    epsilon: Exact = Field(gt=0)
    delta: Exact | None = Field(default=None, ge=0, lt=1)


class TableDescription(Parameters):
    """One table of several."""

    source: Annotated[SourceOptions, BeforeValidator(parse_source, json_schema_input_type=str | SourceOptions)]
    person: str | None = None
    rows_per_person: int | None = Field(default=None, ge=1, le=1_000_000)
    columns: dict[str, DatasetColumn] = Field(min_length=1)


class DatasetDescription(DescribedFile):
    """A whole description. ``DatasetDescription.load`` reads a file and reports every problem at once."""

    shoal: Literal[1]
    name: str = Field(pattern=r"^[\w][\w .-]{0,99}$")
    source: (
        Annotated[SourceOptions, BeforeValidator(parse_source, json_schema_input_type=str | SourceOptions)] | None
    ) = None
    person: str | None = Field(default=None, description="The column that names the person; without, a row is one.")
    rows_per_person: int | None = Field(
        default=None, ge=1, le=1_000_000, description="At most so many rows of a person are used; more are drawn from."
    )
    per: BudgetPeriod | None = Field(
        default=None, description="What is protected is what a person does in a day, month or year, not all of it."
    )
    time: str | None = Field(default=None, description="The column of dates that `per` goes by.")
    rows: int | None = Field(default=None, ge=1, description="About how many rows there are, where that is public.")
    columns: dict[str, DatasetColumn] = Field(default_factory=dict)
    tables: dict[str, TableDescription] = Field(default_factory=dict)
    budget: BudgetDescription
    analysts: dict[str, AnalystDescription] = Field(default_factory=dict)
    accounting: Accounting | None = None
    analysts_only: bool = Field(
        default=False, description="Only who is named among the analysts may ask, and nobody without a name."
    )
    on_exhausted: Literal["refuse", "next_period"] | dict[Literal["ask"], str] = "refuse"
    answer_after: float | None = Field(
        default=None,
        gt=0,
        le=3600,
        description="Seconds: answers are given at multiples of it, so no clock tells more.",
    )
    ledger: str | None = Field(default=None, description="Where the budget is kept: a file, or postgresql://…")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if bool(self.columns) == bool(self.tables):
            raise ValueError("either `columns` of one table, or `tables`")
        if self.columns and self.source is None:
            raise ValueError("`source` is missing: where the table is")
        for name, table in ({} if self.source is None and self.columns else self.described_tables).items():
            self._check_table(name, table)
        if self.accounting is Accounting.PURE and self.budget.delta:
            raise ValueError("pure ε has no delta; leave it out, or say `accounting: approximate`")
        if self.accounting is Accounting.ZCDP and not self.budget.delta:
            raise ValueError("zcdp needs a delta in the budget, as 1.0e-7")
        self._check_analysts()
        return self

    def _check_analysts(self) -> None:
        if self.on_exhausted == "next_period" and self.budget.per is None:
            raise ValueError("on_exhausted: next_period needs a budget by the period, as `per: month`")
        if self.analysts_only and not self.analysts:
            raise ValueError("analysts_only: name some `analysts`")
        _refuse_alike(self.analysts, "analysts")
        for name, analyst in self.analysts.items():
            if not 1 <= len(name) <= MOST_NAME or not name.isprintable() or name != name.strip():
                raise ValueError(f"analysts: a name is one line of at most {MOST_NAME} letters, without spaces around")
            if analyst.epsilon > self.budget.epsilon or (analyst.delta or 0) > self.budget.delta:
                raise ValueError(f"the budget of '{name}' is larger than the dataset's")

    def _check_table(self, name: str, table: TableDescription) -> None:
        where = "" if self.columns else f" (table '{name}')"
        if table.person is not None and table.rows_per_person is None:
            raise ValueError(f"`rows_per_person` is missing: how many rows a person may have at most{where}")
        _refuse_alike(table.columns, f"columns{where}")
        if self.per is None:
            return
        if self.time is None:
            raise ValueError("`per` needs `time`: the column of dates that it goes by")
        if table.person is None:
            raise ValueError(f"`per` needs `person`: whose days, months or years they are{where}")
        if self.time not in table.columns or table.columns[self.time].type is not ColumnKind.DATE:
            raise ValueError(f"`time` names a column that is described with the type date{where}")

    @property
    def accountant(self) -> Accountant:
        chosen = self.accounting or (Accounting.APPROXIMATE if self.budget.delta else Accounting.PURE)
        return Accountant(chosen, self.budget.delta)

    @property
    def described_tables(self) -> Mapping[str, TableDescription]:
        """By the names that questions know them by: the dataset's own is also ``t``."""
        if self.source is None:
            shared = {"person": self.person, "rows_per_person": self.rows_per_person}
            return {
                name: table.model_copy(update={key: one for key, one in shared.items() if getattr(table, key) is None})
                for name, table in self.tables.items()
            }
        one = TableDescription(
            source=self.source, person=self.person, rows_per_person=self.rows_per_person, columns=self.columns
        )
        return {self.name: one, "t": one}

    def known_analyst(self, name: str) -> str | None:
        """As the description writes it, whichever way its accents were typed; None for somebody else."""
        return next((one for one in self.analysts if _composed(one) == _composed(name)), None)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """JSON Schema for editors."""
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **cls.model_json_schema()}
